package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// prepared is a host that can be asked over SSH.
func (p *place) prepared(name, zone string) uuid.UUID {
	p.t.Helper()
	id := p.host(name, zone)
	p.sql("UPDATE hosts SET state = 'ready', host_key = 'ssh-ed25519 AAAA', facts = '{}', layout = '{}' WHERE id = $1", id)
	return id
}

func (p *place) wantAsked(why string, hosts ...uuid.UUID) {
	p.t.Helper()
	for _, h := range hosts {
		if err := Asked(p.t.Context(), p.DB, h, why); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Hosts without an agent are known by what they answer over SSH, with the same patience as hosts with one.
func TestHostsAreAskedOverSSH(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b, apart := p.prepared("a", "z1"), p.prepared("b", "z1"), p.prepared("c", "z2")
	p.host("registered", "z1")
	p.enrol(p.prepared("with-agent", "z1"))
	found, err := HostsBySSH(t.Context(), p.Reader, uuid.Nil, 10)
	if err != nil || len(found) != 3 {
		t.Fatalf("asked are %v, %v", found, err)
	}
	p.wantAsked("", a, b, apart)
	p.look()
	for _, h := range found {
		if got := p.health(h); got != "healthy" {
			t.Fatalf("health %s", got)
		}
	}
	const refused = "no connection to 192.0.2.1:22: connection refused"
	p.pass(40 * time.Second)
	p.wantAsked(refused, a, b)
	p.wantAsked("", apart)
	p.look()
	if got := p.health(a); got != "healthy" {
		t.Errorf("after one bad answer: %s", got)
	}
	p.pass(21 * time.Second)
	p.look() // 61 s since the last answer, and the last question is 21 s old
	if got := []string{p.health(a), p.health(b), p.health(apart)}; !cmp.Equal(got, []string{"unreachable", "unreachable", "healthy"}) {
		t.Errorf("after 61 s: %v", got)
	}
	if why := readOne[string](p, "SELECT health_message FROM hosts WHERE id = $1", a); !strings.Contains(why, refused) {
		t.Errorf("the reason is %q", why)
	}
	p.pass(61 * time.Second)
	p.wantAsked("", apart)
	p.look()
	if n := readOne[int](p, "SELECT (state_after->>'count')::INT FROM events WHERE action = 'host.unreachable' AND object_name = 'r/z1'"); n != 2 {
		t.Errorf("the event lists %d hosts", n)
	}

	p.wantAsked("", a, b)
	if pass := p.look(); len(pass.Changed) != 2 || p.health(a) != "healthy" || p.events("host.reachable") != 1 {
		t.Errorf("back: %+v, %s, %d events", pass.Changed, p.health(a), p.events("host.reachable"))
	}
	if pass := p.look(); len(pass.Changed) != 0 {
		t.Errorf("a look without news: %+v", pass.Changed)
	}

	// Nobody asked for a while: that is no silence of theirs.
	p.pass(10 * time.Minute)
	if pass := p.look(); len(pass.Changed) != 0 {
		t.Errorf("nobody asked: %+v", pass.Changed)
	}

	// None of them answers, nor does the one with the agent send anything: more likely it is us.
	p.wantAsked("", a, b, apart)
	p.pass(61 * time.Second)
	p.wantAsked(refused, a, b, apart)
	if pass := p.look(); pass.Receiving || pass.Waiting != 4 || p.health(a) != "healthy" {
		t.Errorf("none answers: %+v, %s", pass, p.health(a))
	}

	// An agent speaks for it from now on.
	p.enrol(a)
	if asks, err := IsBySSH(t.Context(), p.Reader, a); err != nil || asks {
		t.Errorf("it is still asked: %v", err)
	}
	for _, h := range []uuid.UUID{a, b} {
		if err := ForgetSSH(t.Context(), p.DB, h); err != nil {
			t.Fatal(err)
		}
	}
	if got := []string{p.health(a), p.health(b)}; !cmp.Equal(got, []string{"healthy", "unknown"}) {
		t.Errorf("no longer asked: %v", got)
	}
}
