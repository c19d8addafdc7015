package app

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// doomed is an installation with a workspace lab, which lives on a host that another workspace shares.
type doomed struct {
	*site.Site
	kinds *work.Registry
	lab   uuid.UUID
	call  intent.Call // in the lab
	pool  *pgxpool.Pool
	first *site.Backend
}

func newDoomed(t *testing.T, allocations int) *doomed {
	t.Helper()
	kinds, err := work.NewRegistry(iam.ScopeJobs(), []work.Kind{iam.ScopeDelete})
	if err != nil {
		t.Fatal(err)
	}
	d := &doomed{Site: site.NewWith(t, intent.Config{Kinds: kinds}), kinds: kinds, lab: uuid.New()}
	d.call = d.Call.In(d.lab)
	if d.pool, err = pgxpool.New(t.Context(), d.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.pool.Close)
	d.sql(`INSERT INTO workspaces (id, project_id, name) SELECT $1, w.project_id, 'lab' FROM workspaces w WHERE w.id = $2`, d.lab, domain.DefaultWorkspace)
	host := d.ReadyHost(site.HostSpec{Name: "h1", Units: []string{"1", "2", "3"}})
	d.sql(`INSERT INTO host_grants (id, workspace_id, host_id, scope, scope_id, created_by) VALUES (gen_random_uuid(), $1, $2, 'workspace', $3, 'ada')`,
		domain.DefaultWorkspace, host.ID, d.lab)
	d.AddAddresses("default", 4)
	d.sql(`INSERT INTO channels (id, workspace_id, name, type, enabled, subscribes, url) VALUES (gen_random_uuid(), $1, 'pager', 'webhook', false, '{*}', 'https://pager.example')`, d.lab)
	d.sql(`INSERT INTO networks (id, workspace_id, name) VALUES (gen_random_uuid(), $1, 'inner')`, d.lab)
	d.first = d.BackendWith(d.works(), queue.Config{})
	for range allocations {
		d.Ended(d.allocate(), domain.JobSucceeded)
	}
	return d
}

func (d *doomed) works() queue.Work {
	p := Parts{DB: d.DB.DB, Engine: kernel.Engine{DB: d.DB.DB}, Kinds: d.kinds, Intents: &d.Intents}
	handlers := iamwork.Deletions{DB: d.DB.DB, Pause: 20 * time.Millisecond, Removers: func() iamwork.Removers { return removers(p) }}.Handlers()
	return queue.Kinds(&work.Runner{DB: d.DB.DB, Registry: d.kinds, Handlers: handlers, Backend: "backend-1"}, d.Worker(nil).Work)
}

func (d *doomed) sql(sql string, args ...any) {
	d.T.Helper()
	if _, err := d.pool.Exec(d.T.Context(), sql, args...); err != nil {
		d.T.Fatal(err)
	}
}

func (d *doomed) number(sql string, args ...any) (n int) {
	d.T.Helper()
	if err := d.pool.QueryRow(d.T.Context(), sql, args...).Scan(&n); err != nil {
		d.T.Fatal(err)
	}
	return n
}

func (d *doomed) text(sql string, args ...any) (text string) {
	d.T.Helper()
	if err := d.pool.QueryRow(d.T.Context(), sql, args...).Scan(&text); err != nil {
		d.T.Fatal(err)
	}
	return text
}

func (d *doomed) allocate() (job uuid.UUID) {
	d.T.Helper()
	job, err := d.tryAllocate()
	if err != nil {
		d.T.Fatal(err)
	}
	return job
}

func (d *doomed) tryAllocate() (job uuid.UUID, err error) {
	_, key := site.NewKey(d.T)
	call := d.call
	call.Creates = true
	_, job, err = d.Intents.CreateAllocation(d.T.Context(), call, intent.CreateAllocation{CPUs: 1, SSHKeys: []string{key}})
	return job, err
}

func (d *doomed) state() string {
	return d.text(`SELECT state FROM workspaces WHERE id = $1`, d.lab)
}

func (d *doomed) plan() store.Plan {
	d.T.Helper()
	id, err := d.Intents.PlanDeletion(d.T.Context(), d.Call, iam.WorkspaceNoun, d.lab)
	if err != nil {
		d.T.Fatal(err)
	}
	p, err := d.DB.Plan(d.T.Context(), id)
	if err != nil {
		d.T.Fatal(err)
	}
	return p
}

