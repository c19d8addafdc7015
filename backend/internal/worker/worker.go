// Package worker owns what a job of each kind does: a handler a kind, made of
// the steps that the joint table names, each of which runs at most one play.
// It holds no transaction open across a play, and it decides no state: what an
// end means comes from the joint table.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
)

// Opener opens what was sealed in the database.
type Opener interface {
	Open(sealed []byte, associated string) ([]byte, error)
}

// Config is what the worker needs to know.
type Config struct {
	Name    string // of this backend, for audit events
	Targets domain.TargetPolicy
	// PlayTimeout bounds one play; 30 minutes if zero.
	PlayTimeout time.Duration
	Failpoints  failpoint.Points
	Agents      Agents
	Metrics     *prometheus.Registry // nil: one of its own
}

// Worker carries jobs out.
type Worker struct {
	db       *store.DB
	runner   ansible.Runner
	keys     Opener
	cfg      Config
	handlers map[domain.JobKind]handler
	metrics  *metrics
}

// handler is what is particular to a kind of job.
type handler struct {
	steps map[string]step
	// apply writes what success means beside the joint table's effect.
	apply func(ctx context.Context, tx *store.Tx, r *run) error
}

// step does one step. It is idempotent: it may run again after any cut.
type step struct {
	lock bool // needs to be the host's one holder
	do   func(ctx context.Context, r *run) error
}

// run is one attempt of a job under way.
type run struct {
	player
	job   store.Job
	unit  store.Unit
	alloc store.Allocation
	plan  store.Plan // that the job makes, or that it is bound to

	facts   *domain.Facts // read by a probe
	faults  []string      // of the host, seen by something else than a probe
	result  []byte        // kloigos_result of the last play
	wipe    *domain.Wipe  // evidence
	waits   string        // the job ends well, but a person has to confirm this
	outcome string
}

