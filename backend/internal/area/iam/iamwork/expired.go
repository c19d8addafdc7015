package iamwork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// expiredRows is how many rows one transaction takes away.
const expiredRows = 500

// ExpiredLogins takes away logins that nobody ended with a code.
func ExpiredLogins(d *db.DB) reconcile.Policy {
	return expires(d, "expired_logins", "a login that waited for a code and has expired is of no use to anyone; it is refused long before", iam.DropExpiredLogins)
}

// ExpiredChallenges takes away challenges of passkeys that were answered and that nobody can use any more.
func ExpiredChallenges(d *db.DB) reconcile.Policy {
	return expires(d, "expired_challenges", "a challenge that a passkey answered is kept so that it is good once; after it has expired it is of no use", iam.DropExpiredChallenges)
}

// ExpiredInvitations takes away invitations that nobody accepted in time, and tells it.
func ExpiredInvitations(d *db.DB) reconcile.Policy {
	const name = "expired_invitations"
	return expires(d, name, "an invitation that nobody accepted in time is told once and is then gone; its link is refused from the moment on", func(ctx context.Context, tx *db.Tx, limit int64) (int64, error) {
		return iam.DropExpiredInvitations(ctx, tx, audit.Actor{Kind: audit.Policy, Name: name}, limit)
	})
}

// expires is a policy that takes rows away which nobody can use any more.
func expires(d *db.DB, name, why string, drop func(context.Context, *db.Tx, int64) (int64, error)) reconcile.Policy {
	return reconcile.Policy{
		Name: name, Why: why, Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			var n int64
			err = d.InTx(ctx, func(tx *db.Tx) (err error) {
				n, err = drop(ctx, tx, expiredRows)
				return err
			})
			out.Changed = n
			if n == expiredRows {
				out.Again = time.Second
			}
			return out, err
		},
	}
}
