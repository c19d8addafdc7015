package kube

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

// told records a change. The policy of namespaces brings it to the cluster.
func (n Namespace) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, audit.Entry{
		Workspace: n.WorkspaceID, Action: NamespaceNoun + "." + action, ObjectKind: NamespaceNoun, ObjectID: n.ID, ObjectName: n.Name, Before: before, After: after,
	})
}

// CreateNamespace asks for a namespace of a cluster.
func CreateNamespace(ctx context.Context, tx *intent.Tx, cluster scope.Ref[Cluster], draft NamespaceDraft) (Namespace, error) {
	d, err := draft.checked()
	if err != nil {
		return Namespace{}, err
	}
	c, err := holdCluster(ctx, tx.Tx, cluster.ID())
	if err != nil {
		return Namespace{}, err
	}
	if c.State == ClusterDeleting {
		return Namespace{}, fault.Conflictf("cluster_state", "The cluster is being deleted.")
	}
	id := uuid.New()
	taken := fault.Conflictf("cluster_namespace_exists", "The cluster already has the namespace %s here.", d.Name)
	err = tx.One(ctx, taken, sqlInsertNamespace, id, c.WorkspaceID, c.ID, d.Name, orNoLabels(d.Labels), d.QuotaCPU, d.QuotaMemory, d.QuotaPods, d.QuotaStorage,
		d.DefaultCPU, d.DefaultMemory, d.Adopt)
	if err != nil {
		return Namespace{}, fmt.Errorf("insert a namespace: %w", err)
	}
	made, err := NamespaceByID(ctx, tx.Reader, id)
	if err != nil {
		return Namespace{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

func orNoLabels(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

// held returns a namespace that nobody else changes, at a version.
func heldNamespace(ctx context.Context, tx *intent.Tx, id uuid.UUID, version int64) (Namespace, error) {
	n, err := holdNamespace(ctx, tx.Tx, id)
	if err != nil {
		return n, err
	}
	if err := fault.CheckVersion("namespace", n.Version, version); err != nil {
		return n, err
	}
	if n.DeletingAt != nil {
		return n, fault.Conflictf("cluster_namespace_state", "The namespace is being deleted.")
	}
	return n, nil
}

// ChangeNamespace changes a namespace, but for its name.
func ChangeNamespace(ctx context.Context, tx *intent.Tx, ref scope.Ref[Namespace], version int64, change func(*NamespaceDraft)) error {
	before, err := heldNamespace(ctx, tx, ref.ID(), version)
	if err != nil {
		return err
	}
	draft := before.draft()
	change(&draft)
	d, err := draft.checked()
	if err != nil {
		return err
	}
	err = tx.One(ctx, movedMeanwhile(NamespaceNoun), sqlChangeNamespace, before.ID, before.Version, orNoLabels(d.Labels), d.QuotaCPU, d.QuotaMemory, d.QuotaPods, d.QuotaStorage,
		d.DefaultCPU, d.DefaultMemory, d.Adopt)
	if err != nil {
		return fmt.Errorf("change a namespace: %w", err)
	}
	after, err := NamespaceByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return err
	}
	return after.told(ctx, tx, "change", before.facts(), after.facts())
}

// DeleteNamespace asks for the end of a namespace with all that is in it. With leave it stays in the cluster, and Kloigos lets go of it.
func DeleteNamespace(ctx context.Context, tx *intent.Tx, ref scope.Ref[Namespace], version int64, confirm string, leave bool) error {
	before, err := heldNamespace(ctx, tx, ref.ID(), version)
	if err != nil {
		return err
	}
	if confirm != before.Name {
		var bad fault.Invalid
		bad.Add("confirm", "Repeat the name of the namespace.")
		return bad.OrNil()
	}
	if err := tx.One(ctx, movedMeanwhile(NamespaceNoun), sqlNamespaceGoes, before.ID, before.Version, leave); err != nil {
		return fmt.Errorf("delete a namespace: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlDeleteNamespaceBindings, before.ID); err != nil {
		return fmt.Errorf("delete the bindings of a namespace: %w", err)
	}
	tx.Touch(ClusterNoun, before.ClusterID)
	return before.told(ctx, tx, "delete", before.facts(), map[string]any{"leave": leave})
}

// ForgetNamespace removes the row of a namespace that the cluster has no more, or that it keeps by itself.
func ForgetNamespace(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	tx.Touch(NamespaceNoun, id)
	if _, err := tx.Exec(ctx, sqlForgetNamespace, id); err != nil {
		return fmt.Errorf("forget a namespace: %w", err)
	}
	return nil
}
