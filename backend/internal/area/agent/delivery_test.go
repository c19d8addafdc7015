package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

// stored puts a build of a version there. Its bytes are no program: no host runs it here.
func (p *place) stored(version string) {
	p.t.Helper()
	sum := sha256.Sum256([]byte(version))
	_, err := PutBuild(p.t.Context(), p.DB, Build{
		Version: version, Arch: "amd64", Expires: time.Now().Add(time.Hour), Size: int64(len(version)), SHA256: hex.EncodeToString(sum[:]),
		Manifest: []byte("m"), Signature: []byte("s"),
	}, strings.NewReader(version), 16)
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) do(f func(tx *intent.Tx) error) error {
	return intent.Engine{DB: p.DB}.Do(p.t.Context(), intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: p.workspace}, f)
}

func (p *place) deliver(draft DeliveryDraft) (d Delivery, ref scope.Ref[Delivery], err error) {
	err = p.do(func(tx *intent.Tx) error {
		_, err := CreateDelivery(p.t.Context(), tx, draft)
		return err
	})
	if err != nil {
		return d, ref, err
	}
	return FindDelivery(p.t.Context(), p.Reader, p.workspace, draft.Name)
}

func quick() rollout.Plan {
	return rollout.Plan{First: 10, Groups: 2, WithinMS: 60_000}
}

// fleet is hosts with agents, of which some do what they are told.
type fleet struct {
	*place
	members []*member
	// answers is what an agent does when it is told a version: the one that it then runs, and its trouble.
	answers func(told string) (runs string, trouble *Trouble)
	proof   Proof
	running map[uuid.UUID]string
	met     map[uuid.UUID]bool // agents that tried another version than v1.0.0
}

func newFleet(p *place, n int) *fleet {
	f := &fleet{place: p, running: map[uuid.UUID]string{}, met: map[uuid.UUID]bool{}}
	p.sql(`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels, profile, trust_on_first_use, state, incarnation)
SELECT gen_random_uuid(), $1, $2, 'host-' || lpad(i::TEXT, 4, '0'), '192.0.2.1', 22, 'root', 'r', 'z' || i % 3, '{}', '{}', 'minimal', true, 'registered', gen_random_uuid()
  FROM generate_series(1, $3::INT) AS i`, p.workspace, p.organization, n)
	// As Enrol does it, for all at once.
	p.sql(`INSERT INTO agents (id, workspace_id, host_id, incarnation, public_key, machine_id, state)
SELECT gen_random_uuid(), workspace_id, id, incarnation, sha256(convert_to(id::TEXT, 'UTF8')), replace(id::TEXT, '-', ''), 'enrolled' FROM hosts`)
	p.sql("INSERT INTO agent_liveness (agent_id, host_id) SELECT id, host_id FROM agents")
	p.sql(`INSERT INTO agent_credentials (agent_id, hash, expires_at, challenged_at, boot_id)
SELECT id, sha256(convert_to(id::TEXT, 'UTF8')), now() + INTERVAL '1 day', now() - INTERVAL '1 hour', '11111111-1111-1111-1111-111111111111' FROM agents`)
	for _, id := range readOne[[]uuid.UUID](p, "SELECT array_agg(id ORDER BY host_id) FROM agents") {
		f.members = append(f.members, &member{Credential: Credential{Agent: id}, hash: sha256.Sum256([]byte(id.String()))})
		f.running[id] = "v1.0.0"
	}
	f.beat()
	return f
}

// told are the versions that agents are to run.
func (f *fleet) told() map[uuid.UUID]string {
	f.t.Helper()
	rows, err := f.pool.Query(f.t.Context(), "SELECT a.id, v.version FROM agent_versions v JOIN agents a ON a.host_id = v.host_id")
	if err != nil {
		f.t.Fatal(err)
	}
	all := map[uuid.UUID]string{}
	var id uuid.UUID
	var version string
	if _, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error { all[id] = version; return nil }); err != nil {
		f.t.Fatal(err)
	}
	return all
}

