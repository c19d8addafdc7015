-- +goose NO TRANSACTION
-- +goose Up

-- Its host's zone, which never changes, kept beside the unit so that placement's index can begin with it. NULL where a
-- backend of before put the unit; what is true is the host's.
ALTER TABLE compute_units ADD COLUMN IF NOT EXISTS zone TEXT; -- its host's; NULL if it was not noted

UPDATE compute_units
   SET zone = h.zone
  FROM hosts h
 WHERE h.id = compute_units.host_id AND compute_units.zone IS NULL;

-- Placement in a zone: without it, a demand for one zone walks over all free units of the others.
CREATE INDEX IF NOT EXISTS compute_units_free_in_zone ON compute_units (workspace_id, zone, cpu_count, shuffle) WHERE state = 'free';

-- +goose Down
SELECT 1;
