package agent

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// TestSilentHostsOfAZoneGiveOneEvent, and their return another.
func TestSilentHostsOfAZoneGiveOneEvent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	backend := uuid.New()
	var zone []*member
	for _, name := range []string{"a", "b", "c"} {
		zone = append(zone, p.enrol(p.host(name, "z1")))
	}
	apart := p.enrol(p.host("d", "z2"))
	all := append([]*member{apart}, zone...)
	p.alive(backend)
	p.beat(backend, Causes{}, all...)
	p.look()
	for _, m := range all {
		if got := p.health(m.host); got != "healthy" {
			t.Fatalf("health %s", got)
		}
	}
	p.pass(59 * time.Second)
	p.alive(backend)
	p.look()
	if got := p.health(zone[0].host); got != "healthy" {
		t.Errorf("after 59 s: %s", got)
	}
	p.beat(backend, Causes{}, zone[2])
	p.pass(2 * time.Second)
	p.alive(backend)
	if pass := p.look(); len(pass.Changed) != 3 {
		t.Errorf("%+v", pass)
	}
	for i, want := range map[int]string{0: "healthy", 1: "unreachable", 2: "unreachable", 3: "healthy"} {
		if i == 0 {
			want = "unreachable"
		}
		if got := p.health(all[i].host); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	p.pass(59 * time.Second)
	p.alive(backend)
	p.look() // the third one, within the minute
	if n := p.events("host.unreachable"); n != 0 {
		t.Errorf("%d events too early", n)
	}
	p.pass(2 * time.Second)
	p.alive(backend)
	p.look()
	if n := p.events("host.unreachable"); n != 2 {
		t.Errorf("%d events, want one a zone", n)
	}
	if n := readOne[int](p, "SELECT (state_after->>'count')::INT FROM events WHERE action = 'host.unreachable' AND object_name = 'r/z1'"); n != 3 {
		t.Errorf("it lists %d hosts", n)
	}
	p.beat(backend, Causes{}, all...)
	p.look()
	for _, m := range all {
		if got := p.health(m.host); got != "healthy" {
			t.Errorf("back: %s", got)
		}
	}
	if n := p.events("host.reachable"); n != 2 {
		t.Errorf("%d events of the return", n)
	}
	writes := readOne[int64](p, "SELECT count(*) FROM events")
	p.look()
	if p.look(); readOne[int64](p, "SELECT count(*) FROM events") != writes {
		t.Error("a look without news writes")
	}
}

// TestAGapOfTheBackendsMakesNoHostUnreachable: a backend that fell silent, one that began anew, and one that could not write.
func TestAGapOfTheBackendsMakesNoHostUnreachable(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	killed, other := uuid.New(), uuid.New()
	m := p.enrol(p.host("a", "z"))
	p.alive(killed)
	p.alive(other)
	p.beat(killed, Causes{}, m)
	p.look()
	p.pass(30 * time.Second) // killed dies now, and other goes on
	p.alive(other)
	p.pass(33 * time.Second)
	p.alive(other)
	if pass := p.look(); pass.Receiving || pass.Waiting != 1 || p.health(m.host) != "healthy" {
		t.Errorf("%+v, %s", pass, p.health(m.host))
	}
	p.pass(5 * time.Second) // 68 s after its last sign
	p.alive(other)
	if pass := p.look(); !pass.Receiving || p.health(m.host) != "unreachable" {
		t.Errorf("%+v, %s", pass, p.health(m.host))
	}
	p.beat(other, Causes{}, m)
	p.look()
	p.pass(70 * time.Second) // the database was away
	p.beat(other, Causes{})
	if pass := p.look(); pass.Receiving || p.health(m.host) != "healthy" {
		t.Errorf("%+v, %s", pass, p.health(m.host))
	}
	p.pass(61 * time.Second)
	p.sql("UPDATE agent_receivers SET flushed_at = now() WHERE backend_id = $1", other)
	if pass := p.look(); !pass.Receiving || p.health(m.host) != "unreachable" {
		t.Errorf("%+v, %s", pass, p.health(m.host))
	}
	if err := StopReceiving(t.Context(), p.DB, other); err != nil {
		t.Fatal(err)
	}
	p.beat(uuid.New(), Causes{}, m)
	if pass := p.look(); pass.Receiving {
		t.Errorf("a backend that has just begun: %+v", pass)
	}
}

