package policy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// Codes makes and checks codes that nobody without the keyset can make.
type Codes interface {
	Vouch(purpose string, message []byte) []byte
	Vouched(purpose string, message, code []byte) bool
}

// mostFaults is how many faults of the audit trail a condition names.
const mostFaults = 5

// SealEvents seals the audit trail, so that nobody changes it unseen.
func SealEvents(db *store.DB, codes Codes) reconcile.Policy {
	return reconcile.Policy{
		Name: "event_seal", Why: "whoever can write to the database could change the audit trail; a seal for each batch of events shows it",
		Interval: time.Minute, Jitter: 10 * time.Second, Timeout: 5 * time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			if out, err = batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return audit.Adopt(ctx, tx.Tx) }); err != nil {
				return out, err
			}
			organizations, err := audit.Unsealed(ctx, db.Reader)
			if err != nil {
				return out, err
			}
			for _, o := range organizations {
				one, err := batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return audit.SealNext(ctx, tx.Tx, o, codes.Vouch) })
				out.Changed, out.Again = out.Changed+one.Changed, max(out.Again, one.Again)
				if err != nil {
					return out, err
				}
			}
			return out, nil
		},
	}
}

// CheckEvents reads the whole audit trail and compares it with its seals.
func CheckEvents(db *store.DB, codes Codes) reconcile.Policy {
	return reconcile.Policy{
		Name: "event_check", Why: "an audit trail is worth something if somebody looks whether it was changed; the whole of it is compared with its seals",
		Interval: 24 * time.Hour, Jitter: time.Hour, Timeout: time.Hour,
		Run: func(ctx context.Context, _ reconcile.Item) (reconcile.Outcome, error) {
			faults, err := audit.Check(ctx, db.Reader, codes.Vouched)
			if err != nil {
				return reconcile.Outcome{}, err
			}
			c := reconcile.Condition{Type: "AuditTrailIntact", Status: reconcile.True, Reason: "as_sealed", Message: "Every event is as it was sealed."}
			if len(faults) > 0 {
				c.Status, c.Reason = reconcile.False, "changed"
				c.Message = fmt.Sprintf("%d faults: %s", len(faults), strings.Join(faults[:min(len(faults), mostFaults)], "; "))
			}
			return reconcile.Outcome{Conditions: []reconcile.Condition{c}}, nil
		},
	}
}
