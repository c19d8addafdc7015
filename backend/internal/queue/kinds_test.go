package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

var things = lifecycle.Lifecycle[string]{
	Noun: "thing", Initial: "idle",
	States: []lifecycle.StateInfo[string]{{State: "idle", Means: "at rest"}, {State: "busy", Means: "a job is at it", Deadline: time.Hour}, {State: "broken", Means: "its job failed", Failed: true}},
	Transitions: []lifecycle.Transition[string]{
		{From: "idle", On: "asked", To: "busy"},
		{From: "broken", On: "asked", To: "busy"},
		{From: "busy", On: "done", To: "idle"},
		{From: "busy", On: "failed", To: "broken"},
		{From: "busy", On: "withdrawn", To: "idle"},
	},
}

// area is a noun, and kinds of jobs about it, as an area hands them in.
type area struct {
	*site.Site
	db       *store.DB
	registry *work.Registry
	engine   kernel.Engine
	handlers work.Handlers
}

func newArea(t *testing.T) *area {
	t.Helper()
	s := site.New(t)
	d, err := store.Open(t.Context(), s.URL) // its statements are the test's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	s.DB = d
	a := &area{Site: s, db: d, engine: kernel.Engine{DB: d.DB}, handlers: work.Handlers{}}
	move := func(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, _ string) error {
		var state string
		if err := tx.QueryRow(ctx, `SELECT state FROM things WHERE id = $1 FOR UPDATE`, id).Scan(&state); err != nil {
			return err
		}
		next, err := things.Next(state, on)
		if err != nil {
			return err
		}
		return tx.One(ctx, fault.Conflictf("moved", "moved"), `UPDATE things SET state = $2 WHERE id = $1`, id, next)
	}
	a.exec(`CREATE TABLE things (id UUID PRIMARY KEY, state TEXT NOT NULL)`)
	moves := func(on lifecycle.Event) []work.Move { return []work.Move{{Role: "thing", On: on}} }
	a.registry, err = work.NewRegistry([]work.Noun{{Name: "thing", Move: move}}, []work.Kind{{
		Name: "thing_work", Means: "works on a thing", Steps: []work.Step{{Name: "first", Means: "a"}, {Name: "second", Means: "b", Within: 1500 * time.Millisecond}},
		Locks: []string{"thing", "beside"}, Start: moves("asked"), Success: moves("done"), Failure: moves("failed"), Withdrawn: moves("withdrawn"), Tries: 3,
	}})
	if err != nil {
		t.Fatal(err)
	}
	a.does("first", func(context.Context, *work.Attempt) error { return nil })
	a.does("second", func(context.Context, *work.Attempt) error { return nil })
	return a
}

func (a *area) does(step string, h work.Handler) {
	if a.handlers["thing_work"] == nil {
		a.handlers["thing_work"] = map[string]work.Handler{}
	}
	a.handlers["thing_work"][step] = h
}

func (a *area) exec(sql db.Statement, args ...any) {
	a.T.Helper()
	if err := a.db.InTx(a.T.Context(), func(tx *store.Tx) error { _, err := tx.Exec(a.T.Context(), sql, args...); return err }); err != nil {
		a.T.Fatal(err)
	}
}

func (a *area) thing() work.Object {
	id := uuid.New()
	a.exec(`INSERT INTO things (id, state) VALUES ($1, 'idle')`, id)
	return work.Object{Role: "thing", Noun: "thing", ID: id, Name: "t-" + id.String()[:4]}
}

func (a *area) state(o work.Object) (state string) {
	a.T.Helper()
	if err := a.db.DB.QueryRow(a.T.Context(), `SELECT state FROM things WHERE id = $1`, o.ID).Scan(&state); err != nil {
		a.T.Fatal(err)
	}
	return state
}

func (a *area) ask(objects ...work.Object) (id uuid.UUID, err error) {
	call := kernel.Call{Actor: a.Actor, Workspace: domain.DefaultWorkspace}
	err = a.engine.Do(a.T.Context(), call, func(tx *kernel.Tx) error {
		id, err = a.registry.Ask(a.T.Context(), tx, work.New{Kind: "thing_work", Objects: objects, Args: map[string]any{"n": 1}},
			audit.Entry{Action: "thing.work", ObjectKind: "thing", ObjectID: objects[0].ID, ObjectName: objects[0].Name})
		return err
	})
	return id, err
}