func (d *doomed) begin(plan uuid.UUID) (uuid.UUID, error) {
	return d.Intents.DeleteScope(d.T.Context(), d.Call, intent.Cascade{Kind: iam.WorkspaceNoun, ID: d.lab, Plan: plan, Confirm: "lab", Release: "test"})
}

// deleted makes sure that nothing of the lab is left, and that each allocation was given back once.
func (d *doomed) deleted(allocations int) {
	d.T.Helper()
	if s := d.state(); s != "removed" {
		d.T.Errorf("the workspace is %s", s)
	}
	for _, table := range []string{"channels", "networks", "scope_deletion_parts"} {
		where := ` WHERE workspace_id = $1`
		if table == "scope_deletion_parts" {
			where = ` WHERE $1::UUID IS NOT NULL`
		}
		if n := d.number(`SELECT count(*) FROM `+table+where, d.lab); n != 0 {
			d.T.Errorf("%d rows left in %s", n, table)
		}
	}
	if n := d.number(`SELECT count(*) FROM allocations WHERE workspace_id = $1 AND state = 'deallocated'`, d.lab); n != allocations {
		d.T.Errorf("%d of %d allocations are deallocated", n, allocations)
	}
	if n := d.number(`SELECT count(*) FROM jobs WHERE workspace_id = $1 AND kind = 'unit_deallocate'`, d.lab); n != allocations {
		d.T.Errorf("%d jobs gave %d allocations back", n, allocations)
	}
	if n := d.number(`SELECT count(*) FROM host_grants WHERE scope_id = $1 AND revoked_at IS NULL`, d.lab); n != 0 {
		d.T.Error("the host is still granted")
	}
}

func codeOf(err error) string {
	var c *fault.Conflict
	if errors.As(err, &c) {
		return c.Code
	}
	var stale *intent.PlanStale
	if errors.As(err, &stale) {
		return "plan_stale"
	}
	return ""
}

// TestAScopeGoesWithAllThatIsInIt: the plan lists it, what came since is refused, nothing new comes in, and all of it ends by its own job.
func TestAScopeGoesWithAllThatIsInIt(t *testing.T) {
	t.Parallel()
	d := newDoomed(t, 1)
	early := d.plan()
	d.Ended(d.allocate(), domain.JobSucceeded)
	if _, err := d.begin(early.ID); codeOf(err) != "plan_stale" {
		t.Fatalf("a plan of before: %v", err)
	}
	p := d.plan()
	var lines []string
	for _, c := range p.Result.Changes {
		lines = append(lines, c.Action+" "+c.Kind)
	}
	want := "remove allocation,remove allocation,remove channel,remove host_grant,remove network,remove workspace"
	if got := strings.Join(lines, ","); got != want || p.State != domain.PlanReady || p.Counts.Remove != 6 {
		t.Fatalf("plan %s, %+v: %s", p.State, p.Counts, got)
	}
	_, err := d.Intents.DeleteScope(t.Context(), d.Call, intent.Cascade{Kind: iam.WorkspaceNoun, ID: d.lab, Plan: p.ID, Confirm: "default", Release: "test"})
	if err == nil || !strings.Contains(err.Error(), "lab") {
		t.Errorf("another name: %v", err)
	}
	release := make(chan struct{})
	d.Runner.HandleFunc("unit_deallocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return site.Wiped(ctx, play, sink)
	})
	job, err := d.begin(p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.begin(p.ID); codeOf(err) != "plan_applied" {
		t.Errorf("once more: %v", err)
	}
	if s := d.state(); s != "deleting" {
		t.Errorf("the workspace is %s", s)
	}
	if _, err := d.tryAllocate(); codeOf(err) != "scope_deleting" {
		t.Errorf("an allocation meanwhile: %v", err)
	}
	close(release)
	d.Ended(job, domain.JobSucceeded)
	d.deleted(2)
}

