package verify_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/verify"
)

// lived is an installation in which something of everything has happened.
type lived struct {
	*site.Site
	host      uuid.UUID
	allocated uuid.UUID // an allocation
	itsJob    uuid.UUID
	failed    uuid.UUID // its job failed, was retried, and failed again
	failedJob uuid.UUID
	running   uuid.UUID // its job runs
	runs      uuid.UUID
	waits     uuid.UUID // its job waits
	waitsJob  uuid.UUID
	plan      uuid.UUID // is being checked
	lostJob   uuid.UUID // of a host that was declared lost
	probeJob  uuid.UUID // that may have several hosts
}

func setup(t *testing.T) lived {
	t.Helper()
	l := lived{Site: site.New(t)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l.AddAddresses("default", 16)
	l.host = l.ReadyHost(site.HostSpec{Name: "h1", Units: []string{"1", "2", "3", "4", "5", "6"}}).ID
	b := l.Backend()
	var err error
	l.allocated, l.itsJob, err = l.Allocate(intent.CreateAllocation{})
	must(err)
	l.Ended(l.itsJob, domain.JobSucceeded)
	given, first, err := l.Allocate(intent.CreateAllocation{})
	must(err)
	l.Ended(first, domain.JobSucceeded)
	back, err := l.Intents.Deallocate(t.Context(), l.Call, given, 0, l.Allocation(given).LoginUser)
	must(err)
	l.Ended(back, domain.JobSucceeded)
	l.probeJob, err = l.Intents.ProbeHosts(t.Context(), l.Call, []uuid.UUID{l.host})
	must(err)
	l.Ended(l.probeJob, domain.JobSucceeded)
	srv := site.NewSSHServer(t)
	_, awaits, err := l.Intents.RegisterHost(t.Context(), l.Call, intent.RegisterHost{Name: "h9", Address: "127.0.0.1", Port: srv.Port, AdminUser: "operator1"})
	must(err)
	l.Ended(awaits, domain.JobSucceeded) // with one step left: a person must confirm the key
	l.Runner.Handle("unit_allocate", scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "no"}})
	l.failed, l.failedJob, err = l.Allocate(intent.CreateAllocation{})
	must(err)
	l.Ended(l.failedJob, domain.JobFailed)
	must(l.Intents.RetryJob(t.Context(), l.Call, l.failedJob, false))
	l.Ended(l.failedJob, domain.JobFailed)
	b.Stop()
	site.Await(t, "the backend", b.Stopped())
	_, cancelled, err := l.Allocate(intent.CreateAllocation{})
	must(err)
	must(l.Intents.CancelJob(t.Context(), l.Call, cancelled))
	other := l.ReadyHost(site.HostSpec{Name: "h2"}).ID
	_, l.lostJob, err = l.Allocate(intent.CreateAllocation{HostID: &other})
	must(err)
	l.begin(l.lostJob)
	must(l.Intents.DeclareHostLost(t.Context(), l.Call, other, 0, "h2"))
	l.running, l.runs, err = l.Allocate(intent.CreateAllocation{})
	must(err)
	l.begin(l.runs)
	l.waits, l.waitsJob, err = l.Allocate(intent.CreateAllocation{})
	must(err)
	l.plan, _, err = l.Intents.Plan(t.Context(), l.Call, intent.PlanRequest{Action: domain.ActionInitialize}, 0, func(ctx context.Context, call intent.Call) error {
		_, err := l.Intents.InitializeHost(ctx, call, l.host, 0, false)
		return err
	})
	must(err)
	drained := l.ReadyHost(site.HostSpec{Name: "h3", Units: []string{"1"}}).ID
	must(l.Intents.CloseUnit(t.Context(), l.Call, l.Units(drained)[0].ID, 0))
	must(l.Intents.DrainHost(t.Context(), l.Call, drained, 0))
	kept := l.ReadyHost(site.HostSpec{Name: "h4", Units: []string{"1"}}).ID
	gone, err := l.Intents.DecommissionHost(t.Context(), l.Call, kept, 0) // which is thought better of
	must(err)
	must(l.Intents.CancelJob(t.Context(), l.Call, gone))
	l.snapshots()
	l.given()
	for _, r := range iam.Resources {
		l.sql("INSERT INTO quotas (scope, scope_id, resource, amount, updated_by) VALUES ('project', '" + domain.DefaultProject.String() + "', '" + r + "', 1000000000000000, 'test')")
	}
	l.Tx(func(tx *store.Tx) error {
		_, err := iam.AlignQuotas(t.Context(), tx.Tx, domain.DefaultProject)
		return err
	})
	return l
}

