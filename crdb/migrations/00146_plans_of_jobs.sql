-- +goose NO TRANSACTION
-- +goose Up

-- The plan that a job applies, for the page of the job.
CREATE INDEX IF NOT EXISTS plans_of_job ON plans (applied_job_id) WHERE applied_job_id IS NOT NULL;

-- +goose Down
SELECT 1;
