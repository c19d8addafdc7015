package iam

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

// SharedGeneration is the first generation of backends that keep organizations apart, ask for second factors and approvals, and know
// hosts, DNS zones and networks of other workspaces. Older ones are kept out as soon as there is a second organization, or one of the others.
const SharedGeneration = 5

// DefaultName is the name of the project and the workspace that an organization begins with.
const DefaultName = "default"

// first are the organization, the project and the workspace that every installation begins with.
var first = []uuid.UUID{
	uuid.MustParse("00000000-0000-4000-8000-000000000001"),
	uuid.MustParse("00000000-0000-4000-8000-000000000002"),
	uuid.MustParse("00000000-0000-4000-8000-000000000003"),
}

// bareMetal is the type of a workspace whose allocations are units.
const bareMetal = "bare_metal"

func isNotFound(err error) bool { return errors.Is(err, fault.ErrNotFound) }

func nameTaken(noun, name string) error {
	return fault.Conflictf("name_taken", "Another %s here has the name %s.", noun, name)
}

// told writes the event of a change, and what a repeated request is answered with.
func (s Scope) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	entry := s.entry(audit.Entry{Action: s.Kind + "." + action, ObjectKind: s.Kind, ObjectID: s.ID, ObjectName: s.Path(), Before: before, After: after})
	if err := tx.Event(ctx, entry); err != nil {
		return err
	}
	return tx.Made(ctx, s.Kind, s.ID, uuid.Nil)
}

// Entry is an event about the scope.
func (s Scope) Entry(action string) audit.Entry {
	return s.entry(audit.Entry{Action: s.Kind + "." + action, ObjectKind: s.Kind, ObjectID: s.ID, ObjectName: s.Path()})
}

// entry says of an event that it happened in this scope.
func (s Scope) entry(e audit.Entry) audit.Entry {
	at := s.Place()
	e.Organization, e.Project, e.Workspace = at.Organization, at.Project, at.Workspace
	return e
}

// NewOrganization is an organization as somebody asks for it.
type NewOrganization struct {
	Name    string
	Owner   uuid.UUID // account; its first owner
	Release string    // version of this backend
}

// CreateOrganization makes an organization with its SSH key, a project and a workspace that are called default, and its
// owner. While backends of another release run there is only one organization: they would not keep two apart.
func CreateOrganization(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, draft NewOrganization) (Scope, error) {
	if err := badName(draft.Name); err != nil {
		return Scope{}, err
	}
	if err := OnlyThisRelease(ctx, tx.Tx, draft.Release, "they would not keep two organizations apart"); err != nil {
		return Scope{}, err
	}
	id, project := uuid.New(), uuid.New()
	public, sealed, err := NewOrganizationKey(keys, id)
	if err != nil {
		return Scope{}, err
	}
	if err := tx.One(ctx, nameTaken(OrganizationNoun, draft.Name), sqlInsertOrganization, id, draft.Name); err != nil {
		return Scope{}, fmt.Errorf("make an organization: %w", err)
	}
	if err := tx.One(ctx, nil, sqlInsertOrganizationKey, id, public, sealed); err != nil {
		return Scope{}, fmt.Errorf("keep the organization's key: %w", err)
	}
	if err := tx.One(ctx, nameTaken(ProjectNoun, DefaultName), sqlInsertProject, project, id, DefaultName); err != nil {
		return Scope{}, fmt.Errorf("make its project: %w", err)
	}
	if err := tx.One(ctx, nameTaken(WorkspaceNoun, DefaultName), sqlInsertWorkspace, uuid.New(), project, DefaultName, bareMetal); err != nil {
		return Scope{}, fmt.Errorf("make its workspace: %w", err)
	}
	made, err := Organizations.byID(ctx, tx.Reader, id)
	if err != nil {
		return Scope{}, err
	}
	owner, err := accountByID(ctx, tx.Reader, draft.Owner)
	if err != nil {
		return Scope{}, err
	}
	if err := made.told(ctx, tx, "create", nil, made.facts()); err != nil {
		return Scope{}, err
	}
	_, err = insertGrant(ctx, tx, made, owner, rolePermits{name: RoleOwner}, tx.Call().Actor.Name)
	if err != nil {
		return Scope{}, err
	}
	return made, tx.Made(ctx, OrganizationNoun, made.ID, uuid.Nil)
}

