package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Plan is how a change reaches its targets.
type Plan struct {
	Canaries []string `json:"canaries"`  // names of the targets that come first
	First    int      `json:"first"`     // percent of the others in the wave behind the canaries
	Groups   int      `json:"groups"`    // waves that the rest is cut into, of one size
	ByZone   bool     `json:"by_zone"`   // instead of Groups: a wave for each zone
	GapMS    int64    `json:"gap_ms"`    // between two waves; five times that behind the first
	WithinMS int64    `json:"within_ms"` // for a target to prove itself
	Limit    int      `json:"limit"`     // failed targets that are put up with; a failed canary always halts
	Window   Window   `json:"window"`
	// OneByOne makes each target a wave of its own, in the order in which candidates are given; First, Groups and ByZone mean nothing.
	OneByOne bool `json:"one_by_one,omitempty"`
	// SkipProbe has targets prove themselves without the probe that their driver would ask for.
	SkipProbe bool `json:"skip_probe,omitempty"`
}

// Bounds of the first wave behind the canaries.
const (
	firstLeast = 2
	firstMost  = 15
	// firstGap is how many times the gap is waited behind the first wave.
	firstGap    = 5
	maxCanaries = 20
	maxGroups   = 50
	maxLimit    = 1000
	longestGap  = 7 * 24 * time.Hour
	leastWithin = 10 * time.Second
	mostWithin  = 24 * time.Hour
)

// Check reports what is wrong with a plan.
func (p Plan) Check(bad *fault.Invalid) {
	if len(p.Canaries) > maxCanaries {
		bad.Add("canaries", "Name at most %d canaries.", maxCanaries)
	}
	if p.First < 1 || p.First > 100 {
		bad.Add("first_percent", "Use 1 to 100 percent.")
	}
	if p.Groups < 1 || p.Groups > maxGroups {
		bad.Add("groups", "Use 1 to %d groups.", maxGroups)
	}
	if p.GapMS < 0 || p.GapMS > longestGap.Milliseconds() {
		bad.Add("gap_seconds", "Use a gap of at most a week.")
	}
	if p.WithinMS < leastWithin.Milliseconds() || p.WithinMS > mostWithin.Milliseconds() {
		bad.Add("proof_seconds", "Give targets from 10 seconds to a day.")
	}
	if p.Limit < 0 || p.Limit > maxLimit {
		bad.Add("limit", "Use a limit of at most %d failures.", maxLimit)
	}
	p.Window.Check(bad)
}

// Candidate is an object that a change is to reach.
type Candidate struct {
	ID     uuid.UUID `db:"id"`
	Name   string    `db:"name"`
	Region string    `db:"region"`
	Zone   string    `db:"zone"`
}

func (c Candidate) place() string { return c.Region + "/" + c.Zone }

// cut puts candidates into waves. It gives the same waves for the same candidates in any order. Zones are mixed, so that the
// first wave meets each of them, unless each zone is a wave of its own.
func (p Plan) cut(all []Candidate) (targets []Target, waves int64) {
	rest := slices.Clone(all)
	if p.OneByOne {
		return p.each(rest)
	}
	slices.SortFunc(rest, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	add := func(some []Candidate) {
		if len(some) == 0 {
			return
		}
		waves++
		for _, c := range some {
			targets = append(targets, Target{ID: c.ID, Name: c.Name, Region: c.Region, Zone: c.Zone, Wave: waves, State: Waiting})
		}
	}
	var canaries []Candidate
	rest = slices.DeleteFunc(rest, func(c Candidate) bool {
		named := slices.Contains(p.Canaries, c.Name)
		if named {
			canaries = append(canaries, c)
		}
		return named
	})
	add(canaries)
	rest = mixed(rest)
	first := min(len(rest), max(firstLeast, min(firstMost, (len(rest)*p.First+99)/100)))
	add(rest[:first])
	rest = rest[first:]
	if p.ByZone {
		slices.SortStableFunc(rest, func(a, b Candidate) int { return cmp.Compare(a.place(), b.place()) })
		for len(rest) > 0 {
			n := slices.IndexFunc(rest, func(c Candidate) bool { return c.place() != rest[0].place() })
			if n < 0 {
				n = len(rest)
			}
			add(rest[:n])
			rest = rest[n:]
		}
		return targets, waves
	}
	for left := max(1, p.Groups); left > 0; left-- {
		n := (len(rest) + left - 1) / left
		add(rest[:n])
		rest = rest[n:]
	}
	return targets, waves
}

// each makes each candidate a wave of its own, canaries first.
func (p Plan) each(all []Candidate) (targets []Target, waves int64) {
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Compare(p.canary(a), p.canary(b))
	})
	for _, c := range all {
		waves++
		targets = append(targets, Target{ID: c.ID, Name: c.Name, Region: c.Region, Zone: c.Zone, Wave: waves, State: Waiting})
	}
	return targets, waves
}

