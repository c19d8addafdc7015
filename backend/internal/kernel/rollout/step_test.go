package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // a Monday

func candidates(n int) (all []Candidate) {
	for i := range n {
		all = append(all, Candidate{ID: uuid.New(), Name: fmt.Sprintf("host-%04d", i), Region: "r", Zone: fmt.Sprintf("z%d", i%3)})
	}
	return all
}

func plan() Plan {
	return Plan{First: 10, Groups: 3, GapMS: 60_000, WithinMS: 600_000, Limit: 1}
}

func begin(p Plan, all []Candidate) (Rollout, []Target) {
	targets, waves := p.cut(all)
	return Rollout{ID: uuid.New(), State: Running, Plan: p, Waves: waves}, targets
}

// apply puts what a step changed into all targets.
func apply(all, changed []Target) []Target {
	for _, c := range changed {
		i := slices.IndexFunc(all, func(t Target) bool { return t.ID == c.ID })
		all[i] = c
	}
	return all
}

func sizes(targets []Target) string {
	var each []int
	for _, t := range targets {
		for int(t.Wave) > len(each) {
			each = append(each, 0)
		}
		each[t.Wave-1]++
	}
	return strings.Trim(fmt.Sprint(each), "[]")
}

func TestWaves(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		hosts int
		plan  Plan
		want  string
	}{
		{1, Plan{First: 10, Groups: 3}, "1"},
		{3, Plan{First: 10, Groups: 3}, "2 1"},
		{30, Plan{First: 10, Groups: 3}, "3 9 9 9"},
		{1000, Plan{First: 10, Groups: 3}, "15 329 328 328"},
		{30, Plan{First: 10, Groups: 1, Canaries: []string{"host-0007", "nobody"}}, "1 3 26"},
		{30, Plan{First: 10, ByZone: true}, "3 9 9 9"},
	} {
		targets, waves := one.plan.cut(candidates(one.hosts))
		if got := sizes(targets); got != one.want || int(waves) != len(strings.Fields(one.want)) {
			t.Errorf("%d hosts, %+v: %s in %d waves", one.hosts, one.plan, got, waves)
		}
	}
	all := candidates(40)
	targets, _ := plan().cut(all)
	zones := map[string]bool{}
	for _, target := range targets {
		if target.Wave == 1 {
			zones[target.Zone] = true
		}
	}
	if len(zones) != 3 {
		t.Errorf("the first wave meets the zones %v", zones)
	}
	slices.Reverse(all)
	again, _ := plan().cut(all)
	if fmt.Sprint(again) != fmt.Sprint(targets) {
		t.Error("another order of candidates gives other waves")
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	night := Window{Days: []string{"mon", "fri"}, From: "22:00", To: "04:00"}
	for _, one := range []struct {
		window    Window
		now, want string
	}{
		{Window{}, "2026-03-04T12:00", "2026-03-04T12:00"},
		{night, "2026-03-02T12:00", "2026-03-02T22:00"},
		{night, "2026-03-02T23:00", "2026-03-02T23:00"},
		{night, "2026-03-03T03:59", "2026-03-03T03:59"}, // Monday's is still open
		{night, "2026-03-03T04:00", "2026-03-06T22:00"},
		{Window{From: "08:00", To: "09:00"}, "2026-03-02T09:00", "2026-03-03T08:00"},
		{Window{Days: []string{"sun"}}, "2026-03-02T09:00", "2026-03-08T00:00"},
		{Window{Days: []string{"mon"}}, "2026-03-02T09:00", "2026-03-02T09:00"},
	} {
		now, _ := time.Parse("2006-01-02T15:04", one.now)
		if got := one.window.Next(now).Format("2006-01-02T15:04"); got != one.want {
			t.Errorf("%+v at %s: %s, not %s", one.window, one.now, got, one.want)
		}
	}
}

// TestABadChangeHaltsInItsFirstWave: of a thousand targets, 15 meet it.
func TestABadChangeHaltsInItsFirstWave(t *testing.T) {
	t.Parallel()
	r, all := begin(plan(), candidates(1000))
	now, told := start, map[uuid.UUID]bool{}
	for range 100 {
		found := map[uuid.UUID]Finding{}
		for _, target := range all {
			if target.State == Told {
				told[target.ID], found[target.ID] = true, Finding{Bad, "It did not start."}
			}
		}
		var changed []Target
		r, changed = step(r, all, found, now)
		all, now = apply(all, changed), now.Add(time.Minute)
	}
	if r.State != Halted || len(told) != 15 || !strings.Contains(r.Reason, "It did not start.") {
		t.Errorf("%s with %d told: %s", r.State, len(told), r.Reason)
	}
}

