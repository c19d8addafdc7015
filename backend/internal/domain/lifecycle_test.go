package domain_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/domain"
	"kloigos/crdb"
)

// life is a lifecycle without its type of states, so that one test walks all.
type life struct {
	noun, initial string
	states        []domain.StateInfo[string]
	moves         []domain.Transition[string]
}

func lives() []life {
	return []life{
		lifeOf(domain.HostLifecycle), lifeOf(domain.UnitLifecycle), lifeOf(domain.AllocationLifecycle),
		lifeOf(domain.AddressLifecycle), lifeOf(domain.JobLifecycle), lifeOf(domain.PlanLifecycle),
	}
}

func lifeOf[S ~string](l domain.Lifecycle[S]) life {
	out := life{noun: l.Noun, initial: string(l.Initial)}
	for _, s := range l.States {
		out.states = append(out.states, domain.StateInfo[string]{State: string(s.State), Means: s.Means, Deadline: s.Deadline, Failed: s.Failed, Final: s.Final})
	}
	for _, t := range l.Transitions {
		out.moves = append(out.moves, domain.Transition[string]{From: string(t.From), On: t.On, To: string(t.To)})
	}
	return out
}

func (l life) has(state string) bool {
	return slices.ContainsFunc(l.states, func(i domain.StateInfo[string]) bool { return i.State == state })
}

// next is the state after on, "" if from does not take it.
func (l life) next(from string, on domain.Event) string {
	for _, m := range l.moves {
		if m.From == from && m.On == on {
			return m.To
		}
	}
	return ""
}

func TestLifecyclesAreSound(t *testing.T) {
	t.Parallel()
	for _, l := range lives() {
		t.Run(l.noun, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, s := range l.states {
				if seen[s.State] {
					t.Errorf("state %s is there twice", s.State)
				}
				seen[s.State] = true
				if s.Means == "" {
					t.Errorf("nobody says what %s means", s.State)
				}
			}
			rows := map[string]bool{}
			for _, m := range l.moves {
				if !l.has(m.From) || !l.has(m.To) {
					t.Errorf("%s --%s--> %s names an unknown state", m.From, m.On, m.To)
				}
				if key := m.From + " " + string(m.On); rows[key] {
					t.Errorf("two rows for %s", key)
				} else {
					rows[key] = true
				}
			}
			reached := map[string]bool{l.initial: true}
			for again := true; again; {
				again = false
				for _, m := range l.moves {
					if reached[m.From] && !reached[m.To] {
						reached[m.To], again = true, true
					}
				}
			}
			for _, s := range l.states {
				if !reached[s.State] {
					t.Errorf("nothing leads to %s", s.State)
				}
			}
		})
	}
}

func TestStatesAreLeftAsTheySay(t *testing.T) {
	t.Parallel()
	ends := endsOfJobs()
	for _, l := range lives() {
		for _, s := range l.states {
			var leaves []domain.Event
			for _, m := range l.moves {
				if m.From == s.State && m.To != s.State {
					leaves = append(leaves, m.On)
				}
			}
			switch {
			case s.Final && len(leaves) > 0:
				t.Errorf("%s %s is final, but is left on %v", l.noun, s.State, leaves)
			case s.Failed && len(leaves) == 0:
				t.Errorf("%s %s is failed, and no action leaves it", l.noun, s.State)
			case !s.Final && len(leaves) == 0:
				t.Errorf("%s %s is a dead end", l.noun, s.State)
			}
			if s.Deadline == 0 || l.noun == "job" {
				continue
			}
			for _, outcome := range []string{"success", "failure"} {
				if !slices.ContainsFunc(leaves, func(e domain.Event) bool { return ends[outcome][l.noun][e] }) {
					t.Errorf("%s %s is in flight, and no job's %s ends it (it is left on %v)", l.noun, s.State, outcome, leaves)
				}
			}
		}
	}
}

// endsOfJobs tells, by outcome and noun, which events the end of a job causes.
func endsOfJobs() map[string]map[string]map[domain.Event]bool {
	all := map[string]map[string]map[domain.Event]bool{}
	for _, j := range domain.JointTable {
		for outcome, e := range map[string]domain.Effect{"success": j.Success, "failure": j.Failure} {
			if all[outcome] == nil {
				all[outcome] = map[string]map[domain.Event]bool{"host": {}, "unit": {}, "allocation": {}, "address": {}, "plan": {}}
			}
			for _, x := range e {
				all[outcome][x.Of.Info().Noun][x.On] = true
			}
		}
	}
	return all
}

