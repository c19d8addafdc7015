-- +goose NO TRANSACTION
-- +goose Up

-- When all that its last tenant left was removed, with evidence. Such a UID may be given again; one without is not. An older
-- release sets it for none.
ALTER TABLE uids ADD COLUMN IF NOT EXISTS wiped_at TIMESTAMPTZ;

-- The one that was wiped longest ago comes first.
CREATE INDEX IF NOT EXISTS uids_wiped ON uids (wiped_at, uid) WHERE wiped_at IS NOT NULL;

-- +goose Down
SELECT 1;
