package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/kernel/fault"
)

// Why the context of an attempt ends before its work does.
var (
	ErrCancelled  = errors.New("the job was cancelled")
	ErrHandedOver = errors.New("the backend stops; the job goes on elsewhere")
	ErrLeaseLost  = errors.New("the lease was lost; the job goes on elsewhere")
)

// Error is why a job failed, for a person and for programs.
type Error struct {
	Code     string // stable, part of the API
	Message  string // what happened, in sentences
	NextStep string // what a person can do now; "": what is known for the code
	// Heals tells whether the same job may well succeed a little later without
	// anyone doing anything, so that it is tried again by itself.
	Heals bool
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// The codes of errors that the engine itself gives.
const (
	CodeDeadline  = "deadline_passed"
	CodeCancelled = "cancelled"
	CodeInternal  = "internal"
	CodeWaited    = "wait_expired" // a step's condition did not come to hold
)

// notYet is what a waiting step returns while its condition does not hold.
type notYet struct {
	after time.Duration
	why   string
}

func (n notYet) Error() string { return "not yet: " + n.why }

// NotYet is what a waiting step returns while its condition does not hold: the job
// gives its slot back and looks again after some time. why goes to the log.
func NotYet(after time.Duration, why string) error { return notYet{after, why} }

// Waits tells whether an error is one of NotYet.
func Waits(err error) bool {
	var wait notYet
	return errors.As(err, &wait)
}

// Log takes what an attempt tells.
type Log interface {
	Step(name string)
	Note(format string, args ...any)
}

// Handler does one step.
type Handler func(ctx context.Context, a *Attempt) error

// Handlers are what the steps of kinds do: by kind, then by step.
type Handlers map[string]map[string]Handler

// Attempt is one try of a job, under way.
type Attempt struct {
	Job
	DB      *db.DB
	Number  int // of the attempt; grows with each claim
	Log     Log
	Backend string // name of the backend that runs it

	locks   map[string]int64
	outcome string
	ends    []func(context.Context, *db.Tx) error
}

// begun tells whether a step of the job has begun, in this attempt or an earlier one.
func (a *Attempt) begun() bool {
	return a.locks != nil || slices.ContainsFunc(a.Steps, func(s JobStep) bool { return s.State != "pending" })
}

// Object is the first object of a role.
func (a *Attempt) Object(role string) Object {
	i := slices.IndexFunc(a.Objects, func(o Object) bool { return o.Role == role })
	if i < 0 {
		return Object{}
	}
	return a.Objects[i]
}

// Arguments reads the job's arguments.
func (a *Attempt) Arguments(into any) error { return json.Unmarshal(a.Args, into) }

// Lock is the number of the lock of an object that the attempt holds; 0 if it holds
// none. It grows with each taking.
func (a *Attempt) Lock(o Object) int64 { return a.locks[o.key()] }

// Outcome says what came of the job, in a sentence.
func (a *Attempt) Outcome(format string, args ...any) { a.outcome = fmt.Sprintf(format, args...) }

// AtSuccess writes something in the transaction that ends the job well. f may run
// twice.
func (a *Attempt) AtSuccess(f func(context.Context, *db.Tx) error) { a.ends = append(a.ends, f) }

// Actor is the backend, for events.
func (a *Attempt) Actor() audit.Actor { return audit.Actor{Kind: audit.Backend, Name: a.Backend} }

// End is how an attempt ended.
type End int

// The ends of an attempt.
const (
	Succeeded End = iota
	Failed        // for good
	Cancelled     // stopped as asked
	Retry         // failed in a way that may heal
	HandOver      // not finished; goes on as it stands, at once or After
)

// Result is what came of an attempt.
type Result struct {
	End     End
	Error   *Error
	Outcome string
	After   time.Duration // of Retry and HandOver
	// Apply belongs in the transaction that ends the attempt.
	Apply func(context.Context, *db.Tx) error
}

// Runner carries attempts out.
type Runner struct {
	DB       *db.DB
	Registry *Registry
	Handlers Handlers
	Backend  string
	// Stopping tells whether this process is about to stop, so that no further step
	// begins; nil: never.
	Stopping func(context.Context) bool
	// Failpoints are those at which a test of faults ends this process; none is the zero value.
	Failpoints failpoint.Points
}

// Check finds kinds without a handler for each of their steps.
func (r *Runner) Check() error {
	for name, k := range r.Registry.kinds {
		for _, s := range k.Steps {
			if r.Handlers[name][s.Name] == nil {
				return fmt.Errorf("no handler for step %s of kind %s", s.Name, name)
			}
		}
	}
	return nil
}

// busyPause is how long a job waits for another one that holds what it needs.
const busyPause = time.Second

// unknownPause is how long a job waits whose step only a newer backend knows.
const unknownPause = 5 * time.Second

var errStopping = errors.New("the backend stops")

var errUnknown = errors.New("this backend does not know the step")

// Run carries one attempt out. backoff is how long to wait before try n.
func (r *Runner) Run(ctx context.Context, id uuid.UUID, attempt int, log Log, backoff func(n int) time.Duration) (result Result) {
	a := &Attempt{DB: r.DB, Number: attempt, Log: log, Backend: r.Backend}
	defer func() { // or a job that makes one backend panic would go round and end all of them
		if p := recover(); p != nil {
			result = r.end(ctx, a, fmt.Errorf("panic: %v\n%s", p, debug.Stack()), backoff)
		}
	}()
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	job, err := load(reading, r.DB.Reader, id)
	cancel()
	if err != nil {
		slog.Error("load job failed", "job", id, "error", err)
		return Result{End: HandOver, After: backoff(attempt)}
	}
	a.Job = job
	return r.end(ctx, a, r.steps(ctx, a), backoff)
}

func (r *Runner) steps(ctx context.Context, a *Attempt) error {
	kind, _ := r.Registry.Kind(a.Kind)
	if a.DeadlinePassed {
		return &Error{Code: CodeDeadline, Message: fmt.Sprintf("The job did not finish before its deadline, %s.", a.DeadlineAt.UTC().Format(time.RFC3339))}
	}
	for i, s := range a.Steps {
		if s.State == "succeeded" {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if r.Stopping != nil && r.Stopping(ctx) {
			return errStopping
		}
		if err := r.step(ctx, a, kind, s, i == len(a.Steps)-1); err != nil {
			return err
		}
	}
	return nil
}

// step does one step. The last one ends with the job, in one transaction: what it
// found is known to this attempt alone, so whoever takes over before that does it
// again.
func (r *Runner) step(ctx context.Context, a *Attempt, kind Kind, s JobStep, last bool) error {
	do := r.Handlers[a.Kind][s.Name]
	if do == nil {
		return fmt.Errorf("%w %s of %s", errUnknown, s.Name, a.Kind)
	}
	a.Log.Step(s.Name)
	if err := r.begin(ctx, a, kind, s); err != nil {
		return err
	}
	err := do(ctx, a)
	if err == nil {
		r.Failpoints.Hit(failpoint.CallDone(a.Kind))
	}
	var wait notYet
	if errors.As(err, &wait) {
		return r.waited(kind, s, wait)
	}
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, ErrHandedOver) || errors.Is(cause, ErrLeaseLost)) || err == nil && last {
		return err
	}
	state := "succeeded"
	if err != nil {
		state = "failed"
	}
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	ended := r.DB.InTx(written, func(tx *db.Tx) error { return EndStep(written, tx, a.ID, a.Number, s.Position, state) })
	if err == nil && ended != nil {
		return fmt.Errorf("end step %s: %w", s.Name, ended)
	}
	return err
}

