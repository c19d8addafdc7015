package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/verify"
)

// The model test draws short schedules of everything that can happen to jobs:
// requests, claims and takeovers by three workers, plays that end well, badly
// or not at all, workers that are paused for as long as it pleases and then go
// on, a queue that is paused, and time. Time is that of the database, so it is
// moved by moving leases, deadlines and run_after. After each schedule everything
// comes to rest, and then all invariants hold, and a host that only knows numbers
// and tenants agrees.

// world is what the schedules of one run share: an installation and a host.
type world struct {
	*site.Site
	conn  *pgx.Conn // for what is done behind the product's back
	work  queue.Work
	host  store.Host
	plays chan *playing
}

// playing is a play that has reached the host and waits for its end.
type playing struct {
	name   string
	number int64
	run    string
	unit   string
	tenant string
	end    chan ending
}

// ending is how a play ends: nil is well.
type ending struct{ failure *ansible.Failure }

// attempt is an attempt of a job that a worker has begun.
type attempted struct {
	job   uuid.UUID
	nth   int      // attempt of the job
	play  *playing // that it waits for; nil once it goes on by itself
	ended chan struct{}
}

// schedule is one run of the model.
type schedule struct {
	*world
	t *rapid.T
	// What the host knows.
	newest  int64
	tenants map[string]string // allocation, by unit
	tokens  []verify.Token
	// What clients know.
	acknowledged []uuid.UUID
	jobs         []uuid.UUID
	// What the workers do.
	running []*attempted
	stale   int64 // plays that a newer run had ended
	ends    int   // how often older runs had been ended on the host when it began
	paused  bool  // the queue
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Site: site.New(t), plays: make(chan *playing)}
	w.AddAddresses("default", 8)
	w.host = w.ReadyHost(site.HostSpec{Name: "h1", Units: []string{"1", "2", "3"}})
	w.work = w.Work()
	var err error
	if w.conn, err = pgx.Connect(t.Context(), w.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.conn.Close(context.Background()) })
	for _, name := range []string{"unit_allocate", "unit_deallocate"} {
		w.Runner.HandleFunc(name, w.play)
	}
	return w
}

// play holds a play at the host until the schedule ends it.
func (w *world) play(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	call := &playing{name: p.Name, end: make(chan ending, 1)}
	if f := p.Hosts[0].Fence; f != nil {
		call.number, call.run = f.Number, f.Run
	}
	var err error
	if call.unit, call.tenant, err = subjectOf(p); err != nil {
		return ansible.Outcome{}, err
	}
	w.plays <- call
	how := <-call.end
	if how.failure == nil && p.Name == "unit_deallocate" {
		return site.Wiped(ctx, p, sink)
	}
	return site.Play(ctx, p, sink, scripted.Script{Failure: how.failure})
}

func (w *world) exec(t *rapid.T, statement string, args ...any) {
	t.Helper()
	if _, err := w.conn.Exec(context.Background(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// reset makes the installation new again, much faster than another one.
func (w *world) reset(t *rapid.T) {
	t.Helper()
	for _, statement := range []string{
		"DELETE FROM queue_pauses", "DELETE FROM job_log", "DELETE FROM job_steps", "DELETE FROM events", "DELETE FROM allocations", "DELETE FROM uids", "DELETE FROM jobs",
		"UPDATE addresses SET state = 'free', allocation_id = NULL WHERE state <> 'free'",
		"UPDATE compute_units SET state = 'free', wipe = NULL WHERE state <> 'free' OR wipe IS NOT NULL",
		"UPDATE host_locks SET number = 0, job_id = NULL, attempt = 0",
		"UPDATE hosts SET state = 'ready', health = 'unknown'",
	} {
		w.exec(t, statement)
	}
}

// TestMain draws the seed that rapid would draw and keep to itself unless a test
// fails.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		if err := seed.Value.Set(strconv.FormatUint(rand.Uint64(), 10)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestSchedules runs some hundred of them; -rapid.checks and -rapid.seed have
// their usual meaning. The suite of faults runs thousands in its long form.
func TestSchedules(t *testing.T) {
	t.Parallel()
	t.Logf("-rapid.seed %s", flag.Lookup("rapid.seed").Value)
	for n := range 3 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			schedules(t, newWorld(t), n)
		})
	}
}

