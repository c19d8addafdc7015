package iamhttp

import (
	"context"
	"net/url"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// scopeHandlers answers the routes about organizations, projects and workspaces.
type scopeHandlers struct{ handlers }

// Permissions on scopes.
const (
	createOrganization  = "installation.organization:create"
	changeOrganization  = "organization:update"
	suspendOrganization = "installation.organization:suspend"
	deleteOrganization  = "organization:delete"
	createProject       = "project:create"
	changeProject       = "project:update"
	suspendProject      = "project:suspend"
	deleteProject       = "project:delete"
	createWorkspace     = "project.workspace:create"
	changeWorkspace     = "project.workspace:update"
	suspendWorkspace    = "project.workspace:suspend"
	deleteWorkspace     = "project.workspace:delete"
)

// permissions on the scopes of one level.
type permissions struct{ change, suspend, remove string }

var permissionsOf = map[string]permissions{
	iam.OrganizationNoun: {changeOrganization, suspendOrganization, deleteOrganization},
	iam.ProjectNoun:      {changeProject, suspendProject, deleteProject},
	iam.WorkspaceNoun:    {changeWorkspace, suspendWorkspace, deleteWorkspace},
}

func (h scopeHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-organizations", h.listOrganizations, httpapi.Sorted(iam.ScopeSorting))
	httpapi.Register(s, "list-projects", h.listProjects, httpapi.Sorted(iam.ScopeSorting))
	httpapi.Register(s, "list-workspaces", h.listWorkspaces, httpapi.Sorted(iam.ScopeSorting))
	httpapi.Register(s, "create-organization", h.createOrganization, httpapi.Created, httpapi.Example(api.CreateOrganization{Name: "acme", Owner: "ada"}))
	httpapi.Register(s, "create-project", h.createProject, httpapi.Created, httpapi.Example(api.CreateProject{Name: "web", Organization: "acme"}))
	httpapi.Register(s, "create-workspace", h.createWorkspace, httpapi.Created, httpapi.Example(api.CreateWorkspace{Name: "production", Project: "acme/web", Type: "bare_metal"}))
	httpapi.Register(s, "move-workspace", h.moveWorkspace, httpapi.Example(api.MoveWorkspace{Project: "acme/shop"}))
	httpapi.Register(s, "require-second-factor", h.secondFactor(true))
	httpapi.Register(s, "waive-second-factor", h.secondFactor(false))
	httpapi.Register(s, "list-object-conditions", h.listObjectConditions)
	for _, level := range []iam.Level{iam.Organizations, iam.Projects, iam.Workspaces} {
		l := onLevel{h.handlers, level, permissionsOf[level.Noun]}
		httpapi.Register(s, "get-"+level.Noun, l.get)
		httpapi.Register(s, "change-"+level.Noun, l.change, httpapi.Example(map[string]any{"name": "acme"}))
		httpapi.Register(s, "suspend-"+level.Noun, l.suspend)
		httpapi.Register(s, "resume-"+level.Noun, l.resume)
		httpapi.Register(s, "delete-"+level.Noun, l.remove)
	}
}

func (h handlers) list(ctx context.Context, route string, level iam.Level, q api.PageQuery, filters []string, f iam.ScopeFilter, a asker) (*httpapi.Object[api.Page[api.Scope]], error) {
	return httpapi.PageOf(h.server, route, q, filters, iam.ScopeSorting,
		func(after *db.Position, limit int) ([]iam.Scope, error) {
			f.Sort, f.After, f.Limit = q.Sort, after, limit
			return level.List(ctx, h.server.DB().Reader, a.viewer, f)
		},
		a.presentScope)
}

func (h scopeHandlers) listOrganizations(ctx context.Context, in *struct{ api.OrganizationFilter }) (*httpapi.Object[api.Page[api.Scope]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	return h.list(ctx, "list-organizations", iam.Organizations, in.PageQuery, []string{in.State}, iam.ScopeFilter{State: in.State}, a)
}

func (h scopeHandlers) listProjects(ctx context.Context, in *struct{ api.ProjectFilter }) (*httpapi.Object[api.Page[api.Scope]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	f := iam.ScopeFilter{State: in.State}
	if f.Organization, err = h.filter(ctx, a, iam.Organizations, in.Organization); err != nil {
		return nil, err
	}
	return h.list(ctx, "list-projects", iam.Projects, in.PageQuery, []string{in.Organization, in.State}, f, a)
}

func (h scopeHandlers) listWorkspaces(ctx context.Context, in *struct{ api.WorkspaceFilter }) (*httpapi.Object[api.Page[api.Scope]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	f := iam.ScopeFilter{State: in.State}
	if f.Organization, err = h.filter(ctx, a, iam.Organizations, in.Organization); err != nil {
		return nil, err
	}
	if f.Project, err = h.filter(ctx, a, iam.Projects, in.Project); err != nil {
		return nil, err
	}
	return h.list(ctx, "list-workspaces", iam.Workspaces, in.PageQuery, []string{in.Organization, in.Project, in.State}, f, a)
}

// filter is the id of a scope that narrows a list; uuid.Nil for none.
func (h scopeHandlers) filter(ctx context.Context, a asker, level iam.Level, text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, nil
	}
	found, _, err := level.Find(ctx, h.server.DB().Reader, a.viewer, text)
	return found.ID, filterOf(level.Noun, err)
}

func (h scopeHandlers) createOrganization(ctx context.Context, in *struct{ Body api.CreateOrganization }) (*httpapi.Versioned[api.Scope], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	owner := a.viewer.Account
	if in.Body.Owner != "" {
		account, err := iam.FindAccount(ctx, h.server.DB().Reader, uuid.Nil, in.Body.Owner)
		if err != nil {
			return nil, filterOf("owner", err)
		}
		owner = account.ID
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateOrganization(ctx, tx, h.Keys, iam.NewOrganization{Name: in.Body.Name, Owner: owner, Release: h.Release})
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, iam.Organizations, made.Object)
}

// parent finds a scope in which something is to be made, and asks for the permission there.
func (h scopeHandlers) parent(ctx context.Context, level iam.Level, text, permission string) (scope.Ref[iam.Scope], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return scope.Ref[iam.Scope]{}, err
	}
	found, ref, err := level.Find(ctx, h.server.DB().Reader, a.viewer, text)
	if err != nil {
		return scope.Ref[iam.Scope]{}, filterOf(level.Noun, err)
	}
	return ref, a.needs(permission, found)
}

func (h scopeHandlers) createProject(ctx context.Context, in *struct{ Body api.CreateProject }) (*httpapi.Versioned[api.Scope], error) {
	parent, err := h.parent(ctx, iam.Organizations, in.Body.Organization, createProject)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateProject(ctx, tx, parent, in.Body.Name)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, iam.Projects, made.Object)
}

func (h scopeHandlers) createWorkspace(ctx context.Context, in *struct{ Body api.CreateWorkspace }) (*httpapi.Versioned[api.Scope], error) {
	parent, err := h.parent(ctx, iam.Projects, in.Body.Project, createWorkspace)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateWorkspace(ctx, tx, parent, in.Body.Name, in.Body.Type)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, iam.Workspaces, made.Object)
}