// canary is the place of a candidate among the canaries, or behind them.
func (p Plan) canary(c Candidate) int {
	if i := slices.Index(p.Canaries, c.Name); i >= 0 {
		return i
	}
	return len(p.Canaries)
}

// mixed takes one candidate of each zone in turn.
func mixed(all []Candidate) []Candidate {
	turn := map[string]int{}
	type placed struct {
		Candidate
		turn int
	}
	some := make([]placed, len(all))
	for i, c := range all {
		some[i] = placed{c, turn[c.place()]}
		turn[c.place()]++
	}
	slices.SortStableFunc(some, func(a, b placed) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.place(), b.place())) })
	out := make([]Candidate, len(all))
	for i, p := range some {
		out[i] = p.Candidate
	}
	return out
}

// Window is when targets may be told of a change, in UTC. The zero value is always.
type Window struct {
	Days []string `json:"days"` // mon to sun, on which it opens; none: every day
	From string   `json:"from"` // HH:MM
	To   string   `json:"to"`   // HH:MM; not behind From: on the next day
}

var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // as time.Weekday

// Check reports what is wrong with a window.
func (w Window) Check(bad *fault.Invalid) {
	for i, d := range w.Days {
		if !slices.Contains(days, d) || slices.Contains(w.Days[:i], d) {
			bad.Add(fmt.Sprintf("window.days[%d]", i), "Use each of mon, tue, wed, thu, fri, sat and sun at most once.")
		}
	}
	if (w.From == "") != (w.To == "") {
		bad.Add("window", "Give both from and to, or neither.")
		return
	}
	for _, one := range []struct{ name, value string }{{"window.from", w.From}, {"window.to", w.To}} {
		if _, err := time.Parse("15:04", one.value); w.From != "" && (err != nil || len(one.value) != 5) {
			bad.Add(one.name, "Use hours and minutes of UTC, such as 22:30.")
		}
	}
}

// Next is when the window is open: now, or the time at which it opens next.
func (w Window) Next(now time.Time) time.Time {
	now = now.UTC()
	if w.From == "" && len(w.Days) == 0 {
		return now
	}
	from, to := minutes(w.From), minutes(w.To)
	if to <= from {
		to += 24 * 60
	}
	midnight := now.Truncate(24 * time.Hour)
	for day := -1; day <= 7; day++ { // yesterday's may still be open
		start := midnight.AddDate(0, 0, day)
		if len(w.Days) > 0 && !slices.Contains(w.Days, days[start.Weekday()]) {
			continue
		}
		if now.Before(start.Add(time.Duration(to) * time.Minute)) {
			opens := start.Add(time.Duration(from) * time.Minute)
			if now.Before(opens) {
				return opens
			}
			return now
		}
	}
	return midnight.AddDate(0, 0, 8) // not reached: some day of a week is named
}

func minutes(text string) int {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0
	}
	return t.Hour()*60 + t.Minute()
}
