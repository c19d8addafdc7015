package kube

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

// told records a change: for policies, as an event of the installation, and for a repetition of the request.
func (m Management) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, audit.Entry{Action: ManagementNoun + "." + action, ObjectKind: ManagementNoun, ObjectID: m.ID, ObjectName: m.Name, Before: before, After: after})
}

// CreateManagement adds a management cluster.
func CreateManagement(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, draft ManagementDraft) (Management, error) {
	reach, err := draft.check(rule)
	if err == nil && reach == nil {
		var bad fault.Invalid
		bad.Add("kubeconfig", "Give the kubeconfig of the management cluster.")
		err = bad.OrNil()
	}
	if err != nil {
		return Management{}, err
	}
	id := uuid.New()
	sealed, err := reach.seal(keys, id)
	if err != nil {
		return Management{}, err
	}
	taken := fault.Conflictf("management_cluster_exists", "There is a management cluster %s already.", draft.Name)
	if err := tx.One(ctx, taken, sqlInsertManagement, id, draft.Name, draft.Pool, draft.Active, reach.Server, sealed, draft.DataStore, draft.NewestVersion,
		draft.ServiceType, draft.Address, draft.FirstPort, draft.Capacity); err != nil {
		return Management{}, fmt.Errorf("insert a management cluster: %w", err)
	}
	made, err := ManagementByID(ctx, tx.Reader, id)
	if err != nil {
		return Management{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// ChangeManagement changes a management cluster, but for its name. While it has control planes, what they are reached by stays.
func ChangeManagement(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, ref scope.Ref[Management], version int64, change func(*ManagementDraft)) error {
	before, err := holdManagement(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("management cluster", before.Version, version); err != nil {
		return err
	}
	draft := before.draft()
	change(&draft)
	reach, err := draft.check(rule)
	if err != nil {
		return err
	}
	if err := before.mayBecome(draft); err != nil {
		return err
	}
	server, sealed := before.Server, before.CredentialsSealed
	if reach != nil {
		if sealed, err = reach.seal(keys, before.ID); err != nil {
			return err
		}
		server = reach.Server
	}
	if err := tx.One(ctx, movedMeanwhile(ManagementNoun), sqlChangeManagement, before.ID, before.Version, draft.Pool, draft.Active, server, sealed, draft.DataStore,
		draft.NewestVersion, draft.ServiceType, draft.Address, draft.FirstPort, draft.Capacity); err != nil {
		return fmt.Errorf("change a management cluster: %w", err)
	}
	after, err := ManagementByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return err
	}
	facts := after.facts()
	facts["kubeconfig_replaced"] = reach != nil
	return after.told(ctx, tx, "change", before.facts(), facts)
}

// mayBecome refuses what would cut off the control planes that are there.
func (m Management) mayBecome(draft ManagementDraft) error {
	switch {
	case m.Hosted == 0:
		return nil
	case draft.ServiceType != m.ServiceType || draft.Address != m.Address || draft.FirstPort != m.FirstPort || draft.DataStore != m.DataStore:
		return fault.Conflictf("management_cluster_in_use", "There are control planes in %s (%d). Service type, address, first port and data store stay as they are.", m.Name, m.Hosted)
	case draft.Capacity < m.Hosted:
		return fault.Conflictf("management_cluster_in_use", "There are %d control planes in %s. The capacity can't be less.", m.Hosted, m.Name)
	}
	return nil
}

// CanDelete tells why a management cluster cannot be deleted; nil if it can.
func (m Management) CanDelete() error {
	if m.Hosted > 0 {
		return fault.Conflictf("management_cluster_in_use", "There are control planes in %s (%d). Make it inactive, and it gets no new one.", m.Name, m.Hosted)
	}
	return nil
}

// DeleteManagement forgets a management cluster without control planes. Nothing is done there.
func DeleteManagement(ctx context.Context, tx *intent.Tx, ref scope.Ref[Management], version int64) error {
	before, err := holdManagement(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("management cluster", before.Version, version); err != nil {
		return err
	}
	if err := before.CanDelete(); err != nil {
		return err
	}
	if err := tx.One(ctx, movedMeanwhile(ManagementNoun), sqlDeleteManagement, before.ID, before.Version); err != nil {
		return fmt.Errorf("delete a management cluster: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
