package intent

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// PausePolicy keeps a policy, an object, or both from being reconciled. An object at which no policy looks is not found.
func (in *Intents) PausePolicy(ctx context.Context, call Call, p reconcile.Pause) error {
	var bad domain.Invalid
	if strings.TrimSpace(p.Reason) == "" || len(p.Reason) > 2000 || strings.ContainsFunc(p.Reason, unicode.IsControl) {
		bad.Add("reason", "give the reason in one line; everyone who waits sees it")
	}
	if p.Until != nil && (p.Until.Before(time.Now()) || p.Until.After(time.Now().AddDate(1, 0, 0))) {
		bad.Add("until", "must lie ahead, by a year at most")
	}
	if err := bad.OrNil(); err != nil {
		return err
	}
	p.By = call.Actor.Name
	return in.do(ctx, call, func(tx *store.Tx) error {
		if p.ObjectID != uuid.Nil {
			if err := reconcile.Watched(ctx, tx.Reader, p.Policy, p.ObjectID); err != nil {
				return err
			}
		}
		if err := reconcile.SetPause(ctx, tx.Tx, p); err != nil {
			return err
		}
		return policyEvent(ctx, tx, call, "policy.pause", p.Policy, p.ObjectID, nil, pauseFields(p))
	})
}

// ResumePolicy ends a pause. What became due meanwhile is run at once.
func (in *Intents) ResumePolicy(ctx context.Context, call Call, policy string, object uuid.UUID) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		p, err := reconcile.Resume(ctx, tx.Tx, policy, object)
		if err != nil {
			return err
		}
		before := pauseFields(p)
		before["by"], before["since"] = p.By, p.At.UTC().Format(time.RFC3339)
		return policyEvent(ctx, tx, call, "policy.resume", policy, object, before, nil)
	})
}

// RunPolicy makes an item due now.
func (in *Intents) RunPolicy(ctx context.Context, call Call, policy string, object uuid.UUID) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		token, err := reconcile.Wake(ctx, tx.Tx, policy, object)
		if err != nil {
			return err
		}
		return policyEvent(ctx, tx, call, "policy.run", policy, object, nil, map[string]any{"token": token})
	})
}

func pauseFields(p reconcile.Pause) map[string]any {
	fields := map[string]any{"mode": p.Mode, "reason": p.Reason}
	if p.Until != nil {
		fields["until"] = p.Until.UTC().Format(time.RFC3339)
	}
	return fields
}

// policyEvent tells of a policy, or of the object that all policies are paused for.
func policyEvent(ctx context.Context, tx *store.Tx, call Call, action, policy string, object uuid.UUID, before, after map[string]any) error {
	a := store.Audit{
		Workspace: domain.DefaultWorkspace, Action: action, ObjectKind: reconcile.PolicyNoun, ObjectID: reconcile.PolicyID(policy), ObjectName: policy,
		Before: before, After: after,
	}
	if object != uuid.Nil {
		if a.After == nil {
			a.After = map[string]any{}
		}
		a.After["object_id"] = object
	}
	if policy == "" {
		a.ObjectName = "all policies of an object"
	}
	if err := tx.AddEvent(ctx, call.Actor, a); err != nil {
		return err
	}
	return recordMade(ctx, tx, call, reconcile.PolicyNoun, uuid.Nil, uuid.Nil)
}
