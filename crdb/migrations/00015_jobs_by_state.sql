-- +goose NO TRANSACTION
-- +goose Up

-- What people look for among very many jobs that went well, each without a walk over those: the store names these states
-- as they stand here, beside the one that is asked for. Most jobs are in neither for long, so there is little to write.
CREATE INDEX IF NOT EXISTS jobs_active ON jobs (workspace_id, created_at DESC, id DESC) WHERE state IN ('queued', 'running', 'cancelling');

CREATE INDEX IF NOT EXISTS jobs_ended_badly ON jobs (workspace_id, created_at DESC, id DESC) WHERE state IN ('failed', 'cancelled');

-- +goose Down
SELECT 1;