// TestCausesCountWhenTheyLast: a single bad reading changes nothing, and one that comes and goes changes nothing either.
func TestCausesCountWhenTheyLast(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	backend := uuid.New()
	m := p.enrol(p.host("a", "z"))
	since := func(age time.Duration) Causes { return Causes{"disk_nearly_full": time.Now().Add(-age)} }
	p.alive(backend)
	p.beat(backend, Causes{}, m)
	p.look()
	p.beat(backend, since(0), m)
	p.look()
	if got := p.health(m.host); got != "healthy" {
		t.Errorf("one bad reading: %s", got)
	}
	p.beat(backend, Causes{}, m)
	p.pass(31 * time.Second)
	p.look()
	if got := p.health(m.host); got != "healthy" {
		t.Errorf("it came and went: %s", got)
	}
	p.beat(backend, since(0), m)
	p.pass(31 * time.Second)
	p.beat(backend, since(31*time.Second), m)
	p.look()
	if got := p.health(m.host); got != "degraded" {
		t.Errorf("it lasts: %s", got)
	}
	if got := readOne[string](p, "SELECT health_message FROM hosts WHERE id = $1", m.host); got != "Its agent reports: disk nearly full." {
		t.Errorf("message %q", got)
	}
	p.beat(backend, Causes{}, m)
	p.look()
	if got := p.health(m.host); got != "degraded" {
		t.Errorf("one good reading: %s", got)
	}
	p.pass(31 * time.Second)
	p.beat(backend, Causes{}, m)
	p.look()
	if got := p.health(m.host); got != "healthy" {
		t.Errorf("it is over: %s", got)
	}
}

// TestJobsAndAgentsShareTheHealth: the worse of the two is shown, and neither is lost. The rule is the same as the store's.
func TestJobsAndAgentsShareTheHealth(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	worst := map[string]int{"unknown": 0, "": 0, "healthy": 1, "degraded": 2, "unreachable": 3}
	for _, byJob := range []string{"unknown", "healthy", "degraded", "unreachable"} {
		for _, byAgent := range []Health{NoHealth, Healthy, Degraded, Unreachable} {
			id := p.host(byJob+string(byAgent), "z")
			p.sql("UPDATE hosts SET job_health = $2, job_health_message = 'job', agent_health = 'degraded', agent_health_message = 'x' WHERE id = $1", id, byJob)
			err := p.InTx(t.Context(), func(tx *db.Tx) error {
				return setHealth(t.Context(), tx, []judged{{id, byAgent, "agent"}})
			})
			if err != nil {
				t.Fatal(err)
			}
			want := byJob
			if worst[string(byAgent)] > worst[byJob] {
				want = string(byAgent)
			}
			if got := p.health(id); got != want {
				t.Errorf("job %s, agent %s: %s, want %s", byJob, byAgent, got, want)
			}
			if got := readOne[string](p, "SELECT health_message FROM hosts WHERE id = $1", id); got != "agent\njob" {
				t.Errorf("message %q", got)
			}
		}
	}
}

// TestHeartbeatsCountOnce: one of another credential, and one that is older than the last, change nothing.
func TestHeartbeatsCountOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.enrol(p.host("a", "z"))
	backend := uuid.New()
	p.beat(backend, Causes{}, m)
	for what, b := range map[string]Beat{
		"a replay":           {Agent: m.Agent, Hash: m.hash, Seq: m.seq},
		"an older one":       {Agent: m.Agent, Hash: m.hash, Seq: m.seq - 1},
		"another credential": {Agent: m.Agent, Hash: [32]byte{1}, Seq: m.seq + 1},
		"another agent":      {Agent: uuid.New(), Hash: m.hash, Seq: m.seq + 1},
	} {
		if taken, err := Receive(t.Context(), p.DB, backend, []Beat{b}); err != nil || len(taken) != 0 {
			t.Errorf("%s: %v, %v", what, taken, err)
		}
	}
}
