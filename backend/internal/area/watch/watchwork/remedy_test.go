package watchwork

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/testkit/areatest"
)

// asks are what a remedy asked for: a job row each, by the object.
type asks struct {
	b      *bench
	mu     sync.Mutex
	jobs   map[uuid.UUID]int
	refuse error
}

func (a *asks) ask(_ context.Context, by audit.Actor, workspace, object uuid.UUID) (uuid.UUID, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse != nil {
		return uuid.Nil, a.refuse
	}
	if by.Kind != audit.Policy || by.Name != "remedy again" || workspace != a.b.Workspace {
		return uuid.Nil, errors.New("asked by " + by.Name)
	}
	id := uuid.New()
	a.b.Exec(a.b.t, `INSERT INTO jobs (id, workspace_id, kind, args, state, priority, deadline_at, max_attempts, requested_by)
		VALUES ($1, $2, 'zone_sync', '{}', 'queued', 0, now() + INTERVAL '1 hour', 1, 'remedy again')`, id, a.b.Workspace)
	a.jobs[object]++
	return id, nil
}

func (a *asks) endJobs() {
	a.b.t.Helper()
	a.b.Exec(a.b.t, "UPDATE jobs SET state = 'succeeded', finished_at = now() WHERE finished_at IS NULL")
}

// rested lets the last runs lie further back.
func (a *asks) rested(by time.Duration) {
	a.b.t.Helper()
	a.b.Exec(a.b.t, "UPDATE remedy_runs SET at = at - $1::INT8 * INTERVAL '1 second'", int64(by/time.Second))
}

func again() watch.RemedyDraft {
	return watch.RemedyDraft{
		Name: "again", Noun: "dns_zone", Condition: "synced", Job: "zone_sync", WaitSeconds: 60, PerDay: 2, AtOnce: 2, Enabled: true,
	}
}

func remedySetup(t *testing.T, d watch.RemedyDraft) (*asks, watch.Remedy) {
	t.Helper()
	b := setup(t)
	a := &asks{b: b, jobs: map[uuid.UUID]int{}}
	b.config.Jobs = Jobs{"dns_zone": {"zone_sync": a.ask}}
	return a, areatest.Must(t, b.Place, func(ctx context.Context, tx *intent.Tx) (watch.Remedy, error) {
		return watch.CreateRemedy(ctx, tx, b.config.Jobs.Kinds(), d)
	})
}

func (a *asks) run(r watch.Remedy, item reconcile.Item) reconcile.Outcome {
	a.b.t.Helper()
	item.ObjectID = r.ID
	out, err := remedyPolicy(a.b.config).Run(a.b.t.Context(), item)
	if err != nil {
		a.b.t.Fatal(err)
	}
	return out
}

// TestRemedy: a job for each object whose condition is false for long enough, so many at once and within a day; then a person
// is told.
func TestRemedy(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	b := a.b
	first, second, third := b.object("first", b.Workspace), b.object("second", b.Workspace), b.object("third", b.Workspace)
	for object, age := range map[uuid.UUID]time.Duration{first: 4 * time.Minute, second: 3 * time.Minute, third: 2 * time.Minute} {
		b.condition(object, "synced", "false", false, age)
	}
	b.condition(b.object("young", b.Workspace), "synced", "false", false, time.Second)
	b.condition(b.object("flapping", b.Workspace), "synced", "false", true, time.Hour)
	b.condition(b.object("well", b.Workspace), "synced", "true", false, time.Hour)
	b.condition(b.object("other", b.Workspace), "resolves", "false", false, time.Hour)
	b.condition(b.object("strange", b.NewWorkspace(t)), "synced", "false", false, time.Hour)
	want := func(when string, changed int64, jobs map[uuid.UUID]int, status reconcile.Status) {
		t.Helper()
		out := a.run(r, reconcile.Item{})
		if out.Changed != changed || !maps.Equal(a.jobs, jobs) || len(out.Conditions) != 1 || out.Conditions[0].Status != status {
			t.Errorf("%s: %d asked, in all %v, %+v", when, out.Changed, a.jobs, out.Conditions)
		}
	}
	if out := a.run(r, reconcile.Item{Observe: true}); out.Changed != 0 || len(a.jobs) != 0 {
		t.Errorf("it was to look only: %+v", out)
	}
	want("two at once, the longest first", 2, map[uuid.UUID]int{first: 1, second: 1}, reconcile.True)
	want("both are at work", 0, map[uuid.UUID]int{first: 1, second: 1}, reconcile.True)
	a.endJobs()
	want("the third has its turn, the others rest", 1, map[uuid.UUID]int{first: 1, second: 1, third: 1}, reconcile.True)
	a.endJobs()
	a.rested(2 * time.Minute)
	b.condition(second, "synced", "true", false, time.Second)
	want("what is still false again", 2, map[uuid.UUID]int{first: 2, second: 1, third: 2}, reconcile.True)
	a.endJobs()
	a.rested(2 * time.Minute)
	want("twice a day is the limit", 0, map[uuid.UUID]int{first: 2, second: 1, third: 2}, reconcile.False)
	a.rested(24 * time.Hour)
	want("a day later", 2, map[uuid.UUID]int{first: 3, second: 1, third: 3}, reconcile.True)
}

