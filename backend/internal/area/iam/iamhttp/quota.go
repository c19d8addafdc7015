package iamhttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// quotaHandlers answers the routes about quotas.
type quotaHandlers struct{ handlers }

// Permissions on quotas. Who sets one has the permission in the scope above: nobody
// raises what bounds themselves.
const (
	readQuotas = "organization.quota:read"
	setQuotas  = "organization.quota:set"
)

func (h quotaHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-quotas", h.listQuotas)
	httpapi.Register(s, "set-quota", h.setQuota, httpapi.Example(api.SetQuota{Scope: "acme/web", Resource: "cpus", Amount: 64}))
	httpapi.Register(s, "remove-quota", h.removeQuota, httpapi.Example(api.QuotaOf{Scope: "acme/web", Resource: "cpus"}), func(o *huma.Operation) { o.DefaultStatus = http.StatusNoContent })
}

func (h quotaHandlers) listQuotas(ctx context.Context, in *struct{ api.QuotaFilter }) (*httpapi.Object[api.Page[api.Quota]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	named, err := h.theOne(ctx, a, in.Scope)
	if err != nil {
		return nil, err
	}
	at, _, err := h.scopeAt(ctx, a, named, readQuotas)
	if err != nil {
		return nil, err
	}
	read := iam.QuotasIn
	if at.Kind == iam.WorkspaceNoun {
		read = iam.QuotasOver
	}
	quotas, err := read(ctx, h.server.DB().Reader, at.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(quotas, presentQuota), nil
}

// limited finds a scope for whose quotas the caller has the permission in the scope above.
func (h quotaHandlers) limited(ctx context.Context, text string) (iam.Scope, error) {
	a, err := h.asker(ctx)
	if err != nil {
		return iam.Scope{}, err
	}
	at, _, err := iam.FindScope(ctx, h.server.DB().Reader, a.viewer, text)
	if err != nil {
		return iam.Scope{}, filterOf("scope", err)
	}
	above := at.Place()
	switch at.Kind {
	case iam.OrganizationNoun:
		above = scope.Place{}
	case iam.ProjectNoun:
		above.Project = uuid.Nil
	default:
		above.Workspace = uuid.Nil
	}
	if !a.access.At(setQuotas, above) {
		return iam.Scope{}, httpapi.Forbidden(setQuotas + " in the scope above")
	}
	return at, nil
}

func (h quotaHandlers) setQuota(ctx context.Context, in *struct{ Body api.SetQuota }) (*httpapi.Object[api.Quota], error) {
	at, err := h.limited(ctx, in.Body.Scope)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return at.ID, iam.SetQuota(ctx, tx, at, in.Body.Resource, in.Body.Amount)
	})
	if err != nil {
		return nil, err
	}
	q, err := iam.FindQuota(ctx, h.server.DB().Reader, at.ID, in.Body.Resource)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Quota]{Body: presentQuota(q)}, nil
}

func (h quotaHandlers) removeQuota(ctx context.Context, in *struct{ Body api.QuotaOf }) (*httpapi.Nothing, error) {
	at, err := h.limited(ctx, in.Body.Scope)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return at.ID, iam.RemoveQuota(ctx, tx, at, in.Body.Resource)
	})
	return nil, err
}

func presentQuota(q iam.Quota) api.Quota {
	return api.Quota{
		Scope: q.Path, ScopeKind: string(q.Level), ScopeID: q.ScopeID.String(), Resource: q.Resource, Amount: q.Amount, Used: max(0, q.Used),
		Version: q.Version, UpdatedBy: q.UpdatedBy, UpdatedAt: q.UpdatedAt,
	}
}
