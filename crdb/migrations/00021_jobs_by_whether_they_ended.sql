-- +goose NO TRANSACTION
-- +goose Up

-- Ended jobs, newest first and by kind. A job is written here once, when it ends; in indexes over all jobs it was written
-- anew by each change of its state. Lists of all put these together with jobs_active.
CREATE INDEX IF NOT EXISTS jobs_ended ON jobs (workspace_id, created_at DESC, id DESC) WHERE finished_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS jobs_ended_of_kind ON jobs (workspace_id, kind, created_at, id) WHERE finished_at IS NOT NULL;

DROP INDEX IF EXISTS jobs_newest;

DROP INDEX IF EXISTS jobs_of_kind;

-- +goose Down
SELECT 1;
