package dns

const sqlRecordCheck = `
UPDATE dns_record_sets
   SET checked = $3, checked_at = now()
 WHERE id = $1 AND revision = $2`
