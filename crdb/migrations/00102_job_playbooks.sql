-- +goose NO TRANSACTION
-- +goose Up

-- Which version of a playbook a job of an area plays, in all its steps and attempts. Jobs of a backend before this release have
-- none, until they play.
CREATE TABLE IF NOT EXISTS job_playbooks ( -- no noun: a part of their job
    job_id     UUID NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    playbook   TEXT NOT NULL,
    version_id UUID NOT NULL,
    PRIMARY KEY (job_id, playbook)
);

-- +goose Down
SELECT 1;
