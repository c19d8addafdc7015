package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// endsAtOnce is how many ends one transaction writes at most.
const endsAtOnce = 200

// writeEnds writes what ended, all that has ended meanwhile in one transaction.
func (r *Reconciler) writeEnds() {
	for first := range r.ended {
		all := []result{first}
	more:
		for len(all) < endsAtOnce {
			select {
			case e, open := <-r.ended:
				if !open {
					break more
				}
				all = append(all, e)
			default:
				break more
			}
		}
		r.write(all)
		for _, e := range all {
			r.metrics.lag.WithLabelValues(e.Policy, "run").Observe(time.Since(e.claimedAt).Seconds())
		}
		r.drop(all)
	}
}

// write tries for as long as a lease lasts: then another reconciler runs the items
// again, which does no harm.
func (r *Reconciler) write(all []result) {
	within := r.cfg.Lease
	if slices.ContainsFunc(all, func(e result) bool { return e.interrupted }) { // this process is to stop
		within = min(within, giveBackWithin)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := r.db.InTx(ctx, func(tx *db.Tx) error { return writeEnds(ctx, tx, all) })
		if err == nil {
			return
		}
		r.log.Error("write the ends of runs failed", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func writeEnds(ctx context.Context, tx *db.Tx, all []result) error {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b result) int { return compareKeys(a.key, b.key) })
	keys := make([]key, len(all))
	for i, e := range all {
		keys[i] = e.key
	}
	if err := lock(ctx, tx, keys); err != nil {
		return err
	}
	ended := rowsOf(all, func(e result) bool { return !e.lost && !e.interrupted && !e.gone })
	at, wrote, err := ended.end(ctx, tx)
	if err != nil {
		return err
	}
	var conditions []observed
	for _, e := range all {
		if wrote[e.key] {
			conditions = append(conditions, e.conditions...)
		}
	}
	if err := writeConditions(ctx, tx, conditions, at); err != nil {
		return err
	}
	if back := rowsOf(all, func(e result) bool { return e.interrupted }); len(back.policies) > 0 {
		if _, err := tx.Exec(ctx, sqlGiveBack, back.policies, back.objects, back.runs); err != nil {
			return fmt.Errorf("give items back: %w", err)
		}
	}
	for _, e := range all {
		if !e.gone && !e.atRest {
			continue
		}
		n, err := tx.Exec(ctx, sqlForget, e.Policy, e.key.ObjectID, e.Run, e.Token)
		if err != nil {
			return fmt.Errorf("remove an item: %w", err)
		}
		if e.atRest {
			continue
		}
		if n == 0 { // woken: look again
			if _, err := tx.Exec(ctx, sqlGiveBack, []string{e.Policy}, []uuid.UUID{e.key.ObjectID}, []int64{e.Run}); err != nil {
				return fmt.Errorf("give items back: %w", err)
			}
			continue
		}
		if _, err := tx.Exec(ctx, sqlForgetConditions, e.noun, []uuid.UUID{e.key.ObjectID}, e.Policy); err != nil {
			return fmt.Errorf("remove conditions: %w", err)
		}
	}
	return nil
}

// rows are the columns of what is written of some results.
type rows struct {
	policies, outcomes, shown             []string
	objects                               []uuid.UUID
	runs, tokens, failures, changed, wait []int64
}

func rowsOf(all []result, which func(result) bool) (r rows) {
	for _, e := range all {
		if !which(e) {
			continue
		}
		r.policies, r.objects, r.runs, r.tokens = append(r.policies, e.Policy), append(r.objects, e.key.ObjectID), append(r.runs, e.Run), append(r.tokens, e.Token)
		r.outcomes, r.shown = append(r.outcomes, e.outcome), append(r.shown, e.shown)
		r.failures, r.changed, r.wait = append(r.failures, int64(e.failures)), append(r.changed, e.changed), append(r.wait, e.wait.Milliseconds())
	}
	return r
}

// end tells which ends counted: the others were written by reconcilers that had
// lost their lease.
func (r rows) end(ctx context.Context, tx *db.Tx) (at time.Time, wrote map[key]bool, err error) {
	wrote = map[key]bool{}
	if len(r.policies) == 0 {
		return at, wrote, nil
	}
	type row struct {
		key
		Now time.Time `db:"now"`
	}
	done, err := db.Collect[row](ctx, tx.Reader, sqlEnd, r.policies, r.objects, r.runs, r.tokens, r.failures, r.outcomes, r.changed, r.shown, r.wait)
	if err != nil {
		return at, nil, fmt.Errorf("write the ends of runs: %w", err)
	}
	for _, d := range done {
		wrote[d.key], at = true, d.Now
	}
	return at, wrote, nil
}
