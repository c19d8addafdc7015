-- +goose NO TRANSACTION
-- +goose Up

-- What went over the link of a unit with a network of its own: in all since the link was made, and over the last second.
-- NULL: the unit has none, or an older playbook measured it. Backends of the last release leave the columns as they are.
ALTER TABLE unit_use ADD COLUMN IF NOT EXISTS received_bytes INT8;

ALTER TABLE unit_use ADD COLUMN IF NOT EXISTS sent_bytes INT8;

ALTER TABLE unit_use ADD COLUMN IF NOT EXISTS receive_rate INT8; -- bytes a second

ALTER TABLE unit_use ADD COLUMN IF NOT EXISTS send_rate INT8;

-- +goose Down
SELECT 1;
