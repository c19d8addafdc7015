package scope

import (
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Level is how high a scope stands.
type Level string

// The levels, from the highest to the lowest.
const (
	Installation Level = "installation"
	Organization Level = "organization"
	Project      Level = "project"
	Workspace    Level = "workspace"
)

// Place is where something stands in the tree of scopes. Zeros below its level: an
// organization has no project. All zeros is the installation.
type Place struct{ Organization, Project, Workspace uuid.UUID }

// within tells whether a scope is this place or above it.
func (p Place) within(level Level, id uuid.UUID) bool {
	switch level {
	case Installation:
		return true
	case Organization:
		return id == p.Organization && id != uuid.Nil
	case Project:
		return id == p.Project && id != uuid.Nil
	case Workspace:
		return id == p.Workspace && id != uuid.Nil
	}
	return false
}

// Grant is a role that an account has at a scope, with what the role permits.
type Grant struct {
	Level       Level
	ID          uuid.UUID // of the scope; zeros for the installation
	Role        string    // its name
	Source      string    // 'manual', or the provider that gave it
	Permissions map[string]bool
	// SecondFactor says that its organization asks for one: the grant counts for who
	// has proved it, and for programs.
	SecondFactor bool
}

// Limit is what a token may use of its account's grants.
type Limit struct {
	Level       Level           // "" for everywhere
	ID          uuid.UUID       // of the scope
	Permissions map[string]bool // nil: all of the account's
	Unproved    bool            // a person's, without a second factor
}

// ErrSecondFactor is of something that is seen with a second factor only.
var ErrSecondFactor = errors.New("the organization asks for a second factor")

// Access is what a bearer may do, and where. Its zero value may do nothing.
type Access struct {
	grants []Grant
	limit  Limit
}

// NewAccess is the access by grants, within a limit.
func NewAccess(grants []Grant, limit Limit) Access { return Access{grants, limit} }

// Limited is the same access within a limit.
func (a Access) Limited(l Limit) Access { return Access{a.grants, l} }

// Proved is the same access as it is with a second factor.
func (a Access) Proved() Access {
	a.limit.Unproved = false
	return a
}

// counts tells whether the bearer may use a grant.
func (a Access) counts(g Grant) bool { return !a.limit.Unproved || !g.SecondFactor }

// Grants are those of the account.
func (a Access) Grants() []Grant { return slices.Clone(a.grants) }

// Limit is that of the token.
func (a Access) Limit() Limit { return a.limit }

// At tells whether a permission is given at a place, by a grant there or above. What
// is the installation's own is given by a grant for the installation alone.
func (a Access) At(permission string, p Place) bool {
	return len(a.By(permission, p)) > 0
}

// By is the grants that give a permission at a place.
func (a Access) By(permission string, p Place) []Grant {
	if !a.limit.lets(permission) || a.limit.Level != "" && !p.within(a.limit.Level, a.limit.ID) {
		return nil
	}
	var by []Grant
	for _, g := range a.grants {
		if g.Permissions[permission] && a.counts(g) && p.within(g.Level, g.ID) {
			by = append(by, g)
		}
	}
	return by
}

// Anywhere tells whether a permission is given at any place.
func (a Access) Anywhere(permission string) bool {
	return a.limit.lets(permission) && slices.ContainsFunc(a.grants, func(g Grant) bool { return g.Permissions[permission] && a.counts(g) })
}

// Sees tells whether a place is visible: a grant there or above it. A grant for the
// installation shows nothing inside of organizations.
func (a Access) Sees(p Place) bool {
	if a.limit.Level != "" && !p.within(a.limit.Level, a.limit.ID) {
		return false
	}
	return slices.ContainsFunc(a.grants, func(g Grant) bool { return g.Level != Installation && a.counts(g) && p.within(g.Level, g.ID) })
}

func (l Limit) lets(permission string) bool { return l.Permissions == nil || l.Permissions[permission] }

// LevelOf is the level at which a permission is looked for: the scopes of its key
// are those before the noun.
func LevelOf(permission string) Level {
	noun, _, _ := strings.Cut(permission, ":")
	switch {
	case strings.HasPrefix(noun, "installation."):
		return Installation
	case strings.HasPrefix(noun, "project.workspace."):
		return Workspace
	case strings.HasPrefix(noun, "project."):
		return Project
	}
	return Organization
}
