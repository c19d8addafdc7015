package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Picture is an installation at one moment: all that lives, and those rows of
// its history that do not fit together.
type Picture struct {
	Hosts       []HostSeen
	Units       []UnitSeen
	Allocations []AllocationSeen
	Addresses   []AddressSeen
	Plans       []PlanSeen
	Jobs        []JobSeen // that have not ended
	Ends        []EndSeen
	Creations   []CreationSeen
	Untold      []UntoldSeen
	Steps       []StepsSeen
	JobHosts    []JobHostsSeen
	UIDs        []UIDSeen
	Quotas      []QuotaSeen
	Strays      []StraySeen // allocations on hosts of other workspaces that no grant let in
	Lent        []LentSeen  // addresses that are with hosts of other workspaces and that no grant gave
	Names       []NameSeen  // record sets in zones of other workspaces that no grant let in
	Snapshots   []SnapshotSeen
	Given       []GivenSeen
}

// HostSeen is a host, removed ones included, and who holds it.
type HostSeen struct {
	ID            uuid.UUID        `db:"id"`
	Name          string           `db:"name"`
	State         domain.HostState `db:"state"`
	Incarnation   uuid.UUID        `db:"incarnation"`
	Number        int64            `db:"number"` // the highest that the fence was given
	Holder        *uuid.UUID       `db:"holder"`
	HolderAttempt int              `db:"holder_attempt"`
}

// UnitSeen is a unit that is not removed.
type UnitSeen struct {
	ID     uuid.UUID        `db:"id"`
	Name   string           `db:"name"`
	HostID uuid.UUID        `db:"host_id"`
	State  domain.UnitState `db:"state"`
}

// AllocationSeen is an allocation that has not ended.
type AllocationSeen struct {
	ID        uuid.UUID              `db:"id"`
	LoginUser string                 `db:"login_user"`
	UnitID    uuid.UUID              `db:"unit_id"`
	HostID    uuid.UUID              `db:"host_id"`
	UID       int64                  `db:"uid"`
	Address   string                 `db:"address"`
	State     domain.AllocationState `db:"state"`
}

// AddressSeen is an address that somebody has, or that should be somebody's;
// Its is what the allocation says.
type AddressSeen struct {
	ID           uuid.UUID               `db:"id"`
	Address      string                  `db:"address"`
	State        domain.AddressState     `db:"state"`
	AllocationID *uuid.UUID              `db:"allocation_id"`
	ItsState     *domain.AllocationState `db:"its_state"`
	ItsAddress   *string                 `db:"its_address"`
}

// PlanSeen is a plan that is being checked.
type PlanSeen struct {
	ID     uuid.UUID        `db:"id"`
	HostID uuid.UUID        `db:"host_id"`
	State  domain.PlanState `db:"state"`
	JobID  uuid.UUID        `db:"job_id"`
}

// JobSeen is a job that has not ended.
type JobSeen struct {
	ID           uuid.UUID       `db:"id"`
	Kind         domain.JobKind  `db:"kind"`
	State        domain.JobState `db:"state"`
	Attempt      int             `db:"attempt"`
	HostID       *uuid.UUID      `db:"host_id"`
	UnitID       *uuid.UUID      `db:"unit_id"`
	AllocationID *uuid.UUID      `db:"allocation_id"`
	PlanID       *uuid.UUID      `db:"plan_id"`
	Worker       *uuid.UUID      `db:"worker_id"`
	Overdue      *float64        `db:"overdue"` // seconds since the lease ran out, negative before; nil without a lease
}

// EndSeen is a job whose events do not tell its life: each end has one event,
// of the moment in which the job ended and with its state, and each end but
// the last a retry behind it.
type EndSeen struct {
	ID       uuid.UUID       `db:"id"`
	Kind     domain.JobKind  `db:"kind"`
	State    domain.JobState `db:"state"`
	Ends     int             `db:"ends"`
	Retries  int             `db:"retries"`
	Agreeing int             `db:"agreeing"` // ends of the moment and with the state of the row
}