func TestNextRefusesWhatIsNotInTheTable(t *testing.T) {
	t.Parallel()
	if to, err := domain.HostLifecycle.Next(domain.HostReady, domain.DrainRequested); err != nil || to != domain.HostDraining {
		t.Errorf("got %q, %v", to, err)
	}
	_, err := domain.UnitLifecycle.Next(domain.UnitAllocated, domain.AllocateRequested)
	want := &domain.Conflict{Code: "unit_state", Detail: `the compute unit is allocated (in use by an allocation); allocate is not possible in this state`}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Error(diff)
	}
}

// TestSchemaKnowsTheSameStates compares the CHECKs with the lifecycles.
func TestSchemaKnowsTheSameStates(t *testing.T) {
	t.Parallel()
	schema := schema(t)
	for table, want := range map[string][]string{
		"hosts": domain.HostLifecycle.Names(), "compute_units": domain.UnitLifecycle.Names(),
		"allocations": domain.AllocationLifecycle.Names(), "addresses": domain.AddressLifecycle.Names(), "jobs": domain.JobLifecycle.Names(),
		"plans":     domain.PlanLifecycle.Names(),
		"job_steps": {string(domain.StepPending), string(domain.StepRunning), string(domain.StepSucceeded), string(domain.StepFailed)},
	} {
		if diff := cmp.Diff(want, listed(t, schema, table, "state")); diff != "" {
			t.Errorf("CHECK of %s.state (-lifecycle +schema):\n%s", table, diff)
		}
	}
	for _, c := range []struct {
		table, column string
		want          []string
	}{
		{"hosts", "health", []string{string(domain.HealthUnknown), string(domain.HealthHealthy), string(domain.HealthDegraded), string(domain.HealthUnreachable)}},
		{"hosts", "profile", []string{string(domain.ProfileMinimal), string(domain.ProfileStandard), string(domain.ProfileBuild)}},
		{"events", "actor_kind", []string{string(domain.ActorAccount), string(domain.ActorBackend), string(domain.ActorPolicy), string(domain.ActorInit)}},
	} {
		if diff := cmp.Diff(c.want, listed(t, schema, c.table, c.column)); diff != "" {
			t.Errorf("CHECK of %s.%s:\n%s", c.table, c.column, diff)
		}
	}
}

// TestSchemaEndsWhatIsFinal compares the conditions in which states are named
// by meaning: what has ended, what a worker holds.
func TestSchemaEndsWhatIsFinal(t *testing.T) {
	t.Parallel()
	schema := schema(t)
	final := func(l life) (names []string) {
		for _, s := range l.states {
			if s.Final {
				names = append(names, s.State)
			}
		}
		return names
	}
	check := func(table, pattern string, want []string) {
		t.Helper()
		m := regexp.MustCompile(pattern + ` IN \(([^)]*)\)`).FindStringSubmatch(tableOf(t, schema, table))
		if m == nil {
			t.Errorf("%s: no condition like %s", table, pattern)
			return
		}
		if diff := cmp.Diff(want, words(m[1])); diff != "" {
			t.Errorf("%s:\n%s", table, diff)
		}
	}
	check("allocations", `\(ended_at IS NULL\) = \(state NOT`, final(lifeOf(domain.AllocationLifecycle)))
	check("jobs", `CHECK \(\(state`, []string{"running", "cancelling"})
	var ended []string
	for _, s := range domain.JobLifecycle.States {
		if s.Final || s.Failed {
			ended = append(ended, string(s.State))
		}
	}
	if !strings.Contains(tableOf(t, schema, "jobs"), "CHECK ((state IN ('"+strings.Join(ended, "', '")+"')) = (finished_at IS NOT NULL))") {
		t.Errorf("jobs that ended are %v for the lifecycle, something else for the schema", ended)
	}
}

func schema(t *testing.T) string {
	t.Helper()
	files, err := crdb.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("migrations: %v, %v", names, err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func tableOf(t *testing.T, schema, table string) string {
	t.Helper()
	_, rest, found := strings.Cut(schema, "CREATE TABLE IF NOT EXISTS "+table+" (\n")
	body, _, ended := strings.Cut(rest, "\n);")
	if !found || !ended {
		t.Fatalf("the schema has no table %s", table)
	}
	return body
}

func listed(t *testing.T, schema, table, column string) []string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^ *` + column + ` +TEXT.*CHECK \(` + column + ` IN \(([^)]*)\)\)`).FindStringSubmatch(tableOf(t, schema, table))
	if m == nil {
		t.Fatalf("%s.%s has no CHECK of its values", table, column)
	}
	return words(m[1])
}

func words(list string) []string {
	var all []string
	for w := range strings.SplitSeq(list, ",") {
		all = append(all, strings.Trim(strings.TrimSpace(w), "'"))
	}
	return all
}