// schedules draws after so many numbers that are of no use: all who draw side by
// side have the same seed, and are to draw apart.
func schedules(t *testing.T, w *world, apart int) {
	t.Helper()
	met := map[string]int64{}
	rapid.Check(t, func(t *rapid.T) {
		for range apart {
			rapid.Uint64().Draw(t, "apart")
		}
		w.reset(t)
		s := &schedule{world: w, t: t, tenants: map[string]string{}, ends: len(w.Runner.Ends())}
		defer s.abandon()
		s.draw()
		s.rest()
		s.holds()
		met["stale plays"] += s.stale
		for what, query := range map[string]string{
			"jobs that succeeded": "SELECT count(*) FROM jobs WHERE state = 'succeeded'", "jobs with several attempts": "SELECT count(*) FROM jobs WHERE attempt > 1",
			"jobs that were cancelled": "SELECT count(*) FROM jobs WHERE state = 'cancelled'", "jobs that failed": "SELECT count(*) FROM jobs WHERE state = 'failed'",
			"jobs whose deadline passed": "SELECT count(*) FROM jobs WHERE error->>'code' = 'deadline_passed'",
			"pauses":                     "SELECT count(*) FROM events WHERE action = 'queue.pause'",
		} {
			met[what] += s.count(query)
		}
	})
	for what, n := range met {
		if t.Logf("%s: %d", what, n); n == 0 {
			t.Errorf("the schedules meet no %s", what)
		}
	}
}

