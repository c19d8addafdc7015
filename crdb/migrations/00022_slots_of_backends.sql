-- +goose NO TRANSACTION
-- +goose Up

-- How many jobs a backend runs at once, at most; NULL for one of before, which does not tell.
ALTER TABLE backends ADD COLUMN IF NOT EXISTS slots INT4;

-- +goose Down
SELECT 1;
