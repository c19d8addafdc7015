-- +goose NO TRANSACTION
-- +goose Up

-- What the tenant of a unit used when it was last measured: one row a unit, overwritten. It is shown with no other
-- allocation than the one that it was measured of. NULL: the host told nothing of it, which is not zero.
CREATE TABLE IF NOT EXISTS unit_use (
    unit_id         UUID PRIMARY KEY REFERENCES compute_units (id),
    allocation_id   UUID NOT NULL REFERENCES allocations (id), -- whose use it is
    measured_at     TIMESTAMPTZ NOT NULL,          -- when the sample arrived
    cpu_millis      INT8 CHECK (cpu_millis >= 0),  -- thousandths of a CPU, over one second
    memory_bytes    INT8 CHECK (memory_bytes >= 0), -- cache included
    cache_bytes     INT8 CHECK (cache_bytes >= 0 AND cache_bytes <= memory_bytes), -- file cache that the kernel takes back first
    processes       INT8 CHECK (processes >= 0),   -- and threads
    disk_used_bytes INT8 CHECK (disk_used_bytes >= 0 AND disk_used_bytes <= disk_bytes),
    disk_bytes      INT8 CHECK (disk_bytes >= 0),  -- size of the file system
    CHECK ((cpu_millis IS NULL) = (memory_bytes IS NULL) AND (cpu_millis IS NULL) = (cache_bytes IS NULL) AND (cpu_millis IS NULL) = (processes IS NULL)),
    CHECK ((disk_used_bytes IS NULL) = (disk_bytes IS NULL))
);

-- +goose Down
SELECT 1;