func (a *area) must(objects ...work.Object) uuid.UUID {
	a.T.Helper()
	id, err := a.ask(objects...)
	if err != nil {
		a.T.Fatal(err)
	}
	return id
}

// backend starts one that runs jobs of the area beside those about hosts.
func (a *area) backend() *site.Backend {
	r := &work.Runner{DB: a.db.DB, Registry: a.registry, Handlers: a.handlers, Backend: "b"}
	if err := r.Check(); err != nil {
		a.T.Fatal(err)
	}
	return a.BackendWith(queue.Kinds(r, a.Work()), queue.Config{Slots: 4, Lease: 2 * time.Second, Poll: 20 * time.Millisecond})
}

func TestAJobAboutAnyObject(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	o := a.thing()
	var numbers [2]int64
	a.does("first", func(_ context.Context, at *work.Attempt) error {
		var args struct{ N int }
		if err := at.Arguments(&args); err != nil || args.N != 1 || at.Object("thing") != o {
			return fmt.Errorf("%+v, %+v, %w", args, at.Object("thing"), err)
		}
		numbers[0] = at.Lock(o)
		at.Log.Note("hello")
		return nil
	})
	a.does("second", func(_ context.Context, at *work.Attempt) error {
		numbers[1] = at.Lock(o)
		at.Outcome("All is well.")
		return nil
	})
	id := a.must(o)
	if a.state(o) != "busy" {
		t.Errorf("asked for, it is %s", a.state(o))
	}
	if _, err := a.ask(o); err == nil {
		t.Error("asked for twice at a time")
	}
	a.backend()
	j := a.Ended(id, domain.JobSucceeded)
	if a.state(o) != "idle" || j.Outcome != "All is well." || j.HostID != nil || len(j.Objects) != 1 || j.Objects[0] != o {
		t.Errorf("%s, %+v", a.state(o), j)
	}
	if numbers[0] < 1 || numbers[0] != numbers[1] {
		t.Errorf("lock numbers %v", numbers)
	}
	events := a.Events(o.ID)
	var told []string
	for _, e := range events {
		told = append(told, e.Action)
	}
	if got := strings.Join(told, " "); got != "thing.work job.thing_work" {
		t.Errorf("events: %s", got)
	}
	page, err := a.db.Jobs(t.Context(), store.JobFilter{WorkspaceID: domain.DefaultWorkspace, ObjectID: &o.ID, Limit: 9})
	if err != nil || len(page) != 1 || page[0].ID != id {
		t.Errorf("jobs of the object: %+v, %v", page, err)
	}
	// The next one's number is higher: what the first wrote outside can be told from it.
	a.Ended(a.must(o), domain.JobSucceeded)
	if numbers[0] < 2 {
		t.Errorf("the lock's number is %d the second time", numbers[0])
	}
}

// A step that waits gives its slot back: more jobs wait at a time than there are slots.
func TestAStepWaits(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	var looks atomic.Int64
	open := make(chan struct{})
	a.does("second", func(context.Context, *work.Attempt) error {
		looks.Add(1)
		select {
		case <-open:
			return nil
		default:
			return work.NotYet(50*time.Millisecond, "the gate is closed")
		}
	})
	var ids []uuid.UUID
	for range 12 {
		ids = append(ids, a.must(a.thing()))
	}
	a.backend()
	site.Eventually(t, "each looks once", func() bool { return looks.Load() >= 12 })
	close(open)
	for _, id := range ids {
		if j := a.Ended(id, domain.JobSucceeded); j.Failures != 0 {
			t.Errorf("a look counts as a failure: %+v", j)
		}
	}
}

func TestAWaitEnds(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	a.does("second", func(context.Context, *work.Attempt) error { return work.NotYet(100*time.Millisecond, "closed") })
	o := a.thing()
	id := a.must(o)
	a.backend()
	j := a.Ended(id, domain.JobFailed)
	if j.Error == nil || j.Error.Code != "wait_expired" || !strings.Contains(j.Error.Message, "closed") || a.state(o) != "broken" {
		t.Errorf("%+v, %s", j.Error, a.state(o))
	}
	// A person retries it, and what it waits for is there at the second look: the time of the step began anew.
	var looks atomic.Int64
	a.does("second", func(context.Context, *work.Attempt) error {
		if looks.Add(1) == 1 {
			return work.NotYet(50*time.Millisecond, "nearly open")
		}
		return nil
	})
	in := intent.New(a.db, intent.Config{Kinds: a.registry})
	if err := in.RetryJob(t.Context(), a.Call, id, false); err != nil {
		t.Fatal(err)
	}
	a.Ended(id, domain.JobSucceeded)
	if a.state(o) != "idle" {
		t.Errorf("it is %s", a.state(o))
	}
}

