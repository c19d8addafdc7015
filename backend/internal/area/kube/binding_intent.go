package kube

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// told records a change. The policy of the cluster brings it there.
func (b Binding) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	tx.Touch(BindingNoun, b.ID)
	tx.Touch(ClusterNoun, b.ClusterID)
	err := tx.Event(ctx, audit.Entry{
		Workspace: b.WorkspaceID, Action: BindingNoun + "." + action, ObjectKind: BindingNoun, ObjectID: b.ID, ObjectName: b.Account,
		Before: before, After: after,
	})
	if err != nil {
		return err
	}
	return tx.Made(ctx, BindingNoun, b.ID, uuid.Nil)
}

// CreateBinding gives a member of the workspace a role in its cluster.
func CreateBinding(ctx context.Context, tx *intent.Tx, cluster scope.Ref[Cluster], account, role string) (Binding, error) {
	var bad fault.Invalid
	if !goodRole(role) {
		bad.Add("role", "Use one of: %s, %s, %s.", Viewer, Editor, Admin)
		return Binding{}, bad.OrNil()
	}
	c, err := holdCluster(ctx, tx.Tx, cluster.ID())
	if err != nil {
		return Binding{}, err
	}
	if c.State == ClusterDeleting {
		return Binding{}, fault.Conflictf("cluster_state", "The cluster is being deleted.")
	}
	who, err := memberOf(ctx, tx.Reader, c.WorkspaceID, account)
	if errors.Is(err, fault.ErrNotFound) {
		bad.Add("account", "No enabled account with this name has a role in the workspace.")
		return Binding{}, bad.OrNil()
	}
	if err != nil {
		return Binding{}, fmt.Errorf("look for an account: %w", err)
	}
	id := uuid.New()
	taken := fault.Conflictf("cluster_binding_exists", "%s already has a role in the cluster. Delete that binding first.", who.Name)
	if err := tx.One(ctx, taken, sqlInsertBinding, id, c.WorkspaceID, c.ID, who.ID, who.Name, role); err != nil {
		return Binding{}, fmt.Errorf("insert a binding: %w", err)
	}
	made, err := bindingByID(ctx, tx.Reader, id)
	if err != nil {
		return Binding{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// DeleteBinding takes an account's role in a cluster away. What the account got a certificate for ends with it.
func DeleteBinding(ctx context.Context, tx *intent.Tx, ref scope.Ref[Binding], version int64) error {
	before, err := bindingByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("binding", before.Version, version); err != nil {
		return err
	}
	if err := tx.One(ctx, movedMeanwhile(BindingNoun), sqlDeleteBinding, before.ID, before.Version); err != nil {
		return fmt.Errorf("delete a binding: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
