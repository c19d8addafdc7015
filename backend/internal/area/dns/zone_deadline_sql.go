package dns

import (
	"context"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

const (
	movingZones = `
  FROM (SELECT z.id, z.state, z.updated_at AS since, d.seconds,
               (SELECT j.id FROM job_objects o JOIN jobs j ON j.id = o.job_id WHERE o.object_id = z.id AND j.finished_at IS NULL LIMIT 1) AS job
          FROM dns_zones z
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = z.state) AS l`
	sqlZonesDue        = reconcile.SQLDue + movingZones + reconcile.SQLDueOf
	sqlFindMovingZone  = reconcile.SQLFind + movingZones + reconcile.SQLFindOne
	sqlListMovingZones = reconcile.SQLList + movingZones + reconcile.SQLListPage
	sqlLockMovingZone  = `SELECT z.id FROM dns_zones z WHERE z.id = $1 FOR NO KEY UPDATE`
)

// ZonesInFlight are zones whose synchronization takes too long, or has no job.
func ZonesInFlight() reconcile.Deadlines {
	return reconcile.Deadlines{
		Noun: ZoneNoun, States: ZoneLifecycle.Deadlines, Due: sqlZonesDue, Find: sqlFindMovingZone, List: sqlListMovingZones, Lock: sqlLockMovingZone,
		Ends: reconcile.EndsSoon, End: endLostZone,
	}
}

func endLostZone(ctx context.Context, tx *db.Tx, lost reconcile.Ending) error {
	zone, err := holdZone(ctx, tx, lost.ID)
	if err != nil {
		return err
	}
	if err := MoveZone(ctx, tx, lost.ID, SyncFailed, lost.Message); err != nil {
		return err
	}
	return audit.Append(ctx, tx, lost.By, audit.Entry{
		Workspace: zone.WorkspaceID, Action: ZoneNoun + ".end_stuck", ObjectKind: ZoneNoun, ObjectID: zone.ID, ObjectName: zone.Name.Display(),
		Before: map[string]any{"state": lost.State}, After: map[string]any{"message": lost.Message},
	})
}
