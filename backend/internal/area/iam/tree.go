package iam

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
)

// Nouns of scopes, as events, problems and grants name them.
const (
	OrganizationNoun = "organization"
	ProjectNoun      = "project"
	WorkspaceNoun    = "workspace"
)

// ScopeState says whether a scope is in use.
type ScopeState string

// States of an organization, a project or a workspace.
const (
	ScopeActive    ScopeState = "active"
	ScopeSuspended ScopeState = "suspended"
	ScopeDeleting  ScopeState = "deleting"
	ScopeRemoved   ScopeState = "removed"
)

// What happens to a scope.
const (
	ScopeWasSuspended lifecycle.Event = "suspend"
	ScopeWasResumed   lifecycle.Event = "resume"
	ScopeWasRemoved   lifecycle.Event = "remove"
	DeletionBegan     lifecycle.Event = "begin_deletion"
	DeletionEnded     lifecycle.Event = "cancel_deletion"
)

// ScopeLifecycle is the life of an organization, a project or a workspace.
var ScopeLifecycle = lifecycle.Lifecycle[ScopeState]{
	Noun: "scope", Initial: ScopeActive,
	States: []lifecycle.StateInfo[ScopeState]{
		{State: ScopeActive, Means: "it is in use"},
		{State: ScopeSuspended, Means: "nothing in it can be changed until it is resumed; what runs continues"},
		{State: ScopeDeleting, Means: "a job deletes all that is in it; nothing new comes into it"},
		{State: ScopeRemoved, Means: "it was deleted", Final: true},
	},
	Transitions: []lifecycle.Transition[ScopeState]{
		{From: ScopeActive, On: ScopeWasSuspended, To: ScopeSuspended},
		{From: ScopeSuspended, On: ScopeWasResumed, To: ScopeActive},
		{From: ScopeActive, On: ScopeWasRemoved, To: ScopeRemoved},
		{From: ScopeSuspended, On: ScopeWasRemoved, To: ScopeRemoved},
		{From: ScopeActive, On: DeletionBegan, To: ScopeDeleting},
		{From: ScopeDeleting, On: DeletionEnded, To: ScopeActive},
		{From: ScopeDeleting, On: ScopeWasRemoved, To: ScopeRemoved},
	},
}

// Scope is one organization, project or workspace.
type Scope struct {
	Kind             string     `db:"kind"` // OrganizationNoun, ProjectNoun or WorkspaceNoun
	ID               uuid.UUID  `db:"id"`
	OrganizationID   uuid.UUID  `db:"organization_id"` // itself for an organization
	ProjectID        *uuid.UUID `db:"project_id"`      // itself for a project; nil for an organization
	Name             string     `db:"name"`
	OrganizationName string     `db:"organization_name"`
	ProjectName      string     `db:"project_name"` // "" for an organization
	Type             string     `db:"type"`         // of a workspace: 'bare_metal', 'kubernetes'
	State            ScopeState `db:"state"`
	SuspendedBy      string     `db:"suspended_by"`           // noun of the scope above that is suspended; "" if none is
	SecondFactor     bool       `db:"second_factor_required"` // of an organization: who has none reaches nothing of it
	Version          int64      `db:"version"`
	CreatedAt        time.Time  `db:"created_at"`
	UpdatedAt        time.Time  `db:"updated_at"`
	// The job that deletes it, or a scope above it, the workspace that the job stands in, and its state; "" if there is none.
	DeletionJob       *uuid.UUID `db:"deletion_job_id"`
	DeletionWorkspace *uuid.UUID `db:"deletion_workspace_id"`
	DeletionState     string     `db:"deletion_state"`
}

// Path names the scope in the installation: 'organization', 'organization/project' or 'organization/project/workspace'.
func (s Scope) Path() string {
	switch s.Kind {
	case "":
		return "the installation"
	case OrganizationNoun:
		return s.Name
	case ProjectNoun:
		return s.OrganizationName + "/" + s.Name
	}
	return s.OrganizationName + "/" + s.ProjectName + "/" + s.Name
}

// Place is where the scope stands.
func (s Scope) Place() scope.Place {
	at := scope.Place{Organization: s.OrganizationID}
	if s.ProjectID != nil {
		at.Project = *s.ProjectID
	}
	if s.Kind == WorkspaceNoun {
		at.Workspace = s.ID
	}
	return at
}

// CanSuspend tells why it cannot be suspended; nil if it can.
func (s Scope) CanSuspend() error {
	_, err := ScopeLifecycle.Next(s.State, ScopeWasSuspended)
	return err
}

