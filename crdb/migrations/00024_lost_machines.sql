-- +goose NO TRANSACTION
-- +goose Up

-- Whether a machine was declared lost is asked with each probe. Without an index that reads all hosts, and on CockroachDB
-- it waits for whoever writes any of them.
CREATE INDEX IF NOT EXISTS hosts_lost_machine ON hosts (machine_id) WHERE state = 'lost';

-- +goose Down
SELECT 1;