// OnlyThisRelease refuses something while backends of another release run, and keeps them out from then on.
func OnlyThisRelease(ctx context.Context, tx *db.Tx, release, because string) error {
	type backend struct {
		Name    string `db:"name"`
		Version string `db:"version"`
	}
	others, err := db.Collect[backend](ctx, tx.Reader, sqlOtherBackends, release)
	if err != nil {
		return fmt.Errorf("look for backends of another release: %w", err)
	}
	if len(others) > 0 {
		var names []string
		for _, o := range others {
			names = append(names, o.Name+" ("+o.Version+")")
		}
		return fault.Conflictf("older_backend", "Backends of another release were seen within the last minute: %s. End the upgrade first; %s.", strings.Join(names, ", "), because)
	}
	type setting struct {
		Value []byte `db:"value"`
	}
	oldest, err := db.First[setting](ctx, tx.Reader, fault.ErrNotFound, sqlOldestBackendNow)
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("read the oldest backend allowed: %w", err)
	}
	if n, err := strconv.Atoi(string(oldest.Value)); err == nil && n >= SharedGeneration {
		return nil
	}
	if _, err := tx.Exec(ctx, sqlOldestBackend, []byte(strconv.Itoa(SharedGeneration))); err != nil {
		return fmt.Errorf("keep older backends out: %w", err)
	}
	return nil
}

// CreateProject makes a project in an organization.
func CreateProject(ctx context.Context, tx *intent.Tx, organization scope.Ref[Scope], name string) (Scope, error) {
	if err := badName(name); err != nil {
		return Scope{}, err
	}
	parent, err := Organizations.keep(ctx, tx.Tx, organization.ID())
	if err != nil {
		return Scope{}, err
	}
	if err := parent.CanWrite(); err != nil {
		return Scope{}, err
	}
	id := uuid.New()
	if err := tx.One(ctx, nameTaken(ProjectNoun, name), sqlInsertProject, id, parent.ID, name); err != nil {
		return Scope{}, fmt.Errorf("make a project: %w", err)
	}
	return Projects.made(ctx, tx, id)
}

// CreateWorkspace makes a workspace in a project.
func CreateWorkspace(ctx context.Context, tx *intent.Tx, project scope.Ref[Scope], name, kind string) (Scope, error) {
	if err := badName(name); err != nil {
		return Scope{}, err
	}
	parent, err := Projects.keep(ctx, tx.Tx, project.ID())
	if err != nil {
		return Scope{}, err
	}
	if err := parent.CanWrite(); err != nil {
		return Scope{}, err
	}
	id := uuid.New()
	if err := tx.One(ctx, nameTaken(WorkspaceNoun, name), sqlInsertWorkspace, id, parent.ID, name, kind); err != nil {
		return Scope{}, fmt.Errorf("make a workspace: %w", err)
	}
	return Workspaces.made(ctx, tx, id)
}

