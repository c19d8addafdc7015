-- +goose NO TRANSACTION
-- +goose Up

-- What ran with a version of a playbook, newest first. Of ended jobs only: a job is written here once, when it ends, and
-- not by each change of its state. Those that have not ended are few, and are found among jobs_active.
CREATE INDEX IF NOT EXISTS jobs_ran_with ON jobs (workspace_id, playbook_version_id, created_at DESC, id DESC) WHERE finished_at IS NOT NULL;

-- +goose Down
SELECT 1;
