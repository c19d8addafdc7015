-- +goose NO TRANSACTION
-- +goose Up

-- Allocations that have a label: without it a filter that few rows pass reads all of them. Hosts are few enough.
CREATE INDEX IF NOT EXISTS allocations_by_label ON allocations USING GIN (labels);

-- +goose Down
SELECT 1;
