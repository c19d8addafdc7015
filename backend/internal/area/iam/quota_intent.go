package iam

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// SetQuota limits how much of a resource a scope may have in use. What is in use
// already stays; a limit below it lets nothing more begin.
func SetQuota(ctx context.Context, tx *intent.Tx, at Scope, resource string, amount int64) error {
	var bad fault.Invalid
	if !slices.Contains(Resources, resource) {
		bad.Add("resource", "must be one of %s", strings.Join(Resources, ", "))
	}
	if amount < 0 {
		bad.Add("amount", "must be 0 or more")
	}
	if err := bad.OrNil(); err != nil {
		return err
	}
	if err := at.CanWrite(); err != nil {
		return err
	}
	before, err := quotaBefore(ctx, tx.Tx, at.ID, resource)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlSetQuota, scope.Level(at.Kind), at.ID, resource, amount, tx.Call().Actor.Name); err != nil {
		return fmt.Errorf("set a quota: %w", err)
	}
	if _, err := AlignQuotas(ctx, tx.Tx, at.ID); err != nil {
		return err
	}
	return quotaEvent(ctx, tx, at, "quota.set", resource, before, map[string]any{"resource": resource, "amount": amount})
}

// RemoveQuota takes a limit away.
func RemoveQuota(ctx context.Context, tx *intent.Tx, at Scope, resource string) error {
	if err := at.CanWrite(); err != nil {
		return err
	}
	before, err := quotaBefore(ctx, tx.Tx, at.ID, resource)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlRemoveQuota, at.ID, resource); err != nil {
		return err
	}
	return quotaEvent(ctx, tx, at, "quota.remove", resource, before, nil)
}

func quotaEvent(ctx context.Context, tx *intent.Tx, at Scope, action, resource string, before, after map[string]any) error {
	p := at.Place()
	return tx.Event(ctx, audit.Entry{
		Organization: p.Organization, Project: p.Project, Workspace: p.Workspace, Action: action, ObjectKind: at.Kind, ObjectID: at.ID,
		ObjectName: at.Path() + " " + resource, Before: before, After: after,
	})
}

func quotaBefore(ctx context.Context, tx *db.Tx, id uuid.UUID, resource string) (map[string]any, error) {
	all, err := db.Collect[Quota](ctx, tx.Reader, sqlThisQuota, id, resource)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return map[string]any{"resource": resource, "amount": all[0].Amount}, nil
}
