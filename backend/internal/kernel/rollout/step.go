package rollout

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Verdict is what a proof found.
type Verdict int

// Verdicts. The zero value says that it is too early to say.
const (
	NotYet   Verdict = iota
	Good             // the target has changed, and is well
	Bad              // the change failed there
	Unproven         // the target can't be asked now, by no fault of the change
	Gone             // there is no such target any more
)

// Finding is what a proof found of a target, with a sentence for people.
type Finding struct {
	Verdict Verdict
	Reason  string
}

// step is what happens next: the rollout as it is then, and the targets that change with it. It decides and writes nothing.
func step(r Rollout, targets []Target, found map[uuid.UUID]Finding, now time.Time) (Rollout, []Target) {
	s := stepper{r: r, now: now, all: slices.Clone(targets), changed: map[int]bool{}}
	switch r.State {
	case Running, Paused:
		s.judge(Told, Proven, found)
		if !s.halt() && r.State == Running {
			s.goOn()
		} else if s.r.State == Paused {
			s.r.Reason = s.paused()
		}
	case Returning:
		s.judge(TargetBack, WentBack, found)
		if left := s.count(TargetBack); left > 0 {
			s.r.Reason = fmt.Sprintf("%s not yet gone back.", targetsHave(left))
		} else {
			s.end(Returned, "Each target that was told has gone back.")
			if n := s.count(Failed); n > 0 {
				s.r.Reason = fmt.Sprintf("%s not gone back.", targetsHave(n))
			}
		}
	}
	var changed []Target
	for i := range s.all {
		if s.changed[i] {
			changed = append(changed, s.all[i])
		}
	}
	return s.r, changed
}

type stepper struct {
	r       Rollout
	now     time.Time
	all     []Target
	changed map[int]bool
}

func (s *stepper) move(i int, to TargetState, reason string) {
	t := &s.all[i]
	t.State, t.Reason, t.EndedAt = to, reason, nil
	switch to {
	case Told, TargetBack:
		t.ToldAt = &s.now
	case Waiting:
		t.ToldAt = nil
	default:
		t.EndedAt = &s.now
	}
	s.changed[i] = true
}

func (s *stepper) count(states ...TargetState) (n int) {
	for _, t := range s.all {
		if slices.Contains(states, t.State) {
			n++
		}
	}
	return n
}

// judge moves targets that were told by what their proof found.
func (s *stepper) judge(from, good TargetState, found map[uuid.UUID]Finding) {
	within := time.Duration(s.r.Plan.WithinMS) * time.Millisecond
	for i := range s.all {
		t := s.all[i]
		if t.State != from {
			continue
		}
		f := found[t.ID]
		late := t.ToldAt != nil && !s.now.Before(t.ToldAt.Add(within))
		switch {
		case f.Verdict == Good:
			s.move(i, good, f.Reason)
		case f.Verdict == Bad:
			s.move(i, Failed, f.Reason)
		case f.Verdict == Gone && from == TargetBack:
			s.move(i, WentBack, f.Reason)
		case f.Verdict == Unproven || f.Verdict == Gone:
			s.move(i, Skipped, f.Reason)
		case late:
			s.move(i, Failed, fmt.Sprintf("No proof came within %s. %s", within, f.Reason))
		case f.Reason != t.Reason:
			s.all[i].Reason, s.changed[i] = f.Reason, true
		}
	}
}

// halt stops everything if failures pass the limit. A failed canary always does, and so does a wave in which nobody proved anything.
func (s *stepper) halt() bool {
	var failed, canaries int
	var last Target
	for _, t := range s.all {
		if t.State != Failed {
			continue
		}
		failed, last = failed+1, t
		if slices.Contains(s.r.Plan.Canaries, t.Name) {
			canaries++
		}
	}
	fresh := failed - int(s.r.Forgiven)
	switch {
	case fresh > s.r.Plan.Limit, fresh > 0 && canaries == failed:
		s.stop(fmt.Sprintf("%s failed. The last was %s: %s", targetsOf(failed), last.Name, last.Reason))
		return true
	case s.r.Wave > 0 && s.r.NextAt == nil && s.nothingProven():
		s.stop(fmt.Sprintf("No target of wave %d could prove the change.", s.r.Wave))
		return true
	}
	return false
}

