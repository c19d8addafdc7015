package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// MovesOn is the condition of an object that leaves each state on its way in time.
const MovesOn = "moves_on"

// WithoutJob is how many seconds an object may be on its way without a job before that is said. The end of a job and the next
// state of its objects are one transaction, so this is no race, but some job may be asked for after the state was left by hand.
const WithoutJob = 120

// lookAtMoving is how often a moving object is looked at before its deadline, since its job may go. One that is late is
// looked at as often as lateAgain says.
const (
	lookAtMoving = 2 * time.Minute
	lateAgain    = time.Minute
)

// ErrEndsLater is an End's answer if something else has to end first. The object is asked again a minute later.
var ErrEndsLater = errors.New("something that it belongs to has to end first")

// Moving is an object in a state that has a deadline.
type Moving struct {
	ID       uuid.UUID  `db:"id"`
	State    string     `db:"state"`
	Since    time.Time  `db:"since"`
	Seconds  int64      `db:"seconds"` // that it may be in the state
	Now      time.Time  `db:"now"`     // by the database's clock
	JobID    *uuid.UUID `db:"job_id"`  // that has not ended; nil: there is none
	JobState *string    `db:"job_state"`
}

// Ending is one object whose job is gone.
type Ending struct {
	Moving
	Noun    string
	By      audit.Actor
	Message string // why it ends, for people
	Alone   bool   // what belongs to it did not take part: end the object alone
}

// Deadlines is what a noun hands in whose states have deadlines. Its statements are put together from constants of this package
// and one of the noun, which begins with FROM and gives l.id, l.state, l.since, l.seconds and l.job, which may be NULL, of each
// object in a state of $1, with the seconds of $2.
type Deadlines struct {
	Noun   string
	States func() (states []string, seconds []int64)
	Due    db.Statement // SQLDue, the noun's, SQLDueOf
	Find   db.Statement // SQLFind, the noun's, SQLFindOne
	List   db.Statement // SQLList, the noun's, SQLListPage
	Lock   db.Statement // locks the row with the id $1
	Ends   string       // what ends a state whose job is gone, as a sentence for people
	// AtDeadline: a state whose job is gone ends with its deadline, not after WithoutJob.
	AtDeadline bool
	// End takes an object to the state that the failure of its job would have led to, and leaves the event of that. It may run
	// twice. Its row is locked. A Conflict is answered by asking once more, for the object alone.
	End func(ctx context.Context, tx *db.Tx, e Ending) error
}

// EndsSoon is what Ends says of a noun that waits for no deadline.
const EndsSoon = "This policy ends that within minutes, as the failure of its job would have; then it can be asked for again."

// InFlight makes a policy of each noun that has deadlines. An object's item is written with its state, and is due when the
// state has lasted too long. It goes once the object is at rest.
func InFlight(d *db.DB, nouns []Deadlines) []Policy {
	all := make([]Policy, len(nouns))
	for i, n := range nouns {
		all[i] = Policy{
			Name: n.policy(), Why: "a job that hangs, or that is gone, leaves its object on its way, where nobody looks for it",
			Noun: n.Noun, Triggers: []string{n.Noun}, deadlines: &n,
			Interval: lookAtMoving, Jitter: 10 * time.Second, Timeout: 30 * time.Second, Observes: true,
			Objects: func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
				return n.list(ctx, d.Reader, after, limit)
			},
			Run: func(ctx context.Context, item Item) (Outcome, error) { return n.run(ctx, d, item) },
		}
	}
	return all
}

func (n *Deadlines) policy() string { return n.Noun + "_deadline" }