// CanResume tells why it cannot be resumed; nil if it can.
func (s Scope) CanResume() error {
	if s.State == ScopeDeleting {
		return s.canStopDeletion()
	}
	_, err := ScopeLifecycle.Next(s.State, ScopeWasResumed)
	return err
}

// CanWrite tells why nothing in the scope can be changed; nil if it can.
func (s Scope) CanWrite() error {
	switch {
	case s.State == ScopeDeleting:
		return deleting(s)
	case s.State == ScopeSuspended:
		return fault.Conflictf("scope_suspended", "The %s %s is suspended. Resume it first.", s.Kind, s.Path())
	case s.SuspendedBy != "":
		return fault.Conflictf("scope_suspended", "The %s of %s is suspended. Resume it first.", s.SuspendedBy, s.Path())
	}
	return nil
}

func deleting(s Scope) error {
	return fault.Conflictf("scope_deleting", "The %s %s is being deleted. Cancel the job that deletes it to keep what is left.", s.Kind, s.Path())
}

// CanDelete tells why the scope can't be deleted by itself; nil if it can, once it is empty.
func (s Scope) CanDelete() error {
	if s.State == ScopeDeleting {
		return deleting(s)
	}
	return nil
}

// CanDeleteAll tells why the scope can't be deleted with all that is in it; nil if that can be planned.
func (s Scope) CanDeleteAll() error {
	if slices.Contains(first, s.ID) {
		return fault.Conflictf("scope_stays", "The %s %s came with the installation; it stays.", s.Kind, s.Path())
	}
	return s.CanWrite()
}

// canStopDeletion tells why the deletion of the scope can't be given up by resuming it; nil if it can.
func (s Scope) canStopDeletion() error {
	if s.DeletionState != "failed" && s.DeletionState != "cancelled" {
		return fault.Conflictf("scope_deleting", "The job that deletes the %s %s has not ended. Cancel the job.", s.Kind, s.Path())
	}
	return nil
}

// CanRequireSecondFactor tells why an organization can't begin to ask for a second factor; nil if it can.
func (s Scope) CanRequireSecondFactor() error {
	if s.SecondFactor {
		return fault.Conflictf("second_factor_state", "The organization asks for a second factor already.")
	}
	return s.CanWrite()
}

// CanWaiveSecondFactor tells why an organization can't end to ask for a second factor; nil if it can.
func (s Scope) CanWaiveSecondFactor() error {
	if !s.SecondFactor {
		return fault.Conflictf("second_factor_state", "The organization does not ask for a second factor.")
	}
	return s.CanWrite()
}

// suspended says whether the scope, or one above it, is suspended.
func (s Scope) suspended() bool { return s.State == ScopeSuspended || s.SuspendedBy != "" }

// facts are what an event tells of a scope.
func (s Scope) facts() map[string]any {
	facts := map[string]any{"name": s.Name, "path": s.Path(), "state": s.State}
	if s.Kind == OrganizationNoun {
		facts["second_factor_required"] = s.SecondFactor
	}
	return facts
}

// scopeName is the form of a name: a label of DNS, so that it can stand in paths and host names.
var scopeName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// checkName tells what is wrong with the name of a scope. A name in the form of an id could not be told from one.
func checkName(name string) error {
	if !scopeName.MatchString(name) {
		return fmt.Errorf("Use lower-case letters, digits and -; begin and end with a letter or a digit; at most 63 characters.") //nolint:revive,staticcheck // a sentence for a person
	}
	if _, err := uuid.Parse(name); err == nil {
		return fmt.Errorf("Use another name: this one has the form of an id.") //nolint:revive,staticcheck // a sentence for a person
	}
	return nil
}

func badName(name string) error {
	var bad fault.Invalid
	bad.Check("name", checkName(name))
	return bad.OrNil()
}

// removedName frees the name of a removed scope. No name that a person gives has a #.
func removedName(name string, id uuid.UUID) string { return name + "#" + id.String() }

// count is how many objects of a noun live in a scope.
type count struct {
	Noun string `db:"noun"` // in the plural
	N    int64  `db:"n"`
}

// inUse says what still lives in a scope; nil if nothing does.
func inUse(s Scope, counts []count) error {
	var left []string
	for _, c := range counts {
		if c.N > 0 {
			left = append(left, fmt.Sprintf("%d %s", c.N, c.Noun))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fault.Conflictf("scope_in_use", "The %s %s still has %s. Remove them first.", s.Kind, s.Path(), strings.Join(left, ", "))
}
