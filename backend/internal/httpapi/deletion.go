package httpapi

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// Cascade is how scopes of one kind are deleted with all that is in them. The area of scopes hands it in; plans are known here.
type Cascade struct {
	Noun string // of the scope
	// Find finds a scope that the bearer may delete with all that is in it, by id or path.
	Find func(ctx context.Context, text string) (CascadeScope, error)
}

// CascadeScope is a scope that can be deleted so.
type CascadeScope struct {
	ID      uuid.UUID
	Version int64
	Shown   api.Scope
}

// RegisterCascade registers the route of a deletion.
func RegisterCascade(s *Server, c Cascade) {
	register(s, "cascade-"+c.Noun, planHandlers{s}.cascade(c), orPlan[api.Scope](s))
}

type cascadeInput struct {
	ByID
	api.ListPlanning
	Body api.Cascade
}

func (s planHandlers) cascade(c Cascade) func(context.Context, *cascadeInput) (*planned, error) {
	return func(ctx context.Context, in *cascadeInput) (*planned, error) {
		found, err := c.Find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case in.Plan && in.PlanID != "":
			return nil, badField("plan_id", "can't be given together with plan=true")
		case in.Plan:
			return s.planListed(ctx, func(ctx context.Context, call intent.Call) (uuid.UUID, error) {
				return s.intents.PlanDeletion(ctx, call, c.Noun, found.ID)
			})
		case in.PlanID == "":
			return s.cascadeEmpty(ctx, c, found, in.Body.Confirm)
		}
		plan, ok := id(in.PlanID)
		if !ok {
			return nil, badField("plan_id", "must be an id")
		}
		if p, err := s.db.Plan(ctx, plan); err != nil || p.ScopeID == nil || *p.ScopeID != found.ID {
			return nil, orError(err, domain.ErrNotFound)
		}
		m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
			job, err := s.intents.DeleteScope(ctx, call, intent.Cascade{Kind: c.Noun, ID: found.ID, Plan: plan, Confirm: in.Body.Confirm, Release: s.cfg.Version})
			return made{object: found.ID, job: job}, err
		})
		if err != nil {
			return nil, err
		}
		after, err := c.Find(ctx, found.ID.String())
		if err != nil {
			return nil, err
		}
		return &planned{Location: jobURL(m.job), ETag: etag(after.Version), Body: after.Shown}, nil
	}
}

// cascadeEmpty deletes a scope without workspaces at once. Any other one needs a plan.
func (s planHandlers) cascadeEmpty(ctx context.Context, c Cascade, found CascadeScope, confirm string) (*planned, error) {
	_, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		err := s.intents.DeleteEmptyScope(ctx, call, intent.Cascade{Kind: c.Noun, ID: found.ID, Confirm: confirm, Release: s.cfg.Version})
		return made{object: found.ID}, err
	})
	if err != nil {
		return nil, err
	}
	found.Shown.State, found.Shown.Operations = "deleting", []api.Operation{}
	return &planned{Body: found.Shown}, nil
}

func orError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// deciderOf is who decides about a plan: about the deletion of a scope, those who may approve plans in all of it.
func (s planHandlers) deciderOf(ctx context.Context, p store.Plan) intent.Decider {
	by := decider(ctx)
	if p.ScopeID == nil {
		return by
	}
	route, _ := api.RouteOf("approve-plan")
	at, err := s.db.PlaceOfScope(ctx, scope.Level(*p.Scope), *p.ScopeID)
	by.Narrow = err != nil || !AccessOf(ctx).At(route.Permission, at)
	return by
}