// copied is a database with the same life, to be broken. Nobody may be connected to the first one any more.
func (l lived) copied(t *testing.T) lived {
	t.Helper()
	url := testkit.CopyURL(t, l.URL)
	if url == "" {
		return setup(t)
	}
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	l.Site = &site.Site{T: t, URL: url, DB: db}
	return l
}

// begin takes a job as far as its first step, with the host held.
func (l lived) begin(id uuid.UUID) {
	l.T.Helper()
	ctx := l.T.Context()
	l.Tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(ctx, uuid.New(), time.Hour, 10)
		if err != nil {
			return err
		}
		if len(claims) != 1 || claims[0].ID != id {
			l.T.Fatalf("claimed %+v", claims)
		}
		if err := tx.StartStep(ctx, id, 1, 0); err != nil {
			return err
		}
		_, err = tx.LockHost(ctx, *claims[0].HostID, id, 1)
		return err
	})
}

func (l lived) verify(o verify.Options) map[string][]string {
	l.T.Helper()
	results, err := verify.Run(l.T.Context(), l.DB, o)
	if err != nil {
		l.T.Fatal(err)
	}
	broken := map[string][]string{}
	for _, r := range results {
		if len(r.Rows) > 0 {
			broken[r.Name] = r.Rows
		}
	}
	return broken
}

func (l lived) sql(statements ...string) {
	l.T.Helper()
	conn, err := pgx.Connect(l.T.Context(), l.URL)
	if err != nil {
		l.T.Fatal(err)
	}
	defer func() { _ = conn.Close(l.T.Context()) }()
	words := strings.NewReplacer(":host", "'"+l.host.String()+"'", ":allocated", "'"+l.allocated.String()+"'", ":its_job", "'"+l.itsJob.String()+"'",
		":failed_job", "'"+l.failedJob.String()+"'", ":failed", "'"+l.failed.String()+"'", ":running", "'"+l.running.String()+"'",
		":runs", "'"+l.runs.String()+"'", ":waits_job", "'"+l.waitsJob.String()+"'", ":waits", "'"+l.waits.String()+"'",
		":plan", "'"+l.plan.String()+"'", ":lost_job", "'"+l.lostJob.String()+"'", ":probe_job", "'"+l.probeJob.String()+"'")
	for _, s := range statements {
		tag, err := conn.Exec(l.T.Context(), words.Replace(s))
		if err != nil {
			l.T.Fatalf("%s: %v", s, err)
		}
		if tag.RowsAffected() == 0 && !strings.HasPrefix(s, "DROP") {
			l.T.Fatalf("%s: touched nothing", s)
		}
	}
}

func (l lived) tokens(lines ...string) verify.Options {
	l.T.Helper()
	dir := l.T.TempDir()
	words := strings.NewReplacer("OURS", l.Host(l.host).Incarnation.String(), "ITS", l.itsJob.String(), "FAILED", l.failedJob.String(),
		"LOST", l.lostJob.String(), "TIME", "2026-11-21T18:00:00Z")
	if err := os.WriteFile(filepath.Join(dir, "h1.log"), []byte(words.Replace(strings.Join(lines, "\n"))), 0o600); err != nil {
		l.T.Fatal(err)
	}
	logs, err := verify.ReadTokenLogs(dir)
	if err != nil {
		l.T.Fatal(err)
	}
	return verify.Options{Tokens: logs}
}