// beat sends one heartbeat of each agent, and lets it do what it is told.
func (f *fleet) beat() {
	f.t.Helper()
	var beats []Beat
	told := f.told()
	for _, m := range f.members {
		m.seq++
		b := Beat{Agent: m.Agent, Hash: m.hash, Seq: m.seq, Trouble: &Trouble{}}
		if run := told[m.Agent]; run != "" && run != f.running[m.Agent] {
			f.met[m.Agent] = true
			f.running[m.Agent], b.Trouble = f.answers(run)
			if b.Trouble == nil {
				b.Trouble = &Trouble{}
			}
		}
		b.Said = &Said{Version: f.running[m.Agent], BootID: "b", Report: &Report{}, Causes: Causes{}}
		beats = append(beats, b)
	}
	if taken, err := Receive(f.t.Context(), f.DB, uuid.New(), beats); err != nil || len(taken) != len(beats) {
		f.t.Fatalf("%d of %d heartbeats were taken, %v", len(taken), len(beats), err)
	}
}

// follow lets heartbeats and the policy go on until the delivery stands.
func (f *fleet) follow(d Delivery) Delivery {
	f.t.Helper()
	for range 40 {
		now, err := DeliveryByID(f.t.Context(), f.Reader, d.ID)
		if err != nil {
			f.t.Fatal(err)
		}
		if _, _, err := Advance(f.t.Context(), f.DB, now, f.proof, "update_deliveries", false); err != nil {
			f.t.Fatal(err)
		}
		f.beat()
		if now.State == rollout.Halted || now.State.Ended() {
			return now
		}
	}
	f.t.Fatal("the delivery does not stand")
	return d
}

// TestABadBuildHaltsWithinOneWave: of a thousand agents, fifteen meet it.
func TestABadBuildHaltsWithinOneWave(t *testing.T) {
	t.Parallel()
	f := newFleet(newPlace(t), 1000)
	f.stored("v2.0.0")
	f.answers = func(told string) (string, *Trouble) {
		if told == "v2.0.0" {
			return "v1.0.0", &Trouble{told, "failed", "It ended by itself."}
		}
		return told, nil
	}
	d, _, err := f.deliver(DeliveryDraft{Name: "bad", Version: "v2.0.0", Plan: quick()})
	if err != nil {
		t.Fatal(err)
	}
	d = f.follow(d)
	t.Logf("%d of %d agents met it; %s", len(f.met), len(f.members), d.Reason)
	if d.State != rollout.Halted || len(f.met) != 15 || d.Wave != 1 || !strings.Contains(d.Reason, "It ended by itself.") {
		t.Errorf("%s in wave %d, met by %d: %s", d.State, d.Wave, len(f.met), d.Reason)
	}
	if n := readOne[int64](f.place, "SELECT count(*) FROM agent_versions WHERE version = 'v2.0.0'"); n != 0 {
		t.Errorf("%d hosts are still told to run it", n)
	}
}

// TestAGoodBuildReachesAll: those that come late and those that come after it, too. Then the way back.
func TestAGoodBuildReachesAll(t *testing.T) {
	t.Parallel()
	f := newFleet(newPlace(t), 12)
	f.stored("v2.0.0")
	f.answers = func(told string) (string, *Trouble) { return told, nil }
	d, ref, err := f.deliver(DeliveryDraft{Name: "good", Version: "v2.0.0", Plan: quick()})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.deliver(DeliveryDraft{Name: "other", Version: "v2.0.0", Plan: quick()}); !conflict(err, "update_delivery_open") {
		t.Errorf("a second delivery at once: %v", err)
	}
	late := f.enrol(f.host("late", "z1"))
	f.members, f.running[late.Agent] = append(f.members, late), "v1.0.0"
	if d = f.follow(d); d.State != rollout.Done {
		t.Fatalf("%s: %s", d.State, d.Reason)
	}
	for agent, runs := range f.running {
		if runs != "v2.0.0" {
			t.Errorf("%s runs %s", agent, runs)
		}
	}
	after := f.enrol(f.host("after", "z1"))
	if known, err := Know(t.Context(), f.Reader, after.Agent); err != nil || known.Run != "v2.0.0" {
		t.Errorf("a new host is told %q, %v", known.Run, err)
	}
	if err := f.do(func(tx *intent.Tx) error { return RollBackDelivery(t.Context(), tx, ref, 0) }); err != nil {
		t.Fatal(err)
	}
	if d = f.follow(d); d.State != rollout.Returned {
		t.Fatalf("%s: %s", d.State, d.Reason)
	}
	for agent, runs := range f.running {
		if runs != "v1.0.0" {
			t.Errorf("%s runs %s", agent, runs)
		}
	}
	if known, err := Know(t.Context(), f.Reader, after.Agent); err != nil || known.Run != "" {
		t.Errorf("a new host is told %q after the way back, %v", known.Run, err)
	}
}

