-- +goose NO TRANSACTION
-- +goose Up

-- Each change of a job's state writes every index that holds the job, before and after. What waits, what runs and what has
-- ended lie apart from here on, and what runs, which is never more than workers have slots, lies in one small index only, by
-- its lease: a claim and each renewal of a lease write two entries less, and no index holds a job in all of its states. They
-- go up with the time and are read backwards, since PostgreSQL fills an index from left to right with full pages, and one
-- that is filled at its left end with halves. A backend of before finds what it asks for without those of before, more
-- slowly.
CREATE INDEX IF NOT EXISTS jobs_queued ON jobs (workspace_id, created_at, id) WHERE state = 'queued';

CREATE INDEX IF NOT EXISTS jobs_queued_of_host ON jobs (host_id, created_at, id) WHERE state = 'queued';

CREATE INDEX IF NOT EXISTS jobs_leased_of_host ON jobs (lease_expires_at, host_id) WHERE lease_expires_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS jobs_ended_by_age ON jobs (workspace_id, created_at, id) WHERE finished_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS jobs_ended_of_host ON jobs (host_id, created_at, id) WHERE finished_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS jobs_ended_of_version ON jobs (workspace_id, playbook_version_id, created_at, id) WHERE finished_at IS NOT NULL;

DROP INDEX IF EXISTS jobs_active;

DROP INDEX IF EXISTS jobs_leased;

DROP INDEX IF EXISTS jobs_of_host;

DROP INDEX IF EXISTS jobs_ended;

DROP INDEX IF EXISTS jobs_ran_with;

-- +goose Down
SELECT 1;