func (s *schedule) count(query string) (n int64) {
	if err := s.conn.QueryRow(context.Background(), query).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (s *schedule) draw() {
	actions := []struct {
		name  string
		often int
		do    func()
	}{
		{"allocate", 3, s.allocate},
		{"deallocate", 2, s.deallocate},
		{"keys", 1, s.keys},
		{"pause", 1, s.pause},
		{"resume", 3, s.resume},
		{"a deadline passes", 1, s.deadlinePasses},
		{"cancel", 1, s.cancel},
		{"retry", 2, s.retry},
		{"give up", 1, s.giveUp},
		{"claim", 8, func() { s.claim((*store.Tx).ClaimJobs, s.paused) }},
		{"take over", 7, func() { s.claim((*store.Tx).TakeOverJobs, false) }},
		{"end a play", 4, s.endPlay},
		{"leases run out", 6, s.leasesRunOut},
		{"time for the next try", 2, s.nextTries},
	}
	var all []int
	for i, a := range actions {
		all = append(all, slices.Repeat([]int{i}, a.often)...)
	}
	for range rapid.IntRange(5, 36).Draw(s.t, "length") {
		a := actions[rapid.SampledFrom(all).Draw(s.t, "action")]
		s.t.Logf("%s", a.name)
		a.do()
	}
}

// mayRefuse passes over what an intent refuses: that is an answer.
func (s *schedule) mayRefuse(err error) bool {
	var conflict *domain.Conflict
	var full *intent.NoCapacity
	if err != nil && !errors.As(err, &conflict) && !errors.As(err, &full) {
		s.t.Fatalf("%v", err)
	}
	return err != nil
}

const someKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

func (s *schedule) allocate() {
	a, job, err := s.Intents.CreateAllocation(context.Background(), s.Call, intent.CreateAllocation{CPUs: 1, SSHKeys: []string{someKey}})
	if !s.mayRefuse(err) {
		s.acknowledged, s.jobs = append(s.acknowledged, a), append(s.jobs, job)
	}
}

func (s *schedule) pickSome(of []uuid.UUID) (uuid.UUID, bool) {
	if len(of) == 0 {
		return uuid.Nil, false
	}
	return rapid.SampledFrom(of).Draw(s.t, "which"), true
}

func (s *schedule) noteAsked(job uuid.UUID, err error) {
	if !s.mayRefuse(err) && job != uuid.Nil {
		s.jobs = append(s.jobs, job)
	}
}

func (s *schedule) deallocate() {
	if id, any := s.pickSome(s.acknowledged); any {
		a, err := s.DB.Allocation(context.Background(), id)
		if err != nil {
			s.t.Fatalf("%v", err)
		}
		s.noteAsked(s.Intents.Deallocate(context.Background(), s.Call, id, 0, a.LoginUser))
	}
}

func (s *schedule) keys() {
	if id, any := s.pickSome(s.acknowledged); any {
		s.noteAsked(s.Intents.ReplaceKeys(context.Background(), s.Call, id, 0, []string{someKey}))
	}
}

func (s *schedule) pause() {
	if !s.mayRefuse(s.Intents.PauseQueue(context.Background(), s.Call, "drawn")) {
		s.paused = true
	}
}

func (s *schedule) resume() {
	if !s.mayRefuse(s.Intents.ResumeQueue(context.Background(), s.Call)) {
		s.paused = false
	}
}

func (s *schedule) deadlinePasses() {
	if id, any := s.pickSome(s.jobs); any {
		s.exec(s.t, "UPDATE jobs SET deadline_at = now() - INTERVAL '1 second' WHERE id = $1 AND finished_at IS NULL", id)
	}
}

func (s *schedule) cancel() {
	if id, any := s.pickSome(s.jobs); any {
		s.mayRefuse(s.Intents.CancelJob(context.Background(), s.Call, id))
	}
}

func (s *schedule) retry() {
	if id, any := s.pickSome(s.jobs); any {
		s.mayRefuse(s.Intents.RetryJob(context.Background(), s.Call, id, false))
	}
}

func (s *schedule) giveUp() {
	if id, any := s.pickSome(s.jobs); any {
		s.noteAsked(s.Intents.GiveUpJob(context.Background(), s.Call, id))
	}
}

// claim has a worker claim jobs and go on until each waits for a play, or ends;
// none must be there for it where it is so said.
func (s *schedule) claim(how func(*store.Tx, context.Context, uuid.UUID, time.Duration, int) ([]store.Claim, error), none bool) {
	ctx := context.Background()
	limit := rapid.IntRange(1, 2).Draw(s.t, "how many") // of the one host one at most, and what is to be taken over
	worker := uuid.New()
	q := queue.New(s.DB, s.work, s.Signals, queue.Config{Worker: worker, Lease: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	var claims []store.Claim
	err := s.DB.InTx(ctx, func(tx *store.Tx) (err error) {
		claims, err = how(tx, ctx, worker, time.Hour, limit)
		return err
	})
	if err != nil {
		s.t.Fatalf("claim: %v", err)
	}
	for _, c := range claims {
		if none {
			s.t.Fatalf("job %s was claimed while the queue is paused", c.ID)
		}
		a := &attempted{job: c.ID, nth: c.Attempt, ended: make(chan struct{})}
		s.running = append(s.running, a)
		go func() {
			defer close(a.ended)
			q.Attempt(ctx, ctx, c)
		}()
		s.follow(a)
	}
}

// follow waits until an attempt has reached the host or ended. A play reaches
// the host by its fence: who comes with an older number is refused, and who
// comes with a newer one ends all others there.
func (s *schedule) follow(a *attempted) {
	select {
	case a.play = <-s.plays:
		p := a.play
		switch {
		case p.number < s.newest:
			p.end <- ending{&ansible.Failure{Code: ansible.CodeFenced, Message: "a newer run was here"}}
			a.play = nil
			s.follow(a)
		case p.number > s.newest:
			s.comes(p.number, p.run)
		default:
			s.t.Fatalf("two plays came with number %d", p.number)
		}
	case <-a.ended:
		for _, h := range s.Runner.Ends()[s.ends:] { // it came without a play
			s.ends++
			s.comes(h.Fence.Number, h.Fence.Run)
		}
		s.running = slices.DeleteFunc(s.running, func(other *attempted) bool { return other == a })
	case <-time.After(20 * time.Second):
		s.t.Fatalf("an attempt of job %s hangs", a.job)
	}
}

// comes has the host's fence let a number in.
func (s *schedule) comes(number int64, run string) {
	if number <= s.newest {
		s.t.Fatalf("number %d came after %d", number, s.newest)
	}
	s.newest = number
	s.tokens = append(s.tokens, verify.Token{Line: len(s.tokens) + 1, Incarnation: s.host.Incarnation.String(), Number: number, Run: run})
}

// endPlay ends one of the plays that wait: as it is drawn, if its run is still
// the host's newest, and killed by the fence otherwise.
func (s *schedule) endPlay() {
	if len(s.running) == 0 {
		return
	}
	a := rapid.SampledFrom(s.running).Draw(s.t, "attempt")
	outcome := rapid.SampledFrom([]string{"well", "well", "well", "failed", "failed", "unreachable", "killed"}).Draw(s.t, "outcome")
	s.end(a, outcome)
}

func (s *schedule) end(a *attempted, outcome string) {
	p := a.play
	before := s.seen(a.job)
	ours := before.nth == a.nth && !before.over // else another worker has the job, or it has ended
	switch {
	case ours && p.number < s.newest:
		s.t.Fatalf("number %d, of the present attempt of job %s, was ended by number %d", p.number, a.job, s.newest)
	case before.over && p.number == s.newest:
		s.t.Fatalf("job %s is %s, and number %d of it still goes on on the host", a.job, before.state, p.number)
	}
	var how ending
	switch {
	case p.number < s.newest:
		s.stale++
		how.failure = &ansible.Failure{Code: ansible.CodeFenced, Message: "ended by a newer run"}
	case outcome == "failed":
		how.failure = &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "it went wrong"}
	case outcome == "unreachable":
		how.failure = &ansible.Failure{Code: ansible.CodeUnreachable, Message: "nobody answers"}
	case outcome == "killed":
		how.failure = &ansible.Failure{Code: ansible.CodeKilled, Message: "for want of memory"}
	}
	// Also what goes wrong, or is never heard of, may have been done.
	if p.number == s.newest && outcome != "failed" {
		if had := s.tenants[p.unit]; had != "" && had != p.tenant {
			s.t.Fatalf("unit %s is given to %s while %s has it", p.unit, p.tenant, had)
		}
		if s.tenants[p.unit] = p.tenant; p.name == "unit_deallocate" {
			delete(s.tenants, p.unit)
		}
	}
	a.play = nil
	p.end <- how
	s.follow(a)
	if after := s.seen(a.job); !ours && after != before {
		s.t.Fatalf("attempt %d of job %s, which is no longer its worker's, made %+v out of %+v", a.nth, a.job, after, before)
	}
}

// row is what a job says of itself.
type row struct {
	state  string
	nth    int
	over   bool
	leased bool
	done   int // steps
}

func (s *schedule) seen(job uuid.UUID) (r row) {
	err := s.conn.QueryRow(context.Background(), `
		SELECT j.state, j.attempt, j.finished_at IS NOT NULL, j.lease_expires_at IS NOT NULL,
		       (SELECT count(*) FROM job_steps s WHERE s.job_id = j.id AND s.state <> 'running')
		  FROM jobs j WHERE j.id = $1`, job).Scan(&r.state, &r.nth, &r.over, &r.leased, &r.done)
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	return r
}

func (s *schedule) leasesRunOut() {
	s.exec(s.t, "UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE lease_expires_at IS NOT NULL")
}

func (s *schedule) nextTries() {
	s.exec(s.t, "UPDATE jobs SET run_after = now() WHERE state = 'queued'")
}

// rest lets everything come to an end that is under way.
func (s *schedule) rest() {
	s.resume()
	for range 200 {
		for len(s.running) > 0 {
			s.end(s.running[0], "well")
		}
		if s.count("SELECT count(*) FROM jobs WHERE state IN ('queued', 'running', 'cancelling')") == 0 {
			return
		}
		s.nextTries()
		s.leasesRunOut()
		s.claim((*store.Tx).TakeOverJobs, false)
		s.claim((*store.Tx).ClaimJobs, s.paused)
	}
	s.t.Fatalf("jobs do not come to an end")
}

// abandon lets go of what a failed schedule left, so that the next one, of a
// smaller draw, begins with nothing.
func (s *schedule) abandon() {
	var all sync.WaitGroup
	for _, a := range s.running {
		all.Go(func() {
			if a.play != nil {
				a.play.end <- ending{&ansible.Failure{Code: ansible.CodeTaskFailed, Message: "abandoned"}}
			}
			for {
				select {
				case <-a.ended:
					return
				case p := <-s.plays:
					p.end <- ending{&ansible.Failure{Code: ansible.CodeTaskFailed, Message: "abandoned"}}
				}
			}
		})
	}
	all.Wait()
}

func (s *schedule) holds() {
	results, err := verify.Run(context.Background(), s.DB, verify.Options{
		Acknowledged: s.acknowledged, Tokens: []verify.TokenLog{{Host: "h1", Tokens: s.tokens}},
	})
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	for _, r := range results {
		if len(r.Rows) > 0 {
			s.t.Errorf("%s: %s", r.Name, strings.Join(r.Rows, "; "))
		}
	}
	s.agrees()
}

// agrees holds the host against the database.
func (s *schedule) agrees() {
	carries := maps.Clone(s.tenants)
	for _, id := range s.acknowledged {
		a, err := s.DB.Allocation(context.Background(), id)
		if err != nil {
			s.t.Fatalf("%v", err)
		}
		has := s.tenants[a.UnitID.String()] == id.String()
		if has {
			delete(carries, a.UnitID.String())
		}
		switch a.State {
		case domain.AllocationAllocated:
			if !has {
				s.t.Errorf("allocation %s is %s, and the host has not got it", id, a.State)
			}
		case domain.AllocationDeallocated:
			if has {
				s.t.Errorf("allocation %s is %s, and the host still has it", id, a.State)
			}
		case domain.AllocationAllocationFailed, domain.AllocationDeallocationFailed:
		default:
			s.t.Errorf("allocation %s came to rest as %s", id, a.State)
		}
	}
	if len(carries) > 0 {
		s.t.Errorf("the host has what no allocation says: %v", carries)
	}
}

// subjectOf reads the unit and the allocation out of a play's variables.
func subjectOf(p ansible.Play) (unit, tenant string, err error) {
	raw, err := json.Marshal(p.Vars)
	if err != nil {
		return "", "", err
	}
	var vars map[string]json.RawMessage
	if err := json.Unmarshal(raw, &vars); err != nil {
		return "", "", err
	}
	var u, a struct{ ID string }
	err = errors.Join(json.Unmarshal(vars[p.Name+"_unit"], &u), json.Unmarshal(vars[p.Name+"_allocation"], &a))
	return u.ID, a.ID, err
}