// TestAPlayReadsEachHost: heartbeats alone prove no version. A probe that is cancelled is asked for again, and one that fails halts the delivery.
func TestAPlayReadsEachHost(t *testing.T) {
	t.Parallel()
	f := newFleet(newPlace(t), 6)
	f.stored("v2.0.0")
	f.answers = func(told string) (string, *Trouble) { return told, nil }
	var asked [][]uuid.UUID
	var refuse error
	f.proof.Probe = func(_ context.Context, workspace uuid.UUID, hosts []uuid.UUID) (uuid.UUID, error) {
		if asked = append(asked, hosts); refuse != nil {
			return uuid.Nil, refuse
		}
		job := uuid.New()
		f.sql(`INSERT INTO jobs (id, workspace_id, kind, args, state, priority, deadline_at, max_attempts, requested_by)
			VALUES ($1, $2, 'hosts_probe', '{}', 'queued', 0, now() + INTERVAL '1 hour', 1, 'update_deliveries')`, job, workspace)
		f.sql("INSERT INTO job_hosts (job_id, host_id, state) SELECT $1, h, 'pending' FROM unnest($2::UUID[]) AS h", job, hosts)
		return job, nil
	}
	step := func(d Delivery, want rollout.State, reason string) {
		t.Helper()
		for range 3 { // told, run, looked at
			now, err := DeliveryByID(t.Context(), f.Reader, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Advance(t.Context(), f.DB, now, f.proof, "update_deliveries", false); err != nil {
				t.Fatal(err)
			}
			f.beat()
		}
		now, err := DeliveryByID(t.Context(), f.Reader, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		why := readOne[string](f.place, "SELECT string_agg(DISTINCT reason, ' | ') FROM rollout_targets WHERE rollout_id = '"+d.ID.String()+"' AND state <> 'waiting'")
		if now.State != want || !strings.Contains(now.Reason+why, reason) {
			t.Fatalf("%s, %q, %q; want %s, %q", now.State, now.Reason, why, want, reason)
		}
	}
	d, ref, err := f.deliver(DeliveryDraft{Name: "read", Version: "v2.0.0", Plan: rollout.Plan{First: 100, Groups: 1, WithinMS: 60_000}})
	if err != nil {
		t.Fatal(err)
	}
	refuse = fault.Conflictf("probes_under_way", "2 jobs probe these hosts already.")
	step(d, rollout.Running, "but 2 jobs probe these hosts already.")
	refuse, asked = nil, nil
	step(d, rollout.Running, "A play is to read the host.")
	if len(asked) != 1 || len(asked[0]) != 6 {
		t.Fatalf("asked for %v", asked)
	}
	f.sql("UPDATE jobs SET state = 'cancelled', finished_at = now() WHERE kind = 'hosts_probe'")
	step(d, rollout.Running, "A play is to read the host.")
	if len(asked) != 2 {
		t.Fatalf("asked for %v", asked)
	}
	f.sql("UPDATE job_hosts SET state = 'failed', code = 'unreachable', message = 'It does not answer.' WHERE host_id = $1 AND job_id IN (SELECT id FROM jobs WHERE state = 'queued')", asked[1][0])
	step(d, rollout.Halted, "but a play could not read the host: It does not answer.")
	if err := f.do(func(tx *intent.Tx) error { return ResumeDelivery(t.Context(), tx, ref, 0) }); err != nil {
		t.Fatal(err)
	}
	step(d, rollout.Running, "A play is to read the host.") // they were told anew
	f.sql("UPDATE job_hosts SET state = 'succeeded', code = '', message = '' WHERE job_id IN (SELECT id FROM jobs WHERE state = 'queued')")
	step(d, rollout.Done, "and a play read the host.")
}

func conflict(err error, code string) bool {
	var c *fault.Conflict
	return errors.As(err, &c) && c.Code == code
}

// TestASilentHostIsNoFault: it was silent before it was told, so it is passed over. One that falls silent with the version fails.
func TestASilentHostIsNoFault(t *testing.T) {
	t.Parallel()
	now := time.Now()
	before, after, id, d := now.Add(-time.Hour), now.Add(time.Second), uuid.New(), Delivery{Version: "v2.0.0"}
	for _, one := range []struct {
		name string
		s    stand
		want rollout.Verdict
	}{
		{"no agent", stand{}, rollout.Gone},
		{"silent", stand{AgentID: &id, ReceivedAt: &before, Runs: "v1.0.0"}, rollout.Unproven},
		{"pinned", stand{AgentID: &id, ReceivedAt: &after, Runs: "v1.0.0", Trouble: "v2.0.0", State: "pinned"}, rollout.Unproven},
		{"failed", stand{AgentID: &id, ReceivedAt: &after, Runs: "v1.0.0", Trouble: "v2.0.0", State: "failed"}, rollout.Bad},
		{"failed with another", stand{AgentID: &id, ReceivedAt: &after, Runs: "v1.0.0", Trouble: "v1.9.0", State: "failed"}, rollout.NotYet},
		{"still old", stand{AgentID: &id, ReceivedAt: &after, Runs: "v1.0.0"}, rollout.NotYet},
		{"new, for a moment", stand{AgentID: &id, ReceivedAt: &after, Runs: "v2.0.0", RunsMS: 1000, Now: after}, rollout.NotYet},
		{"new", stand{AgentID: &id, ReceivedAt: &after, Runs: "v2.0.0", RunsMS: 60_000, Now: after}, rollout.Good},
		{"new, an old fault", stand{AgentID: &id, ReceivedAt: &after, Runs: "v2.0.0", RunsMS: 60_000, Now: after, Causes: Causes{"clock_skew": before}}, rollout.Good},
		{"new, a new fault", stand{AgentID: &id, ReceivedAt: &after, Runs: "v2.0.0", RunsMS: 60_000, Now: now.Add(time.Minute), Causes: Causes{"no_report": after}}, rollout.Bad},
	} {
		if got := d.find(one.s, "v2.0.0", now, 40*time.Second, false); got.Verdict != one.want || got.Reason == "" && one.s.Trouble == "" {
			t.Errorf("%s: %+v", one.name, got)
		}
	}
}

func TestWhatADeliveryRefuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.enrol(p.host("a", "z"))
	p.stored("v2.0.0")
	for name, one := range map[string]struct {
		draft DeliveryDraft
		want  string
	}{
		"no build":  {DeliveryDraft{Name: "d", Version: "v3.0.0", Plan: quick()}, "no build"},
		"no host":   {DeliveryDraft{Name: "d", Version: "v2.0.0", Zone: "elsewhere", Plan: quick()}, "No host"},
		"no canary": {DeliveryDraft{Name: "d", Version: "v2.0.0", Plan: rollout.Plan{First: 10, Groups: 2, WithinMS: 60_000, Canaries: []string{"b"}}}, "canaries[0]"},
		"a name":    {DeliveryDraft{Name: "D d", Version: "v2.0.0", Plan: quick()}, "name"},
		"a window":  {DeliveryDraft{Name: "d", Version: "v2.0.0", Plan: rollout.Plan{First: 10, Groups: 2, WithinMS: 60_000, Window: rollout.Window{From: "25:00", To: "26:00"}}}, "window.from"},
	} {
		if _, _, err := p.deliver(one.draft); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := PutBuild(t.Context(), p.DB, Build{Version: "v2.0.0", Arch: "amd64", SHA256: "00", Manifest: []byte("x"), Signature: []byte("x")}, strings.NewReader("x"), 16); !conflict(err, "build_exists") {
		t.Errorf("another build of one version: %v", err)
	}
	var whole []byte
	for part := 0; ; part++ {
		got, err := BuildPartOf(t.Context(), p.Reader, "v2.0.0", "amd64", part)
		if errors.Is(err, fault.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, got.Content...)
	}
	if len(whole) == 0 {
		t.Error("the build has no parts")
	}
}
