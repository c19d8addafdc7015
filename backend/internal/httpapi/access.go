package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/recent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

const (
	// accessFor is how old the grants may be that a request is let through by. What
	// they refuse is looked up again, so that only the end of a grant waits for it.
	accessFor = 500 * time.Millisecond
	// accessAhead is the age from which grants are read anew while they still hold: who asks often never waits for them.
	accessAhead  = 200 * time.Millisecond
	accessWithin = 5 * time.Second
)

// whose is what places are looked up for: an account, and how it named a workspace.
type whose struct {
	account   uuid.UUID
	workspace string // "" where the request names none
}

// accesses remembers for a moment who may do what, and which workspace is meant.
type accesses struct {
	grants *recent.Reads[uuid.UUID, scope.Access]
	places *recent.Reads[whose, scope.Located]
}

func newAccesses(db *store.DB, roles map[string]map[string]bool) accesses {
	return accesses{
		grants: &recent.Reads[uuid.UUID, scope.Access]{For: accessFor, Ahead: accessAhead, Within: accessWithin, Read: func(ctx context.Context, account uuid.UUID) (scope.Access, error) {
			return scope.AccessOf(ctx, db.Reader, account, roles)
		}},
		places: &recent.Reads[whose, scope.Located]{For: accessFor, Ahead: accessAhead, Within: accessWithin, Read: func(ctx context.Context, w whose) (scope.Located, error) {
			return locate(ctx, db, w)
		}},
	}
}

// locate finds the workspace that a request is about. It does not look at who may
// see it.
func locate(ctx context.Context, db *store.DB, w whose) (scope.Located, error) {
	if u, ok := id(w.workspace); ok {
		return scope.WorkspaceByID(ctx, db.Reader, domain.ErrNotFound, u)
	}
	if w.workspace != "" {
		names := strings.Split(w.workspace, "/")
		if len(names) != 3 {
			return scope.Located{}, badWorkspace("must be an id, or organization/project/workspace")
		}
		for _, n := range names {
			if domain.CheckPlace(n) != nil {
				return scope.Located{}, domain.ErrNotFound
			}
		}
		return scope.WorkspaceByPath(ctx, db.Reader, domain.ErrNotFound, names[0], names[1], names[2])
	}
	seen, err := scope.WorkspacesOf(ctx, db.Reader, w.account, domain.DefaultWorkspace, 2)
	switch {
	case err != nil:
		return scope.Located{}, err
	case len(seen) == 0:
		return scope.Located{}, domain.ErrNotFound
	case len(seen) > 1 && seen[0].Workspace != domain.DefaultWorkspace:
		return scope.Located{}, errSeveral
	}
	return seen[0], nil
}

// errSeveral is the answer to who sees several workspaces and names none.
var errSeveral = badWorkspace("you see several workspaces; name one of them")

func badWorkspace(message string) error { return badField(api.WorkspaceHeader, message) }

// permit decides whether a request may go on, and finds the workspace that it is
// about. It looks at no object.
func (s admission) permit(ctx context.Context, permission string) error {
	err := s.permitFrom(ctx, permission, s.accesses.grants.Get, s.accesses.places.Get)
	if p := (*api.Problem)(nil); !errors.As(err, &p) { // let through, or not decided
		return err
	}
	fresh := newAccesses(s.db, s.roles) // what was refused may have been given a moment ago
	return s.permitFrom(ctx, permission, fresh.grants.Read, fresh.places.Read)
}

func (s admission) permitFrom(ctx context.Context, permission string,
	grants func(context.Context, uuid.UUID) (scope.Access, error), places func(context.Context, whose) (scope.Located, error),
) error {
	r := requestOf(ctx)
	access, err := grants(ctx, r.bearer.AccountID)
	if err != nil {
		return err // unreadable means closed
	}
	r.access = access.Limited(limitOf(*r.bearer))
	if permission == api.Own {
		return nil
	}
	r.at, err = lets(ctx, r, r.access, permission, places)
	if p := (*api.Problem)(nil); r.access.Limit().Unproved && errors.As(err, &p) {
		if _, err := lets(ctx, r, r.access.Proved(), permission, places); err == nil {
			return secondFactorRequired() // a problem, so that permit looks again
		}
	}
	return err
}

