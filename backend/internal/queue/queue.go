// Package queue owns the running of jobs: it claims them, holds and renews
// their leases, takes over those of dead workers, records how they end, and
// hands them over when its process stops. It knows no noun: what a job means
// is the business of the Work that it is given.
//
// Leases are compared by the database's clock only. A worker measures its own
// by the monotonic clock and gives a job up at three quarters of the lease, so
// that it has let go before anyone else may take it; but where a host's fence
// holds two apart as well, a cancel does not wait for that.
package queue

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

// Why the context of a job ends before its work does.
var (
	ErrCancelled  = work.ErrCancelled
	ErrHandedOver = work.ErrHandedOver
	ErrLeaseLost  = work.ErrLeaseLost
)

// End is how an attempt ended.
type End int

// The ends of an attempt.
const (
	Succeeded End = iota
	Failed        // for good
	Cancelled     // stopped as asked
	Retry         // failed in a way that may heal; tried again After
	HandOver      // not finished; goes on as it stands, at once or After
	PutBack       // could not begin; keeps its place in the queue
)

// Result is what came of an attempt.
type Result struct {
	End     End
	Error   *domain.JobError // of Failed and Retry, and why of Cancelled
	Outcome string           // a sentence
	After   time.Duration    // of Retry and HandOver
	// Apply writes what the end means for the job's objects, in the
	// transaction that ends the job. It may run twice.
	Apply func(context.Context, *store.Tx) error
	// Else is the result instead, if Apply meets a Conflict; nil if none can be.
	Else func(*domain.Conflict) Result
}

// Work carries one attempt of a job out. Its context ends with one of the
// errors above as its cause.
type Work func(ctx context.Context, c store.Claim, log *Log) Result

// Config says how jobs are run. Zero values are replaced by the defaults.
type Config struct {
	Worker uuid.UUID     // this backend
	Slots  int           // how many jobs at once; 8
	Lease  time.Duration // 30 s
	Poll   time.Duration // how often the idle workers, all together, look; 200 ms
	// Room says how many more jobs may begin, by the memory that is there, when
	// recent of those that run began so lately that theirs is not taken yet;
	// nil: as many as there are slots. One is run at any rate.
	Room    func(recent int) int
	Logger  *slog.Logger
	Metrics *prometheus.Registry // nil: one of its own
	// Failpoints are where a test lets this process die.
	Failpoints failpoint.Points
}

// Queue runs jobs.
type Queue struct {
	db      *store.DB
	work    Work
	cfg     Config
	signals *Signals
	wake    chan struct{} // something was
	freed   chan struct{} // a slot was
	slots   chan struct{}
	running sync.WaitGroup
	metrics *metrics
	turns   turns
	ends    ends
	begun   []time.Time // of the jobs that began lately; touched by Run alone
	looked  time.Time   // when it last looked for what is overdue, too; touched by Run alone
}

