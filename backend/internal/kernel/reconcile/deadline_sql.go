package reconcile

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// What a noun's statements begin and end with (Deadlines).
const (
	// SQLDue writes the items of the objects $4 that are in such a state: due when the state has lasted for its seconds, or for
	// $5 seconds if that is earlier. $3 is the policy. An item that is due earlier stays so.
	SQLDue = `
INSERT INTO reconcile_items (policy, object_id, due_at, token)
SELECT $3, l.id, l.since + LEAST(l.seconds, $5::INT8) * INTERVAL '1 second', 1
`
	SQLDueOf = `
 WHERE l.id = ANY($4::UUID[])
 ORDER BY l.id
ON CONFLICT (policy, object_id) DO UPDATE
   SET due_at = LEAST(reconcile_items.due_at, excluded.due_at), token = reconcile_items.token + 1`

	SQLFind = `
SELECT l.id, l.state, l.since, l.seconds, now() AS now, j.id AS job_id, j.state AS job_state
`
	SQLFindOne = `
  LEFT JOIN jobs j ON j.id = l.job AND j.finished_at IS NULL
 WHERE l.id = $3`

	// SQLList adds to the objects in such a state those that were said to be late: one may have come to rest where no item was
	// written for it. $3: the noun.
	SQLList = `
SELECT c.object_id AS id
  FROM conditions c
 WHERE c.noun = $3 AND c.status <> 'true' AND c.type = 'moves_on' AND c.object_id > $4
 UNION
SELECT l.id
`
	SQLListPage = `
 WHERE l.id > $4
 ORDER BY id
 LIMIT $5`
)

func (n *Deadlines) find(ctx context.Context, q db.Reader, id uuid.UUID) (Moving, error) {
	states, seconds := n.States()
	s, err := db.First[Moving](ctx, q, fault.ErrNotFound, n.Find, states, seconds, id)
	if err != nil {
		return s, fmt.Errorf("look how %s %s stands: %w", n.Noun, id, err)
	}
	return s, nil
}

func (n *Deadlines) list(ctx context.Context, q db.Reader, after uuid.UUID, limit int) (ids []uuid.UUID, err error) {
	states, seconds := n.States()
	rows, err := db.Collect[struct {
		ID uuid.UUID `db:"id"`
	}](ctx, q, n.List, states, seconds, n.Noun, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list what is on its way of %s: %w", n.Noun, err)
	}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

func (n *Deadlines) due(b *db.Batch, ids []uuid.UUID) {
	states, seconds := n.States()
	b.Queue(n.Due, states, seconds, n.policy(), ids, int64(WithoutJob))
}
