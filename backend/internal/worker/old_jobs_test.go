package worker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

func (p place) pause() {
	p.T.Helper()
	if err := p.Intents.PauseQueue(p.T.Context(), p.Call, "new switches"); err != nil {
		p.T.Fatal(err)
	}
}

func (p place) resume() {
	p.T.Helper()
	if err := p.Intents.ResumeQueue(p.T.Context(), p.Call); err != nil {
		p.T.Fatal(err)
	}
}

func (p place) cancel(job uuid.UUID) {
	p.T.Helper()
	if err := p.Intents.CancelJob(p.T.Context(), p.Call, job); err != nil {
		p.T.Fatal(err)
	}
}

// TestADeallocationThatNeverBeganIsTakenBack: its tenant is as he was. One of
// which something was begun is not.
func TestADeallocationThatNeverBeganIsTakenBack(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	p.ready("h1")
	a := p.allocated()

	p.pause()
	mistake := p.deallocate(a)
	p.wantStates(a, domain.AllocationDeallocating, domain.UnitDeallocating, domain.AddressReleasing)
	p.cancel(mistake)
	p.wantStates(a, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	if message := p.Allocation(a).StateMessage; message != "" {
		t.Errorf("it says %q", message)
	}
	// Whose tenant is there is asked for his name once more.
	p.conflict(p.Intents.RetryJob(t.Context(), p.Call, mistake, false), "job_superseded")
	p.resume()

	// Keys that were left on the way out come in again.
	p.sql(`UPDATE allocations SET keys_version = keys_version + 1 WHERE id = $1`, a)
	p.pause()
	p.cancel(p.deallocate(a))
	p.resume()
	site.Eventually(t, "the keys", func() bool { return p.Allocation(a).KeysApplied == p.Allocation(a).KeysVersion })

	p.Runner.Handle("unit_deallocate", taskFailed)
	p.Ended(p.deallocate(a), domain.JobFailed)
	p.Succeed()
	p.pause()
	p.cancel(p.deallocate(a))
	p.wantStates(a, domain.AllocationDeallocationFailed, domain.UnitDeallocationFailed, domain.AddressReleasing)
	p.resume()
	p.Ended(p.deallocate(a), domain.JobSucceeded)
	p.wantStates(a, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
}

// TestAnAllocationThatNeverBeganEnds: nothing of it is on a host, so its unit,
// address and UID are free again and no person has to decide. One that was
// begun is not taken back.
func TestAnAllocationThatNeverBeganEnds(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	p.ready("h1")
	p.pause()
	a, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	p.cancel(job)
	p.wantStates(a, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
	gone := p.Allocation(a)
	if gone.StateMessage != "" || gone.EndedAt == nil {
		t.Errorf("%+v", gone)
	}
	for _, o := range intent.JobOperations(p.Job(job)) {
		if o.Allowed {
			t.Errorf("%s is offered", o.Name)
		}
	}
	p.conflict(p.Intents.RetryJob(t.Context(), p.Call, job, false), "job_superseded")
	_, err = p.Intents.GiveUpJob(t.Context(), p.Call, job)
	p.conflict(err, "job_superseded")
	if u := p.Units(gone.HostID)[0]; u.WipedAt != nil || u.StateMessage != "" {
		t.Errorf("a unit that was never used: %+v", u)
	}
	p.Tx(func(tx *store.Tx) error {
		uid, ok, err := tx.ReuseUID(t.Context(), gone.UID, gone.UID, a)
		if !ok || uid != gone.UID {
			t.Errorf("its UID %d is kept", gone.UID)
		}
		return err
	})
	p.resume()

	// The only unit and the only address are handed out again.
	p.Runner.Handle("unit_allocate", taskFailed)
	a, job, err = p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobFailed)
	p.pause()
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err != nil {
		t.Fatal(err)
	}
	p.cancel(job)
	p.wantStates(a, domain.AllocationAllocationFailed, domain.UnitAllocationFailed, domain.AddressReserved)
}

// TestInitializeRefusesRangesOfOthers: nothing is begun on a host that gives UIDs of tenants to others. A host that
// carries units is left as it is.
func TestInitializeRefusesRangesOfOthers(t *testing.T) {
	t.Parallel()
	p := setup(t)
	own, far := domain.IDRange{First: 90000, Last: 100535, By: "the subordinate UIDs of debian (/etc/subuid)", Given: true},
		domain.IDRange{First: 100000, Last: 600100000, By: "the subordinate UIDs of new accounts"}
	people := domain.IDRange{First: 1000, Last: 70000, By: "the UIDs of new accounts (UID_MIN to UID_MAX in /etc/login.defs)"}
	found := func(ranges ...domain.IDRange) {
		facts := site.Facts("h1")
		facts.IDRanges = ranges
		p.Runner.Handle("host_probe", scripted.Script{Result: facts})
	}
	found(far)
	host := p.laidOut("h1")
	for _, r := range []domain.IDRange{own, people} {
		found(r, far)
		p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
		_, err := p.Intents.InitializeHost(t.Context(), p.Call, host, 0, false)
		p.conflict(err, "uid_range_taken")
		if !strings.Contains(err.Error(), r.By) || strings.Contains(err.Error(), far.By) || p.Host(host).State != domain.HostProbed {
			t.Errorf("%v; %s", err, p.Host(host).State)
		}
	}
	found(far)
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	p.Ended(p.initialize(host), domain.JobSucceeded)
	found(own)
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	p.Ended(p.initialize(host), domain.JobSucceeded)
}

// TestAnOldJobOfAHostDoesNothingAnew: what failed once and was done by another
// job since is neither done again nor taken apart.
func TestAnOldJobOfAHostDoesNothingAnew(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.laidOut("h1")
	p.Runner.Handle("host_initialize", taskFailed)
	old := p.Ended(p.initialize(host), domain.JobFailed)
	p.Succeed()
	p.Ended(p.initialize(host), domain.JobSucceeded)
	_, err := p.Intents.GiveUpJob(t.Context(), p.Call, old.ID)
	p.conflict(err, "job_superseded")
	p.conflict(p.Intents.RetryJob(t.Context(), p.Call, old.ID, false), "job_superseded")
	if h := p.Host(host); h.State != domain.HostReady || h.Units["free"] != 2 {
		t.Errorf("%+v", h)
	}
	// Nor where another one has failed by then: that one has its own ways on.
	p.Runner.Handle("host_initialize", taskFailed)
	newer := p.Ended(p.initialize(host), domain.JobFailed)
	p.Succeed()
	_, err = p.Intents.GiveUpJob(t.Context(), p.Call, old.ID)
	p.conflict(err, "job_superseded")
	p.conflict(p.Intents.RetryJob(t.Context(), p.Call, old.ID, false), "job_superseded")
	if err := p.Intents.RetryJob(t.Context(), p.Call, newer.ID, false); err != nil {
		t.Fatal(err)
	}
	p.Ended(newer.ID, domain.JobSucceeded)
}

// TestADecommissionedHostIsKept by an initialization, whether anything of its
// decommissioning was begun or not.
func TestADecommissionedHostIsKept(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	decommission := func() uuid.UUID {
		t.Helper()
		return p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0))
	}
	kept := func(job uuid.UUID) {
		t.Helper()
		if h := p.Host(host); h.State != domain.HostDecommissionFailed || h.Units["unavailable"] != 2 {
			t.Errorf("%+v", h)
		}
		if j := p.Ended(p.initialize(host), domain.JobSucceeded); j.Outcome != "0 units are ready to be allocated, and 2 closed: open those that are to be handed out." {
			t.Errorf("it says %q", j.Outcome)
		}
		for _, u := range p.Units(host) {
			if err := p.Intents.OpenUnit(t.Context(), p.Call, u.ID, 0); err != nil {
				t.Fatal(err)
			}
		}
		if h := p.Host(host); h.State != domain.HostReady || h.Units["free"] != 2 {
			t.Errorf("%+v", h)
		}
		p.conflict(p.Intents.RetryJob(t.Context(), p.Call, job, false), "job_superseded")
	}
	p.pause()
	mistake := decommission()
	p.cancel(mistake)
	p.resume()
	kept(mistake)

	p.Runner.Handle("host_decommission", taskFailed)
	job := p.Ended(decommission(), domain.JobFailed).ID
	p.Succeed()
	kept(job)
}