// New makes a queue.
func New(db *store.DB, work Work, signals *Signals, cfg Config) *Queue {
	if cfg.Slots == 0 {
		cfg.Slots = 8
	}
	if cfg.Lease == 0 {
		cfg.Lease = 30 * time.Second
	}
	if cfg.Poll == 0 {
		cfg.Poll = 200 * time.Millisecond
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	q := &Queue{
		db: db, work: work, cfg: cfg, signals: signals, wake: make(chan struct{}, 1), freed: make(chan struct{}, 1), slots: make(chan struct{}, cfg.Slots),
		metrics: newMetrics(cfg.Metrics, cfg.Slots), turns: turns{poll: cfg.Poll},
	}
	q.ends = ends{write: q.succeed, alone: func() bool { return len(q.slots) <= 1 }, first: gatherFor}
	return q
}

// Wake makes the queue look at once: something was enqueued in this process.
func (q *Queue) Wake() { signal(q.wake) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run runs jobs until stop is done; then it claims no more and waits for those
// that run, which have until hard is done.
func (q *Queue) Run(stop, hard context.Context) {
	defer q.running.Wait()
	turn := time.NewTimer(q.turns.wait())
	defer turn.Stop()
	for {
		select {
		case <-stop.Done():
			return
		case <-q.wake:
			q.claim(stop, hard, (*store.Tx).ClaimJobs)
		case <-q.freed:
			q.gather()
			if time.Since(q.looked) < q.cfg.Poll {
				q.claim(stop, hard, (*store.Tx).ClaimJobs)
				continue
			}
			q.look(stop, hard) // or what is overdue would wait until a turn meets a free slot
		case <-turn.C:
			q.look(stop, hard)
			turn.Reset(q.turns.wait())
		}
	}
}

// gather lets other slots become free too, so that they are filled by one
// claim, unless something new waits for a slot.
func (q *Queue) gather() {
	select {
	case <-q.wake:
	case <-time.After(gatherFor):
	}
}

// look takes over and claims where there is something. Mostly there is nothing,
// and then it costs one statement that only reads.
func (q *Queue) look(stop, hard context.Context) {
	if len(q.slots) == cap(q.slots) {
		return
	}
	ctx, cancel := context.WithTimeout(stop, 5*time.Second)
	defer cancel()
	q.looked = time.Now()
	waiting, err := q.db.Waiting(ctx)
	if err != nil {
		if stop.Err() == nil {
			q.cfg.Logger.Error("poll for jobs failed", "error", err)
			q.metrics.claimFails.Inc()
		}
		return
	}
	if waiting.Overdue { // first: they have waited for longer
		q.claim(stop, hard, (*store.Tx).TakeOverJobs)
	}
	if waiting.Claimable {
		q.claim(stop, hard, (*store.Tx).ClaimJobs)
	}
}

type claimFunc func(*store.Tx, context.Context, uuid.UUID, time.Duration, int) ([]store.Claim, error)

// claim fills the free slots. Claimed jobs begin at once, since their leases run.
func (q *Queue) claim(stop, hard context.Context, how claimFunc) {
	free := q.room(cap(q.slots) - len(q.slots))
	if free == 0 || stop.Err() != nil { // nothing is claimed only to be handed over
		return
	}
	var claims []store.Claim
	var begun time.Time
	// Not cut by stop: what is claimed must be known, to be handed over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(stop), q.claimWithin())
	defer cancel()
	err := q.db.InTx(ctx, func(tx *store.Tx) (err error) {
		begun = time.Now() // no lease of this try begins before
		claims, err = how(tx, ctx, q.cfg.Worker, q.cfg.Lease, free)
		if len(claims) > 0 {
			q.cfg.Failpoints.Hit(failpoint.Claiming)
		}
		return err
	})
	if err != nil {
		// After an unknown commit the lease of a job that was claimed all the
		// same runs out, and it is taken over.
		q.cfg.Logger.Error("claim jobs failed", "error", err)
		q.metrics.claimFails.Inc()
		return
	}
	for _, c := range claims {
		q.metrics.claimed(c)
		if stop.Err() != nil {
			q.finish(c, Result{End: HandOver}, begun, q.cfg.Logger.With("job", c.ID))
			continue
		}
		q.noteBegin()
		q.slots <- struct{}{}
		q.running.Add(1)
		go func() {
			defer func() { <-q.slots; q.running.Done(); signal(q.freed) }()
			q.attempt(stop, hard, c, begun)
		}()
	}
}

// claimWithin bounds a claim. One that is given up may have been committed: its
// jobs then wait for a whole lease. So where the database answers late it has as
// much time as leaves something of the leases.
func (q *Queue) claimWithin() time.Duration { return max(q.giveUp(), 5*time.Second) }

// settles is how long a run takes to reach the memory that it will hold.
const settles = 10 * time.Second

// room is how many of the free slots may be filled now.
func (q *Queue) room(free int) int {
	if q.cfg.Room == nil || free == 0 {
		return free
	}
	q.begun = slices.DeleteFunc(q.begun, func(t time.Time) bool { return time.Since(t) > settles })
	room := q.cfg.Room(min(len(q.begun), len(q.slots)))
	if len(q.slots) == 0 {
		// A queue that stands still for what others take is worse than one run
		// in little memory.
		room = max(room, 1)
	}
	if room < free {
		q.metrics.heldBack.Inc()
	}
	return max(min(free, room), 0)
}

// noteBegin keeps the begins of as many jobs as can run at once.
func (q *Queue) noteBegin() {
	if q.cfg.Room == nil {
		return
	}
	if len(q.begun) == cap(q.slots) {
		q.begun = slices.Delete(q.begun, 0, 1)
	}
	q.begun = append(q.begun, time.Now())
}

type stopping struct{}

// Stopping tells, with the context that a Work got, whether its process is
// about to stop: what has begun may go on, but nothing else should begin.
func Stopping(ctx context.Context) bool {
	stop, ok := ctx.Value(stopping{}).(context.Context)
	return ok && stop.Err() != nil
}

// attempt runs one attempt of a job to its end.
func (q *Queue) attempt(stop, hard context.Context, c store.Claim, leased time.Time) {
	log := q.cfg.Logger
	if log.Enabled(stop, slog.LevelError) { // what nobody reads costs an attempt a tenth of its time here
		log = log.With("job", c.ID, "kind", c.Kind, "attempt", c.Attempt)
	}
	log.Info("job started", "takeover", c.Takeover)
	q.cfg.Failpoints.Hit(failpoint.Claimed)
	began := time.Now()
	q.metrics.running.Inc()
	defer q.metrics.running.Dec()
	ctx, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(hard), stopping{}, stop))
	var asked atomic.Pointer[time.Time] // when it was seen that a person stopped it
	end := func(cause error) {
		if now := time.Now(); errors.Is(cause, ErrCancelled) {
			asked.CompareAndSwap(nil, &now) // before the work hears of it: it may end in no time
		}
		cancel(cause)
	}
	if c.State == domain.JobCancelling {
		end(ErrCancelled) // before anything is begun
	}
	stopHard := context.AfterFunc(hard, func() { end(ErrHandedOver) })
	defer stopHard()
	lease := q.keepLease(context.WithoutCancel(hard), c, leased, end)

	// Also a job that is only to be stopped tells of it.
	jobLog, err := newLog(context.WithoutCancel(ctx), q.db, q.signals, c, max(q.giveUp(), leastLogWithin), q.cfg.Failpoints)
	var result Result
	if err != nil {
		result = Result{End: HandOver, After: time.Second}
		log.Error("open job log failed", "error", err)
	} else {
		jobLog.onWritten = func(rows int) { q.metrics.logRows.Add(float64(rows)) }
		jobLog.onLost = func() { q.metrics.logsLost.Inc(); end(ErrLeaseLost) }
		result = q.work(ctx, c, jobLog)
		if t := asked.Load(); t != nil && errors.Is(context.Cause(ctx), ErrCancelled) {
			q.metrics.stops.Observe(time.Since(*t).Seconds())
		}
		jobLog.close()
	}
	if errors.Is(context.Cause(ctx), ErrLeaseLost) {
		log.Warn("job handed over to another worker")
		q.metrics.ended(c.Kind, "lost", nil, time.Since(began))
	} else {
		lease.ending.Store(true)
		q.finish(c, result, began, log)
	}
	lease.stop()
	end(nil)
	q.signals.Notify(c.ID)
}

