-- +goose NO TRANSACTION
-- +goose Up

-- How many jobs of a scope may run at once is limited as other resources are. The check has another name in each database.
ALTER TABLE quotas DROP CONSTRAINT IF EXISTS quotas_resource_check;

ALTER TABLE quotas DROP CONSTRAINT IF EXISTS check_resource;

ALTER TABLE quotas DROP CONSTRAINT IF EXISTS quotas_resources;

ALTER TABLE quotas ADD CONSTRAINT quotas_resources CHECK (resource IN ('units', 'cpus', 'memory_bytes', 'addresses', 'hosts', 'jobs'));

-- Each look at the queue asks for those that are used up.
CREATE INDEX IF NOT EXISTS quotas_of_jobs ON quotas (scope_id) WHERE resource = 'jobs';

-- +goose Down
SELECT 1;
