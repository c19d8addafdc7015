-- +goose NO TRANSACTION
-- +goose Up

-- What the name servers and a resolver told of a record set when they were last asked. NULL: they never were since it
-- changed.
ALTER TABLE dns_record_sets ADD COLUMN IF NOT EXISTS checked JSONB;

ALTER TABLE dns_record_sets ADD COLUMN IF NOT EXISTS checked_at TIMESTAMPTZ;

-- +goose Down
SELECT 1;
