package iam

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// SetQuota limits how much of a resource a scope may have in use. What is in use
// already stays; a limit below it lets nothing more begin.
func SetQuota(ctx context.Context, e intent.Engine, call intent.Call, level scope.Level, id uuid.UUID, resource string, amount int64) (Quota, error) {
	var bad fault.Invalid
	if !slices.Contains(Resources, resource) {
		bad.Add("resource", "must be one of "+fmt.Sprint(Resources))
	}
	if amount < 0 {
		bad.Add("amount", "must be 0 or more")
	}
	if err := bad.OrNil(); err != nil {
		return Quota{}, err
	}
	var q Quota
	err := e.Do(ctx, call, func(tx *intent.Tx) error {
		before, err := quotaBefore(ctx, tx.Tx, id, resource)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlSetQuota, level, id, resource, amount, call.Actor.Name); err != nil {
			return fmt.Errorf("set a quota: %w", err)
		}
		if _, err := recount(ctx, tx.Tx, id); err != nil {
			return err
		}
		if q, err = quota(ctx, tx.Reader, id, resource); err != nil {
			return err
		}
		if err := tx.Made(ctx, "quota", id, uuid.Nil); err != nil {
			return err
		}
		return tx.Event(ctx, audit.Entry{
			Action: "quota.set", ObjectKind: string(level), ObjectID: id, ObjectName: resource, Before: before, After: map[string]any{"resource": resource, "amount": amount},
		})
	})
	return q, err
}

// RemoveQuota takes a limit away.
func RemoveQuota(ctx context.Context, e intent.Engine, call intent.Call, level scope.Level, id uuid.UUID, resource string) error {
	return e.Do(ctx, call, func(tx *intent.Tx) error {
		before, err := quotaBefore(ctx, tx.Tx, id, resource)
		if err != nil {
			return err
		}
		if err := tx.One(ctx, fault.ErrNotFound, sqlRemoveQuota, id, resource); err != nil {
			return err
		}
		return tx.Event(ctx, audit.Entry{Action: "quota.remove", ObjectKind: string(level), ObjectID: id, ObjectName: resource, Before: before})
	})
}

func quota(ctx context.Context, q db.Reader, id uuid.UUID, resource string) (Quota, error) {
	return db.First[Quota](ctx, q, fault.ErrNotFound, sqlThisQuota, id, resource)
}

func quotaBefore(ctx context.Context, tx *db.Tx, id uuid.UUID, resource string) (map[string]any, error) {
	all, err := db.Collect[Quota](ctx, tx.Reader, sqlThisQuota, id, resource)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return map[string]any{"resource": resource, "amount": all[0].Amount}, nil
}