// TestSoundInstallation: what intents and workers leave breaks nothing.
func TestSoundInstallation(t *testing.T) {
	t.Parallel()
	l := setup(t)
	o := l.tokens("TIME 11111111-1111-4111-8111-111111111111 900 somebody-else", "TIME OURS 0 refence", "TIME OURS 1 ITS", "TIME OURS 1 ITS", "TIME OURS 3 FAILED", "TIME OURS 99")
	o.Acknowledged = []uuid.UUID{l.allocated, l.allocated, l.waits}
	if broken := l.verify(o); len(broken) > 0 {
		t.Errorf("%q", broken)
	}
}

// breaks are changes behind the product's back, by the invariant that each
// breaks, whatever else it may break.
var breaks = map[string][][]string{
	"one_allocation_a_unit": {{
		"DROP INDEX allocations_live_unit CASCADE",
		"UPDATE allocations SET unit_id = (SELECT b.unit_id FROM allocations b WHERE b.id = :allocated) WHERE id = :running",
	}},
	"one_allocation_an_address": {
		{"UPDATE allocations SET address = (SELECT b.address FROM allocations b WHERE b.id = :allocated) WHERE id = :running"},
		{"UPDATE addresses SET address = '192.0.2.99' WHERE allocation_id = :running"},
	},
	"one_allocation_a_uid": {
		{"UPDATE allocations SET uid = (SELECT b.uid FROM allocations b WHERE b.id = :allocated) WHERE id = :running"},
		{"UPDATE allocations SET uid = 7 WHERE id = :running"},
		{"DELETE FROM uids WHERE allocation_id = :running"},
		{"INSERT INTO uids (uid, allocation_id) VALUES (7, :running)"},
	},
	"states_agree": {
		{"UPDATE compute_units SET state = 'free' WHERE id = (SELECT a.unit_id FROM allocations a WHERE a.id = :allocated)"},
		{"UPDATE compute_units SET state = 'allocated' WHERE state = 'free' AND host_id = :host"},
		{"UPDATE addresses SET state = 'releasing' WHERE allocation_id = :allocated"},
		{"UPDATE addresses SET state = 'free', allocation_id = NULL WHERE allocation_id = :allocated"},
		{"UPDATE addresses SET state = 'allocated', allocation_id = gen_random_uuid() WHERE address = (SELECT min(p.address) FROM addresses p WHERE p.state = 'free')"},
		{"UPDATE addresses SET state = 'allocated' WHERE state = 'quarantined'"},
		{"UPDATE allocations SET state = 'deallocated', ended_at = now() WHERE id = :allocated"},
		{"UPDATE allocations SET host_id = (SELECT h.id FROM hosts h WHERE h.name = 'h2') WHERE id = :allocated"},
	},
	"in_flight_has_a_job": {
		{"UPDATE jobs SET state = 'succeeded', finished_at = now(), lease_expires_at = NULL WHERE id = :runs"},
		{"UPDATE jobs SET allocation_id = :allocated WHERE id = :waits_job"},
		{"UPDATE hosts SET state = 'initializing' WHERE id = :host"},
		{"UPDATE hosts SET state = 'probing' WHERE id = :host"},
		{"UPDATE compute_units SET state = 'removing' WHERE state = 'free' AND host_id = :host"},
		{"DELETE FROM job_steps WHERE job_id IN (SELECT j.id FROM jobs j WHERE j.plan_id = :plan)", "DELETE FROM jobs WHERE plan_id = :plan"},
	},
	"jobs_fit_their_objects": {
		{"UPDATE allocations SET state = 'allocated' WHERE id = :running"},
		{"UPDATE compute_units SET state = 'free' WHERE id = (SELECT a.unit_id FROM allocations a WHERE a.id = :waits)"},
		{"UPDATE addresses SET state = 'allocated' WHERE allocation_id = :waits"},
		{"UPDATE plans SET state = 'failed' WHERE id = :plan"},
		{"UPDATE jobs SET kind = 'host_initialize' WHERE id = :waits_job"},
		{"UPDATE jobs SET kind = 'coffee' WHERE id = :waits_job"},
	},
	"running_has_a_lease": {{"UPDATE jobs SET lease_expires_at = now() - INTERVAL '61 seconds' WHERE id = :runs"}},
	"locks_are_held_by_runs": {
		{"UPDATE host_locks SET job_id = :its_job WHERE host_id = :host"},
		{"UPDATE host_locks SET job_id = :waits_job WHERE host_id = :host"},
		{"UPDATE host_locks SET job_id = :runs, attempt = 1 WHERE host_id = (SELECT h.id FROM hosts h WHERE h.name = 'h2')"},
		{"UPDATE host_locks SET attempt = 2 WHERE host_id = :host"},
	},
	"steps_fit_their_job": {
		{"UPDATE job_steps SET state = 'running' WHERE job_id = :its_job"},
		{"UPDATE job_steps SET state = 'pending' WHERE job_id = :its_job"},
		{"UPDATE job_steps SET state = 'running' WHERE job_id = :failed_job"},
		{"UPDATE job_steps SET state = 'succeeded' WHERE job_id = :runs"},
		{"UPDATE job_steps SET attempt = 2 WHERE job_id = :runs"},
		{"UPDATE job_steps SET position = 1 WHERE job_id = :runs"},
		{"DELETE FROM job_steps WHERE job_id = :waits_job"},
		{"INSERT INTO job_steps (job_id, position, name, state) VALUES (:waits_job, 1, 'more', 'succeeded')"},
		{"INSERT INTO job_steps (job_id, position, name, state) VALUES (:runs, 1, 'more', 'running')"},
		{"INSERT INTO job_steps (job_id, position, name, state) VALUES (gen_random_uuid(), 0, 'more', 'pending')"},
	},
	"quotas_are_exact": {
		{"UPDATE quotas SET used = used + 1 WHERE resource = 'jobs'"},
		{"UPDATE quotas SET used = used + 1 WHERE resource = 'hosts'"},
		{"UPDATE quotas SET used = used - 1 WHERE resource = 'memory_bytes'"},
	},
	"shared_hosts_are_granted": {
		{`WITH w AS (INSERT INTO workspaces (id, project_id, name)
			SELECT gen_random_uuid(), project_id, 'stray' FROM workspaces LIMIT 1 RETURNING id)
			UPDATE allocations SET workspace_id = (SELECT id FROM w) WHERE id = :allocated`},
	},
	"shared_networks_are_granted": {
		{ // of another workspace without a grant
			"INSERT INTO workspaces (id, project_id, name) SELECT gen_random_uuid(), project_id, 'stray' FROM workspaces LIMIT 1",
			"UPDATE addresses SET workspace_id = (SELECT w.id FROM workspaces w WHERE w.name = 'stray') WHERE allocation_id = :allocated",
		},
		{"UPDATE addresses SET network_grant_id = gen_random_uuid() WHERE allocation_id = :allocated"}, // by a grant, of its own
		{"UPDATE addresses SET network_grant_id = gen_random_uuid() WHERE address = (SELECT min(p.address) FROM addresses p WHERE p.state = 'free')"},
	},
	"shared_zones_are_granted": {
		{ // in a zone of another workspace without a grant
			aZone, aName,
			"INSERT INTO workspaces (id, project_id, name) SELECT gen_random_uuid(), project_id, 'stray' FROM workspaces LIMIT 1",
			`INSERT INTO dns_record_sets (id, workspace_id, zone_id, name, type, ttl, contents, owner, alone, state)
			SELECT gen_random_uuid(), w.id, z.id, 'a.verify.example.', 'A', 300, '{192.0.2.1}', 'user', false, 'pending' FROM dns_zones z JOIN workspaces w ON w.name = 'stray'`,
		},
		{ // by a grant in a zone of its own
			aZone, aName,
			`INSERT INTO dns_record_sets (id, workspace_id, zone_id, name, type, ttl, contents, owner, alone, state, zone_grant_id)
			SELECT gen_random_uuid(), z.workspace_id, z.id, 'a.verify.example.', 'A', 300, '{192.0.2.1}', 'user', false, 'pending', gen_random_uuid() FROM dns_zones z`,
		},
	},
	"snapshots_are_whole": {
		{"DELETE FROM kube_snapshot_parts WHERE number = 0"},
		{"DELETE FROM kube_snapshot_parts"},
		{"UPDATE kube_snapshot_parts SET number = 2 WHERE number = 1"},
		{"INSERT INTO kube_snapshot_parts (snapshot_id, number, content) SELECT id, 2, 'more' FROM kube_snapshots WHERE taken_at IS NOT NULL"},
		{"UPDATE kube_snapshots SET taken_at = now() WHERE taken_at IS NULL"},
	},
	"given_versions_hold": {
		{"UPDATE playbook_deliveries SET open = false"},
		{"UPDATE host_playbooks SET version = 3"},
		{"UPDATE host_playbooks SET delivery_id = gen_random_uuid()"},
		{"UPDATE rollout_targets SET told_at = NULL"},
		{"INSERT INTO host_playbooks (host_id, playbook, version, delivery_id) SELECT gen_random_uuid(), playbook, version, delivery_id FROM host_playbooks"},
	},
	"hosts_fit_their_job": {
		{"UPDATE job_hosts SET state = 'pending' WHERE job_id = :probe_job"},
		{"UPDATE job_hosts SET state = 'failed', code = 'unreachable' WHERE job_id = :probe_job"},
		{"DELETE FROM job_hosts WHERE job_id = :probe_job"},
		{"INSERT INTO job_hosts (job_id, host_id, state) VALUES (:its_job, :host, 'pending')"},
		{"INSERT INTO job_hosts (job_id, host_id, state) VALUES (gen_random_uuid(), :host, 'pending')"},
		{"UPDATE job_hosts SET host_id = gen_random_uuid() WHERE job_id = :probe_job"},
	},
	"ends_are_told_once": {
		{"DELETE FROM events WHERE job_id = :its_job AND action = 'job.unit_allocate'"},
		{"INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind, job_id, state_after) SELECT gen_random_uuid(), e.at, e.workspace_id, e.actor_kind, e.actor_name, e.action, e.object_kind, e.job_id, e.state_after FROM events e WHERE e.job_id = :its_job AND e.action = 'job.unit_allocate'"},
		{"UPDATE events SET state_after = '{\"end\": \"failed\"}' WHERE job_id = :its_job AND action = 'job.unit_allocate'"},
		{"DELETE FROM events WHERE job_id = :failed_job AND action = 'job.retry'"},
		{"UPDATE jobs SET finished_at = finished_at + INTERVAL '1 second' WHERE id = :its_job"},
		{"UPDATE jobs SET finished_at = finished_at + INTERVAL '1 second' WHERE id = :lost_job"},
		{"UPDATE jobs SET finished_at = finished_at + INTERVAL '1 second' WHERE state = 'cancelled'"},
		{"UPDATE jobs SET state = 'failed', finished_at = now(), lease_expires_at = NULL, error = '{\"code\": \"host_lost\"}' WHERE id = :runs"},
	},
	"states_are_told": {
		{"UPDATE hosts SET state = 'draining' WHERE id = :host"},
		{"UPDATE compute_units SET state = 'unavailable' WHERE state = 'free' AND host_id = :host"},
		{ // all of an allocation together
			"UPDATE compute_units SET state = 'free' WHERE id = (SELECT a.unit_id FROM allocations a WHERE a.id = :allocated)",
			"UPDATE addresses SET state = 'free', allocation_id = NULL WHERE allocation_id = :allocated",
			"UPDATE allocations SET state = 'deallocated', ended_at = now() WHERE id = :allocated",
		},
		{"UPDATE allocations SET state = 'lost', ended_at = now() WHERE id = :allocated"},
		{"UPDATE allocations SET ended_at = ended_at + INTERVAL '1 second' WHERE state = 'deallocated'"},
		{"UPDATE allocations SET ended_at = ended_at + INTERVAL '1 second' WHERE state = 'lost'"},
		{"DELETE FROM events WHERE action = 'job.cancel' AND object_id IN (SELECT j.id FROM jobs j WHERE j.kind = 'unit_allocate')"},
		{"UPDATE events SET state_after = '{\"end\": \"failed\"}' WHERE job_id = :its_job AND action = 'job.unit_allocate'"},
	},
	"events_are_as_sealed": {
		{"INSERT INTO event_seals (organization_id, number, events, first_at, last_at, hashes, chain, code) VALUES ('00000000-0000-4000-8000-000000000001', 1, 3, now(), now(), 'x', 'x', 'x')"},
	},
	"creations_are_told_once": {
		{"DELETE FROM events WHERE object_id = :allocated AND action = 'allocation.create'"},
		{"INSERT INTO events (id, workspace_id, actor_kind, actor_name, action, object_kind, object_id) SELECT gen_random_uuid(), e.workspace_id, e.actor_kind, e.actor_name, e.action, e.object_kind, e.object_id FROM events e WHERE e.object_id = :allocated AND e.action = 'allocation.create'"},
	},
}

