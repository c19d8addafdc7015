package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/testkit/site"
)

func (p place) measure(host uuid.UUID, samples int) uuid.UUID {
	p.T.Helper()
	return p.must(p.Intents.MeasureHost(p.T.Context(), p.Call, host, 0, samples))
}

func usageWith(changes map[string]any) map[string]any {
	use := map[string]any{}
	for k, v := range site.Use {
		use[k] = v
	}
	for k, v := range changes {
		use[k] = v
	}
	return use
}

// TestAMeasurementTellsOfALostAddress, and the host is degraded until a job finds it whole.
func TestAMeasurementTellsOfALostAddress(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.allocated()
	lacking := func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		units, _, err := site.Asked(play)
		site.Sample(play, sink, units, usageWith(map[string]any{"lacks": []string{"address 10.0.2.101"}}))
		if err != nil {
			return ansible.Outcome{}, err
		}
		return site.Play(ctx, play, sink, scripted.Script{})
	}
	p.Runner.HandleFunc("host_measure", lacking)
	fault := "Unit " + p.Allocation(a).Unit + " lacks: address 10.0.2.101."
	if j := p.Ended(p.measure(host, 1), domain.JobSucceeded); j.Outcome != "1 unit measured, 1 sample. "+fault {
		t.Errorf("outcome: %q", j.Outcome)
	}
	if h := p.Host(host); h.Health != domain.HealthDegraded || h.HealthMessage != fault {
		t.Errorf("%s: %q", h.Health, h.HealthMessage)
	}
	p.Runner.HandleFunc("host_measure", site.Measured)
	p.Ended(p.measure(host, 1), domain.JobSucceeded)
	if h := p.Host(host); h.Health != domain.HealthHealthy || h.HealthMessage != "" {
		t.Errorf("%s: %q", h.Health, h.HealthMessage)
	}
}

// TestSamplesAreStoredAsTheyCome: whoever looks on does not wait for the last.
func TestSamplesAreStoredAsTheyCome(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.allocated()
	if use := p.Allocation(a).Use; use != nil {
		t.Fatalf("used before it was measured: %+v", use)
	}
	next := make(chan map[string]any)
	p.Runner.HandleFunc("host_measure", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		units, samples, err := site.Asked(play)
		if err != nil {
			return ansible.Outcome{}, err
		}
		for range samples {
			site.Sample(play, sink, units, <-next)
		}
		return site.Play(ctx, play, sink, scripted.Script{})
	})
	job := p.measure(host, 3)
	for _, cpu := range []int64{100, 2900, 40} {
		next <- usageWith(map[string]any{"cpu_millis": cpu})
		site.Eventually(t, "the sample", func() bool {
			use := p.Allocation(a).Use
			return use != nil && *use.CPUMillis == cpu
		})
	}
	j := p.Ended(job, domain.JobSucceeded)
	if j.Outcome != "1 unit measured, 3 samples." {
		t.Errorf("outcome: %q", j.Outcome)
	}
	got := p.Allocation(a)
	if got.Use.MeasuredAt.IsZero() || *got.Use.MemoryBytes != 3<<20 || *got.Use.CacheBytes != 1<<20 || *got.Use.Processes != 17 ||
		*got.Use.DiskUsedBytes != 5<<20 || *got.Use.DiskBytes != 64<<20 ||
		*got.Use.ReceivedBytes != 4<<20 || *got.Use.SentBytes != 2<<20 || *got.Use.ReceiveRate != 1<<10 || *got.Use.SendRate != 0 {
		t.Errorf("use: %+v", got.Use)
	}
	u, err := p.DB.Unit(t.Context(), got.UnitID)
	if err != nil || !cmp.Equal(u.Use, got.Use) {
		t.Errorf("the unit's use is %+v, %v", u.Use, err)
	}
	for _, e := range p.log(job) {
		if strings.Contains(e, "cpu_millis") || strings.Contains(e, string(ansible.EventResult)) {
			t.Errorf("a result is in the log: %s", e)
		}
	}
}

func (p place) log(job uuid.UUID) (all []string) {
	p.T.Helper()
	entries, err := p.DB.JobLogPart(p.T.Context(), job, 0, 1000, 1<<20)
	if err != nil {
		p.T.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Kind+" "+e.Message+" "+e.Output)
	}
	return all
}

// TestMeasuringIsNotInTheWay: it runs while another job holds the host, and
// leaves every state as it is.
func TestMeasuringIsNotInTheWay(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.allocated()
	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	p.Runner.HandleFunc("unit_deallocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		<-goOn
		return site.Wiped(ctx, play, sink)
	})
	gone := p.deallocate(a)
	site.Await(t, "the wipe", begun)
	p.Ended(p.measure(host, 1), domain.JobSucceeded)
	p.wantStates(a, domain.AllocationDeallocating, domain.UnitDeallocating, domain.AddressReleasing)
	if p.Allocation(a).Use == nil {
		t.Error("it was not measured")
	}
	close(goOn)
	p.Ended(gone, domain.JobSucceeded)
	var refused *domain.Conflict
	if _, err := p.Intents.MeasureHost(t.Context(), p.Call, host, 0, 1); !errors.As(err, &refused) || refused.Code != "nothing_to_measure" {
		t.Errorf("a host without tenants: %v", err)
	}
}