// Of jobs about one object one runs at a time, whatever else they are about.
func TestLocksOfObjects(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	shared := work.Object{Role: "beside", Noun: "thing", ID: uuid.New(), Name: "shared"}
	other := work.Object{Role: "beside", Noun: "thing", ID: uuid.New(), Name: "other"}
	var at, most atomic.Int64
	a.does("first", func(context.Context, *work.Attempt) error {
		n := at.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(30 * time.Millisecond)
		at.Add(-1)
		return nil
	})
	var ids []uuid.UUID
	for i := range 6 {
		both := []work.Object{a.thing(), shared, other}
		if i%2 == 0 { // in another order
			both = []work.Object{both[0], other, shared}
		}
		ids = append(ids, a.must(both...))
	}
	a.backend()
	a.backend()
	for _, id := range ids {
		a.Ended(id, domain.JobSucceeded)
	}
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}

// A failure that heals is tried again, another one is not.
func TestTries(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	var tries atomic.Int64
	a.does("first", func(context.Context, *work.Attempt) error {
		if tries.Add(1) == 1 {
			return &work.Error{Code: "server_gone", Message: "The server is gone.", Heals: true}
		}
		return &work.Error{Code: "refused", Message: "The server refuses.", NextStep: "Ask it why."}
	})
	o := a.thing()
	id := a.must(o)
	a.backend()
	j := a.Ended(id, domain.JobFailed)
	if tries.Load() != 2 || j.Failures != 1 || j.Error.Code != "refused" || j.Error.NextStep != "Ask it why." || a.state(o) != "broken" {
		t.Errorf("%d tries, %+v, %s", tries.Load(), j.Error, a.state(o))
	}
}

func TestCancelOfAnAreasJob(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	in := intent.New(a.db, intent.Config{Kinds: a.registry})
	// Before it began: nothing is broken.
	o := a.thing()
	id := a.must(o)
	if err := in.CancelJob(t.Context(), a.Call, id); err != nil {
		t.Fatal(err)
	}
	if j := a.Job(id); j.State != domain.JobCancelled || a.state(o) != "idle" {
		t.Errorf("%s, %s", j.State, a.state(o))
	}
	// While it runs.
	began := make(chan struct{})
	var once sync.Once
	a.does("first", func(ctx context.Context, _ *work.Attempt) error {
		once.Do(func() { close(began) })
		<-ctx.Done()
		return ctx.Err()
	})
	id = a.must(o)
	a.backend()
	site.Await(t, "the step", began)
	if err := in.CancelJob(t.Context(), a.Call, id); err != nil {
		t.Fatal(err)
	}
	a.Ended(id, domain.JobCancelled)
	if a.state(o) != "broken" {
		t.Errorf("it is %s", a.state(o))
	}
}

// A job that was only claimed to find another one at work has begun nothing: what
// it is about is as it was once a person cancels it.
func TestCancelOfAJobThatWaitsForALock(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	shared := work.Object{Role: "beside", Noun: "thing", ID: uuid.New(), Name: "shared"}
	began, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	a.does("first", func(context.Context, *work.Attempt) error {
		once.Do(func() { close(began) })
		<-goOn
		return nil
	})
	holds := a.must(a.thing(), shared)
	a.backend()
	site.Await(t, "the first job", began)
	o := a.thing()
	waits := a.must(o, shared)
	site.Eventually(t, "it met the lock", func() bool { return a.Job(waits).Attempt > 0 })
	in := intent.New(a.db, intent.Config{Kinds: a.registry})
	if err := in.CancelJob(t.Context(), a.Call, waits); err != nil {
		t.Fatal(err)
	}
	a.Ended(waits, domain.JobCancelled)
	if state := a.state(o); state != "idle" {
		t.Errorf("nothing of it had begun, and it is %s", state)
	}
	close(goOn)
	a.Ended(holds, domain.JobSucceeded)
}

