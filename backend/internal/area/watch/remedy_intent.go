package watch

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (r Remedy) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, r.entry(action, before, after))
}

func (r Remedy) entry(action string, before, after map[string]any) audit.Entry {
	return audit.Entry{
		Workspace: r.WorkspaceID, Action: RemedyNoun + "." + action, ObjectKind: RemedyNoun, ObjectID: r.ID, ObjectName: r.Name, Before: before, After: after,
	}
}

func remedyTaken(name string) error {
	return fault.Conflictf("remedy_exists", "The workspace already has a remedy %s.", name)
}

// CreateRemedy adds a remedy to the workspace of the call. jobs are the kinds of jobs that can be asked for, by noun.
func CreateRemedy(ctx context.Context, tx *intent.Tx, jobs map[string][]string, draft RemedyDraft) (Remedy, error) {
	if err := draft.check(jobs); err != nil {
		return Remedy{}, err
	}
	id := uuid.New()
	err := tx.One(ctx, remedyTaken(draft.Name), sqlInsertRemedy, id, tx.Call().Workspace, draft.Name, draft.Noun, draft.Condition, draft.Job,
		draft.WaitSeconds, draft.PerDay, draft.AtOnce, draft.Enabled)
	if err != nil {
		return Remedy{}, fmt.Errorf("insert a remedy: %w", err)
	}
	made, err := RemedyByID(ctx, tx.Reader, id)
	if err != nil {
		return Remedy{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// ChangeRemedy changes a remedy, or returns the error of change. What it did before counts on.
func ChangeRemedy(ctx context.Context, tx *intent.Tx, jobs map[string][]string, ref scope.Ref[Remedy], version int64, change func(*RemedyDraft) error) error {
	before, err := heldRemedy(ctx, tx.Reader, ref, version)
	if err != nil {
		return err
	}
	d := before.draft()
	if err := change(&d); err != nil {
		return err
	}
	if err := d.check(jobs); err != nil {
		return err
	}
	err = tx.One(ctx, fault.ErrNotFound, sqlChangeRemedy, before.ID, d.Name, d.Noun, d.Condition, d.Job, d.WaitSeconds, d.PerDay, d.AtOnce, d.Enabled)
	if db.SQLState(err) == uniqueViolation {
		return remedyTaken(d.Name)
	}
	if err != nil {
		return fmt.Errorf("change a remedy: %w", err)
	}
	after, err := RemedyByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return err
	}
	return after.told(ctx, tx, "change", before.facts(), after.facts())
}

// DeleteRemedy deletes a remedy. Its jobs go on, and its runs stay until they expire.
func DeleteRemedy(ctx context.Context, tx *intent.Tx, ref scope.Ref[Remedy], version int64) error {
	r, err := heldRemedy(ctx, tx.Reader, ref, version)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteRemedy, r.ID); err != nil {
		return fmt.Errorf("delete a remedy: %w", err)
	}
	return r.told(ctx, tx, "delete", r.facts(), nil)
}
