package showcase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Size says how much there is to show.
type Size struct {
	Hosts     int
	UnitsEach int // of a host; 30 at most
	Jobs      int // that ended well, beside those that belong to something that is under way or failed
	Events    int
	LogLines  int // of the longest log
}

// Full is what the pages are judged with.
var Full = Size{Hosts: 100, UnitsEach: 20, Jobs: 500, Events: 2000, LogLines: 100_000}

const seed = 20260314 // the same installation every time

// table is rows that are to be written.
type table struct {
	name    string
	columns []string
	rows    [][]any
}

func (t *table) add(values ...any) { t.rows = append(t.rows, values) }

// world is all that is written, and what it is made with.
type world struct {
	size      Size
	random    *rand.Rand
	now       time.Time
	workspace uuid.UUID
	org       uuid.UUID
	acmeID    uuid.UUID
	acmeLive  uuid.UUID // a workspace of acme
	project   uuid.UUID
	playbooks map[string]uuid.UUID // name -> default version
	sums      map[string]string    // name -> sha256 of the default version
	worker    uuid.UUID

	hosts, locks, units, cpus, allocations, uids, addresses, use, jobs, jobHosts, steps, logs, events, planned, backends table
	zones, dnsNames, sets, foreign, items, conditions, jobObjects, agents                                                table

	more []*table // of areas, which add theirs themselves

	passwordHash string // of everybody

	named map[string]bool // zones and names that have a row
	ended []*host         // hosts on which something may have been done
	found Jobs
	run   *log // of the job that runs
	given int  // addresses and UIDs that were handed out
}

// Fill writes the rows of an installation into a database that init has prepared, and returns the jobs that have
// something to show and the log of the one that runs.
func Fill(ctx context.Context, conn *pgx.Conn, size Size) (Jobs, *log, error) {
	w := &world{
		size: size, random: rand.New(rand.NewPCG(seed, seed)),
		now: time.Now().Add(-time.Minute), playbooks: map[string]uuid.UUID{}, sums: map[string]string{},
	}
	if err := w.read(ctx, conn); err != nil {
		return Jobs{}, nil, err
	}
	w.makeTables()
	w.worker = w.id()
	w.backends.add(w.worker, "control-1/4711", "1.0.0", "api,worker,reconciler", w.ago(26*time.Hour), w.now)
	w.backends.add(w.id(), "control-2/815", "1.0.0", "api,worker,reconciler", w.ago(26*time.Hour), w.now)
	w.makeRows()
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, t := range append([]*table{
			&w.backends, &w.hosts, &w.locks, &w.units, &w.cpus, &w.allocations, &w.uids, &w.addresses, &w.use, &w.jobs, &w.jobHosts, &w.steps, &w.logs, &w.events, &w.planned,
			&w.zones, &w.dnsNames, &w.sets, &w.foreign, &w.items, &w.conditions, &w.jobObjects, &w.agents,
		}, w.more...) {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
				return fmt.Errorf("fill %s: %w", t.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return Jobs{}, nil, err
	}
	_, err = conn.Exec(ctx, "ANALYZE")
	return w.found, w.run, err
}

// makeRows makes what is written.
func (w *world) makeRows() {
	w.fleet()
	w.pool()
	w.history()
	w.plans()
	w.several()
	w.names()
	w.channels()
	w.tenancy()
	w.billing()
	w.drift()
	w.updates()
	w.playbookUpdates()
	w.releaseUpdate()
	w.networks()
	w.remedies()
}

// read takes up what init made.
func (w *world) read(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.QueryRow(ctx, "SELECT w.id, p.id, p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id LIMIT 1").Scan(&w.workspace, &w.project, &w.org); err != nil {
		return fmt.Errorf("find the workspace: %w", err)
	}
	if err := w.readPeople(ctx, conn); err != nil {
		return fmt.Errorf("find the account: %w", err)
	}
	rows, err := conn.Query(ctx, "SELECT p.name, v.id, v.sha256 FROM playbooks p JOIN playbook_versions v ON v.playbook = p.name AND v.version = p.default_version")
	if err != nil {
		return fmt.Errorf("find the playbooks: %w", err)
	}
	var name, sum string
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&name, &id, &sum}, func() error {
		w.playbooks[name], w.sums[name] = id, sum
		return nil
	})
	return err
}

