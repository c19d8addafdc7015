-- +goose NO TRANSACTION
-- +goose Up

-- What a resource costs from a time on. The one with the latest beginning before a moment counts at that moment.
CREATE TABLE IF NOT EXISTS prices ( -- no noun: statements read it
    id         UUID PRIMARY KEY,
    resource   TEXT NOT NULL CHECK (resource IN ('unit_hour', 'cpu_hour', 'memory_gib_hour', 'volume_gib_hour')),
    price      NUMERIC(18, 8) NOT NULL CHECK (price >= 0),
    currency   TEXT NOT NULL,                     -- three capital letters
    begins_at  TIMESTAMPTZ NOT NULL,
    created_by TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (resource, begins_at)
);

-- +goose Down
SELECT 1;
