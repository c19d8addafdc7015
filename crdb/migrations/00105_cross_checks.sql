-- +goose NO TRANSACTION
-- +goose Up

-- The last check of each host, and of each of its units with a tenant, by Ansible's check mode. A pass over a host is one row for
-- each of them; the plan is what the check told.
CREATE TABLE IF NOT EXISTS cross_checks ( -- no noun: the policy cross_check keeps them for itself; people see its plans and conditions
    host_id       UUID NOT NULL,
    unit_id       UUID NOT NULL,                      -- zeros for the host itself
    allocation_id UUID NOT NULL,                      -- that holds the unit; zeros for the host itself
    name          TEXT NOT NULL,                      -- of the unit or the host
    plan_id       UUID,                               -- NULL: not asked for yet
    began_at      TIMESTAMPTZ NOT NULL DEFAULT now(), -- of the pass
    judged_at     TIMESTAMPTZ,                        -- NULL: not yet
    PRIMARY KEY (host_id, unit_id)
);

-- +goose Down
SELECT 1;