func (n *Deadlines) run(ctx context.Context, d *db.DB, item Item) (Outcome, error) {
	s, err := n.find(ctx, d.Reader, item.ObjectID)
	if errors.Is(err, fault.ErrNotFound) {
		return atRest(0), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if n.ends(s) && !item.Observe {
		ended, err := n.end(ctx, d, item.ObjectID)
		switch {
		case err == nil:
			return atRest(ended), nil
		case !errors.Is(err, ErrEndsLater):
			return Outcome{Conditions: []Condition{n.condition(s)}}, fmt.Errorf("end %s %s, which is %s: %w", n.Noun, s.ID, s.State, err)
		}
	}
	return Outcome{Conditions: []Condition{n.condition(s)}, Again: s.again()}, nil
}

// atRest is the outcome for an object that has left the state it was looked at for.
func atRest(changed int64) Outcome {
	left := Condition{Type: MovesOn, Status: True, Reason: "on_time", Message: "It left the state that it was in for too long.", Threshold: 1, IfThere: true}
	return Outcome{Changed: changed, AtRest: true, Conditions: []Condition{left}}
}

func (s Moving) lasts() time.Duration  { return s.Now.Sub(s.Since) }
func (s Moving) within() time.Duration { return time.Duration(s.Seconds) * time.Second }
func (s Moving) late() bool            { return s.lasts() > s.within() }
func (s Moving) lost() bool            { return s.JobID == nil && s.lasts() > WithoutJob*time.Second }

// again is when the object is looked at next: when it may be late, or lost.
func (s Moving) again() time.Duration {
	switch {
	case s.late():
		return lateAgain
	case s.lost():
		return min(lateAgain, s.within()-s.lasts()+time.Second)
	case s.JobID == nil:
		return min(s.within(), WithoutJob*time.Second) - s.lasts() + time.Second
	}
	return min(s.within()-s.lasts()+time.Second, lookAtMoving)
}

func (n *Deadlines) ends(s Moving) bool {
	return s.JobID == nil && (s.late() || s.lost() && !n.AtDeadline)
}

// end looks once more with the row locked, so that no job for it is asked for meanwhile.
func (n *Deadlines) end(ctx context.Context, d *db.DB, id uuid.UUID) (ended int64, err error) {
	for _, alone := range []bool{false, true} {
		err = d.InTx(ctx, func(tx *db.Tx) error {
			ended = 0
			if _, err := tx.Exec(ctx, n.Lock, id); err != nil {
				return fmt.Errorf("lock it: %w", err)
			}
			s, err := n.find(ctx, tx.Reader, id)
			if errors.Is(err, fault.ErrNotFound) || err == nil && !n.ends(s) {
				return nil
			}
			if err != nil {
				return err
			}
			ended = 1
			return n.End(ctx, tx, Ending{
				Moving: s, Noun: n.Noun, By: audit.Actor{Kind: audit.Policy, Name: n.policy()}, Alone: alone,
				Message: fmt.Sprintf("It was %s with no job at work on it since %s.", s.State, s.Since.UTC().Format(time.RFC3339)),
			})
		})
		if conflict := (*fault.Conflict)(nil); !errors.As(err, &conflict) {
			break
		}
	}
	return ended, err
}

func (n *Deadlines) condition(s Moving) Condition {
	since := s.Since.UTC().Format(time.RFC3339)
	c := Condition{Type: MovesOn, Status: False, Threshold: 1}
	switch {
	case s.lost():
		c.Reason, c.Fault = "no_job", FaultOurs
		c.Message = fmt.Sprintf("It is %s since %s, and no job brings that to an end. %s", s.State, since, n.Ends)
	case s.late() && s.JobID != nil:
		c.Reason, c.Fault, c.RetryHelps = "past_deadline", FaultDependency, true
		c.Message = fmt.Sprintf("It is %s since %s, longer than the %d minutes that it may be. Job %s is %s: read its log, cancel it if it hangs, then retry it.",
			s.State, since, int(s.within().Minutes()), *s.JobID, *s.JobState)
	default:
		c.Status, c.Reason, c.Message, c.IfThere = True, "on_time", "It has time, and a job.", true
	}
	return c
}
