package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

const sqlDelivery = `
SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true`

// DeliveryByID returns a delivery.
func DeliveryByID(ctx context.Context, q db.Reader, id uuid.UUID) (Delivery, error) {
	return db.First[Delivery](ctx, q, fault.ErrNotFound, sqlDelivery+" AND d.id = $1", id)
}

// FindDelivery finds a delivery of a workspace by its id or its name.
func FindDelivery(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Delivery, scope.Ref[Delivery], error) {
	return scope.Find(ctx, q, sqlDelivery+" AND d.workspace_id = $1 AND d.id = $2", sqlDelivery+" AND d.workspace_id = $1 AND d.name = $2", workspace, text,
		func(d Delivery) uuid.UUID { return d.ID })
}

// DeliverySorting is the orders that deliveries can be listed in.
var DeliverySorting = db.Sorting[Delivery]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("d.created_at"), db.ByID("d.id")}, At: func(d Delivery) db.Position {
		return db.Position{Time: d.CreatedAt, ID: d.ID}
	}},
	{Name: "name", Columns: []db.Column{db.ByText("d.name"), db.ByID("d.id")}, At: func(d Delivery) db.Position {
		return db.Position{Text: d.Name, ID: d.ID}
	}},
}

// DeliveryFilter narrows a list of deliveries.
type DeliveryFilter struct {
	WorkspaceID uuid.UUID
	State       string
	Sort        string // one of DeliverySorting; "" for the first
	After       *db.Position
	Limit       int
}

