-- +goose NO TRANSACTION
-- +goose Up

-- The tasks and results in a chunk of a job's log: JSON, compressed with zstd; empty if there are none; NULL if a backend
-- wrote the chunk that knew of no outlines.
ALTER TABLE job_log ADD COLUMN IF NOT EXISTS outline BYTEA;

-- Which chunks the outline of a whole log is made of: what a program printed is in many, and not in these.
CREATE INDEX IF NOT EXISTS job_log_outlined ON job_log (job_id, first_seq) WHERE outline IS NULL OR length(outline) > 0;

-- +goose Down
SELECT 1;