// CreationSeen is an allocation that is not told of by one event alone.
type CreationSeen struct {
	ID        uuid.UUID `db:"id"`
	LoginUser string    `db:"login_user"`
	Creations int       `db:"creations"`
}

// UntoldSeen is an object in a state that no event leads to.
type UntoldSeen struct {
	Noun  string    `db:"noun"`
	ID    uuid.UUID `db:"id"`
	Name  string    `db:"name"`
	State string    `db:"state"`
}

// SnapshotSeen is a snapshot of a cluster that was taken, and whose parts are not all there.
type SnapshotSeen struct {
	ID      uuid.UUID `db:"id"`
	Cluster string    `db:"cluster"`
	Parts   int64     `db:"parts"`  // that it has
	Stored  int64     `db:"stored"` // that are there
}

const sqlSeeSnapshots = `
SELECT s.id, c.name AS cluster, s.parts, count(p.number) AS stored
  FROM kube_snapshots s
  JOIN kube_clusters c ON c.id = s.cluster_id
  LEFT JOIN kube_snapshot_parts p ON p.snapshot_id = s.id
 WHERE s.taken_at IS NOT NULL
 GROUP BY s.id, c.name, s.parts
HAVING count(p.number) <> s.parts OR max(p.number) <> s.parts - 1
 ORDER BY s.id`

// GivenSeen is a host that has a version of a playbook from a delivery which is over, or never told it, or has another one.
type GivenSeen struct {
	Host     string `db:"host"`
	Playbook string `db:"playbook"`
	Version  int    `db:"version"`
	Delivery string `db:"delivery"`
}

const sqlSeeGiven = `
SELECT b.host_id::TEXT AS host, b.playbook, b.version, b.delivery_id::TEXT AS delivery
  FROM host_playbooks b
 WHERE NOT EXISTS (SELECT 1
                     FROM playbook_deliveries d
                     JOIN rollout_targets t ON t.rollout_id = d.id AND t.target_id = b.host_id
                    WHERE d.id = b.delivery_id AND d.open AND d.playbook = b.playbook AND d.version = b.version AND t.told_at IS NOT NULL)
 ORDER BY b.host_id, b.playbook`

// JobHostsSeen is a job whose hosts, of which it has several, do not fit it, or
// one of them is not there.
type JobHostsSeen struct {
	ID    uuid.UUID       `db:"id"`
	Kind  domain.JobKind  `db:"kind"`
	State domain.JobState `db:"state"`
	Asked int             `db:"asked"` // hosts that it was asked for
	Hosts int             `db:"hosts"` // that stand with it
	Done  int             `db:"done"`  // well
}

// StepsSeen is a job whose steps do not fit its state, or that is not there.
type StepsSeen struct {
	ID    uuid.UUID       `db:"id"`
	Kind  domain.JobKind  `db:"kind"`
	State domain.JobState `db:"state"` // "" if it is not there
	Steps []string        `db:"steps"` // their states, in order
}

// UIDSeen is a UID that is not given to just the one allocation that has it.
type UIDSeen struct {
	UID        int64      `db:"uid"`
	Allocation *uuid.UUID `db:"allocation_id"` // that has it
	Given      *uuid.UUID `db:"given_to"`
}

const sqlSeeHosts = `
SELECT h.id, h.name, h.state, h.incarnation, COALESCE(l.number, 0) AS number, l.job_id AS holder, COALESCE(l.attempt, 0) AS holder_attempt
  FROM hosts h
  LEFT JOIN host_locks l ON l.host_id = h.id
 ORDER BY h.name, h.id`

const sqlSeeUnits = `
SELECT u.id, u.name, u.host_id, u.state
  FROM compute_units u
 WHERE u.state <> 'removed'
 ORDER BY u.name, u.id`

