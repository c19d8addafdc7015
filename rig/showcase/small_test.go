package showcase

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// However few hosts are asked for, the story can be told.
func TestFewHosts(t *testing.T) {
	t.Parallel()
	for hosts := range 21 {
		for _, units := range []int{0, 1, 20} {
			w := &world{
				size: Size{Hosts: hosts, UnitsEach: units, Jobs: 40, Events: 40, LogLines: 10}, random: rand.New(rand.NewPCG(seed, seed)),
				now: time.Now(), playbooks: map[string]uuid.UUID{}, sums: map[string]string{},
			}
			w.makeTables()
			w.worker = w.id()
			w.makeRows()
			if len(w.hosts.rows) != hosts {
				t.Errorf("%d hosts, want %d", len(w.hosts.rows), hosts)
			}
		}
	}
}

// TestWhatIsToldOfAUnitCanFollow: each event and each job begins in the state in which the one before left the unit, and the
// last one leads to where the unit is.
func TestWhatIsToldOfAUnitCanFollow(t *testing.T) {
	t.Parallel()
	w := &world{
		size: Size{Hosts: 40, UnitsEach: 8, Jobs: 400, Events: 1500, LogLines: 10}, random: rand.New(rand.NewPCG(seed, seed)),
		now: time.Now(), playbooks: map[string]uuid.UUID{}, sums: map[string]string{},
	}
	w.makeTables()
	w.worker = w.id()
	w.makeRows()
	type told struct {
		at   time.Time
		what string
	}
	of := map[string][]told{} // by the unit's name
	for _, row := range w.events.rows {
		action, name, after := row[7].(string), row[10].(string), row[13]
		if row[8].(string) != "unit" || strings.HasPrefix(action, "drift.") { // drift moves no unit
			continue
		}
		if more, ok := after.(map[string]any); ok && action == "job.create" {
			action = more["kind"].(string)
		}
		of[name] = append(of[name], told{row[1].(time.Time), action})
	}
	change := map[string][2]string{}
	for _, s := range steps {
		change[s.action] = [2]string{s.from, s.to}
		if s.kind != "" {
			change[s.kind] = [2]string{s.from, s.to}
		}
	}
	pairs := 0
	for _, h := range w.ended {
		for _, u := range h.units {
			all := of[u.name]
			slices.SortStableFunc(all, func(a, b told) int { return a.at.Compare(b.at) })
			if _, ok := before[u.state]; ok { // the job that is under way, or failed
				if len(all) == 0 || change[all[len(all)-1].what][0] != before[u.state] {
					t.Errorf("%s is %s after %v", u.name, u.state, all)
				}
				all = all[:max(len(all)-1, 0)]
			}
			state := u.state
			if earlier, ok := before[state]; ok {
				state = earlier
			}
			for _, e := range slices.Backward(all) {
				c, known := change[e.what]
				if !known || c[1] != state {
					t.Errorf("%s: %s leads to %q, and then it was %s", u.name, e.what, c[1], state)
					break
				}
				state = c[0]
				pairs++
			}
		}
	}
	if pairs < 1000 {
		t.Errorf("only %d were looked at", pairs)
	}
}

// TestNoJobRuns: three hosts have none that is being initialized.
func TestNoJobRuns(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := (&live{}).run(ended, nil, 1); err != nil {
		t.Error(err)
	}
}
