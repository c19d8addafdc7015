-- +goose NO TRANSACTION
-- +goose Up

-- A plan that lists what a job would do, from rows: it has no host, no playbook and no check. NULL: it has.
ALTER TABLE plans ADD COLUMN IF NOT EXISTS object_kind TEXT; -- noun of what the action is about: 'cluster', 'cluster_node', ...

ALTER TABLE plans ADD COLUMN IF NOT EXISTS object_id UUID; -- zeros: the action makes it

ALTER TABLE plans ADD COLUMN IF NOT EXISTS object_name TEXT; -- as it was called

ALTER TABLE plans ADD COLUMN IF NOT EXISTS subject JSONB; -- work.Subject: what the list is made from

-- +goose Down
SELECT 1;
