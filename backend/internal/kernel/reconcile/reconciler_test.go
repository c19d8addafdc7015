package reconcile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// Three reconcilers part the work: each item is run once, and by one at a time.
func TestReconcilersPartTheWork(t *testing.T) {
	t.Parallel()
	b := setup(t, 300)
	b.lease = time.Minute // a slow machine loses no lease, after which an item rightly runs again
	var at sync.Map
	p := b.policy("p", func(_ context.Context, i Item) (Outcome, error) {
		if _, twice := at.LoadOrStore(i.ObjectID, true); twice {
			t.Errorf("%s is run twice at once", i.ObjectID)
		}
		defer at.Delete(i.ObjectID)
		time.Sleep(time.Millisecond)
		return Outcome{Changed: 2}, nil
	})
	b.add("p")
	r := b.registry(p)
	for range 3 {
		b.start(r)
	}
	b.until("all items end", func() bool {
		for _, id := range b.ids {
			if !b.ended("p", id) {
				return false
			}
		}
		return true
	})
	now := b.now()
	for _, id := range b.ids {
		i := b.item("p", id)
		if b.ran(id) != 1 || i.LastOutcome != "changed" || i.LastChanged != 2 || i.Failures != 0 || i.Running {
			t.Fatalf("ran %d times: %+v", b.ran(id), i)
		}
		if wait := i.DueAt.Sub(now); wait < 50*time.Minute || wait > time.Hour {
			t.Fatalf("due again in %s", wait)
		}
	}
}

// A reconciler that is killed delays an item by its lease, and not by more.
func TestKilledReconciler(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	p := b.policy("p", nil)
	b.add("p")
	// What a process leaves in the database that is killed right after its claim.
	got, err := claim(t.Context(), b.db, "p", time.Time{}, 5, testLease, uuid.New())
	if err != nil || len(got) != 1 {
		t.Fatalf("%d, %v", len(got), err)
	}
	claimed := b.now()
	for range 2 {
		b.start(b.registry(p))
	}
	b.until("another one runs it", func() bool { return b.ended("p", b.ids[0]) })
	i := b.item("p", b.ids[0])
	if late := i.LastStarted.Sub(claimed); late < testLease-500*time.Millisecond || late > testLease+2*time.Second {
		t.Errorf("it was run %s after the claim of the dead, whose lease was %s", late, testLease)
	}
	if b.ran(b.ids[0]) != 1 {
		t.Errorf("it ran %d times", b.ran(b.ids[0]))
	}
}

