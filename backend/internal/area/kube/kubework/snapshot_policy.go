package kubework

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// snapshotGrace is how late a snapshot may be before its condition says so: the job that takes it may wait for another one.
const snapshotGrace = 2 * time.Hour

// SnapshotPolicies take snapshots of clusters on a schedule, and expire them.
func SnapshotPolicies(config Config) []reconcile.Policy {
	return []reconcile.Policy{config.overClusters(reconcile.Policy{
		Name: "cluster_snapshots", Why: "snapshots of etcd are due by time, and old ones expire",
		Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	}, func(ctx context.Context, c kube.Cluster, observe bool) (reconcile.Outcome, error) {
		if c.Hosted {
			return reconcile.Outcome{}, nil // its data is in the data store of a management cluster
		}
		return config.lookAtSnapshots(ctx, c, observe)
	})}
}

func (c Config) lookAtSnapshots(ctx context.Context, cluster kube.Cluster, observe bool) (out reconcile.Outcome, err error) {
	if !observe {
		gone := 0
		err := c.DB.InTx(ctx, func(tx *db.Tx) (err error) {
			gone, err = kube.ExpireSnapshots(ctx, tx, cluster.ID)
			return err
		})
		if err != nil {
			return out, err
		}
		out.Changed += int64(gone)
	}
	taken, err := kube.SnapshotsOf(ctx, c.DB.Reader, cluster.ID)
	if err != nil {
		return out, fmt.Errorf("list the snapshots of a cluster: %w", err)
	}
	newest, plan, now := kube.Newest(taken), cluster.Plan(), time.Now()
	found := reconcile.Condition{Type: "snapshot_fresh", Status: reconcile.True, Reason: "fresh", Threshold: 1}
	switch {
	case plan.Hours == 0:
		found.Reason = "not_planned"
	case newest == nil && now.Sub(cluster.CreatedAt) > time.Duration(plan.Hours)*time.Hour+snapshotGrace:
		found.Status, found.Reason, found.Fault, found.RetryHelps = reconcile.False, "none", reconcile.FaultDependency, true
		found.Message = fmt.Sprintf("There is no snapshot of etcd. One is to be taken every %d hours.", plan.Hours)
	case newest != nil && plan.Stale(newest, now, snapshotGrace):
		found.Status, found.Reason, found.Fault, found.RetryHelps = reconcile.False, "old", reconcile.FaultDependency, true
		found.Message = fmt.Sprintf("The newest snapshot of etcd is of %s. One is to be taken every %d hours.", newest.BegunAt.UTC().Format(time.RFC3339), plan.Hours)
	case newest == nil:
		found.Reason = "first_is_due"
	}
	if plan.Stale(newest, now, 0) && !observe {
		asked := false
		err = c.DB.InTx(ctx, func(tx *db.Tx) (err error) {
			asked, err = kube.SnapshotDue(ctx, tx, c.Kinds, cluster.ID)
			return err
		})
		if asked {
			out.Changed++
			if found.Message != "" {
				found.Message += " A job takes one now."
			}
		}
	}
	if plan.Hours > 0 && newest != nil { // it is taken when it is due, not at the next look after that
		if left := time.Until(newest.BegunAt.Add(time.Duration(plan.Hours) * time.Hour)); left > 0 {
			out.Again = left
		}
	}
	out.Conditions = append(out.Conditions, found)
	return out, err
}