const sqlSeeAllocations = `
SELECT a.id, a.login_user, a.unit_id, a.host_id, a.uid, a.address, a.state
  FROM allocations a
 WHERE a.ended_at IS NULL
 ORDER BY a.id`

const sqlSeeAddresses = `
SELECT p.id, p.address, p.state, p.allocation_id, a.state AS its_state, a.address AS its_address
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE p.allocation_id IS NOT NULL OR p.state NOT IN ('free', 'unavailable')
 ORDER BY p.sort_key, p.id`

const sqlSeePlans = `
SELECT p.id, p.host_id, p.state, p.job_id
  FROM plans p
 WHERE p.state = 'checking'
 ORDER BY p.id`

const sqlSeeJobs = `
SELECT j.id, j.kind, j.state, j.attempt, j.host_id, j.unit_id, j.allocation_id, j.plan_id, j.worker_id,
       EXTRACT(EPOCH FROM now() - j.lease_expires_at)::FLOAT8 AS overdue
  FROM jobs j
 WHERE j.state IN ('queued', 'running', 'cancelling')
 ORDER BY j.created_at, j.id`

// A queued job is ended by the event of its cancellation, and all jobs of a
// host by that of its loss. now() is that of the transaction, so an end and its
// event carry the same time. Where the trail says that its older part was
// removed, what is older than the rest of it is left out.
const sqlSeeEnds = `
WITH told AS (
    SELECT j.id,
           count(e.id) FILTER (WHERE e.action <> 'job.retry') AS ends,
           count(e.id) FILTER (WHERE e.action = 'job.retry') AS retries,
           count(e.id) FILTER (WHERE e.at = j.finished_at
                                 AND (e.action = 'job.cancel' AND j.state = 'cancelled' OR e.action <> 'job.cancel' AND e.state_after->>'end' = j.state)) AS agreeing
      FROM jobs j
      JOIN events e
        ON e.job_id = j.id
       AND (e.action = 'job.retry' OR e.action = 'job.' || j.kind OR e.action = 'job.cancel' AND e.state_before->>'state' = 'queued' AND COALESCE(e.state_after->>'state', 'cancelled') = 'cancelled')
     GROUP BY j.id),
lives AS (
    SELECT j.id, j.kind, j.state, COALESCE(t.ends, 0) AS ends, COALESCE(t.retries, 0) AS retries, COALESCE(t.agreeing, 0) AS agreeing,
           CASE WHEN j.state IN ('succeeded', 'failed', 'cancelled') THEN 1 ELSE 0 END AS ended,
           (SELECT count(*) FROM events d
             WHERE d.object_id = j.host_id AND d.action = 'host.declare_lost' AND d.at = j.finished_at AND j.error->>'code' = 'host_lost') AS lost
      FROM jobs j
      LEFT JOIN told t ON t.id = j.id
     WHERE NOT EXISTS (SELECT 1 FROM events x WHERE x.action = 'event.expire')
        OR j.created_at >= (SELECT min(f.at) FROM events f WHERE f.workspace_id = j.workspace_id))
SELECT v.id, v.kind, v.state, v.ends + v.lost AS ends, v.retries, v.agreeing + v.lost AS agreeing
  FROM lives v
 WHERE v.ends + v.lost <> v.retries + v.ended OR v.agreeing + v.lost <> v.ended
 ORDER BY v.id`

const sqlSeeCreations = `
SELECT a.id, a.login_user, count(e.id) AS creations
  FROM allocations a
  LEFT JOIN events e ON e.object_id = a.id AND e.action = 'allocation.create'
 WHERE NOT EXISTS (SELECT 1 FROM events x WHERE x.action = 'event.expire')
    OR a.created_at >= (SELECT min(f.at) FROM events f WHERE f.workspace_id = a.workspace_id)
 GROUP BY a.id, a.login_user
HAVING count(e.id) <> 1
 ORDER BY a.id`

