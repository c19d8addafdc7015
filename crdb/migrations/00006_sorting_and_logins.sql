-- +goose NO TRANSACTION
-- +goose Up

-- One index for each order that a list can be read in (store's Sorting).
CREATE INDEX IF NOT EXISTS hosts_by_age ON hosts (workspace_id, created_at, id);

CREATE INDEX IF NOT EXISTS hosts_by_state ON hosts (workspace_id, state, id);

CREATE INDEX IF NOT EXISTS compute_units_sorted_by_state ON compute_units (workspace_id, state, id);

CREATE INDEX IF NOT EXISTS compute_units_by_size ON compute_units (workspace_id, cpu_count, id);

CREATE INDEX IF NOT EXISTS allocations_by_login ON allocations (workspace_id, login_user, id);

CREATE INDEX IF NOT EXISTS allocations_by_state ON allocations (workspace_id, state, id);

CREATE INDEX IF NOT EXISTS addresses_by_state ON addresses (workspace_id, state, id);

CREATE INDEX IF NOT EXISTS jobs_by_kind ON jobs (workspace_id, kind, id);

CREATE INDEX IF NOT EXISTS tokens_by_age ON tokens (account_id, created_at, id);

-- Logins that failed, one row for each name that was tried, whether an account
-- is called so or not: what is told must not depend on that.
CREATE TABLE IF NOT EXISTS login_failures (
    name_hash     BYTEA PRIMARY KEY,               -- SHA-256 of the name: people type passwords into the wrong field
    failures      INT4 NOT NULL,                   -- since the last login that succeeded, or the last quiet hour
    last_at       TIMESTAMPTZ NOT NULL,            -- of the last failure
    blocked_until TIMESTAMPTZ NOT NULL             -- until then every login under the name is refused, unseen
);

CREATE INDEX IF NOT EXISTS login_failures_by_age ON login_failures (last_at);

-- +goose Down
SELECT 1;
