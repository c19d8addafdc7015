-- +goose NO TRANSACTION
-- +goose Up

-- Every change of a job's state writes all of its indexes anew, so those of units and of allocations hold only the jobs
-- that are about one. They have new names, since those of before hold every job.
CREATE INDEX IF NOT EXISTS jobs_about_unit ON jobs (unit_id, created_at DESC, id DESC) WHERE unit_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS jobs_about_allocation ON jobs (allocation_id, created_at DESC, id DESC) WHERE allocation_id IS NOT NULL;

DROP INDEX IF EXISTS jobs_of_unit;

DROP INDEX IF EXISTS jobs_of_allocation;

-- The end of a job lets go of what it holds: without it, a walk over the locks of all hosts.
CREATE INDEX IF NOT EXISTS host_locks_held ON host_locks (job_id) WHERE job_id IS NOT NULL;

-- +goose Down
SELECT 1;
