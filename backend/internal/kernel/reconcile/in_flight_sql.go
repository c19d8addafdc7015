package reconcile

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

const sqlSaidLate = `
SELECT c.object_id
  FROM conditions c
 WHERE c.noun = $1 AND c.status <> 'true' AND c.type = 'moves_on' AND c.policy = 'in_flight'
 LIMIT 2000`

func saidLate(ctx context.Context, q db.Reader, noun string) (ids []uuid.UUID, err error) {
	type row struct {
		ID uuid.UUID `db:"object_id"`
	}
	rows, err := db.Collect[row](ctx, q, sqlSaidLate, noun)
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids, err
}
