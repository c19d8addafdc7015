package iamhttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// Permissions on approval rules.
const (
	readApprovalRules   = "organization.approval_rule:read"
	createApprovalRules = "organization.approval_rule:create"
	changeApprovalRules = "organization.approval_rule:update"
	deleteApprovalRules = "organization.approval_rule:delete"
)

// approvalRules is the routes of approval rules.
type approvalRules struct{ handlers }

func (h approvalRules) register() {
	s := h.server
	httpapi.Register(s, "list-approval-rules", h.list)
	httpapi.Register(s, "create-approval-rule", h.create, httpapi.Created, httpapi.Example(api.CreateApprovalRule{
		Name: "two-for-removal", Scope: "default", Kinds: []string{"host_decommission"}, Approvals: 2, Hours: 24,
	}))
	httpapi.Register(s, "get-approval-rule", h.get)
	httpapi.Register(s, "change-approval-rule", h.change, httpapi.Example(map[string]any{"approvals": 1}))
	httpapi.Register(s, "delete-approval-rule", h.delete)
}

func (h approvalRules) list(ctx context.Context, in *struct{ api.ApprovalRuleFilter }) (*httpapi.Object[api.Page[api.ApprovalRule]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	named, err := h.theOne(ctx, a, in.Scope)
	if err != nil {
		return nil, err
	}
	at, _, err := h.scopeAt(ctx, a, named, readApprovalRules)
	if err != nil {
		return nil, err
	}
	rules, err := iam.ApprovalRules(ctx, h.server.DB().Reader, at)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(rules, func(r iam.ApprovalRule) api.ApprovalRule { return presentApprovalRule(a, r) }), nil
}

func presentApprovalRule(a asker, r iam.ApprovalRule) api.ApprovalRule {
	at := r.At()
	return api.ApprovalRule{
		ID: r.ID.String(), Name: r.Name, ScopeKind: r.Scope, ScopeID: r.ScopeID.String(), Scope: r.Path, Kinds: r.Kinds,
		Approvals: int(r.Approvals), Hours: int(r.Hours), Version: r.Version, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Operations: []api.Operation{a.operation("change", changeApprovalRules, at, nil), a.operation("delete", deleteApprovalRules, at, nil)},
	}
}

func (h approvalRules) create(ctx context.Context, in *struct{ Body api.CreateApprovalRule }) (*httpapi.Versioned[api.ApprovalRule], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	at, ref, err := h.scopeAt(ctx, a, in.Body.Scope, createApprovalRules)
	if err != nil {
		return nil, err
	}
	draft := iam.ApprovalRuleDraft{Name: in.Body.Name, Kinds: in.Body.Kinds, Approvals: int64(in.Body.Approvals), Hours: int64(in.Body.Hours)}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateApprovalRule(ctx, tx, ref, at.Kind, draft, api.PlannedKinds(), h.Release)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, a, made.Object)
}

// rule finds a rule that the caller sees, and asks for a permission at its scope.
func (h approvalRules) rule(ctx context.Context, text, permission string) (asker, scope.Ref[iam.ApprovalRule], error) {
	none := scope.Ref[iam.ApprovalRule]{}
	a, err := h.asker(ctx)
	if err != nil {
		return a, none, err
	}
	id, ok := httpapi.ID(text)
	if !ok {
		return a, none, fault.ErrNotFound
	}
	_, at, ref, err := iam.FindApprovalRule(ctx, h.server.DB().Reader, a.viewer, id)
	if err == nil {
		err = a.needs(permission, at)
	}
	return a, ref, err
}

func (h approvalRules) shown(ctx context.Context, a asker, id uuid.UUID) (*httpapi.Versioned[api.ApprovalRule], error) {
	r, _, _, err := iam.FindApprovalRule(ctx, h.server.DB().Reader, a.viewer, id)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.ApprovalRule]{ETag: httpapi.ETag(r.Version), Body: presentApprovalRule(a, r)}, nil
}

func (h approvalRules) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.ApprovalRule], error) {
	a, ref, err := h.rule(ctx, in.ID, readApprovalRules)
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, a, ref.ID())
}

func (h approvalRules) change(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeApprovalRule
},
) (*httpapi.Versioned[api.ApprovalRule], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	a, ref, err := h.rule(ctx, in.ID, changeApprovalRules)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.ChangeApprovalRule(ctx, tx, ref, version, api.PlannedKinds(), h.Release, func(d *iam.ApprovalRuleDraft) {
			if in.Body.Name != nil {
				d.Name = *in.Body.Name
			}
			if in.Body.Kinds != nil {
				d.Kinds = *in.Body.Kinds
			}
			if in.Body.Approvals != nil {
				d.Approvals = int64(*in.Body.Approvals)
			}
			if in.Body.Hours != nil {
				d.Hours = int64(*in.Body.Hours)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, a, ref.ID())
}

func (h approvalRules) delete(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, ref, err := h.rule(ctx, in.ID, deleteApprovalRules)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.DeleteApprovalRule(ctx, tx, ref, version)
	})
	return nil, err
}