func (h scopeHandlers) moveWorkspace(ctx context.Context, in *struct {
	httpapi.Change
	Body api.MoveWorkspace
},
) (*httpapi.Versioned[api.Scope], error) {
	target, err := h.parent(ctx, iam.Projects, in.Body.Project, createWorkspace)
	if err != nil {
		return nil, err
	}
	l := onLevel{h.handlers, iam.Workspaces, permissionsOf[iam.WorkspaceNoun]}
	return l.do(ctx, in.Change, changeWorkspace, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope], version int64) (iam.Scope, error) {
		return iam.MoveWorkspace(ctx, tx, ref, version, target)
	})
}

// shown is a scope as it is after a change.
func (h handlers) shown(ctx context.Context, level iam.Level, id uuid.UUID) (*httpapi.Versioned[api.Scope], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	found, _, err := level.Find(ctx, h.server.DB().Reader, a.viewer, id.String())
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.Scope]{ETag: httpapi.ETag(found.Version), Body: a.presentScope(found)}, nil
}

// onLevel is what is the same for the scopes of each level.
type onLevel struct {
	handlers
	level iam.Level
	permissions
}

// path is an id or a path out of the address of a request, where the slashes of a path are escaped.
func path(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

func (l onLevel) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Scope], error) {
	a, err := l.asker(ctx)
	if err != nil {
		return nil, err
	}
	found, _, err := l.level.Find(ctx, l.server.DB().Reader, a.viewer, path(in.ID))
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.Scope]{ETag: httpapi.ETag(found.Version), Body: a.presentScope(found)}, nil
}

