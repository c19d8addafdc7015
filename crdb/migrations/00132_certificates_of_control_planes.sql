-- +goose NO TRANSACTION
-- +goose Up

-- When the first certificate of the control plane ends, as its API server showed or a renewal told; NULL: not known, or a worker.
ALTER TABLE kube_nodes ADD COLUMN IF NOT EXISTS certificates_end TIMESTAMPTZ;

-- +goose Down
SELECT 1;
