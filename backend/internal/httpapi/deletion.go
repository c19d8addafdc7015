package httpapi

import (
	"context"
	"net/url"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// cascades are the deletions of scopes with all that is in them. Their plans are like those of hosts, so they stand beside them.
func (s *Server) registerCascades() {
	for _, level := range []iam.Level{iam.Organizations, iam.Projects, iam.Workspaces} {
		register(s, "cascade-"+level.Noun, s.cascade(level), orPlan[api.Scope](s))
	}
}

// cascadePermissions are what somebody needs, at the scope that goes, to delete all that is in it.
var cascadePermissions = map[string][]string{
	iam.OrganizationNoun: {"organization:delete", "project:delete", "project.workspace:delete", "project.workspace.allocation:delete"},
	iam.ProjectNoun:      {"project:delete", "project.workspace:delete", "project.workspace.allocation:delete"},
	iam.WorkspaceNoun:    {"project.workspace:delete", "project.workspace.allocation:delete"},
}

// cascadable finds a scope that the bearer may delete with all that is in it.
func (s *Server) cascadable(ctx context.Context, level iam.Level, text string) (iam.Scope, error) {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	bearer := requestOf(ctx).bearer
	limit := AccessOf(ctx).Limit()
	access, err := scope.AccessOf(ctx, s.db.Reader, bearer.AccountID, s.roles)
	if err != nil {
		return iam.Scope{}, err
	}
	access = access.Limited(limit)
	found, _, err := level.Find(ctx, s.db.Reader, iam.Viewer{Account: bearer.AccountID, Within: limit.ID, Unproved: limit.Unproved}, text)
	if err != nil {
		return iam.Scope{}, err
	}
	for _, permission := range cascadePermissions[level.Noun] {
		switch {
		case access.At(permission, found.Place()):
		case access.Proved().At(permission, found.Place()):
			return iam.Scope{}, scope.ErrSecondFactor
		default:
			return iam.Scope{}, forbidden(permission)
		}
	}
	return found, nil
}

// PresentScopes says how a scope is shown, which the area of scopes knows.
func (s *Server) PresentScopes(present func(context.Context, iam.Scope) (api.Scope, error)) {
	s.presentScope = present
}

type cascadeInput struct {
	ByID
	api.CascadePlanning
	Body api.Cascade
}

func (s *Server) cascade(level iam.Level) func(context.Context, *cascadeInput) (*planned, error) {
	return func(ctx context.Context, in *cascadeInput) (*planned, error) {
		found, err := s.cascadable(ctx, level, in.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case in.Plan && in.PlanID != "":
			return nil, badField("plan_id", "can't be given together with plan=true")
		case in.Plan:
			return s.planCascade(ctx, level, found)
		case in.PlanID == "":
			return nil, domain.Conflictf("plan_required", "a scope is deleted with all that is in it by a plan only; create a plan of it first (plan=true)")
		}
		plan, ok := id(in.PlanID)
		if !ok {
			return nil, badField("plan_id", "must be an id")
		}
		if p, err := s.db.Plan(ctx, plan); err != nil || p.ScopeID == nil || *p.ScopeID != found.ID {
			return nil, orError(err, domain.ErrNotFound)
		}
		m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
			job, err := s.intents.DeleteScope(ctx, call, intent.Cascade{Kind: level.Noun, ID: found.ID, Plan: plan, Confirm: in.Body.Confirm, Release: s.cfg.Version})
			return made{object: found.ID, job: job}, err
		})
		if err != nil {
			return nil, err
		}
		after, err := s.cascadable(ctx, level, found.ID.String())
		if err != nil {
			return nil, err
		}
		shown, err := s.presentScope(ctx, after)
		if err != nil {
			return nil, err
		}
		return &planned{Location: jobURL(m.job), ETag: etag(after.Version), Body: shown}, nil
	}
}

func orError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func (s *Server) planCascade(ctx context.Context, level iam.Level, found iam.Scope) (*planned, error) {
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		plan, err := s.intents.PlanDeletion(ctx, call, level.Noun, found.ID)
		return made{object: plan}, err
	})
	if err != nil {
		return nil, err
	}
	p, err := s.db.Plan(ctx, m.object)
	if err != nil {
		return nil, err
	}
	shown, err := planHandlers{s}.shownPlan(ctx, p)
	if err != nil {
		return nil, err
	}
	return &planned{Body: shown}, nil
}

// deciderOf is who decides about a plan: about the deletion of a scope, those who may approve plans in all of it.
func (s *Server) deciderOf(ctx context.Context, p store.Plan) intent.Decider {
	by := decider(ctx)
	if p.ScopeID == nil {
		return by
	}
	route, _ := api.RouteOf("approve-plan")
	at, err := iam.PlaceOfScope(ctx, s.db.Reader, scope.Level(*p.Scope), *p.ScopeID)
	by.Narrow = err != nil || !AccessOf(ctx).At(route.Permission, at)
	return by
}
