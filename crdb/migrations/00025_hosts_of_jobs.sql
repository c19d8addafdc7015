-- +goose NO TRANSACTION
-- +goose Up

-- The hosts of a job that has several, which are worked on by one Ansible process. One that is done is not done again.
CREATE TABLE IF NOT EXISTS job_hosts (
    job_id     UUID NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    host_id    UUID NOT NULL REFERENCES hosts (id),
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
