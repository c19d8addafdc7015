package iam

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"
)

// DeletedRole is the scope that a deletion is about.
const DeletedRole = "scope"

// Steps of a deletion.
const (
	ClustersStep    = "clusters"
	AllocationsStep = "allocations"
	NamesStep       = "names"
	RestStep        = "rest"
	JobsStep        = "jobs"
	ScopesStep      = "scopes"
)

// partsWithin is how long the jobs of what lives in a scope may take.
const partsWithin = 6 * time.Hour

// What a deletion is to its scope.
const (
	deletionBegins lifecycle.Event = "delete_begin"
	deletionStops  lifecycle.Event = "delete_cancel"
)

// ScopeDelete is the job that deletes a scope with all that is in it. After a failure the scope takes nothing new, and a retry goes on.
// Cancelling brings back into use what is left.
var ScopeDelete = work.Kind{
	Name:  "scope_delete",
	Means: "deletes an organization, a project or a workspace with all that is in it, from the inside out",
	Steps: []work.Step{
		{Name: ClustersStep, Means: "delete the clusters, each by its own job", Within: partsWithin},
		{Name: AllocationsStep, Means: "deallocate the allocations, each by its own job", Within: partsWithin},
		{Name: NamesStep, Means: "delete record sets, wait until the name servers hold them no more, then delete the zones", Within: time.Hour},
		{Name: RestStep, Means: "delete remedies, channels, empty hosts, addresses and networks", Within: time.Hour},
		{Name: JobsStep, Means: "wait until no other job runs there", Within: partsWithin},
		{Name: ScopesStep, Means: "delete the scopes, with roles, keys and what else belongs to them"},
	},
	Deadline: 48 * time.Hour,
	Locks:    []string{DeletedRole},
	Plan:     planDeletion,

	Start:     []work.Move{{Role: DeletedRole, On: deletionBegins}},
	Cancelled: []work.Move{{Role: DeletedRole, On: deletionStops}},
	Withdrawn: []work.Move{{Role: DeletedRole, On: deletionStops}},
}

// ScopeJobs is what jobs know of organizations, projects and workspaces.
func ScopeJobs() (all []work.Noun) {
	for _, level := range []Level{Organizations, Projects, Workspaces} {
		all = append(all, work.Noun{Name: level.Noun, Move: level.moveByDeletion})
	}
	return all
}

func (l Level) moveByDeletion(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, _ string) error {
	d, err := HoldDeletion(ctx, tx, l.Noun, id)
	if err != nil {
		return err
	}
	switch {
	case d.Top.State != ScopeDeleting:
		return fault.Conflictf("scope_state", "The %s is %s: its deletion was cancelled. Create another plan to delete it.", l.Noun, d.Top.State)
	case on == deletionBegins:
		return nil
	case on != deletionStops:
		return fmt.Errorf("a %s takes no %s", l.Noun, on)
	}
	job, err := deletionOf(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlForgetParts, job); err != nil {
		return fmt.Errorf("forget what a deletion asked for: %w", err)
	}
	return d.keep(ctx, tx)
}

// giveUpDeletion brings back into use what is left of a scope whose deletion failed.
func (l Level) giveUpDeletion(ctx context.Context, tx *intent.Tx, s Scope) error {
	if err := s.canStopDeletion(); err != nil {
		return err
	}
	above := fault.Conflictf("scope_deleting", "A scope above %s is being deleted. Resume that one.", s.Path())
	if _, err := db.First[oneID](ctx, tx.Reader, above, sqlIsDeletedBy, s.DeletionJob, s.ID); err != nil {
		return err
	}
	return l.moveByDeletion(ctx, tx.Tx, s.ID, deletionStops, "")
}

// Finish deletes the scopes of a deletion, in the transaction that ends its job. What lives in them by now stops it.
func Finish(ctx context.Context, tx *db.Tx, by audit.Actor, kind string, id, job uuid.UUID) error {
	d, err := HoldDeletion(ctx, tx, kind, id)
	if err != nil {
		return err
	}
	for _, s := range d.Scopes {
		if err := levelOf(s.Kind).removeHeld(ctx, tx, by, s, job); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, sqlForgetParts, job)
	return err
}