// TestUseIsNobodyElses: hosts are used again, and what one tenant used is not
// for the next to see. Nor is a sample that comes after the end of a tenant.
func TestUseIsNobodyElses(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	host := p.ready("h1")
	first := p.allocated()
	unit := p.Allocation(first).UnitID
	p.Ended(p.measure(host, 1), domain.JobSucceeded)

	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	p.Runner.HandleFunc("host_measure", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		<-goOn
		return site.Measured(ctx, play, sink)
	})
	late := p.measure(host, 1)
	site.Await(t, "the measurement", begun)
	p.Ended(p.deallocate(first), domain.JobSucceeded)
	second, job, err := p.Allocate(intent.CreateAllocation{UnitID: &unit, LoginUser: "tenant2"})
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	unused := func(when string) {
		t.Helper()
		u, err := p.DB.Unit(t.Context(), unit)
		if err != nil || u.Use != nil || p.Allocation(second).Use != nil || p.Allocation(first).Use != nil {
			t.Errorf("%s: unit %+v, second %+v, first %+v, %v", when, u.Use, p.Allocation(second).Use, p.Allocation(first).Use, err)
		}
	}
	unused("allocated again")
	close(goOn)
	p.Ended(late, domain.JobSucceeded)
	unused("after a late sample")
	p.Runner.HandleFunc("host_measure", site.Measured)
	p.Ended(p.measure(host, 1), domain.JobSucceeded)
	if p.Allocation(second).Use == nil || p.Allocation(first).Use != nil {
		t.Error("the second has no use of its own, or the first one's came back")
	}
}

// TestOneMeasurementAHost: whoever asks while it is being measured is given
// that job, however many ask at once.
func TestOneMeasurementAHost(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	p.allocated()
	goOn := make(chan struct{})
	p.Runner.HandleFunc("host_measure", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		<-goOn
		return site.Measured(ctx, play, sink)
	})
	var all sync.WaitGroup
	jobs, errs := make([]uuid.UUID, 8), make([]error, 8)
	for i := range jobs {
		all.Go(func() { jobs[i], errs[i] = p.Intents.MeasureHost(t.Context(), p.Call, host, 0, i+1) })
	}
	all.Wait()
	for i := range jobs {
		if errs[i] != nil || jobs[i] != jobs[0] || jobs[i] == uuid.Nil {
			t.Errorf("%d: job %s, %v; not %s", i, jobs[i], errs[i], jobs[0])
		}
	}
	close(goOn)
	p.Ended(jobs[0], domain.JobSucceeded)
	if again := p.measure(host, 1); again == jobs[0] {
		t.Error("the job that has ended is the answer")
	}
	for _, samples := range []int{0, -1, domain.MaxSamples + 1} {
		var bad *domain.Invalid
		if _, err := p.Intents.MeasureHost(t.Context(), p.Call, host, 0, samples); !errors.As(err, &bad) {
			t.Errorf("%d samples: %v", samples, err)
		}
	}
}

// TestHostLiesAboutUse: what makes no sense is stored nowhere, and said.
func TestHostLiesAboutUse(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.allocated()
	lies := func(then bool) {
		p.Runner.HandleFunc("host_measure", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
			units, _, err := site.Asked(play)
			if err != nil {
				return ansible.Outcome{}, err
			}
			other := ansible.Event{Kind: ansible.EventResult, Host: "h2", Result: json.RawMessage(`{"units": []}`)}
			sink(other)
			for _, lie := range []map[string]any{{"cpu_millis": -1}, {"memory_bytes": "{{ 7 }}"}, {"disk_used_bytes": int64(1) << 62}, {"processes": 1e300}} {
				site.Sample(play, sink, units, usageWith(lie))
			}
			if then {
				site.Sample(play, sink, append(units, uuid.NewString()), site.Use)
			}
			return site.Play(ctx, play, sink, scripted.Script{})
		})
	}
	lies(false)
	j := p.Ended(p.measure(host, 5), domain.JobFailed)
	if j.Error == nil || j.Error.Code != domain.ErrCodeHostUnsupported || p.Allocation(a).Use != nil {
		t.Errorf("%+v, use %+v", j.Error, p.Allocation(a).Use)
	}
	lies(true)
	j = p.Ended(p.measure(host, 5), domain.JobSucceeded)
	if use := p.Allocation(a).Use; j.Outcome != "1 unit measured, 1 sample." || use == nil || *use.Processes != 17 {
		t.Errorf("%q, use %+v", j.Outcome, use)
	}
	p.Runner.Handle("host_measure", scripted.Script{})
	if j = p.Ended(p.measure(host, 1), domain.JobFailed); j.Error.Code != domain.ErrCodePlaybookError {
		t.Errorf("a playbook that measures nothing: %+v", j.Error)
	}
}

// TestUnitThatIsNotThereIsNotZero: nothing is known of it, and the numbers of
// before are not shown as those of now.
func TestUnitThatIsNotThereIsNotZero(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.allocated()
	p.Ended(p.measure(host, 1), domain.JobSucceeded)
	p.Runner.HandleFunc("host_measure", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		units, _, err := site.Asked(play)
		if err != nil {
			return ansible.Outcome{}, err
		}
		site.Sample(play, sink, units, map[string]any{"disk_used_bytes": 1, "disk_bytes": 2})
		return site.Play(ctx, play, sink, scripted.Script{})
	})
	p.Ended(p.measure(host, 1), domain.JobSucceeded)
	use := p.Allocation(a).Use
	if use == nil || use.CPUMillis != nil || use.MemoryBytes != nil || use.Processes != nil || *use.DiskBytes != 2 {
		t.Errorf("use: %+v", use)
	}
}
