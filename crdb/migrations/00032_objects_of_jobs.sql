-- +goose NO TRANSACTION
-- +goose Up

-- What a job is about, of any noun. Jobs of the kinds that are about hosts name theirs in columns of jobs.
CREATE TABLE IF NOT EXISTS job_objects (
    job_id    UUID NOT NULL,                    -- a job is never deleted
    position  INT4 NOT NULL,                    -- from 0
    role      TEXT NOT NULL,                    -- what it is to the job
    noun      TEXT NOT NULL,
    object_id UUID NOT NULL,
    name      TEXT NOT NULL,                    -- when the job was asked for
    PRIMARY KEY (job_id, position)
);

-- The jobs of an object.
CREATE INDEX IF NOT EXISTS job_objects_of_object ON job_objects (object_id, job_id);

-- What a running attempt holds, so that of two jobs about one object one waits. A row stays when its lock is free: its
-- number never falls.
CREATE TABLE IF NOT EXISTS job_locks (
    key      TEXT PRIMARY KEY,                  -- noun and id
    job_id   UUID,                              -- NULL: free
    attempt  INT4 NOT NULL,
    number   INT8 NOT NULL,                     -- grows with each taking
    taken_at TIMESTAMPTZ,
    CHECK ((job_id IS NULL) = (taken_at IS NULL))
);

CREATE INDEX IF NOT EXISTS job_locks_of_job ON job_locks (job_id) WHERE job_id IS NOT NULL;

-- +goose Down
SELECT 1;
