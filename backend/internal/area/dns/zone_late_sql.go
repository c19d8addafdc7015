package dns

import (
	"context"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

const sqlLateZones = `
SELECT l.id, l.state, l.since, l.seconds, j.id AS job_id, j.state AS job_state
  FROM (SELECT z.id, z.state, z.updated_at AS since, d.seconds,
               (SELECT j.id FROM job_objects o JOIN jobs j ON j.id = o.job_id WHERE o.object_id = z.id AND j.finished_at IS NULL LIMIT 1) AS job
          FROM dns_zones z
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = z.state) AS l
  LEFT JOIN jobs j ON j.id = l.job
 WHERE l.since < now() - l.seconds * INTERVAL '1 second' OR (j.id IS NULL AND l.since < now() - $3::INT8 * INTERVAL '1 second')
 ORDER BY l.since, l.id
 LIMIT 500`

// LateZones finds zones whose synchronization takes too long, or has no job.
func LateZones() reconcile.Source {
	return reconcile.Source{
		Noun: ZoneNoun, Ends: reconcile.EndedHere, End: endLostZone,
		Find: func(ctx context.Context, q db.Reader) ([]reconcile.Late, error) {
			states, seconds := ZoneLifecycle.Deadlines()
			return db.Collect[reconcile.Late](ctx, q, sqlLateZones, states, seconds, int64(reconcile.WithoutAJob))
		},
	}
}

func endLostZone(ctx context.Context, tx *db.Tx, who audit.Actor, lost reconcile.Late, message string) error {
	zone, err := holdZone(ctx, tx, lost.ID)
	if err != nil {
		return err
	}
	if err := MoveZone(ctx, tx, lost.ID, SyncFailed, message); err != nil {
		return err
	}
	return audit.Append(ctx, tx, who, audit.Entry{
		Workspace: zone.WorkspaceID, Action: ZoneNoun + ".end_stuck", ObjectKind: ZoneNoun, ObjectID: zone.ID, ObjectName: zone.Name.Display(),
		Before: map[string]any{"state": lost.State}, After: map[string]any{"message": message},
	})
}
