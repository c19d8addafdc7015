-- +goose NO TRANSACTION
-- +goose Up

-- The health of a host has two sources: the jobs that ran there, and its agent. hosts.health is the worse of the two.
ALTER TABLE hosts ADD COLUMN IF NOT EXISTS job_health TEXT NOT NULL DEFAULT 'unknown' CHECK (job_health IN ('unknown', 'healthy', 'degraded', 'unreachable'));
ALTER TABLE hosts ADD COLUMN IF NOT EXISTS job_health_message TEXT NOT NULL DEFAULT '';
ALTER TABLE hosts ADD COLUMN IF NOT EXISTS agent_health TEXT NOT NULL DEFAULT '' CHECK (agent_health IN ('', 'healthy', 'degraded', 'unreachable')); -- '': no agent has said
ALTER TABLE hosts ADD COLUMN IF NOT EXISTS agent_health_message TEXT NOT NULL DEFAULT '';

UPDATE hosts
   SET job_health = health, job_health_message = health_message
 WHERE agent_health = '' AND job_health = 'unknown' AND health <> 'unknown';

-- +goose Down
SELECT 1;
