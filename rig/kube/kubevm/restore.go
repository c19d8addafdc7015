package kubevm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kloigos/backend/api"
)

// restore takes a snapshot of etcd, writes something, and puts the cluster back: it has forgotten what was written, and all else is there.
func (r *rig) restore(ctx context.Context) error {
	if _, err := r.kubectl(ctx, "create", "configmap", "before", "--from-literal", "is=kept"); err != nil {
		return err
	}
	if err := r.kloigos(ctx, "cluster", "snapshot", cluster, "--wait"); err != nil {
		return err
	}
	if _, err := r.kubectl(ctx, "create", "configmap", "after", "--from-literal", "is=forgotten"); err != nil {
		return err
	}
	page, err := r.Client.WithWorkspace(workspace).ListClusterSnapshots(ctx, api.ClusterSnapshotFilter{})
	if err != nil {
		return err
	}
	if len(page.Items) != 1 {
		return fmt.Errorf("there are %d snapshots", len(page.Items))
	}
	before, err := r.workloadIs(ctx)
	if err != nil {
		return err
	}
	if err := r.killing(ctx, "cluster_restore", []string{"exchange", "start"}, func(ctx context.Context) error {
		return r.kloigos(ctx, "cluster-snapshot", "restore", page.Items[0].ID, "--confirm", cluster, "--wait")
	}); err != nil {
		return err
	}
	return errors.Join(r.restored(ctx, before), r.answers(ctx, r.VM))
}

func (r *rig) restored(ctx context.Context, before string) error {
	if _, err := r.kubectl(ctx, "get", "configmap", "before"); err != nil {
		return err
	}
	out, err := r.kubectl(ctx, "get", "configmap", "after", "--ignore-not-found")
	if err == nil && out != "" {
		err = fmt.Errorf("the cluster has what was made after the snapshot: %q", out)
	}
	if err != nil {
		return err
	}
	after, err := r.workloadIs(ctx)
	if err == nil && !strings.HasPrefix(after, strings.Fields(before)[0]) {
		err = fmt.Errorf("the pod was %s, and is %s", before, after)
	}
	return err
}
