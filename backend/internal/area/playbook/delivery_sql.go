package playbook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

const sqlDelivery = `
SELECT d.id, d.name, d.playbook, d.version, d.before, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM playbook_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true`

// DeliveryByID returns a delivery.
func DeliveryByID(ctx context.Context, q db.Reader, id uuid.UUID) (Delivery, error) {
	return db.First[Delivery](ctx, q, fault.ErrNotFound, sqlDelivery+" AND d.id = $1", id)
}

// FindDelivery finds a delivery by its id or its name. It is in no workspace.
func FindDelivery(ctx context.Context, q db.Reader, text string) (Delivery, scope.Ref[Delivery], error) {
	find := func() (Delivery, error) {
		if id, err := uuid.Parse(text); err == nil {
			return DeliveryByID(ctx, q, id)
		}
		return db.First[Delivery](ctx, q, fault.ErrNotFound, sqlDelivery+" AND d.name = $1", text)
	}
	d, err := find()
	if err != nil {
		return Delivery{}, scope.Ref[Delivery]{}, err
	}
	return d, scope.Found[Delivery](d.ID, uuid.Nil), nil
}

// DeliverySorting is the orders that deliveries can be listed in.
var DeliverySorting = db.Sorting[Delivery]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("d.created_at"), db.ByID("d.id")}, At: func(d Delivery) db.Position {
		return db.Position{Time: d.CreatedAt, ID: d.ID}
	}},
	{Name: "name", Columns: []db.Column{db.ByText("d.name")}, At: func(d Delivery) db.Position { return db.Position{Text: d.Name} }},
}

// DeliveryFilter narrows a list of deliveries.
type DeliveryFilter struct {
	Playbook, State string
	Sort            string // one of DeliverySorting; "" for the first
	After           *db.Position
	Limit           int
}

// Deliveries lists deliveries.
func Deliveries(ctx context.Context, q db.Reader, f DeliveryFilter) ([]Delivery, error) {
	l := db.NewList(sqlDelivery).AndIf(f.Playbook, "d.playbook = ?").AndIf(f.State, "r.state = ?")
	return DeliverySorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlOpenDeliveries = `
SELECT d.id
  FROM playbook_deliveries d
 WHERE d.open AND d.id > $1
 ORDER BY d.id
 LIMIT $2`

// OpenDeliveries lists the ids of deliveries that have not ended, behind one of them, ascending.
func OpenDeliveries(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list deliveries of playbooks", sqlOpenDeliveries, after, limit)
}

// present is a playbook with its default, as a delivery finds it.
type present struct {
	Default int  `db:"default_version"`
	Known   bool `db:"known"` // the version that is asked for is there
}

const sqlPresent = `
SELECT p.default_version, EXISTS (SELECT 1 FROM playbook_versions v WHERE v.playbook = p.name AND v.version = $2) AS known
  FROM playbooks p
 WHERE p.name = $1`

const sqlInsertDelivery = `
INSERT INTO playbook_deliveries (id, name, playbook, version, before, region, zone)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (name) DO NOTHING`

const sqlSetOpen = `
UPDATE playbook_deliveries
   SET open = $2
 WHERE id = $1 AND open <> $2`

// most hosts of a delivery.
const maxTargets = 20000

const sqlCandidates = `
SELECT h.id, h.name, h.region, h.zone
  FROM hosts h
 WHERE h.fenced AND h.removed_at IS NULL AND h.state NOT IN ('lost', 'decommissioning', 'decommissioned')
   AND ($1 = '' OR h.region = $1) AND ($2 = '' OR h.zone = $2) AND (NOT $3 OR h.purpose = 'units')
 ORDER BY h.id
 LIMIT $4`

// candidates are the hosts on which jobs of a playbook may run.
func candidates(ctx context.Context, q db.Reader, playbook, region, zone string) ([]rollout.Candidate, error) {
	all, err := db.Collect[rollout.Candidate](ctx, q, sqlCandidates, region, zone, unitPlaybook(playbook), maxTargets)
	if err != nil {
		return nil, fmt.Errorf("list hosts of playbook %s: %w", playbook, err)
	}
	return all, nil
}

const sqlGive = `
INSERT INTO host_playbooks (host_id, playbook, version, delivery_id)
SELECT b.host_id, $2, $3, $4
  FROM unnest($1::UUID[]) AS b (host_id)
ON CONFLICT (host_id, playbook) DO UPDATE
   SET version = excluded.version, delivery_id = excluded.delivery_id, given_at = now()`

// give binds jobs of hosts that are asked for from now on to the version.
func (d Delivery) give(ctx context.Context, tx *db.Tx, hosts []uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlGive, hosts, d.Playbook, d.Version, d.ID); err != nil {
		return fmt.Errorf("give hosts version %d of %s: %w", d.Version, d.Playbook, err)
	}
	return nil
}

const sqlTake = `
DELETE FROM host_playbooks
 WHERE host_id = ANY($1::UUID[]) AND delivery_id = $2`

// take binds jobs of hosts to the default again.
func (d Delivery) take(ctx context.Context, tx *db.Tx, hosts []uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlTake, hosts, d.ID); err != nil {
		return fmt.Errorf("take version %d of %s from hosts: %w", d.Version, d.Playbook, err)
	}
	return nil
}

const sqlTakeAll = `
DELETE FROM host_playbooks
 WHERE delivery_id = $1`

