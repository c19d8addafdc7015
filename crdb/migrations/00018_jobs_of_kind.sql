-- +goose NO TRANSACTION
-- +goose Up

-- Within a kind by age: those of one kind, newest first, are read off it, and new entries lie beside each other. By id they
-- lay anywhere, which made this the dearest index that a change of a job's state writes anew.
CREATE INDEX IF NOT EXISTS jobs_of_kind ON jobs (workspace_id, kind, created_at, id);

DROP INDEX IF EXISTS jobs_by_kind;

-- +goose Down
SELECT 1;
