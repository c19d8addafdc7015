package kube

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// told records a change: for policies, as an event, and for a repetition of the request.
func (v Version) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, audit.Entry{Action: VersionNoun + "." + action, ObjectKind: VersionNoun, ObjectID: v.ID, ObjectName: v.Name, Before: before, After: after})
}

// CreateVersion adds a version to the catalog.
func CreateVersion(ctx context.Context, tx *intent.Tx, draft VersionDraft) (Version, error) {
	if err := draft.check(); err != nil {
		return Version{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("kube_version_exists", "The catalog already has %s.", draft.Name)
	if err := tx.One(ctx, taken, sqlInsertVersion, id, draft.Name, draft.Active, orNone(draft.UpgradesTo), draft.Bundle, draft.BundleSHA256); err != nil {
		return Version{}, fmt.Errorf("insert a version of Kubernetes: %w", err)
	}
	made, err := FindVersion(ctx, tx.Reader, id.String())
	if err != nil {
		return Version{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// ChangeVersion changes a version, but for its name. Clusters that have it keep what they were made of.
func ChangeVersion(ctx context.Context, tx *intent.Tx, id uuid.UUID, version int64, change func(*VersionDraft)) (Version, error) {
	before, err := holdVersion(ctx, tx.Tx, id)
	if err != nil {
		return Version{}, err
	}
	if err := fault.CheckVersion("version of Kubernetes", before.Version, version); err != nil {
		return Version{}, err
	}
	draft := before.draft()
	change(&draft)
	if err := draft.check(); err != nil {
		return Version{}, err
	}
	err = tx.One(ctx, movedMeanwhile(VersionNoun), sqlChangeVersion, before.ID, before.Version, draft.Active, orNone(draft.UpgradesTo), draft.Bundle, draft.BundleSHA256)
	if err != nil {
		return Version{}, fmt.Errorf("change a version of Kubernetes: %w", err)
	}
	after, err := FindVersion(ctx, tx.Reader, before.ID.String())
	if err != nil {
		return Version{}, err
	}
	return after, after.told(ctx, tx, "change", before.facts(), after.facts())
}

// DeleteVersion takes a version out of the catalog that no cluster has.
func DeleteVersion(ctx context.Context, tx *intent.Tx, id uuid.UUID, version int64) error {
	before, err := holdVersion(ctx, tx.Tx, id)
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("version of Kubernetes", before.Version, version); err != nil {
		return err
	}
	n, err := clustersOf(ctx, tx.Reader, before.Name)
	if err != nil {
		return fmt.Errorf("count the clusters of a version: %w", err)
	}
	if n > 0 {
		return fault.Conflictf("kube_version_in_use", "There are clusters of %s (%d). Make it inactive, and no new cluster gets it.", before.Name, n)
	}
	if err := tx.One(ctx, movedMeanwhile(VersionNoun), sqlDeleteVersion, before.ID, before.Version); err != nil {
		return fmt.Errorf("delete a version of Kubernetes: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}

func orNone(texts []string) []string { return append([]string{}, texts...) }