func TestOneFailedCanaryHalts(t *testing.T) {
	t.Parallel()
	p := plan()
	p.Canaries, p.Limit = []string{"host-0001", "host-0002"}, 100
	r, all := begin(p, candidates(50))
	r, changed := step(r, all, nil, start)
	all = apply(all, changed)
	if len(changed) != 2 {
		t.Fatalf("%d targets were told first", len(changed))
	}
	r, _ = step(r, all, map[uuid.UUID]Finding{changed[0].ID: {Bad, "no"}}, start)
	if r.State != Halted {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
}

// TestAWaveThatIsSilentProvesNothing, so the next one does not begin.
func TestAWaveThatIsSilentProvesNothing(t *testing.T) {
	t.Parallel()
	r, all := begin(plan(), candidates(20))
	r, changed := step(r, all, nil, start)
	all = apply(all, changed)
	found := map[uuid.UUID]Finding{}
	for _, c := range changed {
		found[c.ID] = Finding{Unproven, "It is silent."}
	}
	r, changed = step(r, all, found, start)
	if r.State != Halted {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
	for _, c := range changed {
		if c.State != Waiting {
			t.Errorf("%s is %s", c.Name, c.State)
		}
	}
}

// TestRules walks rollouts at random and holds what must never happen.
func TestRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := plan()
		p.Limit, p.Groups, p.GapMS = rapid.IntRange(0, 3).Draw(t, "limit"), rapid.IntRange(1, 4).Draw(t, "groups"), 60_000
		p.ByZone = rapid.Bool().Draw(t, "zones")
		if rapid.Bool().Draw(t, "window") {
			p.Window = Window{From: "12:00", To: "12:30"}
		}
		if rapid.Bool().Draw(t, "canary") {
			p.Canaries = []string{"host-0000"}
		}
		r, all := begin(p, candidates(rapid.IntRange(1, 60).Draw(t, "hosts")))
		now := start
		var lastWave time.Time
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 240).Draw(t, "seconds")) * time.Second)
			before := r
			var changed []Target
			switch act := rapid.IntRange(0, 20).Draw(t, "act"); {
			case act == 0 && r.CanPause() == nil:
				r.State = Paused
				continue
			case act <= 3 && r.CanResume() == nil:
				s := stepper{r: r, all: all}
				r.State, r.Forgiven = Running, int64(s.count(Failed))
				continue
			case act == 4 && r.CanRollBack() == nil && rapid.IntRange(0, 3).Draw(t, "really") == 0:
				r, changed = back(r, all, now)
			default:
				found := map[uuid.UUID]Finding{}
				for _, target := range all {
					v := Verdict(rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3, 4}).Draw(t, "verdict"))
					if v != NotYet {
						found[target.ID] = Finding{Verdict: v}
					}
				}
				r, changed = step(r, all, found, now)
			}
			s := stepper{r: r, all: all}
			failedBefore := s.count(Failed)
			for _, c := range changed {
				if c.State == Told && c.ToldAt.Equal(now) && c.EndedAt == nil && wasWaiting(all, c) {
					switch {
					case before.State != Running:
						t.Fatalf("%s was told while it was %s", c.Name, before.State)
					case failedBefore-int(before.Forgiven) > p.Limit:
						t.Fatalf("%s was told after %d failures", c.Name, failedBefore)
					case c.Wave > before.Wave+1 || c.Wave > r.Wave:
						t.Fatalf("%s of wave %d was told in wave %d", c.Name, c.Wave, before.Wave)
					case p.Window.Next(now).After(now):
						t.Fatalf("%s was told outside of the window", c.Name)
					case r.Wave > before.Wave && before.Wave > 0 && now.Before(lastWave.Add(time.Minute)):
						t.Fatalf("wave %d began %s behind the one before", r.Wave, now.Sub(lastWave))
					}
				}
			}
			if r.Wave > before.Wave {
				lastWave = now
			}
			all = apply(all, changed)
			if r.State == Halted || r.State.Ended() {
				for _, target := range all {
					if target.State == Told || target.State == TargetBack {
						t.Fatalf("%s is %s in a rollout that is %s", target.Name, target.State, r.State)
					}
				}
			}
			if r.Reason == "" && r.State != Paused {
				t.Fatalf("a rollout that is %s has no reason", r.State)
			}
		}
	})
}

func wasWaiting(all []Target, c Target) bool {
	return slices.ContainsFunc(all, func(t Target) bool { return t.ID == c.ID && t.State == Waiting })
}