// A backend that is killed in a step leaves its job to another one, which has the
// locks with a higher number.
func TestAnotherBackendGoesOn(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	o := a.thing()
	began, numbers := make(chan struct{}), make(chan int64, 2)
	var first atomic.Bool
	a.does("second", func(ctx context.Context, at *work.Attempt) error {
		numbers <- at.Lock(o)
		if first.CompareAndSwap(false, true) {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	id := a.must(o)
	dies := a.backend()
	site.Await(t, "the second step", began)
	dies.Kill()
	a.backend()
	j := a.Ended(id, domain.JobSucceeded)
	if before, after := <-numbers, <-numbers; after <= before || j.Attempt < 2 {
		t.Errorf("numbers %d and %d, attempt %d", before, after, j.Attempt)
	}
	if j.Steps[0].Attempt != 1 {
		t.Errorf("the first step was done again: %+v", j.Steps)
	}
}

// A panic ends its job, and not the backend.
func TestAPanicOfAHandler(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	a.does("first", func(context.Context, *work.Attempt) error { panic("no") })
	id := a.must(a.thing())
	a.backend()
	if j := a.Ended(id, domain.JobFailed); j.Error.Code != domain.ErrCodeInternal || j.Error.NextStep == "" || j.Failures != 2 {
		t.Errorf("%+v after %d failures", j.Error, j.Failures)
	}
}

// A backend of before leaves a job that it does not know to one that does.
func TestAnOlderBackendPutsItBack(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	id := a.must(a.thing())
	old := a.Backend() // of no area
	site.Eventually(t, "the old one tried", func() bool { return a.Job(id).Attempt > 0 })
	if j := a.Job(id); j.FinishedAt != nil {
		t.Fatalf("it ended it: %+v", j.Error)
	}
	old.Stop()
	a.exec(`UPDATE jobs SET run_after = now() WHERE id = $1 AND state = 'queued'`, id)
	a.backend()
	a.Ended(id, domain.JobSucceeded)
}

func TestAnIntentTells(t *testing.T) {
	t.Parallel()
	a := newArea(t)
	call := kernel.Call{Actor: a.Actor, Workspace: domain.DefaultWorkspace}
	if err := a.engine.Do(t.Context(), call, func(*kernel.Tx) error { return nil }); !errors.Is(err, kernel.ErrNoEvent) {
		t.Errorf("an intent without an event: %v", err)
	}
	if err := a.engine.Do(t.Context(), kernel.Call{}, func(*kernel.Tx) error { t.Error("ran"); return nil }); !errors.Is(err, kernel.ErrNoCaller) {
		t.Errorf("nobody asks: %v", err)
	}
	// The same request a second time is carried out once.
	call.Key = &kernel.Key{AccountID: a.Actor.ID, Key: "k", RequestHash: []byte("h")}
	o := a.thing()
	ask := func() error {
		return a.engine.Do(t.Context(), call, func(tx *kernel.Tx) error {
			_, err := a.registry.Ask(t.Context(), tx, work.New{Kind: "thing_work", Objects: []work.Object{o}}, audit.Entry{Action: "thing.work", ObjectKind: "thing", ObjectID: o.ID})
			return err
		})
	}
	a.exec(`INSERT INTO accounts (id, name, password_hash, role) VALUES ($1, 'ada', '', 'administrator')`, a.Actor.ID)
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	if err := ask(); !errors.Is(err, kernel.ErrDuplicateRequest) {
		t.Errorf("a second time: %v", err)
	}
	if rec, found, err := a.db.Recorded(t.Context(), a.Actor.ID, "k"); err != nil || !found || rec.JobID == nil || *rec.ObjectID != o.ID {
		t.Errorf("%+v, %v, %v", rec, found, err)
	}
}

func TestARegistryRefuses(t *testing.T) {
	t.Parallel()
	good := work.Kind{Name: "k", Means: "m", Steps: []work.Step{{Name: "s"}}}
	for name, kinds := range map[string][]work.Kind{"twice": {good, good}, "no steps": {{Name: "k", Means: "m"}}, "no meaning": {{Name: "k", Steps: good.Steps}}} {
		if _, err := work.NewRegistry(nil, kinds); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	r, err := work.NewRegistry(nil, []work.Kind{good})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&work.Runner{Registry: r}).Check(); err == nil {
		t.Error("a kind without a handler was taken")
	}
}