// made reads what was made and writes its event.
func (l Level) made(ctx context.Context, tx *intent.Tx, id uuid.UUID) (Scope, error) {
	made, err := l.byID(ctx, tx.Reader, id)
	if err != nil {
		return Scope{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// changed reads a scope after a change and writes the event.
func (l Level) changed(ctx context.Context, tx *intent.Tx, before Scope, action string) (Scope, error) {
	after, err := l.byID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Scope{}, err
	}
	return after, after.told(ctx, tx, action, before.facts(), after.facts())
}

// heldAt returns a scope for a change of the version that somebody looked at; 0 for any.
func (l Level) heldAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64) (Scope, error) {
	before, err := l.hold(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Scope{}, err
	}
	return before, fault.CheckVersion(l.Noun, before.Version, version)
}

// Rename gives a scope another name.
func (l Level) Rename(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64, name string) (Scope, error) {
	if err := badName(name); err != nil {
		return Scope{}, err
	}
	before, err := l.heldAt(ctx, tx, ref, version)
	if err != nil {
		return Scope{}, err
	}
	if err := before.CanWrite(); err != nil {
		return Scope{}, err
	}
	if err := l.write(ctx, tx, name, l.rename, before.ID, name); err != nil {
		return Scope{}, fmt.Errorf("rename a %s: %w", l.Noun, err)
	}
	return l.changed(ctx, tx, before, "change")
}

// write runs a statement that gives a scope a name or a place, where another may have the same.
func (l Level) write(ctx context.Context, tx *intent.Tx, name string, sql db.Statement, args ...any) error {
	err := tx.One(ctx, fault.ErrNotFound, sql, args...)
	if _, taken := db.UniqueViolation(err); taken {
		return nameTaken(l.Noun, name)
	}
	return err
}

// MoveWorkspace brings a workspace to another project of its organization. Who sees it by a grant at a project follows.
func MoveWorkspace(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64, project scope.Ref[Scope]) (Scope, error) {
	target, err := Projects.keep(ctx, tx.Tx, project.ID())
	if err != nil {
		return Scope{}, err
	}
	before, err := Workspaces.heldAt(ctx, tx, ref, version)
	if err != nil {
		return Scope{}, err
	}
	if before.OrganizationID != target.OrganizationID {
		return Scope{}, fault.Conflictf("other_organization", "A workspace moves between projects of one organization only.")
	}
	if err := errors.Join(before.CanWrite(), target.CanWrite()); err != nil {
		return Scope{}, err
	}
	left, err := leavesBehind(ctx, tx.Reader, before.ID, target.ID)
	if err != nil {
		return Scope{}, fmt.Errorf("count what is on shared hosts: %w", err)
	}
	if left > 0 {
		return Scope{}, fault.Conflictf("host_grant_in_use", "%d of its allocations are on hosts that are granted to its project. Deallocate them first.", left)
	}
	lent, err := leavesAddressesBehind(ctx, tx.Reader, before.ID, target.ID)
	if err != nil {
		return Scope{}, fmt.Errorf("count addresses of shared networks: %w", err)
	}
	if lent > 0 {
		return Scope{}, fault.Conflictf("network_grant_in_use", "%d of its addresses are in networks that are granted to its project. Deallocate them first.", lent)
	}
	names, err := leavesNamesBehind(ctx, tx.Reader, before.ID, target.ID)
	if err != nil {
		return Scope{}, fmt.Errorf("count what is in shared zones: %w", err)
	}
	if names > 0 {
		return Scope{}, fault.Conflictf("dns_zone_grant_in_use", "%d of its record sets are in zones that are granted to its project. Delete them first.", names)
	}
	if _, err := tx.Exec(ctx, sqlForgetNamingByProject, before.ID, target.ID); err != nil {
		return Scope{}, fmt.Errorf("forget the zone that names allocations: %w", err)
	}
	if err := Workspaces.write(ctx, tx, before.Name, sqlCarryWorkspace, before.ID, target.ID); err != nil {
		return Scope{}, fmt.Errorf("move a workspace: %w", err)
	}
	return Workspaces.changed(ctx, tx, before, "move")
}

// Suspend refuses all changes in a scope from now on. What runs continues.
func (l Level) Suspend(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64) (Scope, error) {
	return l.turn(ctx, tx, ref, version, ScopeWasSuspended)
}

// Resume ends a suspension, or gives up a deletion whose job has failed.
func (l Level) Resume(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64) (Scope, error) {
	before, err := l.heldAt(ctx, tx, ref, version)
	if err != nil {
		return Scope{}, err
	}
	if before.State == ScopeDeleting {
		if err := l.giveUpDeletion(ctx, tx, before); err != nil {
			return Scope{}, err
		}
		return l.changed(ctx, tx, before, string(DeletionEnded))
	}
	return l.turn(ctx, tx, ref, version, ScopeWasResumed)
}

func (l Level) turn(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64, on lifecycle.Event) (Scope, error) {
	before, err := l.heldAt(ctx, tx, ref, version)
	if err != nil {
		return Scope{}, err
	}
	state, err := ScopeLifecycle.Next(before.State, on)
	if err != nil {
		return Scope{}, err
	}
	if err := tx.One(ctx, fault.ErrNotFound, l.move, before.ID, before.State, state, before.Name); err != nil {
		return Scope{}, fmt.Errorf("%s a %s: %w", on, l.Noun, err)
	}
	return l.changed(ctx, tx, before, string(on))
}

// RequireSecondFactor says whether people without a second factor reach anything of an organization. Backends of another release
// would let them, so they are kept out from then on.
func RequireSecondFactor(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64, required bool, release string) (Scope, error) {
	before, err := Organizations.heldAt(ctx, tx, ref, version)
	if err != nil {
		return Scope{}, err
	}
	action, can := "require_second_factor", before.CanRequireSecondFactor
	if !required {
		action, can = "waive_second_factor", before.CanWaiveSecondFactor
	}
	if err := can(); err != nil {
		return Scope{}, err
	}
	if required {
		if err := OnlyThisRelease(ctx, tx.Tx, release, "they would not ask for a second factor"); err != nil {
			return Scope{}, err
		}
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlRequireSecondFactor, before.ID, required); err != nil {
		return Scope{}, fmt.Errorf("%s of an organization: %w", action, err)
	}
	return Organizations.changed(ctx, tx, before, action)
}

// Remove deletes an empty scope with the grants at it. The row stays for the history; its name is free again.
func (l Level) Remove(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], version int64) error {
	before, err := l.heldAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := before.CanDelete(); err != nil {
		return err
	}
	if err := l.removeHeld(ctx, tx.Tx, tx.Call().Actor, before, uuid.Nil); err != nil {
		return err
	}
	tx.Told()
	return tx.Made(ctx, before.Kind, before.ID, uuid.Nil)
}

