-- +goose NO TRANSACTION
-- +goose Up

-- The hosts of a job that has several, which are worked on by one Ansible process. One that is done is not done again.
-- Without foreign keys: to add two of them locks two busy tables in one statement, in an order that is not that of those who
-- write them, so that one of both ends in a deadlock. No backend removes a job or a host; `verify` finds what has none.
CREATE TABLE IF NOT EXISTS job_hosts (
    job_id     UUID NOT NULL,
    host_id    UUID NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
    code       TEXT NOT NULL DEFAULT '',             -- of the failure
    message    TEXT NOT NULL DEFAULT '',             -- what came of it
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, host_id),
    CHECK ((state = 'failed') = (code <> ''))
);

-- The jobs of a host.
CREATE INDEX IF NOT EXISTS job_hosts_of_host ON job_hosts (host_id, job_id);

-- +goose Down
SELECT 1;
