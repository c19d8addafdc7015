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

// wake takes items by policy and object, as everything here does that takes several (sqlLock), so that no two transactions wait
// for each other.
func wake(ctx context.Context, tx *db.Tx, moving map[*Policy][]uuid.UUID, woken []key) error {
	if len(moving)+len(woken) == 0 {
		return nil
	}
	slices.SortFunc(woken, compareKeys)
	woken = slices.Compact(woken)
	var b db.Batch
	for _, p := range slices.SortedFunc(maps.Keys(moving), func(a, b *Policy) int { return cmp.Compare(a.Name, b.Name) }) {
		before, _ := slices.BinarySearchFunc(woken, key{p.Name, uuid.Nil}, compareKeys)
		queueWake(&b, woken[:before])
		woken = woken[before:]
		p.deadlines.due(&b, moving[p])
	}
	queueWake(&b, woken)
	if err := tx.Send(ctx, &b); err != nil {
		return fmt.Errorf("make policies due: %w", err)
	}
	return nil
}

func queueWake(b *db.Batch, keys []key) {
	if len(keys) > 0 {
		policies, objects := columns(keys)
		b.Queue(sqlWake, policies, objects)
	}
}

func columns(keys []key) (policies []string, objects []uuid.UUID) {
	policies, objects = make([]string, len(keys)), make([]uuid.UUID, len(keys))
	for i, k := range keys {
		policies[i], objects[i] = k.Policy, k.ObjectID
	}
	return policies, objects
}

// lock takes the items of keys, which are sorted by compareKeys.
func lock(ctx context.Context, tx *db.Tx, keys []key) error {
	if len(keys) < 2 {
		return nil // the statement that writes takes it
	}
	policies, objects := columns(keys)
	if _, err := tx.Exec(ctx, sqlLock, policies, objects); err != nil {
		return fmt.Errorf("lock items: %w", err)
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
