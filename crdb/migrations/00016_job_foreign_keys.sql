-- +goose NO TRANSACTION
-- +goose Up

-- Each of these was checked for every row that the queue writes, with a lock on the row that it names: of a workspace and
-- of a version that is one row for all that enqueue at once. The statement that makes a job reads both rows, and the one
-- statement that makes a step makes its job; no backend ever removed a workspace, a version or a job, nor changes whose a
-- step is. Steps whose job is not there are found by `verify`.
ALTER TABLE job_steps DROP CONSTRAINT IF EXISTS job_steps_job_id_fkey;

ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_workspace_id_fkey;

ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_playbook_version_id_fkey;

-- +goose Down
SELECT 1;
