// Package iamwork owns the policies of package iam: quotas and usage records that agree
// with what is there. It refuses rules: those are iam's.
package iamwork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
)

// Quotas keeps the usage of quotas and the usage records equal to what is in use, and
// warns once a month at 80 and at 100 %.
func Quotas(d *db.DB) reconcile.Policy {
	const name = "quotas"
	return reconcile.Policy{
		Name: name, Why: "usage is counted where it changes; that nothing was missed, such as what began while a quota was set, is looked at here",
		Interval: 5 * time.Minute, Jitter: time.Minute, Timeout: 2 * time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			err = d.InTx(ctx, func(tx *db.Tx) (err error) {
				out.Changed, err = iam.AlignRecords(ctx, tx)
				return err
			})
			if err != nil {
				return out, err
			}
			limited, err := iam.Limited(ctx, d.Reader)
			if err != nil {
				return out, err
			}
			for _, id := range limited {
				var n int64
				err := d.InTx(ctx, func(tx *db.Tx) (err error) {
					n, err = iam.AlignQuotas(ctx, tx, id)
					return err
				})
				if err != nil {
					return out, err
				}
				out.Changed += n
			}
			return out, d.InTx(ctx, func(tx *db.Tx) error { return warn(ctx, tx, name) })
		},
	}
}

func warn(ctx context.Context, tx *db.Tx, name string) error {
	quotas, err := iam.Warn(ctx, tx)
	if err != nil {
		return fmt.Errorf("note what is nearly used up: %w", err)
	}
	for _, q := range quotas {
		at, err := iam.PlaceOfScope(ctx, tx.Reader, q.Level, q.ScopeID)
		if errors.Is(err, fault.ErrNotFound) { // it was removed, with its quota
			continue
		}
		if err != nil {
			return err
		}
		e := audit.Entry{
			Organization: at.Organization, Project: at.Project, Workspace: at.Workspace, Action: "quota.warn", ObjectKind: string(q.Level), ObjectID: q.ScopeID,
			ObjectName: q.Resource, After: map[string]any{"resource": q.Resource, "amount": q.Amount, "used": q.Used, "percent": percent(q)},
		}
		if err := audit.Append(ctx, tx, audit.Actor{Kind: audit.Policy, Name: name}, e); err != nil {
			return err
		}
	}
	return nil
}

func percent(q iam.Quota) int64 {
	if q.Amount == 0 {
		return 100
	}
	return q.Used * 100 / q.Amount
}