// nothingProven tells whether the last wave is over and proved nothing: all that it held was silent.
func (s *stepper) nothingProven() bool {
	skipped := false
	for _, t := range s.all {
		if t.Wave != s.r.Wave {
			continue
		}
		if t.State != Skipped {
			return false
		}
		skipped = true
	}
	return skipped
}

func (s *stepper) stop(reason string) {
	s.r.State, s.r.Reason, s.r.NextAt = Halted, reason, nil
	for i, t := range s.all {
		if t.State == Told || t.State == Skipped {
			s.move(i, Waiting, "")
		}
	}
}

// goOn tells targets whose wave has come, or says what the next wave waits for.
func (s *stepper) goOn() {
	r := &s.r
	if !s.waveUnderWay() {
		if r.Wave >= r.Waves {
			s.end(Done, "Each target was reached.")
			if n := s.count(Failed, Skipped); n > 0 {
				r.Reason = fmt.Sprintf("Each target was reached; %s not proven.", targetsHave(n))
			}
			return
		}
		if r.NextAt == nil && r.Wave > 0 {
			gap := time.Duration(r.Plan.GapMS) * time.Millisecond
			if r.Wave == 1 {
				gap *= firstGap
			}
			next := s.now.Add(gap)
			r.NextAt = &next
		}
		if r.NextAt != nil && s.now.Before(*r.NextAt) {
			r.Reason = fmt.Sprintf("Wave %d of %d is over. The next begins at %s.", r.Wave, r.Waves, clock(*r.NextAt))
			return
		}
	}
	opens := r.Plan.Window.Next(s.now)
	if closed := opens.After(s.now); !closed {
		if !s.waveUnderWay() {
			r.Wave, r.NextAt = r.Wave+1, nil
		}
		for i, t := range s.all {
			if t.State == Waiting && t.Wave <= r.Wave {
				s.move(i, Told, "It was told, and has not answered yet.")
			}
		}
	} else if !s.waveUnderWay() || s.count(Told) == 0 {
		r.Reason = fmt.Sprintf("The maintenance window opens at %s.", clock(opens))
		return
	}
	r.Reason = fmt.Sprintf("Wave %d of %d: %s not yet proven the change.", r.Wave, r.Waves, targetsHave(s.count(Told)))
}

// waveUnderWay tells whether a target of a wave that has begun was not judged yet.
func (s *stepper) waveUnderWay() bool {
	return slices.ContainsFunc(s.all, func(t Target) bool { return t.State == Told || t.State == Waiting && t.Wave <= s.r.Wave })
}

func (s *stepper) paused() string {
	if n := s.count(Told); n > 0 {
		return fmt.Sprintf("It is paused. %s not yet proven the change.", targetsHave(n))
	}
	return "It is paused until somebody resumes it."
}

func (s *stepper) end(state State, reason string) {
	s.r.State, s.r.Reason, s.r.NextAt, s.r.EndedAt = state, reason, nil, &s.now
}

// back sends each target back that was told of the change.
func back(r Rollout, targets []Target, now time.Time) (Rollout, []Target) {
	s := stepper{r: r, now: now, all: slices.Clone(targets), changed: map[int]bool{}}
	s.r.State, s.r.NextAt, s.r.EndedAt = Returning, nil, nil
	var changed []Target
	for i, t := range s.all {
		if t.State != Waiting {
			s.move(i, TargetBack, "It was told to go back.")
			changed = append(changed, s.all[i])
		}
	}
	s.r.Reason = fmt.Sprintf("%s not yet gone back.", targetsHave(len(changed)))
	return s.r, changed
}

func targetsHave(n int) string {
	if n == 1 {
		return "1 target has"
	}
	return fmt.Sprintf("%d targets have", n)
}

func targetsOf(n int) string {
	if n == 1 {
		return "1 target"
	}
	return fmt.Sprintf("%d targets", n)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