// TestADeletionIsTakenOver: a backend dies while an allocation is given back, and another one goes on.
func TestADeletionIsTakenOver(t *testing.T) {
	t.Parallel()
	d := newDoomed(t, 2)
	begun, first := make(chan struct{}, 8), atomic.Bool{}
	d.Runner.HandleFunc("unit_deallocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if first.CompareAndSwap(false, true) {
			begun <- struct{}{}
			return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
		}
		return site.Wiped(ctx, play, sink)
	})
	job, err := d.begin(d.plan().ID)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the end of an allocation", begun)
	d.first.Stop()
	d.first.Kill()
	site.Await(t, "the backend's end", d.first.Stopped())
	d.BackendWith(d.works(), queue.Config{})
	d.Ended(job, domain.JobSucceeded)
	d.deleted(2)
}

// TestAPartThatFails: the deletion fails with its name, nothing new comes in, and a retry goes on. Another one is given up.
func TestAPartThatFails(t *testing.T) {
	t.Parallel()
	d := newDoomed(t, 2)
	var broken atomic.Bool
	broken.Store(true)
	d.Runner.HandleFunc("unit_deallocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if broken.Load() {
			return site.Play(ctx, play, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "a process does not end"}})
		}
		return site.Wiped(ctx, play, sink)
	})
	login := d.text(`SELECT min(login_user) FROM allocations WHERE workspace_id = $1`, d.lab)
	job, err := d.begin(d.plan().ID)
	if err != nil {
		t.Fatal(err)
	}
	failed := d.Ended(job, domain.JobFailed)
	if failed.Error.Code != "part_failed" || !strings.Contains(failed.Error.Message, login) {
		t.Errorf("%+v, want the name %s", failed.Error, login)
	}
	if s := d.state(); s != "deleting" {
		t.Errorf("the workspace is %s", s)
	}
	if _, err := d.tryAllocate(); codeOf(err) != "scope_deleting" {
		t.Errorf("an allocation meanwhile: %v", err)
	}
	broken.Store(false)
	if err := d.Intents.RetryJob(t.Context(), d.call, job, false); err != nil {
		t.Fatal(err)
	}
	d.Ended(job, domain.JobSucceeded)
	if s := d.state(); s != "removed" {
		t.Errorf("the workspace is %s", s)
	}
}

// TestADeletionIsCancelled: what is left comes back into use, and the job can't begin again.
func TestADeletionIsCancelled(t *testing.T) {
	t.Parallel()
	d := newDoomed(t, 1)
	begun, release := make(chan struct{}, 1), make(chan struct{})
	d.Runner.HandleFunc("unit_deallocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		<-release
		return site.Wiped(ctx, play, sink)
	})
	job, err := d.begin(d.plan().ID)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the end of an allocation", begun)
	if err := d.Intents.CancelJob(t.Context(), d.call, job); err != nil {
		t.Fatal(err)
	}
	d.Ended(job, domain.JobCancelled)
	if s := d.state(); s != "active" {
		t.Errorf("the workspace is %s", s)
	}
	close(release)
	if err := d.Intents.RetryJob(t.Context(), d.call, job, false); err == nil {
		t.Error("a cancelled deletion begins again without a plan")
	}
	if n := d.number(`SELECT count(*) FROM channels WHERE workspace_id = $1`, d.lab); n != 1 {
		t.Error("the channel is gone")
	}
	d.Ended(d.allocate(), domain.JobSucceeded)
}

// TestWhatIsAddedAsADeletionBegins: a deletion waits for who is adding something, and then is refused because its plan lacks that.
func TestWhatIsAddedAsADeletionBegins(t *testing.T) {
	t.Parallel()
	d := newDoomed(t, 0)
	p := d.plan()
	holding, release, added, begun := make(chan struct{}, 8), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		added <- d.DB.DB.InTx(t.Context(), func(tx *db.Tx) error {
			err := kernel.Call{Actor: d.Actor, Workspace: d.lab, Creates: true}.Keep(t.Context(), tx)
			holding <- struct{}{}
			<-release
			return err
		})
	}()
	site.Await(t, "who adds something", holding)
	go func() {
		_, err := d.begin(p.ID)
		begun <- err
	}()
	site.Eventually(t, "the deletion waits", func() bool {
		return d.number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	d.sql(`INSERT INTO networks (id, workspace_id, name) VALUES (gen_random_uuid(), $1, 'late')`, d.lab)
	close(release)
	if err := site.Await(t, "the end of who adds", added); err != nil {
		t.Fatal(err)
	}
	if err := site.Await(t, "the deletion", begun); codeOf(err) != "plan_stale" {
		t.Errorf("with something that its plan lacks: %v", err)
	}
}
