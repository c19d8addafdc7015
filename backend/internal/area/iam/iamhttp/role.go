package iamhttp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// roleHandlers answers the routes about roles.
type roleHandlers struct{ handlers }

// Permissions on roles.
const (
	readRoles   = "organization.role:read"
	createRoles = "organization.role:create"
	changeRoles = "organization.role:update"
	deleteRoles = "organization.role:delete"
)

func (h roleHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-roles", h.listRoles)
	httpapi.Register(s, "create-role", h.createRole, httpapi.Created, httpapi.Example(api.CreateRole{Name: "watcher", Permissions: []string{"project.workspace.host:read"}}))
	httpapi.Register(s, "get-role", h.getRole)
	httpapi.Register(s, "change-role", h.changeRole, httpapi.Example(map[string]any{"description": "sees hosts"}))
	httpapi.Register(s, "delete-role", h.deleteRole)
	httpapi.Register(s, "get-access", h.getAccess)
}

func grantable() []string { return iam.Grantable(api.Permissions()) }

func (h roleHandlers) listRoles(ctx context.Context, in *struct{ api.RoleFilter }) (*httpapi.Object[api.Page[api.Role]], error) {
	_, at, err := h.organizationAt(ctx, in.Organization, readRoles)
	if err != nil {
		return nil, err
	}
	own, err := iam.CustomRoles(ctx, h.server.DB().Reader, at.ID)
	if err != nil {
		return nil, err
	}
	var all []api.Role
	for _, r := range iam.Roles {
		if !r.Installation {
			all = append(all, api.Role{Name: r.Name, Description: r.Means, BuiltIn: true, Permissions: slices.Sorted(maps.Keys(h.roles[r.Name]))})
		}
	}
	for _, r := range own {
		all = append(all, presentRole(r))
	}
	return httpapi.Whole(all, func(r api.Role) api.Role { return r }), nil
}

func (h roleHandlers) createRole(ctx context.Context, in *struct{ Body api.CreateRole }) (*httpapi.Versioned[api.Role], error) {
	a, at, err := h.organizationAt(ctx, in.Body.Organization, createRoles)
	if err != nil {
		return nil, err
	}
	_, ref, err := iam.Organizations.Find(ctx, h.server.DB().Reader, a.viewer, at.ID.String())
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateRole(ctx, tx, a.may, grantable(), ref, iam.RoleDraft{Name: in.Body.Name, Description: in.Body.Description, Permissions: in.Body.Permissions})
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shownRole(ctx, a, made.Object)
}

// role finds a role that the caller sees, and asks for a permission in its organization.
func (h roleHandlers) role(ctx context.Context, text, permission string) (asker, iam.CustomRole, scope.Ref[iam.CustomRole], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return a, iam.CustomRole{}, scope.Ref[iam.CustomRole]{}, err
	}
	id, ok := httpapi.ID(text)
	if !ok {
		return a, iam.CustomRole{}, scope.Ref[iam.CustomRole]{}, fault.ErrNotFound
	}
	role, at, ref, err := iam.FindRole(ctx, h.server.DB().Reader, a.viewer, id)
	if err == nil {
		err = a.needs(permission, at)
	}
	return a, role, ref, err
}

func (h roleHandlers) shownRole(ctx context.Context, a asker, id uuid.UUID) (*httpapi.Versioned[api.Role], error) {
	role, _, _, err := iam.FindRole(ctx, h.server.DB().Reader, a.viewer, id)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.Role]{ETag: httpapi.ETag(role.Version), Body: presentRole(role)}, nil
}

func (h roleHandlers) getRole(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Role], error) {
	a, role, _, err := h.role(ctx, in.ID, readRoles)
	if err != nil {
		return nil, err
	}
	return h.shownRole(ctx, a, role.ID)
}

func (h roleHandlers) changeRole(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeRole
},
) (*httpapi.Versioned[api.Role], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	a, _, ref, err := h.role(ctx, in.ID, changeRoles)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		_, err := iam.ChangeRole(ctx, tx, a.may, grantable(), ref, version, func(d *iam.RoleDraft) {
			if in.Body.Name != nil {
				d.Name = *in.Body.Name
			}
			if in.Body.Description != nil {
				d.Description = *in.Body.Description
			}
			if in.Body.Permissions != nil {
				d.Permissions = *in.Body.Permissions
			}
		})
		return ref.ID(), err
	})
	if err != nil {
		return nil, err
	}
	return h.shownRole(ctx, a, ref.ID())
}

func (h roleHandlers) deleteRole(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, _, ref, err := h.role(ctx, in.ID, deleteRoles)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.DeleteRole(ctx, tx, ref, version)
	})
	return nil, err
}

func presentRole(r iam.CustomRole) api.Role {
	return api.Role{ID: r.ID.String(), Name: r.Name, Description: r.Description, Permissions: r.Permissions, Version: r.Version, UpdatedAt: &r.UpdatedAt}
}

// getAccess says whether the caller may do something, by which grants, or which roles would allow it.
func (h roleHandlers) getAccess(ctx context.Context, in *struct{ api.AccessQuery }) (*httpapi.Object[api.Access], error) {
	if in.Permission == api.Own || !slices.Contains(api.Permissions(), in.Permission) {
		return nil, httpapi.BadField("permission", "There is no such permission.")
	}
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	out := api.Access{Permission: in.Permission, By: []api.AccessGrant{}, Roles: []string{}}
	at := iam.Scope{}
	if in.Object != "" {
		if at, err = iam.FindPlace(ctx, h.server.DB().Reader, a.viewer, in.Object); err != nil {
			return nil, err
		}
		out.At = at.Path()
	}
	for _, g := range a.access.By(in.Permission, at.Place()) {
		out.By = append(out.By, api.AccessGrant{Role: g.Role, ScopeKind: string(g.Level), ScopeID: g.ID.String(), Source: g.Source})
	}
	for _, r := range iam.Roles {
		if h.roles[r.Name][in.Permission] {
			out.Roles = append(out.Roles, r.Name)
		}
	}
	out.Allowed = len(out.By) > 0
	where := out.At
	if where == "" {
		where = "the installation"
	}
	switch {
	case out.Allowed:
		out.Why = "You have the role " + out.By[0].Role + " at the " + out.By[0].ScopeKind + "."
	case a.access.Proved().At(in.Permission, at.Place()):
		out.Why = "Your account may with a second factor, which the organization asks for."
	case a.access.Limited(scope.Limit{}).At(in.Permission, at.Place()):
		out.Why = "Your account may, and this token is narrowed to less."
	default:
		out.Why = "No role that you have at " + where + " or above permits it. One of these would: " + strings.Join(out.Roles, ", ") + "."
	}
	return &httpapi.Object[api.Access]{Body: out}, nil
}
