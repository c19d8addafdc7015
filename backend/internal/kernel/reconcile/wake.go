package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Trigger makes a transaction's writes make policies due, with its commit. This is
// the one place that does: a write only has to be recorded with Touch.
func (r *Registry) Trigger(d *db.DB) {
	if len(r.triggers) > 0 {
		d.BeforeCommit(r.wakeTouched)
	}
}

func (r *Registry) wakeTouched(ctx context.Context, tx *db.Tx) error {
	var woken []key
	moving := map[*Policy][]uuid.UUID{}
	for _, o := range tx.Touched() {
		for _, p := range r.triggers[o.Noun] {
			switch {
			case p.deadlines != nil:
				moving[p] = append(moving[p], o.ID)
			case p.Noun == "":
				woken = append(woken, key{p.Name, uuid.Nil})
			default:
				woken = append(woken, key{p.Name, o.ID})
			}
		}
	}
	return wake(ctx, tx, moving, woken)
}

// wake takes items in one order, so that two transactions don't wait for each
// other: those with deadlines by policy and object, then the others.
func wake(ctx context.Context, tx *db.Tx, moving map[*Policy][]uuid.UUID, woken []key) error {
	if len(moving)+len(woken) == 0 {
		return nil
	}
	var b db.Batch
	for _, p := range slices.SortedFunc(maps.Keys(moving), func(a, b *Policy) int { return cmp.Compare(a.Name, b.Name) }) {
		p.deadlines.due(&b, moving[p])
	}
	if len(woken) > 0 {
		slices.SortFunc(woken, compareKeys)
		woken = slices.Compact(woken)
		policies, objects := make([]string, len(woken)), make([]uuid.UUID, len(woken))
		for i, k := range woken {
			policies[i], objects[i] = k.Policy, k.ObjectID
		}
		b.Queue(sqlWake, policies, objects)
	}
	if err := tx.Send(ctx, &b); err != nil {
		return fmt.Errorf("make policies due: %w", err)
	}
	return nil
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.Policy, b.Policy), bytes.Compare(a.ObjectID[:], b.ObjectID[:]))
}

// Wake makes one item due now. The token that it returns stands in the item as
// answered once a run that began after the wake has ended.
func Wake(ctx context.Context, tx *db.Tx, policy string, object uuid.UUID) (token int64, err error) {
	err = tx.QueryRow(ctx, sqlWakeOne, []string{policy}, []uuid.UUID{object}).Scan(&token)
	if err != nil {
		return 0, fmt.Errorf("make %s due: %w", policy, err)
	}
	return token, nil
}
