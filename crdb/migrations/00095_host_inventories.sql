-- +goose NO TRANSACTION
-- +goose Up

-- The CPUs, memory and disks of a host when its layout was made. A policy compares them with what the last probe and the agent say.
CREATE TABLE IF NOT EXISTS host_inventories ( -- no noun: a part of its host, which only its policy reads
    host_id     UUID PRIMARY KEY,
    laid_out    JSONB NOT NULL,                    -- cpus, nodes, memory_bytes and devices, as in hosts.facts
    laid_out_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    told        TEXT NOT NULL DEFAULT ''           -- the differences that the last event told of; '': none
);

-- +goose Down
SELECT 1;