// endWithin bounds the writing of an end. It may be more than the lease lasts:
// the transaction begins by making sure of the attempt and holds the job's row
// from then on, so nobody takes the job over meanwhile. Where the database is
// so slow that a lease is too short for it, an end could never be written else.
func (q *Queue) endWithin() time.Duration { return max(q.giveUp(), 30*time.Second) }

// finish writes the end of an attempt: the outcome of the work and the end of
// the job in one transaction.
func (q *Queue) finish(c store.Claim, r Result, began time.Time, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), q.endWithin())
	defer cancel()
	q.cfg.Failpoints.Hit(failpoint.BeforeEnd)
	for {
		err := q.end(ctx, c, r)
		var conflict *domain.Conflict
		switch {
		case err == nil:
			q.cfg.Failpoints.Hit(failpoint.EndWritten)
			if r.Error != nil {
				log = log.With("error", r.Error)
			}
			log.Info("job ended", "end", r.End.String(), "outcome", r.Outcome)
			q.metrics.ended(c.Kind, r.End.label(), r.Error, time.Since(began))
			return
		case errors.Is(err, store.ErrLost):
			// Either someone took over, or a COMMIT whose answer was lost had
			// been applied; in both cases nothing is left to write.
			log.Warn("job already ended or was taken over by another worker")
			q.metrics.ended(c.Kind, "lost", nil, time.Since(began))
			return
		case errors.As(err, &conflict) && r.Else != nil:
			r = r.Else(conflict)
		case errors.As(err, &conflict):
			log.Error("job outcome does not match the states of its objects", "error", err)
			r = Result{End: Failed, Error: &domain.JobError{Code: conflict.Code, Message: conflict.Detail}}
		case ctx.Err() != nil:
			log.Error("job end not written; its lease expires", "error", err)
			q.metrics.ended(c.Kind, "unwritten", nil, time.Since(began))
			return
		default:
			log.Error("write job end failed", "error", err)
			time.Sleep(250 * time.Millisecond)
		}
	}
}

