-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE jobs ADD COLUMN IF NOT EXISTS log_expired_at TIMESTAMPTZ; -- when its log was removed for its age; NULL: it is there

-- Whose log is to be removed next. It holds no more jobs than ended within the time that logs are kept.
CREATE INDEX IF NOT EXISTS jobs_with_log ON jobs (finished_at) WHERE finished_at IS NOT NULL AND log_expired_at IS NULL;

-- +goose Down
SELECT 1;
