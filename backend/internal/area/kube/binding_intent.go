package kube

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// told records a change. The policy of the cluster brings it there.
func (b Binding) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	tx.Touch(ClusterNoun, b.ClusterID)
	return tx.Changed(ctx, audit.Entry{
		Workspace: b.WorkspaceID, Action: BindingNoun + "." + action, ObjectKind: BindingNoun, ObjectID: b.ID, ObjectName: b.Account,
		Before: before, After: after,
	})
}

// CreateBinding gives a member of the workspace a role in its cluster: in one namespace, or in all if none is named.
func CreateBinding(ctx context.Context, tx *intent.Tx, cluster scope.Ref[Cluster], account, role, namespace string) (Binding, error) {
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
	if err := insertBinding(ctx, tx, c, id, who, role, namespace); err != nil {
		return Binding{}, err
	}
	made, err := bindingByID(ctx, tx.Reader, id)
	if err != nil {
		return Binding{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

func insertBinding(ctx context.Context, tx *intent.Tx, c Cluster, id uuid.UUID, who member, role, namespace string) error {
	if namespace == "" {
		taken := fault.Conflictf("cluster_binding_exists", "%s already has a role in the cluster. Delete that binding first.", who.Name)
		if err := tx.One(ctx, taken, sqlInsertBinding, id, c.WorkspaceID, c.ID, who.ID, who.Name, role); err != nil {
			return fmt.Errorf("insert a binding: %w", err)
		}
		return nil
	}
	n, _, err := FindNamespace(ctx, tx.Reader, c.WorkspaceID, namespace)
	if errors.Is(err, fault.ErrNotFound) || err == nil && (n.ClusterID != c.ID || n.DeletingAt != nil) {
		var bad fault.Invalid
		bad.Add("namespace", "There is no such namespace here. Add it first.")
		return bad.OrNil()
	}
	if err != nil {
		return err
	}
	if n, err = holdNamespace(ctx, tx.Tx, n.ID); err != nil {
		return err
	}
	taken := fault.Conflictf("cluster_binding_exists", "%s already has a role in the namespace %s. Delete that binding first.", who.Name, n.Name)
	if err := tx.One(ctx, taken, sqlInsertNamespaceBinding, id, c.WorkspaceID, c.ID, n.ID, n.Name, who.ID, who.Name, role); err != nil {
		return fmt.Errorf("insert a binding of a namespace: %w", err)
	}
	return nil
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
	sql := db.Statement(sqlDeleteBinding)
	if before.Namespace != "" {
		sql = sqlDeleteNamespaceBinding
	}
	if err := tx.One(ctx, movedMeanwhile(BindingNoun), sql, before.ID, before.Version); err != nil {
		return fmt.Errorf("delete a binding: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