// end tries once. What went well may share its transaction with others.
func (q *Queue) end(ctx context.Context, c store.Claim, r Result) error {
	if r.End == Succeeded {
		return q.ends.add(&ending{claim: c, result: r, done: make(chan struct{})})
	}
	return q.db.InTx(ctx, func(tx *store.Tx) error { return write(ctx, tx, c, r) })
}

func write(ctx context.Context, tx *store.Tx, c store.Claim, r Result) error {
	if err := tx.OwnJob(ctx, c.ID, c.Attempt); err != nil {
		return err
	}
	if err := r.apply(ctx, tx, c.ID); err != nil {
		return err
	}
	switch r.End {
	case Succeeded:
		return tx.FinishJob(ctx, c.ID, c.Attempt, domain.JobSucceeded, nil, r.Outcome)
	case Failed:
		return tx.FinishJob(ctx, c.ID, c.Attempt, domain.JobFailed, r.Error, r.Outcome)
	case Cancelled:
		return tx.FinishJob(ctx, c.ID, c.Attempt, domain.JobCancelled, r.Error, r.Outcome)
	}
	if r.End == HandOver && r.After == 0 {
		return tx.HandOver(ctx, c.ID, c.Attempt, 0)
	}
	err := giveBack(ctx, tx, c, r)
	if errors.Is(err, store.ErrLost) { // it is ours, so it is to be stopped since a moment ago
		after := r.After
		if r.End == Retry { // a stop does not wait for the next try
			after = 0
		}
		return tx.HandOver(ctx, c.ID, c.Attempt, after)
	}
	return err
}

// apply is Apply, if there is one. A panic of it ends its job, and not the backend
// with all the others: it would go round from one to the next.
func (r Result) apply(ctx context.Context, tx *store.Tx, job uuid.UUID) (err error) {
	if r.Apply == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Error("panic while a job end was applied", "job", job, "error", p, "stack", string(debug.Stack()))
			err = domain.Conflictf(domain.ErrCodeInternal, "the backend met an error of its own when the job had ended; it stands in its log")
		}
	}()
	return r.Apply(ctx, tx)
}

// giveBack gives a job back to the queue.
func giveBack(ctx context.Context, tx *store.Tx, c store.Claim, r Result) error {
	switch r.End {
	case PutBack:
		return tx.PutBackJob(ctx, c.ID, c.Attempt)
	case HandOver:
		return tx.RequeueJob(ctx, c.ID, c.Attempt, r.After, nil)
	default:
		return tx.RequeueJob(ctx, c.ID, c.Attempt, r.After, r.Error)
	}
}

func (e End) String() string {
	return [...]string{"succeeded", "failed", "cancelled", "retry", "handed over", "put back"}[e]
}

// Backoff is how long to wait before try n (from 1): min(2^n, 600) seconds
// with jitter of a quarter.
func Backoff(n int) time.Duration {
	d := time.Duration(min(1<<min(n, 10), 600)) * time.Second
	return d - rand.N(d/4+1)
}