// lets decides by an access, and finds the workspace of a permission in one.
func lets(ctx context.Context, r *request, access scope.Access, permission string, places func(context.Context, whose) (scope.Located, error)) (scope.Located, error) {
	var none scope.Located
	level := scope.LevelOf(permission)
	if level == scope.Installation && !access.At(permission, scope.Place{}) || !access.Anywhere(permission) {
		return none, forbidden(permission)
	}
	if level != scope.Workspace {
		return none, nil
	}
	w := whose{workspace: r.workspace}
	if w.workspace == "" {
		w.account = r.bearer.AccountID
		if l := access.Limit(); l.Level == scope.Workspace {
			w.workspace = l.ID.String()
		}
	}
	at, err := places(ctx, w)
	if err == nil && !access.Sees(at.Place()) {
		err = domain.ErrNotFound
	}
	switch {
	case errors.Is(err, domain.ErrNotFound):
		return none, noWorkspace()
	case err != nil:
		return none, err
	case !access.At(permission, at.Place()):
		return none, forbidden(permission)
	}
	return at, nil
}

// secondFactorRequired is the answer to who has a permission, in an organization that
// asks for a second factor, and has proved none.
func secondFactorRequired() *api.Problem {
	return problem(http.StatusForbidden, "second_factor_required",
		"The organization asks for a second factor. Log in with a code or a passkey. Set one up on the page Your account, with kloigos second-factor, or at your identity provider.")
}

func noWorkspace() error {
	return problem(http.StatusNotFound, "workspace_not_found", "There is no such workspace, or you may not see it.")
}

// inWorkspace says of an operation that is about more than a workspace that the
// workspace of the request leads to it.
func inWorkspace(op *huma.Operation) { op.Parameters = append(op.Parameters, workspaceParameter()) }

func forbidden(permission string) error {
	return problem(http.StatusForbidden, "forbidden", fmt.Sprintf("You do not have the permission %s here.", permission))
}

// closed refuses what would change something where that is suspended, and what would add something where that is being deleted.
func (s admission) closed(ctx context.Context, route api.Route) error {
	r := requestOf(ctx)
	if r.at.Deleting && r.creates { // or it was a moment ago
		at, err := scope.WorkspaceByID(ctx, s.db.Reader, domain.ErrNotFound, r.at.Workspace)
		switch {
		case errors.Is(err, domain.ErrNotFound):
			return noWorkspace()
		case err != nil:
			return err
		case at.Deleting:
			return scope.ErrDeleting
		}
	}
	if !r.at.Suspended || route.Method == http.MethodGet {
		return nil
	}
	return domain.Conflictf("scope_suspended", "the workspace %s, or its project or organization, is suspended; nothing is changed in it", r.at.Path())
}

func limitOf(b store.Bearer) scope.Limit {
	l := scope.Limit{Unproved: b.Unproved()}
	if b.Permissions != nil {
		l.Permissions = scope.Set(b.Permissions)
	}
	if b.Scope != nil && b.ScopeID != nil {
		l.Level, l.ID = scope.Level(*b.Scope), *b.ScopeID
	}
	return l
}

func workspaceParameter() *huma.Param {
	length := 3*64 + 2
	return &huma.Param{
		Name: api.WorkspaceHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &length},
		Description: "the workspace that the request is about: an id, or organization/project/workspace. Without it: the only workspace that you see, or default/default/default",
	}
}

// AccessOf is what the bearer of a request may do, and where.
func AccessOf(ctx context.Context) scope.Access { return requestOf(ctx).access }

// PlaceOf is where the workspace of a request stands; zeros for a request that is
// about none.
func PlaceOf(ctx context.Context) scope.Place { return requestOf(ctx).at.Place() }

// BearerOf is the account of a request, and its token.
func BearerOf(ctx context.Context) (account, token uuid.UUID) {
	r := requestOf(ctx)
	if r.bearer == nil {
		return uuid.Nil, uuid.Nil
	}
	return r.bearer.AccountID, r.bearer.TokenID
}

// NeedsSession refuses a secret to an API token or a key: whoever found one could
// keep what its owner takes away. A key may have what is its own.
func NeedsSession(ctx context.Context, own uuid.UUID) error {
	if b := requestOf(ctx).bearer; b.Kind != intent.TokenSession && b.TokenID != own {
		return sessionRequired("Only a session makes keys, and only a session or the key itself rotates one: log in with your password.")
	}
	return nil
}

func sessionRequired(detail string) *api.Problem {
	return problem(http.StatusForbidden, "session_required", detail)
}

// Forbidden is the answer to who sees an object and lacks a permission there.
func Forbidden(permission string) error { return forbidden(permission) }

// SecondFactorOf is what the bearer of a request proved to be there with, besides a
// password; "" for nothing.
func SecondFactorOf(ctx context.Context) string {
	if with := requestOf(ctx).bearer.SecondFactor; with != nil {
		return *with
	}
	return ""
}
