-- +goose NO TRANSACTION
-- +goose Up

-- The last file of an administrator that somebody was given in an emergency. It is shown while it is good; events have all of them.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS break_glass_by TEXT NOT NULL DEFAULT '';

ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS break_glass_reason TEXT NOT NULL DEFAULT '';

-- When it ends; NULL: there was none.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS break_glass_until TIMESTAMPTZ;

-- +goose Down
SELECT 1;