// A zone with a name.
const (
	aZone = `INSERT INTO dns_zones (id, workspace_id, name, provider, server, allow_private, key_name, key_algorithm, key_sealed, patterns, mode, state)
			SELECT gen_random_uuid(), w.id, 'verify.example.', 'rfc2136', 'ns:53', false, 'k.', 'hmac-sha256', 'x', '{}', 'sync', 'pending' FROM workspaces w LIMIT 1`
	aName = "INSERT INTO dns_names (zone_id, name, alone) SELECT z.id, 'a.verify.example.', false FROM dns_zones z"
)

func TestBrokenInvariantsAreFound(t *testing.T) {
	t.Parallel()
	life := setup(t)
	life.DB.Close()
	for name, ways := range breaks {
		for _, statements := range ways {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := life.copied(t)
				l.sql(statements...)
				if broken := l.verify(verify.Options{}); len(broken[name]) == 0 {
					t.Errorf("not found after %q: %q", statements, broken)
				}
			})
		}
	}
}

// TestTrailThatWasShortened says so, and then only what is left of it counts.
func TestTrailThatWasShortened(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.sql("DELETE FROM events")
	if broken := l.verify(verify.Options{}); len(broken) != 3 {
		t.Errorf("without a word: %q", broken)
	}
	l.Tx(func(tx *store.Tx) error {
		return tx.AddEvent(t.Context(), domain.Actor{Kind: domain.ActorPolicy, Name: "old_events"},
			store.Audit{Workspace: domain.DefaultWorkspace, Action: "event.expire", ObjectKind: "event"})
	})
	_, job, err := l.Allocate(intent.CreateAllocation{})
	if err == nil {
		err = l.Intents.CancelJob(t.Context(), l.Call, job)
	}
	if broken := l.verify(verify.Options{}); err != nil || len(broken) > 0 {
		t.Errorf("%v, %q", err, broken)
	}
	l.sql("DELETE FROM events WHERE action = 'job.cancel'")
	if broken := l.verify(verify.Options{}); len(broken["ends_are_told_once"]) != 1 {
		t.Errorf("%q", broken)
	}
}