// New makes a worker.
func New(db *store.DB, runner ansible.Runner, keys Opener, cfg Config) *Worker {
	if cfg.PlayTimeout == 0 {
		cfg.PlayTimeout = 30 * time.Minute
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	return &Worker{db: db, runner: runner, keys: keys, cfg: cfg, metrics: newMetrics(cfg.Metrics), handlers: map[domain.JobKind]handler{
		domain.KindHostProbe:         hostProbe,
		domain.KindHostsProbe:        hostsProbe,
		domain.KindHostMeasure:       hostMeasure,
		domain.KindHostInitialize:    hostInitialize,
		domain.KindHostRelayout:      hostRelayout,
		domain.KindHostDecommission:  hostDecommission,
		domain.KindUnitAllocate:      unitAllocate,
		domain.KindUnitDeallocate:    unitDeallocate,
		domain.KindAllocationKeys:    allocationKeys,
		domain.KindAllocationNetwork: allocationNetwork,
		domain.KindPlan:              planned,
	}}
}

// errBusy hands the job back because another one holds the host.
var errBusy = errors.New("another job holds the host")

// errUnknown gives the job back: it is of a kind, or at a step, that only a newer
// backend knows, which runs beside this one.
var errUnknown = errors.New("this backend does not know such a job")

// unknownWaits is how long a job waits then.
const unknownWaits = 5 * time.Second

// errStopping hands the job over at the step where it stands.
var errStopping = errors.New("the backend stops")

// Work is a queue.Work.
func (w *Worker) Work(ctx context.Context, c store.Claim, log *queue.Log) (result queue.Result) {
	r := &run{player: player{w: w, claim: c, log: log, host: targetHost{w: w}}}
	defer func() { // or a job that makes one backend panic would go round and end all of them
		if p := recover(); p != nil {
			result = r.end(ctx, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	err := r.load(ctx)
	if err == nil {
		switch {
		case c.Takeover:
			log.Note("%s took the job over: the lease of the backend that ran it ran out. It goes on at the step where it stood.", w.cfg.Name)
		case c.HandedOver:
			log.Note("%s goes on with the job at the step where it stood: the backend that ran it stopped, and handed it over.", w.cfg.Name)
		}
		err = r.steps(ctx)
	}
	if r.cutShort(ctx, err) {
		r.endOnHost(ctx)
	}
	return r.end(ctx, err)
}

// load reads everything afresh: the job's arguments hold ids only.
func (r *run) load(ctx context.Context) (err error) {
	// Also for a job that is only to be stopped: its end is written on its objects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	all, err := r.w.db.Attempt(ctx, r.claim)
	r.job, r.content, r.host.key = all.Job, all.Playbook, all.Key
	if r.job.Playbook != nil {
		r.playbook = *r.job.Playbook
	}
	r.isAbout(all.Subject)
	if err != nil {
		return err
	}
	if r.job.DeadlinePassed {
		last := ""
		if r.job.Error != nil {
			last = " The last try ended with: " + r.job.Error.Message
		}
		return &domain.JobError{
			Code: domain.ErrCodeDeadline, Host: r.host.Name,
			Message: fmt.Sprintf("The job did not finish before its deadline, %s.%s", r.job.DeadlineAt.UTC().Format(time.RFC3339), last),
		}
	}
	return nil
}

func (r *run) isAbout(s store.Subject) {
	r.host.Host, r.unit, r.alloc, r.plan = s.Host, s.Unit, s.Allocation, s.Plan
}

func (r *run) steps(ctx context.Context) error {
	h, ok := r.w.handlers[r.job.Kind]
	if !ok {
		return fmt.Errorf("%w: of kind %q", errUnknown, r.job.Kind)
	}
	for i, s := range r.job.Steps {
		if s.State == domain.StepSucceeded {
			continue
		}
		if queue.Stopping(ctx) {
			return errStopping
		}
		what, ok := h.steps[s.Name]
		if !ok {
			return fmt.Errorf("%w: at step %q of %s", errUnknown, s.Name, r.job.Kind)
		}
		if err := r.step(ctx, s, what, i == len(r.job.Steps)-1); err != nil {
			return err
		}
		if r.waits != "" {
			return nil
		}
	}
	return nil
}

func (r *run) step(ctx context.Context, s store.Step, what step, last bool) error {
	r.log.Step(s.Name)
	if err := r.begin(ctx, s, what); err != nil {
		return err
	}
	r.w.cfg.Failpoints.Hit(failpoint.StepBegun)
	err := r.do(ctx, s, what)
	state := domain.StepSucceeded
	if err != nil {
		state = domain.StepFailed
	}
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, queue.ErrHandedOver) || errors.Is(cause, queue.ErrLeaseLost)) {
		return err // the step stays as it is for whoever goes on
	}
	if err == nil && (last || r.waits != "") {
		// It ends with the job, in one transaction: what it returned is only
		// known to this attempt, so whoever takes over before that does it again.
		return nil
	}
	// The end of a step is written although the job is being cancelled.
	written, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	endErr := r.w.db.InTx(written, func(tx *store.Tx) error {
		if err := tx.EndStep(written, r.claim.ID, r.claim.Attempt, s.Position, state); err != nil {
			return err
		}
		return tx.UnlockHost(written, r.claim.ID, r.claim.Attempt)
	})
	r.host.fence = 0
	if err == nil && endErr != nil {
		return fmt.Errorf("end step %s: %w", s.Name, endErr)
	}
	r.w.cfg.Failpoints.Hit(failpoint.StepEnded)
	return err
}

// withClaim tells whether a step began, with the host's lock, when its job was
// claimed.
func (r *run) withClaim(s store.Step, what step) bool {
	return what.lock && r.claim.Begun != nil && r.claim.Begun.Position == s.Position
}

func (r *run) begin(ctx context.Context, s store.Step, what step) error {
	if r.withClaim(s, what) {
		r.host.fence, r.host.held = r.claim.Begun.Number, true
		return nil
	}
	fence, held := r.host.fence, r.host.held
	err := r.w.db.InTx(ctx, func(tx *store.Tx) error {
		r.host.fence, r.host.held = fence, held // a try before this one was rolled back
		if err := tx.StartStep(ctx, r.claim.ID, r.claim.Attempt, s.Position); err != nil || !what.lock {
			return err
		}
		number, err := tx.LockHost(ctx, r.host.ID, r.claim.ID, r.claim.Attempt)
		r.host.fence, r.host.held = number, held || err == nil
		return err
	})
	if errors.Is(err, store.ErrHostBusy) {
		return errBusy
	}
	if err != nil {
		return fmt.Errorf("begin step %s: %w", s.Name, err)
	}
	return nil
}

// do does a step. What is needed to be the host's one holder for is read again
// if the lock came after the first look: another job may have changed the host,
// and ended, in between.
func (r *run) do(ctx context.Context, s store.Step, what step) error {
	if what.lock && !r.withClaim(s, what) {
		now, err := r.w.db.Subject(ctx, r.claim.Subject())
		if err != nil {
			return err
		}
		r.isAbout(now)
	}
	if what.lock {
		if err := r.asPlanned(ctx); err != nil {
			return err
		}
	}
	return what.do(ctx, r)
}

// ownTries is how often in a row a job is tried that fails for a reason of the
// backend's own: a database that was away for a moment, a full disk, an Ansible
// that was killed. How often its host was unreachable before does not count.
const ownTries = 5

// ownTimes is how often in a row, with this one, an attempt has failed so.
func (r *run) ownTimes() int {
	if last := r.job.Error; r.job.Failures > 0 && last != nil && last.Own() {
		return last.OwnTimes + 1
	}
	return 1
}

// end turns the end of the steps into what the queue writes.
func (r *run) end(ctx context.Context, err error) queue.Result {
	cause := context.Cause(ctx)
	var why *domain.JobError
	again := false
	switch {
	case errors.Is(cause, queue.ErrLeaseLost):
		return queue.Result{End: queue.HandOver}
	case err == nil:
		return r.success()
	case errors.Is(cause, queue.ErrHandedOver), errors.Is(err, errStopping) && cause == nil:
		return queue.Result{End: queue.HandOver}
	case errors.Is(err, errUnknown):
		r.log.Note("%s leaves the job to a newer backend (%s).", r.w.cfg.Name, err)
		return queue.Result{End: queue.HandOver, After: unknownWaits}
	case errors.Is(err, errBusy):
		return queue.Result{End: queue.PutBack}
	case errors.Is(cause, queue.ErrCancelled) && r.job.ID != uuid.Nil:
		return r.failure(queue.Cancelled, &domain.JobError{Code: domain.ErrCodeCancelled, Message: "A person stopped the job.", Host: r.host.Name})
	case !errors.As(err, &why):
		slog.Error("job failed with an internal error", "job", r.claim.ID, "kind", r.claim.Kind, "attempt", r.claim.Attempt, "error", err)
		if r.job.ID == uuid.Nil { // not even that is known which objects it is about
			return queue.Result{End: queue.HandOver, After: queue.Backoff(r.claim.Attempt)}
		}
		why = &domain.JobError{Code: domain.ErrCodeInternal, Host: r.host.Name, Message: "The backend had an internal error. Its log has the details under the job's id."}
		again = !errors.Is(err, ansible.ErrInvalidPlay)
	}
	if why.NextStep == "" {
		why.NextStep = domain.NextStep(why.Code)
	}
	again = (again || why.Healable()) && r.job.Failures+1 < r.job.MaxAttempts
	if why.Own() {
		why.OwnTimes = r.ownTimes()
		again = again && why.OwnTimes < ownTries
	}
	if again && !r.job.DeadlinePassed {
		after := queue.Backoff(r.job.Failures + 1)
		r.log.Note("%s Trying again in %s.", why.Message, after.Round(time.Second))
		return queue.Result{End: queue.Retry, Error: why, After: after, Apply: r.seen(why)}
	}
	return r.failure(queue.Failed, why)
}

func (r *run) actor() domain.Actor {
	return domain.Actor{Kind: domain.ActorBackend, Name: r.w.cfg.Name}
}

func (r *run) success() queue.Result {
	joint, _ := domain.JointOf(r.job.Kind)
	effect := joint.Success
	if r.waits != "" {
		effect = joint.Waits
		r.outcome = r.waits
	}
	apply := func(ctx context.Context, tx *store.Tx) error {
		if r.waits == "" && r.w.handlers[r.job.Kind].apply != nil {
			if err := r.w.handlers[r.job.Kind].apply(ctx, tx, r); err != nil {
				return err
			}
		}
		if err := tx.Apply(ctx, effect, r.job.Subject(), ""); err != nil {
			return err
		}
		if err := r.seen(nil)(ctx, tx); err != nil {
			return err
		}
		return tx.AddEvent(ctx, r.actor(), r.audit("succeeded", nil))
	}
	return queue.Result{End: queue.Succeeded, Outcome: r.outcome, Apply: apply, Else: func(c *domain.Conflict) queue.Result {
		return r.failure(queue.Failed, &domain.JobError{Code: c.Code, Message: c.Detail, Host: r.host.Name, NextStep: domain.NextStep(c.Code)})
	}}
}

func (r *run) failure(end queue.End, why *domain.JobError) queue.Result {
	joint, _ := domain.JointOf(r.claim.Kind)
	if why.NextStep == "" {
		why.NextStep = domain.NextStep(why.Code)
	}
	r.log.Note("%s", why.Message)
	seen := r.seen(why)
	apply := func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Apply(ctx, joint.Failure, r.job.Subject(), why.Message); err != nil {
			return err
		}
		if err := seen(ctx, tx); err != nil {
			return err
		}
		if why.Code == domain.ErrCodeAddressOnHost { // or it would be handed out again
			if err := tx.NoteHostAddress(ctx, r.host.ID, r.alloc.Address); err != nil {
				return err
			}
		}
		return tx.AddEvent(ctx, r.actor(), r.audit(end.String(), why))
	}
	return queue.Result{End: end, Error: why, Apply: apply, Else: func(c *domain.Conflict) queue.Result {
		return r.misfit(&domain.JobError{Code: c.Code, Message: c.Detail, Host: r.host.Name, NextStep: domain.NextStep(c.Code)})
	}}
}

// misfit ends a job whose objects take neither its success nor its failure:
// they are left as they are, and the audit trail has the end all the same.
func (r *run) misfit(why *domain.JobError) queue.Result {
	return queue.Result{End: queue.Failed, Error: why, Apply: func(ctx context.Context, tx *store.Tx) error {
		return tx.AddEvent(ctx, r.actor(), r.audit(queue.Failed.String(), why))
	}}
}

// seen notes on the host what the end of an attempt tells of its health; why is
// nil for a success. A host that was unreachable and has answered is not left
// so, or no unit of it would be handed out until somebody thinks of a probe.
func (r *run) seen(why *domain.JobError) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		switch {
		case r.host.ID == uuid.Nil, r.job.Kind == domain.KindPlan: // a plan changes nothing but itself
			return nil
		case why != nil && why.Code == domain.ErrCodeUnreachable:
			return tx.SetHostHealth(ctx, r.host.ID, domain.HealthUnreachable, why.Message)
		case why == nil && len(r.faults) > 0:
			return tx.SetHostHealth(ctx, r.host.ID, domain.HealthDegraded, strings.Join(r.faults, "\n"))
		case why == nil && r.played:
			return answered(ctx, tx, r.host.ID, domain.HealthHealthy)
		case r.played && r.host.Health == domain.HealthUnreachable:
			return answered(ctx, tx, r.host.ID, domain.HealthUnknown)
		default:
			return nil
		}
	}
}

