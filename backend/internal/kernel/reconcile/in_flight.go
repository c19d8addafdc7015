package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

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
}

// InFlight is the policy that says which objects stand in a state on its way for too long, and why. It moves none of them.
func InFlight(d *db.DB, sources []Source) Policy {
	return Policy{
		Name: inFlightName, Why: "a job that hangs, or that is gone, leaves its object on its way, where nobody looks for it",
		Interval: time.Minute, Jitter: 10 * time.Second, Timeout: 30 * time.Second, Observes: true,
		Run: func(ctx context.Context, _ Item) (out Outcome, err error) {
			for _, s := range sources {
				found, err := inFlight(ctx, d.Reader, s)
				if err != nil {
					return out, fmt.Errorf("look for what is late of %s: %w", s.Noun, err)
				}
				out.Conditions = append(out.Conditions, found...)
			}
			return out, nil
		},
	}
}

func inFlight(ctx context.Context, q db.Reader, s Source) (all []Condition, err error) {
	late, err := s.Find(ctx, q)
	if err != nil {
		return nil, err
	}
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