// TestSecondJobOfTheSameIsFound: whichever ends second meets states that it
// does not fit.
func TestSecondJobOfTheSameIsFound(t *testing.T) {
	t.Parallel()
	l := setup(t)
	a := l.Allocation(l.waits)
	l.Tx(func(tx *store.Tx) error {
		_, err := tx.Enqueue(t.Context(), l.Actor, domain.DefaultWorkspace, job.UnitAllocate{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID})
		return err
	})
	if broken := l.verify(verify.Options{}); len(broken["in_flight_has_a_job"]) != 2 { // unit and allocation
		t.Errorf("%q", broken)
	}
}

func TestTokensThatFallAreFound(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for want, lines := range map[string][]string{
		"the number fell":        {"TIME OURS 1 ITS", "TIME OURS 3 FAILED", "TIME OURS 2 FAILED", ""},
		"both came with number":  {"TIME OURS 1 ITS", "TIME OURS 1 FAILED", ""},
		"never given":            {"TIME OURS 99 ITS", ""},
		"is no job of this host": {"TIME OURS 1 LOST", ""},
		"line 4 of its log":      {"TIME OURS 3 FAILED", "TIME OU", "TIME OURS 4", "TIME OURSTIME OURS 2 FAILED", ""}, // behind what was cut
	} {
		broken := l.verify(l.tokens(lines...))["tokens_never_fall"]
		if len(broken) != 1 || !strings.Contains(broken[0], want) {
			t.Errorf("%q: %q", lines, broken)
		}
	}
	o := l.tokens("TIME OURS 1 ITS", "")
	o.Tokens[0].Host = "h77"
	if broken := l.verify(o)["tokens_never_fall"]; len(broken) != 1 || !strings.Contains(broken[0], "no such host") {
		t.Errorf("%q", broken)
	}
}

