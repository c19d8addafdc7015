package reconcile

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// A registry refuses what could not work.
func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	run := func(context.Context, Item) (Outcome, error) { return Outcome{}, nil }
	objects := func(context.Context, uuid.UUID, int) ([]uuid.UUID, error) { return nil, nil }
	good := Policy{Name: "p", Why: "w", Interval: time.Minute, Timeout: time.Second, Run: run}
	with := func(f func(*Policy)) []Policy {
		p := good
		f(&p)
		return []Policy{p}
	}
	for want, policies := range map[string][]Policy{
		"lower-case":         with(func(p *Policy) { p.Name = "A b" }),
		"needs a reason":     with(func(p *Policy) { p.Why = "" }),
		"needs a function":   with(func(p *Policy) { p.Why, p.Run = "w", nil }),
		"positive":           with(func(p *Policy) { p.Interval = 0 }),
		"lists its objects":  with(func(p *Policy) { p.Noun = "thing" }),
		"or neither":         with(func(p *Policy) { p.Objects = objects }),
		"let it touch":       with(func(p *Policy) { p.Noun, p.Objects, p.Triggers = "zone", objects, []string{"record"} }),
		"trigger host twice": with(func(p *Policy) { p.Triggers = []string{"host", "host"} }),
		"two policies":       {good, good},
	} {
		want = strings.ReplaceAll(want, "needs a function", "and a function")
		if _, err := NewRegistry(nil, policies...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	r, err := NewRegistry(map[string]string{"x": "y"}, good)
	if err != nil || len(r.Policies()) != 1 || r.NotReconciled()["x"] != "y" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, ok := r.Policy("q"); ok {
		t.Error("found what is not there")
	}
}