const sqlMakeDefault = `
UPDATE playbooks
   SET default_version = $2, revision = revision + 1, updated_at = now()
 WHERE name = $1 AND default_version = $3`

// makeDefault makes the version the default, unless another one became it since the delivery began, and ends what holds for hosts.
func (d Delivery) makeDefault(ctx context.Context, tx *db.Tx) (made bool, err error) {
	n, err := tx.Exec(ctx, sqlMakeDefault, d.Playbook, d.Version, d.Before)
	if err != nil {
		return false, fmt.Errorf("make version %d the default of %s: %w", d.Version, d.Playbook, err)
	}
	if _, err := tx.Exec(ctx, sqlTakeAll, d.ID); err != nil {
		return false, fmt.Errorf("end what delivery %s holds for hosts: %w", d.ID, err)
	}
	return n == 1, nil
}

// Of the jobs of a host that were asked for since it was told and are bound to the version: the newest that ended well, the newest
// that failed, and whether one is to come. A condition of the host that is false only since then is a fault, too.
const sqlStands = `
WITH b AS (
  SELECT t.host_id, t.told_at, v.id AS version_id
    FROM unnest($1::UUID[], $2::TIMESTAMPTZ[]) AS t (host_id, told_at)
    JOIN playbook_versions v ON v.playbook = $3 AND v.version = $4
), ran AS (
  SELECT b.host_id, j.kind, CASE WHEN j.kind = 'plan' AND COALESCE((p.counts->>'stops')::INT8, 0) > 0 THEN 'failed' ELSE j.state END AS state,
         j.error->>'code' AS code, COALESCE(j.error->>'message', 'A run of the version would stop there.') AS message, j.created_at
    FROM b
    JOIN jobs j ON j.host_id = b.host_id AND j.playbook_version_id = b.version_id AND j.created_at > b.told_at
    LEFT JOIN plans p ON p.id = j.plan_id AND j.kind = 'plan'
  UNION ALL
  SELECT b.host_id, j.kind, CASE WHEN o.state = 'pending' THEN j.state ELSE o.state END, o.code, o.message, j.created_at
    FROM b
    JOIN job_hosts o ON o.host_id = b.host_id
    JOIN jobs j ON j.id = o.job_id AND j.playbook_version_id = b.version_id AND j.created_at > b.told_at
)
SELECT b.host_id, h.removed_at IS NOT NULL OR h.state IN ('lost', 'decommissioned') OR NOT h.fenced AS gone,
       COALESCE((SELECT r.kind FROM ran r WHERE r.host_id = b.host_id AND r.state = 'succeeded' ORDER BY r.created_at DESC LIMIT 1), '') AS succeeded,
       COALESCE((SELECT r.kind || ': ' || COALESCE(r.message, '') FROM ran r
                  WHERE r.host_id = b.host_id AND r.state = 'failed' AND COALESCE(r.code, '') <> ALL ($5::TEXT[])
                  ORDER BY r.created_at DESC LIMIT 1), '') AS failed,
       EXISTS (SELECT 1 FROM ran r WHERE r.host_id = b.host_id AND r.state IN ('queued', 'running', 'cancelling')) AS under_way,
       COALESCE((SELECT max(r.created_at) FROM ran r WHERE r.host_id = b.host_id), b.told_at) AS asked_at,
       COALESCE((SELECT c.type || ': ' || c.message FROM conditions c
                  WHERE c.noun = 'host' AND c.object_id = b.host_id AND c.status = 'false' AND c.since > b.told_at AND c.fault <> 'user' AND c.type <> 'cross_checked'
                  ORDER BY c.since LIMIT 1), '') AS condition,
       (SELECT a.id FROM allocations a WHERE a.host_id = b.host_id AND a.state = 'allocated' AND a.ended_at IS NULL ORDER BY a.id LIMIT 1) AS allocation_id,
       h.workspace_id, b.told_at, now() AS now
  FROM b
  JOIN hosts h ON h.id = b.host_id`

// stand is how a host stands to the version that it was given.
type stand struct {
	HostID       uuid.UUID  `db:"host_id"`
	Gone         bool       `db:"gone"`
	Succeeded    string     `db:"succeeded"` // kind of a job that ended well with the version; "" for none
	Failed       string     `db:"failed"`    // kind and message of one that failed, by a fault that may be the version's
	UnderWay     bool       `db:"under_way"`
	AskedAt      time.Time  `db:"asked_at"`  // when the last job was asked for; when it was told, if none was
	Condition    string     `db:"condition"` // that is false since it was told; "" for none
	AllocationID *uuid.UUID `db:"allocation_id"`
	WorkspaceID  uuid.UUID  `db:"workspace_id"`
	ToldAt       time.Time  `db:"told_at"`
	Now          time.Time  `db:"now"`
}

// stands reads how hosts stand, each of which was told at the time of its place. Failures by one of these codes are not the version's.
func (d Delivery) stands(ctx context.Context, q db.Reader, hosts []uuid.UUID, told []time.Time, innocent []string) ([]stand, error) {
	all, err := db.Collect[stand](ctx, q, sqlStands, hosts, told, d.Playbook, d.Version, innocent)
	if err != nil {
		return nil, fmt.Errorf("read how hosts stand to version %d of %s: %w", d.Version, d.Playbook, err)
	}
	return all, nil
}