// What the jobs of an object, or a person, did to it is told in the transaction
// that does it: the end of an allocation is of its event's moment, which is a
// cancel where nothing was ever set up for it. A closed unit
// may also be one that could not be removed. Nothing is asked of the order of
// events, which is another one where a clock went back.
const sqlSeeUntold = `
WITH trail AS (
    SELECT w.id AS workspace_id, COALESCE((SELECT min(f.at) FROM events f WHERE f.workspace_id = w.id), now()) AS begins,
           EXISTS (SELECT 1 FROM events x WHERE x.action = 'event.expire') AS shortened
      FROM workspaces w)
SELECT 'allocation' AS noun, a.id, a.login_user AS name, a.state
  FROM allocations a
  JOIN trail t ON t.workspace_id = a.workspace_id AND (NOT t.shortened OR a.created_at >= t.begins)
 WHERE (a.state = 'allocated'
        AND NOT EXISTS (SELECT 1 FROM events e WHERE e.object_id = a.id AND e.action = 'job.unit_allocate' AND e.state_after->>'end' = 'succeeded'))
    OR (a.state = 'deallocated'
        AND NOT EXISTS (SELECT 1 FROM events e
                         WHERE e.object_id = a.id AND e.at = a.ended_at AND e.action = 'job.unit_deallocate' AND e.state_after->>'end' = 'succeeded')
        AND NOT EXISTS (SELECT 1 FROM jobs j JOIN events e ON e.object_id = j.id
                         WHERE j.allocation_id = a.id AND j.kind = 'unit_allocate' AND j.state = 'cancelled'
                           AND e.at = a.ended_at AND e.action = 'job.cancel'))
    OR (a.state = 'lost'
        AND NOT EXISTS (SELECT 1 FROM events e WHERE e.object_id = a.host_id AND e.at = a.ended_at AND e.action = 'host.declare_lost'))
UNION ALL
SELECT 'host', h.id, h.name, h.state
  FROM hosts h
  JOIN trail t ON t.workspace_id = h.workspace_id AND (NOT t.shortened OR h.created_at >= t.begins)
 WHERE h.state = 'draining'
   AND (SELECT COALESCE(sum(CASE e.action WHEN 'host.drain' THEN 1 ELSE -1 END), 0)
          FROM events e WHERE e.object_id = h.id AND e.action IN ('host.drain', 'host.undrain')) <> 1
UNION ALL
SELECT 'unit', u.id, u.name, u.state
  FROM compute_units u
  JOIN trail t ON t.workspace_id = u.workspace_id AND (NOT t.shortened OR u.created_at >= t.begins)
 WHERE u.state = 'unavailable'
   AND NOT EXISTS (SELECT 1 FROM events e WHERE e.object_id = u.id AND e.action IN ('unit.close', 'unit.end_stuck'))
   AND NOT EXISTS (SELECT 1 FROM events e
                    WHERE e.object_id = u.host_id
                      AND (e.action = 'host.end_stuck' OR e.action = 'job.host_decommission' AND e.state_after->>'end' <> 'succeeded'))
   AND NOT EXISTS (SELECT 1 FROM jobs j JOIN events e ON e.object_id = j.id
                    WHERE j.host_id = u.host_id AND j.kind = 'host_decommission' AND e.action = 'job.cancel')
 ORDER BY 1, 3`

