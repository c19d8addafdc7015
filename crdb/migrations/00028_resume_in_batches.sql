-- +goose NO TRANSACTION
-- +goose Up

-- The end of a pause moves the deadlines of all queued jobs, which may be many: in batches, while the pause still holds.
-- When the end was first asked for; the deadlines move by the pause up to then. NULL: it was not.
ALTER TABLE queue_pauses ADD COLUMN IF NOT EXISTS resumed_at TIMESTAMPTZ;

-- The last job, in the order of ids, whose deadline was moved; NULL: none.
ALTER TABLE queue_pauses ADD COLUMN IF NOT EXISTS moved_to UUID;

-- +goose Down
SELECT 1;