// waited turns a look that found nothing yet into the next look, or an end.
func (r *Runner) waited(kind Kind, s JobStep, wait notYet) error {
	for _, k := range kind.Steps {
		if k.Name == s.Name && k.Within > 0 && time.Duration(s.Waited*float64(time.Second)) > k.Within {
			return &Error{
				Code: CodeWaited, NextStep: "Fix what the message names, then retry the job.",
				Message: fmt.Sprintf("The step %s waited for longer than %s. Last: %s", s.Name, k.Within, wait.why),
			}
		}
	}
	return wait
}

// begin marks a step as running, and takes the attempt's locks where it has none.
func (r *Runner) begin(ctx context.Context, a *Attempt, kind Kind, s JobStep) error {
	var keys []string
	for _, o := range a.Objects {
		if slices.Contains(kind.Locks, o.Role) {
			keys = append(keys, o.key())
		}
	}
	var locks map[string]int64
	err := r.DB.InTx(ctx, func(tx *db.Tx) (err error) {
		if err := StartStep(ctx, tx, a.ID, a.Number, s.Position); err != nil || a.locks != nil {
			return err
		}
		locks, err = lock(ctx, tx, a.ID, a.Number, keys)
		return err
	})
	if err != nil {
		return fmt.Errorf("begin step %s: %w", s.Name, err)
	}
	if a.locks == nil {
		a.locks = locks
	}
	return nil
}

