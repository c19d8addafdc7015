package dns

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// Alone tells whether nothing else may have the name of the record set.
func (s RecordSet) Alone() bool { return s.Type == CNAME }

const sqlTakeName = `
INSERT INTO dns_names (zone_id, name, alone)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING`

// sqlTurnName gives a name to a CNAME record set, or to others. Record sets that stand there refuse it.
const sqlTurnName = `
UPDATE dns_names
   SET alone = $3
 WHERE zone_id = $1 AND name = $2 AND alone <> $3`

// takeName makes the row of the name of a record set. The foreign key to it keeps a CNAME record and another from being written at the same time.
func takeName(ctx context.Context, tx *db.Tx, zone uuid.UUID, set RecordSet) error {
	for _, sql := range []db.Statement{sqlTakeName, sqlTurnName} {
		if _, err := tx.Exec(ctx, sql, zone, set.Name, set.Alone()); err != nil {
			return nameError(err, set)
		}
	}
	return nil
}

// nameError tells a name that another kind of record has from other errors.
func nameError(err error, set RecordSet) error {
	switch {
	case db.SQLState(err) != foreignKeyViolation:
		return fmt.Errorf("write record set %s %s: %w", set.Name, set.Type, err)
	case set.Type == CNAME:
		return fault.Conflictf("dns_name_taken", "%s already has other records. A CNAME record cannot stand beside them.", set.Name.Display())
	}
	return fault.Conflictf("dns_name_taken", "%s already has a CNAME record. No other record can stand beside it.", set.Name.Display())
}
