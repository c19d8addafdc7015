-- +goose NO TRANSACTION
-- +goose Up

-- So that foreign records have a scope, and their lists have places to go on from, as others have.
ALTER TABLE dns_foreign_records ADD COLUMN IF NOT EXISTS id UUID NOT NULL DEFAULT gen_random_uuid();

ALTER TABLE dns_foreign_records ADD COLUMN IF NOT EXISTS workspace_id UUID;

UPDATE dns_foreign_records
   SET workspace_id = (SELECT z.workspace_id FROM dns_zones z WHERE z.id = dns_foreign_records.zone_id)
 WHERE workspace_id IS NULL;

CREATE INDEX IF NOT EXISTS dns_foreign_records_by_workspace ON dns_foreign_records (workspace_id, name, id);

CREATE INDEX IF NOT EXISTS dns_foreign_records_by_zone ON dns_foreign_records (zone_id, name, id);

-- +goose Down
SELECT 1;
