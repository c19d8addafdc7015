package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const (
	sqlSnapshot = `
SELECT s.id, s.workspace_id, s.cluster_id, c.name AS cluster, s.node, s.kube_version, s.key_sealed, s.size, s.stored, s.parts, s.sha256, s.begun_at,
       s.taken_at, c.state AS cluster_state, c.kube_version AS cluster_version, c.target_version,
       ARRAY(SELECT n.name FROM kube_nodes n WHERE n.cluster_id = c.id AND n.role = 'control_plane' ORDER BY n.name) AS planes,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane'
                AND (h.state = 'lost' OR h.health = 'unreachable' OR n.state NOT IN ('joined', 'ready', 'not_ready'))
              ORDER BY n.name) AS away,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost_at,
       c.endpoint,
       s.version, s.created_at, s.updated_at
  FROM kube_snapshots s
  JOIN kube_clusters c ON c.id = s.cluster_id
 WHERE true`

	// People see those that are whole.
	whole = ` AND s.taken_at IS NOT NULL`
)

// FindSnapshot finds a snapshot of a workspace by its id.
func FindSnapshot(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Snapshot, scope.Ref[Snapshot], error) {
	return scope.FindByID(ctx, q, sqlSnapshot+whole+" AND s.workspace_id = $1 AND s.id = $2", workspace, text,
		func(s Snapshot) uuid.UUID { return s.ID })
}

// SnapshotByID returns a snapshot, also one that is not whole.
func SnapshotByID(ctx context.Context, q db.Reader, id uuid.UUID) (Snapshot, error) {
	return db.First[Snapshot](ctx, q, fault.ErrNotFound, sqlSnapshot+" AND s.id = $1", id)
}

// SnapshotsOf returns the snapshots of a cluster that are whole, newest first.
func SnapshotsOf(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]Snapshot, error) {
	return db.Collect[Snapshot](ctx, q, sqlSnapshot+whole+" AND s.cluster_id = $1 ORDER BY s.begun_at DESC, s.id", cluster)
}

func allSnapshotsOf(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]Snapshot, error) {
	return db.Collect[Snapshot](ctx, q, sqlSnapshot+" AND s.cluster_id = $1", cluster)
}

// SnapshotSorting is the orders that snapshots can be listed in.
var SnapshotSorting = db.Sorting[Snapshot]{
	{Name: "-taken_at", Columns: []db.Column{db.ByTime("s.taken_at"), db.ByID("s.id")}, At: func(s Snapshot) db.Position {
		return db.Position{Time: *s.TakenAt, ID: s.ID} // the list has whole ones only
	}},
}

// SnapshotFilter narrows a list of snapshots.
type SnapshotFilter struct {
	WorkspaceID uuid.UUID
	Sort        string // one of SnapshotSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Snapshots lists snapshots that are whole.
func Snapshots(ctx context.Context, q db.Reader, f SnapshotFilter) ([]Snapshot, error) {
	l := db.NewList(sqlSnapshot+whole).And("s.workspace_id = ?", f.WorkspaceID)
	return SnapshotSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// Those that are not whole, and that no job is about any more: a job about a cluster names it, and one at a time has its lock.
const sqlLeftSnapshots = `
SELECT s.id
  FROM kube_snapshots s
 WHERE s.cluster_id = $1
   AND s.taken_at IS NULL
   AND NOT EXISTS (SELECT 1
                     FROM job_objects o
                     JOIN jobs j ON j.id = o.job_id
                    WHERE o.object_id = s.cluster_id AND j.kind = $2 AND j.finished_at IS NULL)`

const sqlInsertSnapshot = `
INSERT INTO kube_snapshots (id, workspace_id, cluster_id, node, kube_version, key_sealed, size, stored, parts, sha256, begun_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

const sqlDeleteSnapshot = `
DELETE FROM kube_snapshots
 WHERE id = $1`

const sqlDeleteSnapshotParts = `
DELETE FROM kube_snapshot_parts
 WHERE snapshot_id = $1`

const sqlDeleteSnapshotsOf = `
DELETE FROM kube_snapshots
 WHERE cluster_id = $1`

const sqlFinishSnapshot = `
UPDATE kube_snapshots
   SET taken_at = now(), version = version + 1, updated_at = now()
 WHERE id = $1 AND taken_at IS NULL`

const sqlSetSnapshotPlan = `
UPDATE kube_clusters
   SET snapshot_hours = $2, snapshot_keep = $3, snapshot_days = $4, version = version + 1, updated_at = now()
 WHERE id = $1`

const sqlSnapshotAsked = `
UPDATE kube_clusters
   SET snapshot_asked_at = now()
 WHERE id = $1`

const sqlPutPart = `
INSERT INTO kube_snapshot_parts (snapshot_id, number, content)
VALUES ($1, $2, $3)
ON CONFLICT (snapshot_id, number) DO UPDATE SET content = EXCLUDED.content`

const sqlNumbersOfParts = `
SELECT p.number
  FROM kube_snapshot_parts p
 WHERE p.snapshot_id = $1
 ORDER BY p.number`

const sqlPart = `
SELECT p.content
  FROM kube_snapshot_parts p
 WHERE p.snapshot_id = $1 AND p.number = $2`

// PartsOf returns the numbers of the parts that are here.
func PartsOf(ctx context.Context, q db.Reader, snapshot uuid.UUID) (numbers []int64, err error) {
	type row struct {
		Number int64 `db:"number"`
	}
	found, err := db.Collect[row](ctx, q, sqlNumbersOfParts, snapshot)
	for _, r := range found {
		numbers = append(numbers, r.Number)
	}
	return numbers, err
}

// Part returns one part as it is stored, encrypted.
func Part(ctx context.Context, q db.Reader, snapshot uuid.UUID, number int64) ([]byte, error) {
	type row struct {
		Content []byte `db:"content"`
	}
	found, err := db.First[row](ctx, q, fault.ErrNotFound, sqlPart, snapshot, number)
	return found.Content, err
}