// end turns the end of the steps into what the queue writes.
func (r *Runner) end(ctx context.Context, a *Attempt, err error, backoff func(int) time.Duration) Result {
	cause := context.Cause(ctx)
	let := func(ctx context.Context, tx *db.Tx) error { return release(ctx, tx, a.ID, a.Number) }
	var why *Error
	var wait notYet
	switch {
	case errors.Is(cause, ErrLeaseLost), errors.Is(cause, ErrHandedOver), errors.Is(err, errStopping) && cause == nil:
		return Result{End: HandOver}
	case err == nil:
		return r.success(a)
	case errors.Is(cause, ErrCancelled):
		return r.failure(a, Cancelled, &Error{Code: CodeCancelled, Message: "A person stopped the job."})
	case errors.As(err, &wait):
		a.Log.Note("%s. Looking again in %s.", strings.TrimSuffix(wait.why, "."), wait.after.Round(time.Millisecond))
		return Result{End: HandOver, After: max(wait.after, 100*time.Millisecond), Apply: let}
	case errors.Is(err, errBusy):
		return Result{End: HandOver, After: busyPause + rand.N(busyPause/2), Apply: let}
	case errors.Is(err, errUnknown):
		a.Log.Note("%s leaves the job to a newer backend (%s).", r.Backend, err)
		return Result{End: HandOver, After: unknownPause, Apply: let}
	case !errors.As(err, &why):
		slog.Error("job failed with an internal error", "job", a.ID, "kind", a.Kind, "attempt", a.Number, "error", err)
		why = &Error{Code: CodeInternal, Message: "The backend had an internal error. Its log has the details under the job's id.", Heals: true}
	}
	if why.Heals && !a.DeadlinePassed && a.Failures+1 < a.MaxAttempts {
		after := backoff(a.Failures + 1)
		a.Log.Note("%s Trying again in %s.", why.Message, after.Round(time.Second))
		return Result{End: Retry, Error: why, After: after, Apply: let}
	}
	return r.failure(a, Failed, why)
}

func (r *Runner) success(a *Attempt) Result {
	kind, _ := r.Registry.Kind(a.Kind)
	return Result{End: Succeeded, Outcome: a.outcome, Apply: func(ctx context.Context, tx *db.Tx) error {
		for _, f := range a.ends {
			if err := f(ctx, tx); err != nil {
				return err
			}
		}
		return r.finish(ctx, tx, a, kind.Success, "succeeded", nil)
	}}
}

func (r *Runner) failure(a *Attempt, end End, why *Error) Result {
	kind, _ := r.Registry.Kind(a.Kind)
	a.Log.Note("%s", why.Message)
	name, moves := "failed", kind.Failure
	if end == Cancelled {
		name, moves = "cancelled", kind.cancelled()
		if !a.begun() {
			moves = kind.withdrawn()
		}
	}
	return Result{End: end, Error: why, Apply: func(ctx context.Context, tx *db.Tx) error {
		err := r.finish(ctx, tx, a, moves, name, why)
		var conflict *fault.Conflict
		if errors.As(err, &conflict) { // its objects have moved on: they are left as they are
			return r.finish(ctx, tx, a, nil, name, why)
		}
		return err
	}}
}

// finish makes the moves of an end, writes its event and releases the locks.
func (r *Runner) finish(ctx context.Context, tx *db.Tx, a *Attempt, moves []Move, end string, why *Error) error {
	message := ""
	e := audit.Entry{Workspace: a.Workspace, Action: "job." + a.Kind, ObjectKind: "job", ObjectID: a.ID, ObjectName: a.Kind, JobID: a.ID, After: map[string]any{"end": end}}
	if len(a.Objects) > 0 {
		o := a.Objects[0]
		e.ObjectKind, e.ObjectID, e.ObjectName = o.Noun, o.ID, o.Name
	}
	if why != nil {
		message = why.Message
		e.After["code"], e.After["message"] = why.Code, why.Message
	}
	if err := r.Registry.apply(ctx, tx, moves, a.Objects, message); err != nil {
		return err
	}
	if err := audit.Append(ctx, tx, a.Actor(), e); err != nil {
		return err
	}
	return release(ctx, tx, a.ID, a.Number)
}