// do runs an intent on a scope that the caller sees and may change so.
func (l onLevel) do(ctx context.Context, in httpapi.Change, permission string,
	run func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope], version int64) (iam.Scope, error),
) (*httpapi.Versioned[api.Scope], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	a, err := l.asker(ctx)
	if err != nil {
		return nil, err
	}
	found, ref, err := l.level.Find(ctx, l.server.DB().Reader, a.viewer, path(in.ID))
	if err != nil {
		return nil, err
	}
	if err := a.needs(permission, found); err != nil {
		return nil, err
	}
	_, err = l.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		_, err := run(ctx, tx, ref, version)
		return ref.ID(), err
	})
	if err != nil {
		return nil, err
	}
	return l.shown(ctx, l.level, ref.ID())
}

func (l onLevel) change(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeScope
},
) (*httpapi.Versioned[api.Scope], error) {
	return l.do(ctx, in.Change, l.permissions.change, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope], version int64) (iam.Scope, error) {
		return l.level.Rename(ctx, tx, ref, version, in.Body.Name)
	})
}

func (l onLevel) suspend(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Scope], error) {
	return l.do(ctx, *in, l.permissions.suspend, l.level.Suspend)
}

func (l onLevel) resume(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Scope], error) {
	return l.do(ctx, *in, l.permissions.suspend, l.level.Resume)
}

// secondFactor says whether an organization asks for a second factor. Who asks for it has proved one: so nobody locks out
// themselves, or all.
func (h scopeHandlers) secondFactor(required bool) func(context.Context, *httpapi.Change) (*httpapi.Versioned[api.Scope], error) {
	l := onLevel{h.handlers, iam.Organizations, permissionsOf[iam.OrganizationNoun]}
	return func(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Scope], error) {
		return l.do(ctx, *in, changeOrganization, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Scope], version int64) (iam.Scope, error) {
			if httpapi.SecondFactorOf(ctx) == "" {
				return iam.Scope{}, scope.ErrSecondFactor
			}
			return iam.RequireSecondFactor(ctx, tx, ref, version, required, h.Release)
		})
	}
}

func (l onLevel) remove(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	a, err := l.asker(ctx)
	if err != nil {
		return nil, err
	}
	found, ref, err := l.level.Find(ctx, l.server.DB().Reader, a.viewer, path(in.ID))
	if err != nil {
		return nil, err
	}
	if err := a.needs(l.permissions.remove, found); err != nil {
		return nil, err
	}
	_, err = l.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), l.level.Remove(ctx, tx, ref, version)
	})
	return nil, err
}

func (a asker) presentScope(s iam.Scope) api.Scope {
	out := api.Scope{
		ID: s.ID.String(), Kind: s.Kind, Name: s.Name, Path: s.Path(), OrganizationID: s.OrganizationID.String(), Organization: s.OrganizationName,
		Project: s.ProjectName, Type: s.Type, State: string(s.State), StateMeans: iam.ScopeLifecycle.Info(s.State).Means, SuspendedBy: s.SuspendedBy, SecondFactorRequired: s.SecondFactor,
		Version: s.Version, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	if s.ProjectID != nil {
		out.ProjectID = s.ProjectID.String()
	}
	needs := permissionsOf[s.Kind]
	out.Operations = []api.Operation{a.operation("change", needs.change, s, s.CanWrite())}
	if s.Kind == iam.WorkspaceNoun {
		out.Operations = append(out.Operations, a.operation("move", needs.change, s, s.CanWrite()))
	}
	if s.Kind == iam.OrganizationNoun {
		require := s.CanRequireSecondFactor()
		if require == nil && a.viewer.Unproved {
			require = fault.Conflictf("second_factor_required", "Log in with a second factor yourself first.")
		}
		out.Operations = append(out.Operations, a.operation("require-second-factor", changeOrganization, s, require),
			a.operation("waive-second-factor", changeOrganization, s, s.CanWaiveSecondFactor()))
	}
	if s.DeletionJob != nil && s.DeletionWorkspace != nil {
		out.Deletion = &api.ScopeDeletion{JobID: s.DeletionJob.String(), Workspace: s.DeletionWorkspace.String(), State: s.DeletionState}
	}
	out.Operations = append(out.Operations, a.operation("suspend", needs.suspend, s, s.CanSuspend()), a.operation("resume", needs.suspend, s, s.CanResume()),
		a.operation("delete", needs.remove, s, s.CanDelete()), a.operation("cascade", needs.remove, s, s.CanDeleteAll()))
	return out
}