// Deliveries lists deliveries.
func Deliveries(ctx context.Context, q db.Reader, f DeliveryFilter) ([]Delivery, error) {
	l := db.NewList(sqlDelivery).And("d.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "r.state = ?")
	return DeliverySorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlOpenDeliveries = `
SELECT d.id
  FROM update_deliveries d
 WHERE d.open AND d.id > $1
 ORDER BY d.id
 LIMIT $2`

// OpenDeliveries lists the ids of deliveries that have not ended, behind one of them, ascending.
func OpenDeliveries(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list deliveries", sqlOpenDeliveries, after, limit)
}

const sqlInsertDelivery = `
INSERT INTO update_deliveries (id, workspace_id, name, version, region, zone)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (workspace_id, name) DO NOTHING`

const sqlSetOpen = `
UPDATE update_deliveries
   SET open = $2
 WHERE id = $1 AND open <> $2`

// most hosts of a delivery.
const maxTargets = 20000

const sqlCandidates = `
SELECT h.id, h.name, h.region, h.zone
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
 WHERE a.workspace_id = $1 AND a.state = 'enrolled' AND ($2 = '' OR h.region = $2) AND ($3 = '' OR h.zone = $3)
 ORDER BY h.id
 LIMIT $4`

// candidates are the hosts with an agent that a delivery is to reach.
func candidates(ctx context.Context, q db.Reader, workspace uuid.UUID, region, zone string) ([]rollout.Candidate, error) {
	all, err := db.Collect[rollout.Candidate](ctx, q, sqlCandidates, workspace, region, zone, maxTargets)
	if err != nil {
		return nil, fmt.Errorf("list hosts with an agent: %w", err)
	}
	return all, nil
}

// A host that is told again keeps the version that it can go back to.
const sqlGiveStep = `
INSERT INTO agent_version_steps (host_id, version, delivery_id, before)
SELECT b.host_id, $2, $3, COALESCE(r.agent_version, '')
  FROM unnest($1::UUID[]) AS b (host_id)
  LEFT JOIN agents a ON a.host_id = b.host_id AND a.state = 'enrolled'
  LEFT JOIN agent_reports r ON r.agent_id = a.id
ON CONFLICT (host_id, delivery_id) DO UPDATE
   SET taken = false, given_at = now()`

const sqlGive = `
INSERT INTO agent_versions (host_id, version, delivery_id)
SELECT b.host_id, $2, $3
  FROM unnest($1::UUID[]) AS b (host_id)
ON CONFLICT (host_id) DO UPDATE
   SET version = excluded.version, delivery_id = excluded.delivery_id, changed_at = now()`

// give makes a version hold for hosts.
func (d Delivery) give(ctx context.Context, tx *db.Tx, hosts []uuid.UUID) error {
	for _, sql := range []db.Statement{sqlGiveStep, sqlGive} {
		if _, err := tx.Exec(ctx, sql, hosts, d.Version, d.ID); err != nil {
			return fmt.Errorf("tell hosts of a version: %w", err)
		}
	}
	return nil
}

const sqlTakeStep = `
UPDATE agent_version_steps
   SET taken = true
 WHERE host_id = ANY($1::UUID[]) AND delivery_id = $2 AND NOT taken`

// What held before: the last delivery that was not taken back, or the version that ran.
const sqlTake = `
UPDATE agent_versions
   SET version = COALESCE((SELECT s.version
                             FROM agent_version_steps s
                            WHERE s.host_id = agent_versions.host_id AND NOT s.taken
                            ORDER BY s.given_at DESC
                            LIMIT 1),
                          (SELECT s.before
                             FROM agent_version_steps s
                            WHERE s.host_id = agent_versions.host_id AND s.delivery_id = $2), ''),
       delivery_id = COALESCE((SELECT s.delivery_id
                                 FROM agent_version_steps s
                                WHERE s.host_id = agent_versions.host_id AND NOT s.taken
                                ORDER BY s.given_at DESC
                                LIMIT 1), $2),
       changed_at = now()
 WHERE host_id = ANY($1::UUID[]) AND delivery_id = $2`

// take makes hosts go back to what held before, where no other delivery has reached them since.
func (d Delivery) take(ctx context.Context, tx *db.Tx, hosts []uuid.UUID) error {
	for _, sql := range []db.Statement{sqlTakeStep, sqlTake} {
		if _, err := tx.Exec(ctx, sql, hosts, d.ID); err != nil {
			return fmt.Errorf("take a version from hosts: %w", err)
		}
	}
	return nil
}

// A probe of before counts only if it was asked for after the host was told, and may still end or has told of the host.
const sqlStands = `
WITH b AS (
  SELECT t.host_id, (SELECT j.id
                       FROM job_hosts p
                       JOIN jobs j ON j.id = p.job_id
                      WHERE p.host_id = t.host_id AND j.kind = 'hosts_probe' AND j.created_at > t.told_at
                        AND (p.state <> 'pending' OR j.finished_at IS NULL)
                      ORDER BY j.created_at DESC
                      LIMIT 1) AS probe_id
    FROM unnest($1::UUID[], $2::TIMESTAMPTZ[]) AS t (host_id, told_at)
)
SELECT b.host_id, a.id AS agent_id, COALESCE(r.agent_version, '') AS runs, COALESCE(r.causes, '{}') AS causes,
       COALESCE((EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8, 0) AS age_ms, l.received_at,
       COALESCE((EXTRACT(EPOCH FROM now() - c.renewed_at) * 1000)::INT8, 0) AS runs_ms,
       COALESCE(v.version, '') AS told,
       COALESCE(t.version, '') AS trouble_version, COALESCE(t.state, '') AS trouble_state, COALESCE(t.reason, '') AS trouble_reason,
       COALESCE(p.state, '') AS probe, COALESCE(p.message, '') AS probe_message,
       now() AS now
  FROM b
  LEFT JOIN job_hosts p ON p.job_id = b.probe_id AND p.host_id = b.host_id
  LEFT JOIN agents a ON a.host_id = b.host_id AND a.state = 'enrolled'
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_versions v ON v.host_id = b.host_id
  LEFT JOIN agent_update_troubles t ON t.agent_id = a.id`

// stand is how the agent of a host stands to the version that it was told.
type stand struct {
	HostID     uuid.UUID  `db:"host_id"`
	AgentID    *uuid.UUID `db:"agent_id"` // nil: no agent is enrolled there
	Runs       string     `db:"runs"`     // the version of its last report
	Causes     Causes     `db:"causes"`
	AgeMS      int64      `db:"age_ms"` // since its last heartbeat
	ReceivedAt *time.Time `db:"received_at"`
	RunsMS     int64      `db:"runs_ms"`         // since it last renewed its credential, which each process does when it begins
	Told       string     `db:"told"`            // the version that it is to run now
	Trouble    string     `db:"trouble_version"` // that it does not run, by its own word
	State      string     `db:"trouble_state"`
	Reason     string     `db:"trouble_reason"`
	Probe      string     `db:"probe"` // of the play that reads the host since it was told: "", pending, succeeded or failed
	ProbeSaid  string     `db:"probe_message"`
	Now        time.Time  `db:"now"`
}

// stands reads how hosts stand, each of which was told at the time of its place.
func stands(ctx context.Context, q db.Reader, hosts []uuid.UUID, told []time.Time) ([]stand, error) {
	all, err := db.Collect[stand](ctx, q, sqlStands, hosts, told)
	if err != nil {
		return nil, fmt.Errorf("read which versions agents run: %w", err)
	}
	return all, nil
}

const sqlRunChanged = `
SELECT l.agent_id, v.version AS run
  FROM agent_versions v
  JOIN agent_liveness l ON l.host_id = v.host_id
 WHERE v.changed_at > now() - INTERVAL '30 seconds'
 LIMIT 20000`

// ToldVersion is the version that an agent is to run.
type ToldVersion struct {
	Agent uuid.UUID `db:"agent_id"`
	Run   string    `db:"run"`
}

// ToldLately lists agents that were told another version within the last half minute.
func ToldLately(ctx context.Context, q db.Reader) ([]ToldVersion, error) {
	all, err := db.Collect[ToldVersion](ctx, q, sqlRunChanged)
	if err != nil {
		return nil, fmt.Errorf("list agents that were told a version: %w", err)
	}
	return all, nil
}

// Trouble is why an agent does not run the version that it was told.
type Trouble struct{ Version, State, Reason string }

// TroubleOf cleans what an agent says; an empty one for what makes no sense.
func TroubleOf(of, state, reason string) Trouble {
	if !version.MatchString(of) || state != "failed" && state != "pinned" {
		return Trouble{}
	}
	return Trouble{Version: of, State: state, Reason: sentence(reason)}
}

const maxReason = 300

func sentence(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text[:min(len(text), maxReason)])
	return text
}

const sqlPutTrouble = `
INSERT INTO agent_update_troubles (agent_id, version, state, reason)
VALUES ($1, $2, $3, $4)
ON CONFLICT (agent_id) DO UPDATE
   SET version = excluded.version, state = excluded.state, reason = excluded.reason, created_at = now()`

const sqlEndTrouble = `
DELETE FROM agent_update_troubles
 WHERE agent_id = $1`

// putTrouble notes what an agent says of the version that it was told; an empty one for nothing.
func putTrouble(ctx context.Context, tx *db.Tx, agent uuid.UUID, t Trouble) error {
	var err error
	if t.Version == "" {
		_, err = tx.Exec(ctx, sqlEndTrouble, agent)
	} else {
		_, err = tx.Exec(ctx, sqlPutTrouble, agent, t.Version, t.State, t.Reason)
	}
	if err != nil {
		return fmt.Errorf("note the trouble of agent %s: %w", agent, err)
	}
	return nil
}
