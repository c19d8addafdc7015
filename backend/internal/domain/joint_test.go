package domain_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"kloigos/backend/internal/domain"
)

func TestJointTableNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	kinds := map[domain.JobKind]bool{}
	for _, j := range domain.JointTable {
		if kinds[j.Kind] || j.Means == "" || (j.Playbook == "") != j.Checks || len(j.Steps) == 0 {
			t.Errorf("row %s is there twice or says too little", j.Kind)
		}
		kinds[j.Kind] = true
	}
	byNoun := map[string]life{}
	for _, l := range lives() {
		byNoun[l.noun] = l
	}
	for _, j := range domain.JointTable {
		if j.GiveUp != "" && !kinds[j.GiveUp] {
			t.Errorf("%s: give-up %q is no kind", j.Kind, j.GiveUp)
		}
		for moment, e := range map[string]domain.Effect{"start": j.Start, "success": j.Success, "failure": j.Failure, "waits": j.Waits, "withdrawn": j.Withdrawn} {
			if on := e.On(domain.OfReplaced); on != "" && on != domain.ReplaceSucceeded && on != domain.ReplaceFailed {
				t.Errorf("%s: %s is no end of a replaced unit", j.Kind, on)
			}
			last := -1
			for _, x := range e {
				place := slices.IndexFunc(domain.Parts, func(p domain.PartInfo) bool { return p.Part == x.Of })
				if place <= last {
					t.Errorf("%s: %s is not in the order of the parts, or twice, in %s", j.Kind, x.Of, moment)
				}
				last = place
				if !slices.ContainsFunc(byNoun[x.Of.Info().Noun].moves, func(m domain.Transition[string]) bool { return m.On == x.On }) {
					t.Errorf("%s: no %s ever takes %s %q", j.Kind, x.Of, moment, x.On)
				}
			}
		}
		if got, ok := domain.JointOf(j.Kind); !ok || got.Kind != j.Kind {
			t.Errorf("JointOf(%s) is %v, %v", j.Kind, got.Kind, ok)
		}
	}
	if _, ok := domain.JointOf("dance"); ok {
		t.Error("a kind that is not in the table was found")
	}
}