// TestCutLinesArePassedOver: they stay in an append-only log.
func TestCutLinesArePassedOver(t *testing.T) {
	t.Parallel()
	l := setup(t)
	whole := "TIME OURS 1 ITS"
	for _, o := range []verify.Options{
		l.tokens(whole, "TI", "TIME ", "TIME OURS", "TIME OURS 2", "TIME OURS 2 ", "TIME OURS 2 1b4e28ba-2fa1-4", "TIME OURS 0 refen", "", "TIME OURS 3 FAILED", ""),
		l.tokens(whole, "TIME OURS 2TIME OURS 2 1b4e", "TIME OUTIME OURS 2", "TIMETIME OURS 2 1b4eTIME OURS 3 FAILED", ""),
	} {
		if n := len(o.Tokens[0].Tokens); n != 2 {
			t.Errorf("%d tokens: %+v", n, o.Tokens)
		}
		if broken := l.verify(o); len(broken) > 0 {
			t.Errorf("%q", broken)
		}
	}
	if o := l.tokens(""); len(o.Tokens[0].Tokens) > 0 { // of a host that let nobody in
		t.Errorf("%+v", o.Tokens)
	}
}

func TestLostAcknowledgementsAreFound(t *testing.T) {
	t.Parallel()
	l := setup(t)
	lost := uuid.New()
	file := filepath.Join(t.TempDir(), "acknowledged")
	if err := os.WriteFile(file, []byte(l.allocated.String()+"\n\n"+lost.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ids, err := verify.ReadAcknowledged(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := l.verify(verify.Options{Acknowledged: ids})["acknowledged_is_there"]
	if len(broken) != 1 || !strings.Contains(broken[0], lost.String()) {
		t.Errorf("%q", broken)
	}
}

// snapshots are one that is whole, and one that is being taken.
func (l lived) snapshots() {
	l.sql(`INSERT INTO kube_clusters (id, workspace_id, name, kube_version, endpoint, pod_range, service_range, state, admin_key_sealed)
		SELECT gen_random_uuid(), id, 'apps', 'v1.36.3', '192.0.2.1:6443', '10.244.0.0/16', '10.96.0.0/16', 'active', '' FROM workspaces LIMIT 1`)
	l.sql(`INSERT INTO kube_snapshots (id, workspace_id, cluster_id, node, kube_version, key_sealed, size, stored, parts, sha256, begun_at, taken_at)
		SELECT gen_random_uuid(), workspace_id, id, 'k1', kube_version, '', 9, 9, 2, '', now(), now() FROM kube_clusters`)
	l.sql(`INSERT INTO kube_snapshots (id, workspace_id, cluster_id, node, kube_version, key_sealed, size, stored, parts, sha256, begun_at)
		SELECT gen_random_uuid(), workspace_id, id, 'k1', kube_version, '', 9, 9, 3, '', now() FROM kube_clusters`)
	l.sql("INSERT INTO kube_snapshot_parts (snapshot_id, number, content) SELECT id, 0, 'part' FROM kube_snapshots")
	l.sql("INSERT INTO kube_snapshot_parts (snapshot_id, number, content) SELECT id, 1, 'part' FROM kube_snapshots WHERE taken_at IS NOT NULL")
}

// given is a delivery of a playbook that has reached one host.
func (l lived) given() {
	l.sql(`INSERT INTO rollouts (id, state, plan, wave, waves, reason) VALUES ('6a1e0000-0000-4000-8000-000000000140', 'running', '{}', 1, 1, '')`)
	l.sql(`INSERT INTO playbook_deliveries (id, name, playbook, version, before, region, zone) VALUES ('6a1e0000-0000-4000-8000-000000000140', 'd', 'host_probe', 2, 1, '', '')`)
	l.sql(`INSERT INTO rollout_targets (rollout_id, target_id, name, region, zone, wave, state, told_at)
		SELECT '6a1e0000-0000-4000-8000-000000000140', id, name, '', '', 1, 'told', now() FROM hosts LIMIT 1`)
	l.sql(`INSERT INTO host_playbooks (host_id, playbook, version, delivery_id) SELECT target_id, 'host_probe', 2, rollout_id FROM rollout_targets`)
}

// TestEveryInvariantIsBrokenSomewhere, or it might be one that can't fail.
func TestEveryInvariantIsBrokenSomewhere(t *testing.T) {
	t.Parallel()
	for _, i := range verify.Invariants() {
		if i.Asked == nil && len(breaks[i.Name]) == 0 {
			t.Errorf("%s is never broken in a test", i.Name)
		}
	}
	if n := len(verify.Invariants()); n != len(breaks)+2 {
		t.Errorf("%d invariants, %d are broken", n, len(breaks)+2)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	all := verify.Invariants()
	var out bytes.Buffer
	sound, err := verify.Print(&out, []verify.Result{{Invariant: all[0]}, {Invariant: all[1], Skipped: true}})
	if err != nil || !sound {
		t.Errorf("%v, %v", sound, err)
	}
	sound, err = verify.Print(&out, []verify.Result{{Invariant: all[0]}, {Invariant: all[2], Rows: slices.Repeat([]string{"row"}, 23)}})
	if err != nil || sound {
		t.Errorf("%v, %v", sound, err)
	}
	text := out.String()
	for _, want := range []string{"ok         " + all[0].Name, "not asked  " + all[1].Name, "VIOLATED   " + all[2].Name, "- and 3 more"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.log": "one two three\n", "b.log": "TIME inc 1x run\n", "c.log": "TIME inc 1\nTIME inc 1 2f\nnothing\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := verify.ReadTokenLogs(dir); err == nil {
			t.Errorf("%q was read", text)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := verify.ReadTokenLogs(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a directory that is not there was read")
	}
	if _, err := verify.ReadTokenLogs(dir); err == nil {
		t.Error("a directory without any log was read")
	}
	bad := filepath.Join(dir, "ids")
	if err := os.WriteFile(bad, []byte("not an id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := verify.ReadAcknowledged(bad); err == nil {
		t.Error("a damaged file was read")
	}
}
