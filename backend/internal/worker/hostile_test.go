package worker_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit/site"
)

// TestRefenceBelievesNoAbsurdNumber: one host must not bring its numbers to their
// end, at which the claims of all the others' jobs would fail with its own.
func TestRefenceBelievesNoAbsurdNumber(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host, other := p.ready("h1"), p.ready("h2")
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, play, sink, scripted.Script{Result: map[string]any{"number": int64(math.MaxInt64)}})
	})
	j := p.Ended(p.must(p.Intents.InitializeHost(t.Context(), p.Call, host, 0, true)), domain.JobFailed)
	if j.Error.Code != domain.ErrCodeTaskFailed || !strings.Contains(j.Error.Message, "never issued the higher one") {
		t.Errorf("%+v", j.Error)
	}
	for _, h := range []uuid.UUID{host, other} {
		p.Ended(p.must(p.Intents.InitializeHost(t.Context(), p.Call, h, 0, false)), domain.JobSucceeded)
	}
}

// TestNoAbsurdVolumeGroup: what a host tells of its volumes when it is prepared is
// computed with only if it can be.
func TestNoAbsurdVolumeGroup(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	before := p.Host(host).Facts.VolumeGroups
	for _, lie := range []map[string]int64{
		{"size_bytes": math.MaxInt64, "free_bytes": math.MaxInt64},
		{"size_bytes": 1 << 30, "free_bytes": 1 << 31},
		{"size_bytes": 1 << 30, "free_bytes": -1},
	} {
		p.Runner.Handle("host_initialize", scripted.Script{Result: map[string]any{"volume_group": lie}})
		p.Ended(p.initialize(host), domain.JobSucceeded)
		if after := p.Host(host).Facts.VolumeGroups; !slices.Equal(after, before) {
			t.Errorf("%v: %+v, before %+v", lie, after, before)
		}
	}
}

// TestHungProbesTakeFewWorkers: whoever asks again and again for a probe of a host
// that lets them hang is told of those that do.
func TestHungProbesTakeFewWorkers(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host, other := p.ready("h1"), p.ready("h2")
	goOn := make(chan struct{})
	p.Runner.HandleFunc("host_probe", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Hosts[0].Name == "h1" {
			return site.Play(ctx, play, sink, scripted.Script{Wait: goOn, Result: site.Facts("h1")})
		}
		return site.Play(ctx, play, sink, scripted.Script{Result: site.Facts("h2")})
	})
	probe := func(host uuid.UUID) uuid.UUID {
		return p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0))
	}
	first, second := probe(host), probe(host)
	if first == second {
		t.Error("what was asked for after a probe began was not looked for")
	}
	for range 5 {
		if again := probe(host); again != second {
			t.Errorf("%s beside %s and %s", again, first, second)
		}
	}
	if one, two := probe(other), probe(other); one == two {
		t.Error("the probes of another host count")
	}
	close(goOn)
	for _, id := range []uuid.UUID{first, second} {
		p.Ended(id, domain.JobSucceeded)
	}
	if third := probe(host); third == second {
		t.Error("an ended one counts")
	}
	for _, c := range p.Runner.Calls() {
		if most := map[string]time.Duration{"host_probe": 5 * time.Minute, "host_initialize": 30 * time.Minute}[c.Play.Name]; c.Play.Timeout != most {
			t.Errorf("%s may take %s, not %s", c.Play.Name, c.Play.Timeout, most)
		}
	}
}