// TestARemedyThatIsRefused: a refusal counts, is recorded with its reason, and is no fault of ours.
func TestARemedyThatIsRefused(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	b := a.b
	b.condition(b.object("first", b.Workspace), "synced", "false", false, 2*time.Minute)
	a.refuse = fault.Conflictf("dns_zone_state", "The zone is being synchronized already.")
	if out := a.run(r, reconcile.Item{}); out.Changed != 0 {
		t.Errorf("%+v", out)
	}
	runs, err := watch.RemedyRuns(t.Context(), b.DB.Reader, watch.RemedyRunFilter{WorkspaceID: b.Workspace, Limit: 10})
	if err != nil || len(runs) != 1 || runs[0].Outcome != watch.Refused || runs[0].JobID != nil || !strings.Contains(runs[0].Message, "synchronized already") {
		t.Errorf("%+v, %v", runs, err)
	}
	a.refuse = errors.New("the database is away")
	a.rested(2 * time.Minute)
	if _, err := remedyPolicy(b.config).Run(t.Context(), reconcile.Item{ObjectID: r.ID}); err == nil {
		t.Error("an error of ours was taken for a refusal")
	}
}

// TestAWorkspaceThatIsSuspended: nothing is asked for there.
func TestAWorkspaceThatIsSuspended(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	a.b.condition(a.b.object("first", a.b.Workspace), "synced", "false", false, 2*time.Minute)
	a.b.Exec(t, "UPDATE workspaces SET state = 'suspended' WHERE id = $1", a.b.Workspace)
	if out := a.run(r, reconcile.Item{}); out.Changed != 0 || len(a.jobs) != 0 {
		t.Errorf("%+v", out)
	}
	a.b.Exec(t, "UPDATE workspaces SET state = 'active' WHERE id = $1", a.b.Workspace)
	if out := a.run(r, reconcile.Item{}); out.Changed != 1 {
		t.Errorf("%+v", out)
	}
}

// TestAnObjectThatIsGone: what is left of its conditions counts no more.
func TestAnObjectThatIsGone(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	object := a.b.object("first", a.b.Workspace)
	a.b.condition(object, "synced", "false", false, 2*time.Minute)
	a.b.Exec(t, `INSERT INTO events (id, workspace_id, actor_kind, actor_name, client, request_id, action, object_kind, object_id, object_name)
		VALUES (gen_random_uuid(), $1, 'account', 'ada', '', '', 'dns_zone.delete', 'dns_zone', $2, 'first')`, a.b.Workspace, object)
	if out := a.run(r, reconcile.Item{}); out.Changed != 0 || len(a.jobs) != 0 {
		t.Errorf("%+v", out)
	}
}