// TestEndsFollowFromStarts: whatever state an object is in when a job is asked
// for, the state that follows takes each of the job's ends.
func TestEndsFollowFromStarts(t *testing.T) {
	t.Parallel()
	byNoun := map[string]life{}
	for _, l := range lives() {
		byNoun[l.noun] = l
	}
	rows := 0
	for _, j := range domain.JointTable {
		for _, p := range domain.Parts {
			if p.Part == domain.OfReplaced { // begun by the layout that replaces it
				continue
			}
			start, success, failure, waits := j.Start.On(p.Part), j.Success.On(p.Part), j.Failure.On(p.Part), j.Waits.On(p.Part)
			l := byNoun[p.Noun]
			for _, s := range l.states {
				during := l.next(s.State, start)
				if start == "" || during == "" {
					continue
				}
				rows++
				for _, end := range []domain.Event{success, failure} {
					if l.next(during, end) == "" {
						t.Errorf("%s: a %s that was %s is %s, which does not take %q", j.Kind, p.Part, s.State, during, end)
					}
				}
				// A host whose key is known never waits for one.
				if waits != "" && !keyKnown(s.State) && l.next(during, waits) == "" {
					t.Errorf("%s: a %s that was %s can't wait", j.Kind, p.Part, s.State)
				}
			}
			if (start == "") != (success == "") || (start == "") != (failure == "") {
				t.Errorf("%s: %s is moved by some of the moments only", j.Kind, p.Part)
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d combinations were looked at", rows)
	}
}

// TestPlansMoveNothingElse: a job that only checks moves its plan and nothing
// that the plan is about.
func TestPlansMoveNothingElse(t *testing.T) {
	t.Parallel()
	checks := 0
	for _, j := range domain.JointTable {
		if j.ReadOnly && j.Checks || j.Changes() == (j.ReadOnly || j.Checks) {
			t.Errorf("%s: either it reads, or it checks, or it changes the host", j.Kind)
		}
		for _, e := range []domain.Effect{j.Start, j.Success, j.Failure, j.Waits, j.Withdrawn} {
			if j.Several && (len(e) > 0 || !j.ReadOnly) {
				t.Errorf("%s has several hosts, and no lock of any: %+v", j.Kind, e)
			}
			if ofPlan := e.On(domain.OfPlan) != ""; j.Checks && (len(e) > 1 || len(e) == 1 && !ofPlan) || !j.Checks && ofPlan {
				t.Errorf("%s: %+v", j.Kind, e)
			}
		}
		if j.Checks {
			checks++
		}
	}
	if checks != 1 {
		t.Errorf("%d kinds check", checks)
	}
}

// keyKnown are the states for which the schema demands a host key.
func keyKnown(state string) bool {
	return !slices.Contains([]string{"registered", "probing", "awaiting_host_key", "lost"}, state)
}

// world is one host with one unit, one address, and at most one allocation,
// and the jobs that have not ended. Its moves are all that intents and workers
// can do, so that a search through it meets every combination.
type world struct {
	host, unit, alloc, addr string // "" while there is none
	old                     string // of a unit that a new layout replaces, until it is removed
	key                     bool   // the host's key is known
	jobs                    string // kinds, sorted, comma-separated
	failed                  string // kinds that failed and can be retried
}

func (w world) String() string {
	return fmt.Sprintf("host %s, unit %s, replaced unit %s, allocation %s, address %s, jobs [%s]", w.host, w.unit, w.old, w.alloc, w.addr, w.jobs)
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func with(set string, kind domain.JobKind) string {
	all := append(list(set), string(kind))
	sort.Strings(all)
	return strings.Join(all, ",")
}

func without(set string, kind domain.JobKind) string {
	all := list(set)
	if i := slices.Index(all, string(kind)); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	return strings.Join(all, ",")
}

type explorer struct{ host, unit, alloc, addr life }

// apply is what the store does with an effect; "" if something does not take it.
func (x explorer) apply(w world, e domain.Effect, wholeHost bool) (world, string) {
	if on := e.On(domain.OfHost); on != "" {
		to := x.host.next(w.host, on)
		if to == "" {
			return w, fmt.Sprintf("host %s does not take %s", w.host, on)
		}
		w.host = to
	}
	if on := e.On(domain.OfUnit); on != "" {
		to := x.unit.next(w.unit, on)
		switch {
		case to != "":
			w.unit = to
		case !wholeHost:
			return w, fmt.Sprintf("unit %s does not take %s", w.unit, on)
		case on == domain.RemoveRequested && w.unit != "" && w.unit != "removed":
			return w, "unit in use"
		}
	}
	if on := e.On(domain.OfReplaced); on != "" && w.old != "" {
		to := x.unit.next(w.old, on)
		if to == "" {
			return w, fmt.Sprintf("replaced unit %s does not take %s", w.old, on)
		}
		w.old = remembered(to)
	}
	if on := e.On(domain.OfAllocation); on != "" {
		to := x.alloc.next(w.alloc, on)
		if to == "" {
			return w, fmt.Sprintf("allocation %s does not take %s", w.alloc, on)
		}
		w.alloc = to
	}
	if on := e.On(domain.OfAddress); on != "" {
		to := x.addr.next(w.addr, on)
		if to == "" {
			return w, fmt.Sprintf("address %s does not take %s", w.addr, on)
		}
		w.addr = to
	}
	return w, ""
}

// remembered forgets a unit that is removed: any number of them is like none.
func remembered(unit string) string {
	if unit == "removed" {
		return ""
	}
	return unit
}

func ended(alloc string) bool { return alloc == "" || alloc == "deallocated" || alloc == "lost" }

type move struct {
	name string
	to   world
}

// moves returns all that can happen, and what of it is undefined.
func (x explorer) moves(w world) (moves []move, holes []string) {
	add := func(name string, to world) { moves = append(moves, move{name, to}) }
	active := list(w.jobs)
	for _, j := range domain.JointTable {
		if j.Checks || j.Several { // moves nothing of this world: TestPlansMoveNothingElse
			continue
		}
		if j.Kind == domain.KindAllocationNetwork { // asked for and ended as allocation_keys, which stands for both
			continue
		}
		wholeHost := j.Start.On(domain.OfHost) != ""
		aboutUnit := j.Start.On(domain.OfAllocation) != "" || j.Kind == domain.KindAllocationKeys
		n := 0
		for _, k := range active {
			if k == string(j.Kind) {
				n++
			}
		}
		can := n < 2
		switch {
		case aboutUnit && ended(w.alloc):
			can = false
		case j.Kind == domain.KindAllocationKeys && w.alloc != "allocated":
			can = can && slices.Contains(list(w.failed), string(j.Kind)) // a retry is not refused
		case j.Kind == domain.KindHostDecommission && !ended(w.alloc):
			can = false
		case j.Kind == domain.KindHostInitialize && w.unit == "":
			can = false
		case j.Kind == domain.KindHostRelayout && w.host != "ready" && w.host != "init_failed":
			can = false
		}
		if j.Kind == domain.KindHostRelayout && can {
			// Asked for: the free unit goes, another one takes its place. Given
			// up: what could not be made goes, and nothing takes its place. A retry
			// is what follows below.
			for _, of := range []struct {
				on   domain.Event
				unit string
			}{{domain.ReplaceRequested, "preparing"}, {domain.LayoutWithdrawn, ""}} {
				asked, to := w, x.unit.next(w.unit, of.on)
				switch {
				case of.on == domain.LayoutWithdrawn && w.host != "init_failed":
					continue
				case to != "" || w.unit == "" || w.unit == "removed":
					asked.unit, asked.old = of.unit, to
				case of.on == domain.ReplaceRequested:
					continue
				}
				if to, why := x.apply(asked, j.Start, wholeHost); why == "" {
					to.jobs, to.failed = with(w.jobs, j.Kind), without(w.failed, j.Kind)
					add("ask for "+string(j.Kind)+" by "+string(of.on), to)
				}
			}
			can = slices.Contains(list(w.failed), string(j.Kind)) || w.unit != "" && w.unit != "removed" && x.unit.next(w.unit, domain.ReplaceRequested) == ""
		}
		if to, why := x.apply(w, j.Start, wholeHost); can && why == "" {
			to.jobs, to.failed = with(w.jobs, j.Kind), without(w.failed, j.Kind)
			add("start "+string(j.Kind), to)
		}
		if n == 0 {
			continue
		}
		end := func(name string, e domain.Effect) {
			to, why := x.apply(w, e, wholeHost)
			if why != "" {
				holes = append(holes, fmt.Sprintf("%s of %s: %s", name, j.Kind, why))
				return
			}
			to.jobs = without(w.jobs, j.Kind)
			if name == "failure" && !slices.Contains(list(to.failed), string(j.Kind)) {
				to.failed = with(to.failed, j.Kind)
			}
			to.key = to.key || j.Kind == domain.KindHostProbe && name == "success"
			add(name+" "+string(j.Kind), to)
		}
		if j.Kind != domain.KindHostProbe || w.key {
			end("success", j.Success)
		}
		end("failure", j.Failure)
		if len(j.Withdrawn) > 0 {
			end("withdrawn", j.Withdrawn)
		}
		if j.Kind == domain.KindHostProbe && !w.key {
			end("waits", j.Waits)
			trusted := w
			trusted.key = true
			add("trust the key", trusted)
		}
	}
	if w.host == "probed" && w.unit == "" {
		planned := w
		planned.unit = "preparing"
		add("set layout", planned)
	}
	if w.host == "ready" && w.unit == "free" && w.addr == "free" && ended(w.alloc) {
		placed := w
		placed.unit, placed.addr, placed.alloc = "allocating", "reserved", "allocating"
		placed.jobs = with(w.jobs, domain.KindUnitAllocate)
		add("place", placed)
	}
	if w.host == "awaiting_host_key" && !w.key {
		confirmed := w
		confirmed.key = true
		add("confirm key", confirmed)
	}
	for _, on := range []domain.Event{domain.DrainRequested, domain.DrainCancelled} {
		if to := x.host.next(w.host, on); to != "" {
			moved := w
			moved.host = to
			add(string(on), moved)
		}
	}
	for _, on := range []domain.Event{domain.Closed, domain.Opened} {
		if to := x.unit.next(w.unit, on); to != "" {
			moved := w
			moved.unit = to
			add(string(on)+" unit", moved)
		}
	}
	if to := x.host.next(w.host, domain.DeclaredLost); to != "" {
		lost := w
		lost.host, lost.jobs = to, ""
		if !ended(w.alloc) {
			var why string
			if lost, why = x.apply(lost, domain.Effect{{Of: domain.OfAllocation, On: domain.DeclaredLost}, {Of: domain.OfAddress, On: domain.DeclaredLost}}, false); why != "" {
				holes = append(holes, "declared lost: "+why)
			}
		}
		if lost.old != "" {
			if lost.old = remembered(x.unit.next(lost.old, domain.DeclaredLost)); lost.old != "" {
				holes = append(holes, "declared lost: replaced unit stays "+lost.old)
			}
		}
		if next := x.unit.next(lost.unit, domain.DeclaredLost); next != "" {
			lost.unit = next
		} else if lost.unit != "" && lost.unit != "removed" {
			holes = append(holes, "declared lost: unit "+lost.unit+" stays")
		}
		add("declare lost", lost)
	}
	return moves, holes
}

// TestEveryCombinationIsDefined walks through every combination of states and
// jobs that can come about, jobs at the same time included.
func TestEveryCombinationIsDefined(t *testing.T) {
	t.Parallel()
	x := explorer{lifeOf(domain.HostLifecycle), lifeOf(domain.UnitLifecycle), lifeOf(domain.AllocationLifecycle), lifeOf(domain.AddressLifecycle)}
	inFlight := func(l life, state string) bool {
		return slices.ContainsFunc(l.states, func(i domain.StateInfo[string]) bool { return i.State == state && i.Deadline > 0 })
	}
	start := world{host: "registered", addr: "free"}
	came := map[world]world{start: {}}
	by := map[world]string{}
	backwards := map[world][]world{}
	queue := []world{start}
	holes := map[string]bool{}
	var clean []world
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		moves, undefined := x.moves(w)
		for _, hole := range undefined {
			if !holes[hole] {
				holes[hole] = true
				t.Errorf("%s\n in %s\n after %s", hole, w, path(came, by, w))
			}
		}
		if w.jobs == "" && (inFlight(x.host, w.host) || inFlight(x.unit, w.unit) || inFlight(x.unit, w.old) || inFlight(x.alloc, w.alloc)) {
			t.Errorf("in flight without a job: %s\n after %s", w, path(came, by, w))
		}
		if w.host == "decommissioned" {
			clean = append(clean, w)
			if !ended(w.alloc) || w.addr != "free" || w.old != "" || w.unit != "" && w.unit != "removed" {
				t.Errorf("decommissioned, but %s", w)
			}
		}
		for _, m := range moves {
			if m.name != "declare lost" {
				backwards[m.to] = append(backwards[m.to], w)
			}
			if _, known := came[m.to]; !known {
				came[m.to], by[m.to] = w, m.name
				queue = append(queue, m.to)
			}
		}
		if len(came) > 200_000 {
			t.Fatal("the world is larger than it can be")
		}
	}
	if len(came) < 200 || len(clean) == 0 {
		t.Fatalf("only %d combinations, %d clean ends: the search does not search", len(came), len(clean))
	}
	// There is a way out of every failure without declaring the host lost.
	out := map[world]bool{}
	for queue = clean; len(queue) > 0; queue = queue[1:] {
		for _, before := range backwards[queue[0]] {
			if !out[before] {
				out[before] = true
				queue = append(queue, before)
			}
		}
	}
	for w := range came {
		if !out[w] && w.host != "lost" && w.host != "decommissioned" {
			t.Errorf("nothing leads from here to a clean host: %s\n after %s", w, path(came, by, w))
		}
	}
}

func path(came map[world]world, by map[world]string, w world) string {
	var steps []string
	for by[w] != "" {
		steps = append(steps, by[w])
		w = came[w]
	}
	slices.Reverse(steps)
	return strings.Join(steps, ", ")
}
