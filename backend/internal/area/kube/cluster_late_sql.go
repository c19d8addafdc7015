package kube

import (
	"context"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

const sqlLateClusters = `
SELECT l.id, l.state, l.since, l.seconds, j.id AS job_id, j.state AS job_state
  FROM (SELECT c.id, c.state, c.updated_at AS since, d.seconds,
               (SELECT j.id FROM job_objects o JOIN jobs j ON j.id = o.job_id WHERE o.object_id = c.id AND j.finished_at IS NULL LIMIT 1) AS job
          FROM kube_clusters c
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = c.state) AS l
  LEFT JOIN jobs j ON j.id = l.job
 WHERE l.since < now() - l.seconds * INTERVAL '1 second' OR (j.id IS NULL AND l.since < now() - $3::INT8 * INTERVAL '1 second')
 ORDER BY l.since, l.id
 LIMIT 500`

// LateClusters finds clusters that are made or deleted for too long, or by no job.
func LateClusters() reconcile.Source {
	return reconcile.Source{
		Noun: ClusterNoun, Ends: reconcile.EndedHere, End: endLostCluster,
		Find: func(ctx context.Context, q db.Reader) ([]reconcile.Late, error) {
			states, seconds := ClusterLifecycle.Deadlines()
			return db.Collect[reconcile.Late](ctx, q, sqlLateClusters, states, seconds, int64(reconcile.WithoutAJob))
		},
	}
}

func endLostCluster(ctx context.Context, tx *db.Tx, who audit.Actor, lost reconcile.Late, message string) error {
	c, err := holdCluster(ctx, tx, lost.ID)
	if err != nil {
		return err
	}
	on := CreateFailed
	if c.State == ClusterDeleting {
		on = DeleteFailed
	}
	if err := moveCluster(ctx, tx, lost.ID, on, message); err != nil {
		return err
	}
	return audit.Append(ctx, tx, who, c.entry("end_stuck", map[string]any{"state": lost.State}, map[string]any{"message": message}))
}