// TestTheLimitIsTold: a channel that subscribes to the condition of remedies is told that a limit is reached.
func TestTheLimitIsTold(t *testing.T) {
	t.Parallel()
	d := again()
	d.PerDay = 1
	a, r := remedySetup(t, d)
	b := a.b
	hook := newReceiver(t, 204)
	c := b.channel(watch.Draft{Name: "hook", Type: watch.Webhook, Enabled: true, URL: hook.URL, Subscribes: []string{"remedy/within_limit"}}, "")
	b.condition(b.object("first", b.Workspace), "synced", "false", false, 2*time.Minute)
	for _, want := range []string{"", "-again ;"} {
		made := a.run(r, reconcile.Item{}).Conditions[0]
		b.Exec(t, `INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
			VALUES ('remedy', $1, $2, $3, $4, $5, '', false, 0, '', false, now() - INTERVAL '1 minute', now(), 'remedy', '[]')
			ON CONFLICT (noun, object_id, type) DO UPDATE SET status = excluded.status, reason = excluded.reason, message = excluded.message`, r.ID, made.Type, string(made.Status), made.Reason, made.Message)
		b.notify(c)
		if got := hook.told(t); got != want {
			t.Errorf("told %q, want %q (%+v)", got, want, made)
		}
		a.endJobs()
	}
}

// TestTwoBackendsTakeUpAnObjectOnce: all look at the same moment.
func TestTwoBackendsTakeUpAnObjectOnce(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	b := a.b
	object := b.object("first", b.Workspace)
	b.condition(object, "synced", "false", false, 2*time.Minute)
	ill, err := watch.IllOf(t.Context(), b.DB.Reader, r)
	if err != nil || len(ill) != 1 {
		t.Fatalf("%v, %v", ill, err)
	}
	var backends errgroup.Group
	for range 8 { // each has read what the first one has
		backends.Go(func() error {
			_, err := b.config.try(t.Context(), r, ill[0])
			return err
		})
	}
	if err := backends.Wait(); err != nil {
		t.Fatal(err)
	}
	if a.jobs[object] != 1 {
		t.Errorf("asked %d times", a.jobs[object])
	}
}

// TestTwoBackendsKeepTheBoundAtOnce: each takes up another object.
func TestTwoBackendsKeepTheBoundAtOnce(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	b := a.b
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		b.condition(b.object(name, b.Workspace), "synced", "false", false, 2*time.Minute)
	}
	ill, err := watch.IllOf(t.Context(), b.DB.Reader, r)
	if err != nil || len(ill) != 6 {
		t.Fatalf("%v, %v", ill, err)
	}
	var backends errgroup.Group
	for _, i := range ill {
		backends.Go(func() error {
			_, err := b.config.try(t.Context(), r, i)
			return err
		})
	}
	if err := backends.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(a.jobs) != 2 {
		t.Errorf("asked about %d objects", len(a.jobs))
	}
}

// TestRemedyDrafts: what a remedy can't be is refused with the field.
func TestRemedyDrafts(t *testing.T) {
	t.Parallel()
	a, r := remedySetup(t, again())
	for field, change := range map[string]func(*watch.RemedyDraft){
		"name":         func(d *watch.RemedyDraft) { d.Name = "No" },
		"noun":         func(d *watch.RemedyDraft) { d.Noun = "job" },
		"job":          func(d *watch.RemedyDraft) { d.Job = "host_decommission" },
		"condition":    func(d *watch.RemedyDraft) { d.Condition = "*" },
		"wait_seconds": func(d *watch.RemedyDraft) { d.WaitSeconds = 59 },
		"per_day":      func(d *watch.RemedyDraft) { d.PerDay = 25 },
		"at_once":      func(d *watch.RemedyDraft) { d.AtOnce = 0 },
	} {
		_, ref, err := watch.FindRemedy(t.Context(), a.b.DB.Reader, a.b.Workspace, r.Name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = areatest.Do(t, a.b.Place, func(ctx context.Context, tx *intent.Tx) (struct{}, error) {
			return struct{}{}, watch.ChangeRemedy(ctx, tx, a.b.config.Jobs.Kinds(), ref, 0, func(d *watch.RemedyDraft) error {
				change(d)
				return nil
			})
		})
		var bad *fault.Invalid
		if !errors.As(err, &bad) || len(bad.Fields) != 1 || bad.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