// TestTheHostOfAnotherKloigosIsLeftAlone: it is refused while it can still be
// taken out of the lists, and taken over only by who says so.
func TestTheHostOfAnotherKloigosIsLeftAlone(t *testing.T) {
	t.Parallel()
	p := setup(t)
	theirs, taken := p.laidOut("h1"), p.laidOut("h2")
	for _, host := range []uuid.UUID{theirs, taken} {
		p.sql(`UPDATE hosts SET facts = jsonb_set(facts, '{incarnation}', to_jsonb($2::TEXT)) WHERE id = $1`, host, uuid.NewString())
		_, err := p.Intents.InitializeHost(t.Context(), p.Call, host, 0, false)
		p.conflict(err, "foreign_fence")
	}
	if err := p.Intents.RemoveHost(t.Context(), p.Call, theirs, 0); err != nil {
		t.Error(err)
	}
	p.Ended(p.must(p.Intents.InitializeHost(t.Context(), p.Call, taken, 0, true)), domain.JobSucceeded)
	p.Ended(p.initialize(taken), domain.JobSucceeded) // what a probe read before it was taken over is old
}

// TestWhatIsFreeStaysWhenALayoutIsGivenUp: only what the layout could not make goes.
func TestWhatIsFreeStaysWhenALayoutIsGivenUp(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.inFirst(host)
	p.Runner.Handle("host_initialize", taskFailed)
	failed := p.Ended(p.relayout(host, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "4-5"}}}), domain.JobFailed)
	p.Succeed()
	p.Ended(p.deallocate(a), domain.JobSucceeded)
	p.Ended(p.must(p.Intents.GiveUpJob(t.Context(), p.Call, failed.ID)), domain.JobSucceeded)
	if diff := cmp.Diff([]string{"h1-cu01 free 1-3"}, p.unitNames(host)); diff != "" || p.Host(host).State != domain.HostReady {
		t.Errorf("the host is %s, its units:\n%s", p.Host(host).State, diff)
	}
	if _, _, units, keep := p.lastInitialize(); !cmp.Equal(units, keep) {
		t.Errorf("it was given %v, of which %v stay", units, keep)
	}
}
