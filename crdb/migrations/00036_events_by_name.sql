-- +goose NO TRANSACTION
-- +goose Up

-- Events of whatever had a name, the newest first.
CREATE INDEX IF NOT EXISTS events_by_name ON events (workspace_id, object_name, at DESC, id DESC);

-- +goose Down
SELECT 1;