// answered sets the health of a host that has answered a job. Faults that a
// probe found stay until another probe no longer finds them.
func answered(ctx context.Context, tx *store.Tx, id uuid.UUID, health domain.HostHealth) error {
	h, err := tx.Host(ctx, id)
	if err != nil {
		return fmt.Errorf("load host: %w", err)
	}
	message := ""
	if h.Facts != nil && len(h.Facts.Faults) > 0 {
		health, message = h.Facts.Health()
	}
	return tx.SetHostHealth(ctx, id, health, message)
}

func (r *run) audit(end string, why *domain.JobError) store.Audit {
	a := store.Audit{
		Workspace: r.job.WorkspaceID, Action: "job." + string(r.job.Kind), ObjectKind: "host", ObjectID: r.host.ID,
		ObjectName: r.host.Name, JobID: r.claim.ID, After: map[string]any{"end": end},
	}
	if r.host.ID == uuid.Nil { // it has several
		a.ObjectKind, a.ObjectID, a.ObjectName = "job", r.claim.ID, string(r.claim.Kind)
	}
	if r.alloc.ID != uuid.Nil {
		a.ObjectKind, a.ObjectID, a.ObjectName = "allocation", r.alloc.ID, r.alloc.LoginUser
	}
	if r.job.Kind == domain.KindPlan {
		a.ObjectKind, a.ObjectID, a.ObjectName = "plan", r.plan.ID, r.plan.Action
	}
	if why != nil {
		a.After["code"], a.After["message"] = why.Code, why.Message
	}
	return a
}
