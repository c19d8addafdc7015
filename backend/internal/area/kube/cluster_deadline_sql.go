package kube

import (
	"context"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

const (
	movingClusters = `
  FROM (SELECT c.id, c.state, c.updated_at AS since, d.seconds,
               (SELECT j.id FROM job_objects o JOIN jobs j ON j.id = o.job_id WHERE o.object_id = c.id AND j.finished_at IS NULL LIMIT 1) AS job
          FROM kube_clusters c
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = c.state) AS l`
	sqlClustersDue        = reconcile.SQLDue + movingClusters + reconcile.SQLDueOf
	sqlFindMovingCluster  = reconcile.SQLFind + movingClusters + reconcile.SQLFindOne
	sqlListMovingClusters = reconcile.SQLList + movingClusters + reconcile.SQLListPage
)

// ClustersInFlight are clusters that are made or deleted for too long, or by no job.
func ClustersInFlight() reconcile.Deadlines {
	return reconcile.Deadlines{
		Noun: ClusterNoun, States: ClusterLifecycle.Deadlines, Due: sqlClustersDue, Find: sqlFindMovingCluster, List: sqlListMovingClusters, Lock: sqlHoldCluster,
		Ends: reconcile.EndsSoon, End: endLostCluster,
	}
}

func endLostCluster(ctx context.Context, tx *db.Tx, lost reconcile.Ending) error {
	c, err := holdCluster(ctx, tx, lost.ID)
	if err != nil {
		return err
	}
	on := CreateFailed
	switch c.State {
	case ClusterDeleting:
		on = DeleteFailed
	case ClusterChanging:
		on = ChangeFailed
	}
	if err := moveCluster(ctx, tx, lost.ID, on, lost.Message); err != nil {
		return err
	}
	return audit.Append(ctx, tx, lost.By, c.entry("end_stuck", map[string]any{"state": lost.State}, map[string]any{"message": lost.Message}))
}