// The steps are done in order, and belong to a job, which nothing but the one
// statement that makes both sees to. $1 are the kinds that may end well before
// the last of them.
const sqlSeeSteps = `
WITH lives AS (
    SELECT j.id, j.kind, j.state, j.attempt, count(s.position) AS steps, COALESCE(max(s.position), -1) AS last_step, COALESCE(max(s.attempt), 0) AS newest,
           count(s.position) FILTER (WHERE s.state = 'succeeded') AS done,
           count(s.position) FILTER (WHERE s.state = 'running') AS running,
           COALESCE(max(s.position) FILTER (WHERE s.state = 'succeeded'), -1) AS last_done,
           COALESCE(max(s.position) FILTER (WHERE s.state <> 'pending'), -1) AS reached,
           COALESCE(array_agg(s.state ORDER BY s.position) FILTER (WHERE s.state IS NOT NULL), ARRAY[]::TEXT[]) AS states
      FROM jobs j
      LEFT JOIN job_steps s ON s.job_id = j.id
     GROUP BY j.id, j.kind, j.state, j.attempt)
SELECT v.id, v.kind, v.state, v.states AS steps
  FROM lives v
 WHERE v.steps = 0 OR v.last_step <> v.steps - 1 OR v.newest > v.attempt
    OR v.last_done <> v.done - 1 OR v.reached > v.done
    OR v.state IN ('succeeded', 'failed', 'cancelled') AND v.running > 0
    OR v.state = 'succeeded' AND v.done < v.steps AND (v.kind <> ALL($1::TEXT[]) OR v.done = 0)
    OR v.state <> 'succeeded' AND v.done = v.steps
 UNION ALL
SELECT s.job_id AS id, '' AS kind, '' AS state, array_agg(s.state ORDER BY s.position) AS steps
  FROM job_steps s
 WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = s.job_id)
 GROUP BY s.job_id
 ORDER BY id`

// $1 are the kinds that have several hosts.
const sqlSeeJobHosts = `
SELECT j.id, j.kind, j.state, jsonb_array_length(j.args->'host_ids') AS asked, count(o.host_id) AS hosts,
       count(o.host_id) FILTER (WHERE o.state = 'succeeded') AS done
  FROM jobs j
  LEFT JOIN job_hosts o ON o.job_id = j.id
 WHERE j.kind = ANY($1::TEXT[])
 GROUP BY j.id, j.kind, j.state, j.args
HAVING count(o.host_id) <> jsonb_array_length(j.args->'host_ids')
    OR j.state = 'succeeded' AND count(o.host_id) FILTER (WHERE o.state = 'succeeded') < count(o.host_id)
 UNION ALL
SELECT o.job_id AS id, COALESCE(max(j.kind), '') AS kind, COALESCE(max(j.state), '') AS state, 0 AS asked, count(*) AS hosts,
       count(*) FILTER (WHERE o.state = 'succeeded') AS done
  FROM job_hosts o
  LEFT JOIN jobs j ON j.id = o.job_id
  LEFT JOIN hosts h ON h.id = o.host_id
 WHERE j.id IS NULL OR h.id IS NULL OR j.kind <> ALL($1::TEXT[])
 GROUP BY o.job_id
 ORDER BY id`

const sqlSeeUIDs = `
SELECT a.uid, a.id AS allocation_id, t.allocation_id AS given_to
  FROM allocations a
  LEFT JOIN uids t ON t.uid = a.uid
 WHERE t.allocation_id IS NULL OR t.allocation_id <> a.id AND a.state <> 'deallocated'
 UNION ALL
SELECT t.uid, NULL AS allocation_id, t.allocation_id AS given_to
  FROM uids t
  LEFT JOIN allocations a ON a.id = t.allocation_id AND a.uid = t.uid
 WHERE a.id IS NULL
 ORDER BY uid`

const sqlWhichAreThere = `
SELECT a.id
  FROM allocations a
 WHERE a.id = ANY($1)`

const sqlHostsOfJobs = `
SELECT j.id, j.host_id
  FROM jobs j
 WHERE j.id = ANY($1) AND j.host_id IS NOT NULL`

