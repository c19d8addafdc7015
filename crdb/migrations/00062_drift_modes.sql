-- +goose NO TRANSACTION
-- +goose Up

-- What is done about drift: the mode of a unit goes before that of its host, and this before those of workspace and organization.
-- Without a row it is observed.
CREATE TABLE IF NOT EXISTS drift_modes ( -- no noun: the policy of drift reads them each time
    scope      TEXT NOT NULL CHECK (scope IN ('organization', 'workspace', 'host', 'unit')),
    scope_id   UUID NOT NULL,
    mode       TEXT NOT NULL CHECK (mode IN ('observe', 'repair', 'window')),
    window_day TEXT NOT NULL DEFAULT '' CHECK (window_day IN ('', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')), -- '': each day
    window_from INT8 NOT NULL DEFAULT 0 CHECK (window_from BETWEEN 0 AND 23),  -- hour, UTC
    window_hours INT8 NOT NULL DEFAULT 24 CHECK (window_hours BETWEEN 1 AND 24),
    updated_by TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (scope_id)
);

-- +goose Down
SELECT 1;
