package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
)

// MovesOn is the condition of an object that leaves each state on its way in time.
const MovesOn = "moves_on"

const inFlightName = "in_flight"

// Late is an object in a state that has a deadline: past it, or with no job that brings it to an end.
type Late struct {
	ID       uuid.UUID  `db:"id"`
	State    string     `db:"state"`
	Since    time.Time  `db:"since"`
	Seconds  int64      `db:"seconds"` // that it may be in the state
	JobID    *uuid.UUID `db:"job_id"`  // that has not ended; nil: there is none
	JobState *string    `db:"job_state"`
}

// WithoutAJob is how many seconds an object may be on its way without a job before that is said. The end of a job and the next
// state of its objects are one transaction, so this is no race, but some job may be asked for after the state was left by hand.
const WithoutAJob = 120

// Source finds the late objects of a noun.
type Source struct {
	Noun string
	Find func(ctx context.Context, q db.Reader) ([]Late, error)
	Ends string // what ends a state whose job is gone, as a sentence for people
	// End takes an object whose job is gone to the state that the failure of its job would have led to, and leaves the event of
	// that. nil: another policy does. It may run twice, and finds the object in the state of Late, still without a job.
	End func(ctx context.Context, tx *db.Tx, who audit.Actor, lost Late, message string) error
}

// EndedHere is what Source.Ends says where End is set.
const EndedHere = "This policy ends that within minutes, as the failure of its job would have; then it can be asked for again."

// InFlight is the policy that says which objects stand in a state on its way for too long, and why. It ends the states whose
// job is gone, where a source says how.
func InFlight(d *db.DB, sources []Source) Policy {
	return Policy{
		Name: inFlightName, Why: "a job that hangs, or that is gone, leaves its object on its way, where nobody looks for it",
		Interval: time.Minute, Jitter: 10 * time.Second, Timeout: 30 * time.Second, Observes: true,
		Run: func(ctx context.Context, item Item) (out Outcome, err error) {
			var failed error
			for _, s := range sources {
				late, err := s.Find(ctx, d.Reader)
				if err != nil {
					return out, fmt.Errorf("look for what is late of %s: %w", s.Noun, err)
				}
				if s.End != nil && !item.Observe {
					var ended int64
					late, ended, err = endLost(ctx, d, s, late)
					out.Changed += ended
					failed = errors.Join(failed, err)
				}
				found, err := inFlight(ctx, d.Reader, s, late)
				if err != nil {
					return out, fmt.Errorf("read what was said to be late of %s: %w", s.Noun, err)
				}
				out.Conditions = append(out.Conditions, found...)
			}
			return out, failed
		},
	}
}

// endLost ends what is on its way and has no job, each in a transaction of its own: one that can't be ended holds up no other.
// It returns what is late still.
func endLost(ctx context.Context, d *db.DB, s Source, late []Late) (rest []Late, ended int64, failed error) {
	who := audit.Actor{Kind: audit.Policy, Name: inFlightName}
	for _, lost := range late {
		if lost.JobID != nil {
			rest = append(rest, lost)
			continue
		}
		var done bool
		err := d.InTx(ctx, func(tx *db.Tx) error {
			still, err := s.Find(ctx, tx.Reader)
			done = slices.ContainsFunc(still, func(l Late) bool { return l.ID == lost.ID && l.State == lost.State && l.JobID == nil })
			if err != nil || !done {
				return err
			}
			message := fmt.Sprintf("It was %s with no job at work on it since %s.", lost.State, lost.Since.UTC().Format(time.RFC3339))
			return s.End(ctx, tx, who, lost, message)
		})
		switch {
		case err != nil:
			rest = append(rest, lost)
			failed = errors.Join(failed, fmt.Errorf("end %s %s, which is %s: %w", s.Noun, lost.ID, lost.State, err))
		case done:
			ended++
		}
	}
	return rest, ended, failed
}

func inFlight(ctx context.Context, q db.Reader, s Source, late []Late) (all []Condition, err error) {
	before, err := saidLate(ctx, q, s.Noun)
	if err != nil {
		return nil, err
	}
	now := map[uuid.UUID]bool{}
	for _, l := range late {
		now[l.ID] = true
		all = append(all, l.condition(s))
	}
	for _, id := range before {
		if !now[id] {
			all = append(all, Condition{
				Type: MovesOn, Status: True, Reason: "on_time", Message: "It left the state that it was in for too long.", Noun: s.Noun, ObjectID: id, Threshold: 1,
			})
		}
	}
	return all, nil
}

func (l Late) condition(s Source) Condition {
	c := Condition{Type: MovesOn, Status: False, Noun: s.Noun, ObjectID: l.ID, Threshold: 1, Fault: FaultOurs}
	since, within := l.Since.UTC().Format(time.RFC3339), time.Duration(l.Seconds)*time.Second
	if l.JobID == nil {
		c.Reason = "no_job"
		c.Message = fmt.Sprintf("It is %s since %s, and no job brings that to an end. %s", l.State, since, s.Ends)
		return c
	}
	c.Reason, c.Fault, c.RetryHelps = "past_deadline", FaultDependency, true
	c.Message = fmt.Sprintf("It is %s since %s, longer than the %d minutes that it may be. Job %s is %s: read its log, cancel it if it hangs, then retry it.",
		l.State, since, int(within.Minutes()), *l.JobID, *l.JobState)
	return c
}