func (w *world) makeTables() {
	w.backends = table{name: "backends", columns: []string{"id", "name", "version", "roles", "started_at", "seen_at"}}
	w.hosts = table{name: "hosts", columns: []string{
		"id", "workspace_id", "organization_id", "name", "address", "port", "admin_user", "region", "zone", "networks", "labels", "profile",
		"trust_on_first_use", "host_key", "offered_host_key", "state", "health", "health_message", "health_at", "machine_id", "facts", "facts_at",
		"layout", "next_ordinal", "incarnation", "fenced", "created_at", "job_health", "job_health_message",
	}}
	w.agents = table{name: "agents", columns: []string{
		"id", "workspace_id", "host_id", "incarnation", "public_key", "machine_id", "state", "state_message", "created_at", "updated_at",
	}}
	w.locks = table{name: "host_locks", columns: []string{"host_id", "number"}}
	w.units = table{name: "compute_units", columns: []string{
		"id", "workspace_id", "host_id", "ordinal", "name", "state", "cpus", "cpu_count", "memory_nodes", "memory_max_bytes", "memory_high_bytes",
		"volume_bytes", "tasks_max", "shuffle", "state_message", "zone", "created_at",
	}}
	w.cpus = table{name: "unit_cpus", columns: []string{"host_id", "cpu", "unit_id"}}
	w.allocations = table{name: "allocations", columns: []string{
		"id", "workspace_id", "unit_id", "host_id", "login_user", "uid", "address", "network", "ssh_keys", "labels", "state", "state_message",
		"created_by", "keys_applied", "created_at", "ended_at",
	}}
	w.uids = table{name: "uids", columns: []string{"uid", "allocation_id"}}
	w.addresses = table{name: "addresses", columns: []string{
		"id", "workspace_id", "network", "address", "sort_key", "state", "allocation_id", "shuffle",
	}}
	w.use = table{name: "unit_use", columns: []string{
		"unit_id", "allocation_id", "measured_at", "cpu_millis", "memory_bytes", "cache_bytes", "processes", "disk_used_bytes", "disk_bytes",
	}}
	w.jobs = table{name: "jobs", columns: []string{
		"id", "workspace_id", "kind", "args", "host_id", "unit_id", "allocation_id", "plan_id", "state", "priority", "run_after", "deadline_at", "attempt",
		"failures", "max_attempts", "worker_id", "lease_expires_at", "playbook_version_id", "requested_by", "error", "outcome", "created_at",
		"started_at", "finished_at",
	}}
	w.jobHosts = table{name: "job_hosts", columns: []string{"job_id", "host_id", "state", "code", "message", "updated_at"}}
	w.steps = table{name: "job_steps", columns: []string{"job_id", "position", "name", "state", "attempt", "started_at", "finished_at"}}
	w.planned = table{name: "plans", columns: []string{
		"id", "workspace_id", "kind", "action", "request", "host_id", "state", "job_id", "applied_job_id", "playbook_version_id", "playbook_sha256",
		"variables_sha256", "rows_sha256", "report_sha256", "counts", "result", "requested_by", "created_at", "checked_at", "expires_at",
	}}
	w.logs = table{name: "job_log", columns: logColumns}
	w.events = table{name: "events", columns: []string{
		"id", "at", "workspace_id", "actor_kind", "actor_name", "client", "request_id", "action", "object_kind", "object_id", "object_name",
		"job_id", "state_before", "state_after",
	}}
	w.named = map[string]bool{}
	w.zones = table{name: "dns_zones", columns: []string{
		"id", "workspace_id", "name", "provider", "server", "allow_private", "key_name", "key_algorithm", "key_sealed", "patterns", "mode", "state",
		"state_message", "reason", "revision", "synced_revision", "soa_serial", "negative_ttl", "synced_at", "plan", "plan_owned", "plan_touched",
		"version", "created_at",
	}}
	w.dnsNames = table{name: "dns_names", columns: []string{"zone_id", "name", "alone"}}
	w.sets = table{name: "dns_record_sets", columns: []string{
		"id", "workspace_id", "zone_id", "name", "type", "ttl", "contents", "owner", "alone", "state", "state_message", "outcome", "revision",
		"live_revision", "checked", "checked_at", "version", "created_at",
	}}
	w.foreign = table{name: "dns_foreign_records", columns: []string{"id", "workspace_id", "zone_id", "name", "type", "ttl", "contents", "outcome", "message", "seen_at"}}
	w.items = table{name: "reconcile_items", columns: []string{"policy", "object_id", "due_at", "last_started", "last_ended", "last_outcome"}}
	w.conditions = table{name: "conditions", columns: []string{
		"noun", "object_id", "type", "status", "reason", "message", "fault", "retry_helps", "failing", "results", "flapping", "since", "observed_at",
		"policy", "history",
	}}
	w.jobObjects = table{name: "job_objects", columns: []string{"job_id", "position", "role", "noun", "object_id", "name"}}
}

// id is the next id, the same in every run.
func (w *world) id() uuid.UUID {
	var raw [16]byte
	for i := range raw {
		raw[i] = byte(w.random.Uint32())
	}
	id := uuid.UUID(raw)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

func (w *world) ago(d time.Duration) time.Time { return w.now.Add(-d) }

func (w *world) randomBelow(n int) int { return w.random.IntN(n) }

func pick[T any](w *world, of []T) T { return of[w.randomBelow(len(of))] }