// A run that lasts for several leases keeps its item.
func TestLongRunsKeepTheirLease(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	p := b.policy("p", func(ctx context.Context, _ Item) (Outcome, error) {
		select {
		case <-ctx.Done():
			t.Errorf("cancelled: %v", context.Cause(ctx))
		case <-time.After(3 * testLease):
		}
		return Outcome{}, nil
	})
	b.add("p")
	for range 2 {
		b.start(b.registry(p))
	}
	b.until("it ends", func() bool { return b.ended("p", b.ids[0]) })
	if n := b.ran(b.ids[0]); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

// A run whose lease another one has is cancelled, and its end does not count.
func TestLostLease(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	begun, ended := make(chan bool, 1), make(chan error, 1)
	p := b.policy("p", func(ctx context.Context, _ Item) (Outcome, error) {
		select {
		case begun <- true:
		default: // another run
		}
		<-ctx.Done()
		select {
		case ended <- context.Cause(ctx):
		default:
		}
		return Outcome{Conditions: []Condition{{Type: "c", Status: True}}}, nil
	})
	b.add("p")
	b.start(b.registry(p))
	<-begun
	b.exec(`UPDATE reconcile_items SET run = run + 1, holder = gen_random_uuid(), lease_until = now() + INTERVAL '5 minutes' WHERE policy = 'p' AND object_id = $1`, b.ids[0])
	if err := <-ended; !errors.Is(err, errLost) {
		t.Errorf("cancelled for %v", err)
	}
	// Also an end that comes late, of a process that stood still.
	late := []result{{key: key{"p", b.ids[0]}, claimed: claimed{Run: 1}, outcome: "ok", conditions: []observed{{Condition: Condition{Type: "c", Status: True, Noun: "thing", ObjectID: b.ids[0]}}}}}
	b.tx(func(tx *db.Tx) error { return writeEnds(t.Context(), tx, late) })
	if i := b.item("p", b.ids[0]); i.LastEnded != nil || !i.Running {
		t.Errorf("an end counted: %+v", i)
	}
	if c := b.condition("thing", b.ids[0], "c"); c.Status != "" {
		t.Errorf("a condition was written: %+v", c)
	}
}

// Whoever stops gives back what it has in hand: nobody waits for its lease.
func TestStopGivesBack(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	begun := make(chan bool, 1)
	first := b.policy("p", func(ctx context.Context, _ Item) (Outcome, error) {
		begun <- true
		<-ctx.Done()
		return Outcome{}, ctx.Err()
	})
	b.add("p")
	stop := b.start(b.registry(first))
	<-begun
	stop()
	i := b.item("p", b.ids[0])
	if i.Running || i.Failures != 0 || i.LastEnded != nil || i.DueAt.After(b.now()) {
		t.Errorf("%+v", i)
	}
	b.start(b.registry(b.policy("p", nil)))
	b.until("another one runs it", func() bool { return b.ended("p", b.ids[0]) })
}

// A wake that comes while an item is run makes it due again, and the token of the
// wake is answered by the second run only.
func TestWakeDuringARun(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	begun, goOn := make(chan int64), make(chan bool)
	p := b.policy("p", func(ctx context.Context, i Item) (Outcome, error) {
		select {
		case begun <- i.Token:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		}
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return Outcome{}, ctx.Err()
	})
	b.add("p")
	for range 2 {
		b.start(b.registry(p))
	}
	if token := <-begun; token != 0 {
		t.Errorf("the first run answers %d", token)
	}
	var token int64
	b.tx(func(tx *db.Tx) (err error) {
		token, err = Wake(t.Context(), tx, "p", b.ids[0])
		return err
	})
	goOn <- true
	if got := <-begun; got != token {
		t.Errorf("the second run answers %d, want %d", got, token)
	}
	if i := b.item("p", b.ids[0]); i.TokenDone == token {
		t.Errorf("a run that began before the wake answers it: %+v", i)
	}
	goOn <- true
	b.until("the wake is answered", func() bool { return b.item("p", b.ids[0]).TokenDone == token })
	if n := b.ran(b.ids[0]); n != 2 {
		t.Errorf("it ran %d times", n)
	}
	// An item that is overdue stays where it was in the queue.
	b.exec(`UPDATE reconcile_items SET due_at = now() - INTERVAL '1 hour', lease_until = now() + INTERVAL '5 minutes' WHERE policy = 'p' AND object_id = $1`, b.ids[0])
	b.tx(func(tx *db.Tx) error { _, err := Wake(t.Context(), tx, "p", b.ids[0]); return err })
	if late := b.now().Sub(b.item("p", b.ids[0]).DueAt); late < 59*time.Minute {
		t.Errorf("a wake moved an overdue item back: it is late by %s", late)
	}
}

// A write that is recorded makes the policies of its noun due with its commit, and
// only then.
func TestTriggers(t *testing.T) {
	t.Parallel()
	b := setup(t, 2)
	own, other := b.policy("own", nil), b.policy("other", nil)
	own.Triggers = []string{"thing"}
	whole := Policy{
		Name: "whole", Why: "a test", Interval: time.Hour, Timeout: time.Second, Triggers: []string{"thing", "part"},
		Run: func(context.Context, Item) (Outcome, error) { return Outcome{}, nil },
	}
	r := b.registry(own, other, whole)
	r.Trigger(b.db)
	touch := func(end error, noun string, ids ...uuid.UUID) {
		t.Helper()
		err := b.db.InTx(t.Context(), func(tx *db.Tx) error {
			tx.Touch(noun, ids...)
			tx.Touch(noun, ids...)
			return end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	touch(errTest, "thing", b.ids...)
	if i := b.item("own", b.ids[0]); i.Policy != "" {
		t.Errorf("woken by a transaction that did not commit: %+v", i)
	}
	begun := b.now()
	touch(nil, "thing", b.ids[0])
	if i := b.item("own", b.ids[0]); i.Token != 1 || i.DueAt.Before(begun) || i.DueAt.After(b.now()) {
		t.Errorf("%+v", i)
	}
	if i := b.item("other", b.ids[0]); i.Policy != "" {
		t.Errorf("a policy without the trigger was woken: %+v", i)
	}
	touch(nil, "part", b.ids...)
	if i := b.item("whole", uuid.Nil); i.Token != 2 {
		t.Errorf("%+v", i)
	}
	if i := b.item("own", b.ids[1]); i.Policy != "" {
		t.Errorf("woken by another noun: %+v", i)
	}
	for range 2 {
		b.start(r)
	}
	b.until("it is run", func() bool { return b.ended("own", b.ids[0]) })
	written := time.Now()
	touch(nil, "thing", b.ids[1])
	b.until("a new object is run", func() bool { return b.ran(b.ids[1]) == 1 })
	t.Logf("from commit to run: %s", time.Since(written))
}

// A pause of a policy, of an object, and of both keeps items from being run, and
// ends by itself or by a resume; a run in observe mode is told so.
func TestPauses(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	var observes atomic.Int64
	run := func(_ context.Context, i Item) (Outcome, error) {
		if i.Observe {
			observes.Add(1)
		}
		return Outcome{}, nil
	}
	p, q := b.policy("p", run), b.policy("q", run)
	b.add("p")
	b.add("q")
	// What runs is seen at the items, since both policies count in one map.
	pause := func(policy string, object uuid.UUID, mode string, until *time.Time) error {
		return b.db.InTx(t.Context(), func(tx *db.Tx) error {
			return SetPause(t.Context(), tx, Pause{Policy: policy, ObjectID: object, Mode: mode, By: "ada", Reason: "r", Until: until})
		})
	}
	soon := b.now().Add(2 * time.Second)
	for _, err := range []error{
		pause("q", uuid.Nil, ModePause, nil), pause("p", b.ids[0], ModePause, nil), pause("", b.ids[1], ModePause, &soon),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var conflict *fault.Conflict
	if err := pause("q", uuid.Nil, ModeObserve, nil); !errors.As(err, &conflict) || conflict.Code != "policy_paused" {
		t.Errorf("paused twice: %v", err)
	}
	for range 2 {
		b.start(b.registry(p, q))
	}
	b.until("what is not paused is run", func() bool { return b.ended("p", b.ids[2]) })
	b.until("a pause ends by itself", func() bool { return b.ended("p", b.ids[1]) })
	if at := b.item("p", b.ids[1]).LastStarted; at.Before(soon) {
		t.Errorf("run at %s, paused until %s", at, soon)
	}
	for _, k := range []key{{"p", b.ids[0]}, {"q", b.ids[0]}, {"q", b.ids[1]}, {"q", b.ids[2]}} {
		if b.ended(k.Policy, k.ObjectID) {
			t.Errorf("%v is run while it is paused", k)
		}
	}
	b.tx(func(tx *db.Tx) error {
		was, err := Resume(t.Context(), tx, "q", uuid.Nil)
		if err == nil && (was.By != "ada" || was.Reason != "r") {
			t.Errorf("%+v", was)
		}
		return err
	})
	if err := pause("q", uuid.Nil, ModeObserve, nil); err != nil {
		t.Fatal(err)
	}
	b.until("it goes on", func() bool {
		return b.ended("q", b.ids[0]) && b.ended("q", b.ids[1]) && b.ended("q", b.ids[2])
	})
	if i := b.item("q", b.ids[0]); i.LastOutcome != "observed" && i.LastOutcome != "ok" {
		t.Errorf("%+v", i)
	}
	b.due("q")
	b.until("all of it observes", func() bool {
		for _, id := range b.ids {
			if b.item("q", id).LastOutcome != "observed" {
				return false
			}
		}
		return observes.Load() >= 3
	})
	err := b.db.InTx(t.Context(), func(tx *db.Tx) error { _, err := Resume(t.Context(), tx, "p", b.ids[2]); return err })
	if !errors.As(err, &conflict) || conflict.Code != "policy_not_paused" {
		t.Errorf("resumed what is not paused: %v", err)
	}
	all, err := Pauses(t.Context(), b.db.Reader)
	if err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// What fails is tried again ever more rarely, up to ten minutes; a success ends it.
func TestBackoff(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 10: 512 * time.Second, 11: 10 * time.Minute, 500: 10 * time.Minute} {
		least, most := time.Hour, time.Duration(0)
		for range 100 {
			wait := Backoff(failures)
			least, most = min(least, wait), max(most, wait)
		}
		if least < want || most > want*5/4 || most-least < want/20 {
			t.Errorf("after %d failures it waits from %s to %s, want %s and a quarter", failures, least, most, want)
		}
	}
	b := setup(t, 2)
	var failing atomic.Bool
	failing.Store(true)
	p := b.policy("p", func(_ context.Context, i Item) (Outcome, error) {
		switch {
		case !failing.Load():
			return Outcome{}, nil
		case i.ObjectID == b.ids[1]:
			return Outcome{}, &Failure{Reason: "refused", Message: "The server refuses.", Fault: FaultProvider}
		}
		return Outcome{}, errTest
	})
	b.add("p")
	b.start(b.registry(p))
	var i StoredItem
	for n := 1; n <= 3; n++ {
		b.exec(`UPDATE reconcile_items SET due_at = now() WHERE policy = 'p' AND failures > 0 AND object_id = $1`, b.ids[0])
		b.until("it fails", func() bool {
			i = b.item("p", b.ids[0])
			return i.Failures >= n && !i.Running
		})
	}
	if wait := i.DueAt.Sub(*i.LastEnded); i.LastOutcome != "failed" || wait < Backoff(i.Failures)*3/4 || wait > Backoff(i.Failures)*5/4 || i.LastError == errTest.Error() {
		t.Errorf("it waits for %s: %+v", wait, i)
	}
	b.until("the other fails", func() bool { return b.ended("p", b.ids[1]) })
	if i := b.item("p", b.ids[1]); i.DueAt.Sub(*i.LastEnded) < longestBackoff || i.LastError != "The server refuses." {
		t.Errorf("what a retry does not help is tried again: %+v", i)
	}
	if c := b.condition("thing", b.ids[0], "p"); c.Status != False || c.Fault != FaultOurs || c.Reason != "internal_error" || len(c.History) != 1 || c.History[0].Status != Progressing {
		t.Errorf("%+v", c)
	}
	if c := b.condition("thing", b.ids[1], "p"); c.Fault != FaultProvider || c.RetryHelps {
		t.Errorf("%+v", c)
	}
	failing.Store(false)
	b.due("p")
	b.until("it succeeds", func() bool { return b.item("p", b.ids[0]).LastOutcome == "ok" })
	if i := b.item("p", b.ids[0]); i.Failures != 0 || i.LastError != "" || i.DueAt.Sub(*i.LastEnded) < 59*time.Minute {
		t.Errorf("%+v", i)
	}
	if c := b.condition("thing", b.ids[0], "p"); c.Status != True || c.Failing != 0 || c.Fault != NoFault {
		t.Errorf("%+v", c)
	}
}

// The listing adds what is new, spread over a third of the interval, and takes
// away what is gone, with its conditions.
func TestListing(t *testing.T) {
	t.Parallel()
	b := setup(t, 1300) // more than a page
	p := b.policy("p", func(context.Context, Item) (Outcome, error) {
		return Outcome{Conditions: []Condition{{Type: "there", Status: True}}}, nil
	})
	b.start(b.registry(p))
	listed := func() bool { return b.ended("p", uuid.Nil) }
	b.until("the objects are listed", listed)
	all, err := Items(t.Context(), b.db.Reader, ItemFilter{Policy: "p", Sort: "object", Limit: 2000})
	if err != nil || len(all) != 1301 {
		t.Fatalf("%d items, %v", len(all), err)
	}
	now := b.now()
	var tenths [10]int
	for _, i := range all {
		if wait := i.DueAt.Sub(now); i.LastEnded == nil && !i.Running {
			if wait > 20*time.Minute {
				t.Fatalf("the first run is in %s", wait)
			}
			tenths[max(0, min(9, int(wait/(2*time.Minute))))]++
		}
	}
	for n, items := range tenths {
		if items < 60 || items > 220 {
			t.Errorf("%d items in the tenth %d of the spread: %v", items, n, tenths)
		}
	}
	gone, young := b.ids[0], b.ids[1]
	b.tx(func(tx *db.Tx) error { _, err := Wake(t.Context(), tx, "p", gone); return err })
	b.until("it has a condition", func() bool { return b.condition("thing", gone, "there").Status == True })
	b.exec(`UPDATE reconcile_items SET created_at = now() - INTERVAL '1 hour' WHERE object_id <> $1`, young)
	b.mu.Lock()
	b.ids = b.ids[2:]
	b.mu.Unlock()
	b.exec(`UPDATE reconcile_items SET due_at = now() WHERE policy = 'p' AND object_id = $1`, uuid.Nil)
	b.until("what is gone is forgotten", func() bool { return b.item("p", gone).Policy == "" })
	if b.condition("thing", gone, "there").Status != "" {
		t.Error("its condition is left")
	}
	if b.item("p", young).Policy == "" {
		t.Error("an item was forgotten that may be younger than the list")
	}
	if all, err := Items(t.Context(), b.db.Reader, ItemFilter{Policy: "p", Sort: "object", Limit: 2000}); err != nil || len(all) != 1300 {
		t.Errorf("%d items are left, %v", len(all), err)
	}
}

// A run that finds no object takes its item away, unless somebody woke it.
func TestGone(t *testing.T) {
	t.Parallel()
	b := setup(t, 2)
	p := b.policy("p", func(_ context.Context, i Item) (Outcome, error) {
		if i.ObjectID == b.ids[1] && b.ran(i.ObjectID) == 1 {
			if err := b.db.InTx(t.Context(), func(tx *db.Tx) error { _, err := Wake(t.Context(), tx, "p", i.ObjectID); return err }); err != nil {
				t.Error(err)
			}
			return Outcome{Gone: true}, nil
		}
		return Outcome{Gone: i.ObjectID == b.ids[0]}, nil
	})
	p.Objects = func(context.Context, uuid.UUID, int) ([]uuid.UUID, error) { return nil, nil }
	b.add("p")
	b.start(b.registry(p))
	b.until("it is gone", func() bool { return b.item("p", b.ids[0]).Policy == "" })
	b.until("what was woken is looked at again", func() bool { return b.ended("p", b.ids[1]) })
}

// No reconciler has more items of a policy in hand than its cap, and a policy that
// is full does not hold up the others.
func TestCap(t *testing.T) {
	t.Parallel()
	b := setup(t, 12)
	var at, most atomic.Int64
	goOn := make(chan bool)
	slow := b.policy("slow", func(ctx context.Context, _ Item) (Outcome, error) {
		most.Store(max(most.Load(), at.Add(1)))
		defer at.Add(-1)
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return Outcome{}, ctx.Err()
	})
	slow.Cap = 3
	quick := b.policy("quick", nil)
	b.add("slow")
	b.start(b.registry(slow, quick))
	b.until("it is full", func() bool { return at.Load() == 3 })
	b.add("quick")
	b.due("quick") // they may have been listed before
	b.until("another policy goes on", func() bool {
		for _, id := range b.ids {
			if !b.ended("quick", id) {
				return false
			}
		}
		return true
	})
	for range b.ids {
		goOn <- true
	}
	b.until("all of it ends", func() bool {
		for _, id := range b.ids {
			if !b.ended("slow", id) {
				return false
			}
		}
		return true
	})
	if n := most.Load(); n != 3 {
		t.Errorf("%d were in hand", n)
	}
}

// A database whose clock went back has items that are due far ahead, and leases
// that end there.
func TestClockWentBack(t *testing.T) {
	t.Parallel()
	b := setup(t, 4)
	p := b.policy("p", nil)
	b.add("p")
	set := func(id uuid.UUID, due string, failures int, lease *string) {
		t.Helper()
		b.exec(`UPDATE reconcile_items SET due_at = now() + $2::INTERVAL, failures = $3, lease_until = now() + $4::INTERVAL WHERE policy = 'p' AND object_id = $1`, id, due, failures, lease)
	}
	hour := "1 hour"
	set(b.ids[0], "2 hours", 0, nil)     // longer than any interval
	set(b.ids[1], "55 minutes", 0, nil)  // as it may be
	set(b.ids[2], "-1 second", 0, &hour) // held by one that died
	set(b.ids[3], "30 minutes", 9, nil)  // a backoff is never that long, but it may be the interval
	b.start(b.registry(p))
	b.until("an item ahead is run", func() bool { return b.ended("p", b.ids[0]) })
	b.until("a lease ahead runs out", func() bool { return b.ended("p", b.ids[2]) })
	if b.ended("p", b.ids[1]) || b.ended("p", b.ids[3]) {
		t.Error("one that is due later was run")
	}
}

// A policy whose items wait says so, and one that is paused says that.
func TestLag(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	p := b.policy("p", nil)
	b.add("p")
	look := func() Found {
		t.Helper()
		out, err := Lag(b.db, []Policy{p}).Run(t.Context(), Item{})
		if err != nil {
			t.Fatal(err)
		}
		var all []observed
		for _, c := range out.Conditions {
			all = append(all, observed{Condition: c, policy: lagName})
		}
		b.tx(func(tx *db.Tx) error { return writeConditions(t.Context(), tx, all, b.now()) })
		return b.condition(PolicyNoun, PolicyID("p"), "on_time")
	}
	if c := look(); c.Status != True {
		t.Errorf("%+v", c)
	}
	b.exec(`UPDATE reconcile_items SET due_at = now() - INTERVAL '3 minutes' WHERE policy = 'p'`)
	if c := look(); c.Status != Progressing || c.Fault != FaultCapacity {
		t.Errorf("%+v", c)
	}
	if c := look(); c.Status != False || c.Message != "The oldest due item waits for 3m0s. Start more reconcilers." {
		t.Errorf("%+v", c)
	}
	b.tx(func(tx *db.Tx) error {
		return SetPause(t.Context(), tx, Pause{Policy: "p", Mode: ModePause, By: "ada", Reason: "r"})
	})
	if c := look(); c.Status != Unknown || c.Reason != "paused" {
		t.Errorf("%+v", c)
	}
}

// A policy that panics fails, and the reconciler goes on.
func TestPanic(t *testing.T) {
	t.Parallel()
	b := setup(t, 2)
	p := b.policy("p", func(_ context.Context, i Item) (Outcome, error) {
		if i.ObjectID == b.ids[0] {
			panic("for a test")
		}
		return Outcome{}, nil
	})
	b.add("p")
	b.start(b.registry(p))
	b.until("both end", func() bool { return b.ended("p", b.ids[0]) && b.ended("p", b.ids[1]) })
	if i := b.item("p", b.ids[0]); i.LastOutcome != "failed" {
		t.Errorf("%+v", i)
	}
}