// removeHeld deletes an empty scope whose row is held. The job of the deletion may be unfinished in it.
func (l Level) removeHeld(ctx context.Context, tx *db.Tx, by audit.Actor, before Scope, job uuid.UUID) error {
	if slices.Contains(first, before.ID) {
		return fault.Conflictf("scope_stays", "The %s %s came with the installation; it stays.", l.Noun, before.Path())
	}
	state, err := ScopeLifecycle.Next(before.State, ScopeWasRemoved)
	if err != nil {
		return err
	}
	args := []any{before.ID}
	if l.Noun == WorkspaceNoun {
		args = append(args, job)
	}
	left, err := db.Collect[count](ctx, tx.Reader, l.residents, args...)
	if err != nil {
		return fmt.Errorf("count what is in a %s: %w", l.Noun, err)
	}
	if err := inUse(before, left); err != nil {
		return err
	}
	entry := audit.Entry{Action: before.Kind + ".delete", ObjectKind: before.Kind, ObjectID: before.ID, ObjectName: before.Path(), Before: before.facts(), JobID: job}
	if err := audit.Append(ctx, tx, by, before.entry(entry)); err != nil {
		return err
	}
	for _, sql := range []db.Statement{
		sqlDeleteGrantsAt, sqlDeleteMappingsAt, sqlDeleteInvitationsAt, sqlDeleteApprovalRulesAt, sqlEndSessionsOfProviders, sqlDeleteProvidersOf, sqlDeletePositionsOf,
		sqlDeleteStreamsOf, sqlRevokeHostGrantsTo, sqlRevokeZoneGrantsTo, sqlForgetNamingOf, sqlRevokeNetworkGrantsTo, sqlEndServiceKeys, sqlDisableServiceAccounts,
	} {
		if _, err := tx.Exec(ctx, sql, before.ID); err != nil {
			return fmt.Errorf("take away what belongs to a %s: %w", l.Noun, err)
		}
	}
	return tx.One(ctx, fault.ErrNotFound, l.move, before.ID, before.State, state, removedName(before.Name, before.ID))
}
