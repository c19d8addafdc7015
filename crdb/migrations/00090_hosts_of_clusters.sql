-- +goose NO TRANSACTION
-- +goose Up

-- A host for kubernetes is used as a whole: it has no layout in any state. The check has another name in each database.
ALTER TABLE hosts DROP CONSTRAINT IF EXISTS hosts_check2;

ALTER TABLE hosts DROP CONSTRAINT IF EXISTS check_state_layout;

ALTER TABLE hosts DROP CONSTRAINT IF EXISTS hosts_layout_of_purpose;

ALTER TABLE hosts ADD CONSTRAINT hosts_layout_of_purpose CHECK (CASE WHEN purpose = 'kubernetes' THEN layout IS NULL
    ELSE state NOT IN ('initializing', 'init_failed', 'ready', 'draining', 'decommissioning', 'decommission_failed') OR layout IS NOT NULL END);

-- +goose Down
SELECT 1;