// Picture reads an installation for verification; outside of a Snapshot what
// it tells may contradict itself.
func (r Reads) Picture(ctx context.Context) (p Picture, err error) {
	early := kindsThat(func(j domain.Joint) bool { return len(j.Waits) > 0 }) // may wait for a person after a step
	several := kindsThat(func(j domain.Joint) bool { return j.Several })
	for _, read := range []struct {
		what string
		do   func() error
	}{
		{"hosts", func() (err error) { p.Hosts, err = db.Collect[HostSeen](ctx, r.q, sqlSeeHosts); return }},
		{"units", func() (err error) { p.Units, err = db.Collect[UnitSeen](ctx, r.q, sqlSeeUnits); return }},
		{"allocations", func() (err error) {
			p.Allocations, err = db.Collect[AllocationSeen](ctx, r.q, sqlSeeAllocations)
			return
		}},
		{"addresses", func() (err error) { p.Addresses, err = db.Collect[AddressSeen](ctx, r.q, sqlSeeAddresses); return }},
		{"plans", func() (err error) { p.Plans, err = db.Collect[PlanSeen](ctx, r.q, sqlSeePlans); return }},
		{"jobs", func() (err error) { p.Jobs, err = db.Collect[JobSeen](ctx, r.q, sqlSeeJobs); return }},
		{"ends of jobs", func() (err error) { p.Ends, err = db.Collect[EndSeen](ctx, r.q, sqlSeeEnds); return }},
		{"creations", func() (err error) { p.Creations, err = db.Collect[CreationSeen](ctx, r.q, sqlSeeCreations); return }},
		{"untold states", func() (err error) { p.Untold, err = db.Collect[UntoldSeen](ctx, r.q, sqlSeeUntold); return }},
		{"hosts of jobs", func() (err error) {
			p.JobHosts, err = db.Collect[JobHostsSeen](ctx, r.q, sqlSeeJobHosts, several)
			return
		}},
		{"steps", func() (err error) { p.Steps, err = db.Collect[StepsSeen](ctx, r.q, sqlSeeSteps, early); return }},
		{"UIDs", func() (err error) { p.UIDs, err = db.Collect[UIDSeen](ctx, r.q, sqlSeeUIDs); return }},
		{"shared hosts", func() (err error) { p.Strays, err = db.Collect[StraySeen](ctx, r.q, sqlSeeStrays); return }},
		{"shared networks", func() (err error) { p.Lent, err = db.Collect[LentSeen](ctx, r.q, sqlSeeLent); return }},
		{"shared zones", func() (err error) { p.Names, err = db.Collect[NameSeen](ctx, r.q, sqlSeeNames); return }},
		{"snapshots of clusters", func() (err error) {
			p.Snapshots, err = db.Collect[SnapshotSeen](ctx, r.q, sqlSeeSnapshots)
			return
		}},
		{"playbooks that hosts were given", func() (err error) { p.Given, err = db.Collect[GivenSeen](ctx, r.q, sqlSeeGiven); return }},
		{"quotas", func() (err error) { p.Quotas, err = db.Collect[QuotaSeen](ctx, r.q, sqlSeeQuotas); return }},
	} {
		if err := read.do(); err != nil {
			return Picture{}, fmt.Errorf("read %s: %w", read.what, err)
		}
	}
	return p, nil
}

// WhichAreThere returns those of the ids that are allocations, ended or not.
func (r Reads) WhichAreThere(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	rows, err := db.Collect[row](ctx, r.q, sqlWhichAreThere, ids)
	there := map[uuid.UUID]bool{}
	for _, a := range rows {
		there[a.ID] = true
	}
	return there, err
}

// HostsOfJobs returns the host of each of the jobs that there are.
func (r Reads) HostsOfJobs(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]uuid.UUID, error) {
	type row struct {
		ID     uuid.UUID `db:"id"`
		HostID uuid.UUID `db:"host_id"`
	}
	rows, err := db.Collect[row](ctx, r.q, sqlHostsOfJobs, ids)
	hosts := map[uuid.UUID]uuid.UUID{}
	for _, j := range rows {
		hosts[j.ID] = j.HostID
	}
	return hosts, err
}
