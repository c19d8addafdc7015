package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// place is a site with a backend and an SSH server that hosts answer with.
type place struct {
	*site.Site
	ssh *site.SSHServer
}

func setup(t *testing.T) place {
	t.Helper()
	p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
	p.Backend()
	return p
}

func (p place) register(name string, trust bool) (host, job uuid.UUID) {
	p.T.Helper()
	host, job, err := p.Intents.RegisterHost(p.T.Context(), p.Call, intent.RegisterHost{Name: name, Address: "127.0.0.1", Port: p.ssh.Port, AdminUser: "operator1", TrustOnFirstUse: trust})
	if err != nil {
		p.T.Fatal(err)
	}
	return host, job
}

// probed registers a host and has it probed.
func (p place) probed(name string) uuid.UUID {
	p.T.Helper()
	host, job := p.register(name, true)
	p.Ended(job, domain.JobSucceeded)
	return host
}

func (p place) laidOut(name string) uuid.UUID {
	p.T.Helper()
	host := p.probed(name)
	_, err := p.Intents.SetLayout(p.T.Context(), p.Call, host, 0, domain.LayoutRequest{Count: 2, CPUsEach: 3, Devices: []string{site.Disk}})
	if err != nil {
		p.T.Fatal(err)
	}
	return host
}

func (p place) ready(name string) uuid.UUID {
	p.T.Helper()
	host := p.laidOut(name)
	p.Ended(p.initialize(host), domain.JobSucceeded)
	return host
}

func (p place) initialize(host uuid.UUID) uuid.UUID {
	p.T.Helper()
	job, err := p.Intents.InitializeHost(p.T.Context(), p.Call, host, 0, false)
	if err != nil {
		p.T.Fatal(err)
	}
	return job
}

func (p place) allocated() uuid.UUID {
	p.T.Helper()
	a, job, err := p.Allocate(intent.CreateAllocation{LoginUser: "tenant1"})
	if err != nil {
		p.T.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	return a
}

func (p place) deallocate(a uuid.UUID) uuid.UUID {
	p.T.Helper()
	job, err := p.Intents.Deallocate(p.T.Context(), p.Call, a, 0, p.Allocation(a).LoginUser)
	if err != nil {
		p.T.Fatal(err)
	}
	return job
}

func (p place) must(job uuid.UUID, err error) uuid.UUID {
	p.T.Helper()
	if err != nil {
		p.T.Fatal(err)
	}
	return job
}

// wantStates holds the states of everything that an allocation is about against these.
func (p place) wantStates(a uuid.UUID, allocation domain.AllocationState, unit domain.UnitState, address domain.AddressState) {
	p.T.Helper()
	got := p.Allocation(a)
	u, err := p.DB.Unit(p.T.Context(), got.UnitID)
	if err != nil {
		p.T.Fatal(err)
	}
	at, err := p.DB.AddressByValue(p.T.Context(), got.Address)
	if err != nil {
		p.T.Fatal(err)
	}
	if got.State != allocation || u.State != unit || at.State != address {
		p.T.Errorf("allocation %s, unit %s, address %s; not %s, %s, %s", got.State, u.State, at.State, allocation, unit, address)
	}
}

func actions(events []store.Event) (all []string) {
	for _, e := range events {
		line := e.Action
		if strings.HasPrefix(e.Action, "job.") && e.ActorKind == domain.ActorBackend {
			var after struct{ End string }
			_ = json.Unmarshal(e.After, &after)
			line += " " + after.End
		}
		all = append(all, line)
	}
	return all
}

var taskFailed = scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Task: "Make the volume", Message: "no space left on device"}}

// TestFromRegistrationToRemoval is the whole life of a host and of a unit.
func TestFromRegistrationToRemoval(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	ctx := t.Context()

	host := p.probed("h1")
	h := p.Host(host)
	if h.State != domain.HostProbed || h.HostKey != p.ssh.Key() || h.Health != domain.HealthHealthy || h.MachineID == nil || *h.MachineID != site.Facts("h1").MachineID {
		t.Fatalf("probed: %+v", h)
	}
	if p.ssh.Authentications() != 0 {
		t.Error("something was sent to a host whose key was not checked yet")
	}
	layout, err := p.Intents.SetLayout(ctx, p.Call, host, h.Version, domain.LayoutRequest{Count: 2, CPUsEach: 3, Devices: []string{site.Disk}})
	if err != nil {
		t.Fatal(err)
	}
	// Set again: the first units are forgotten, and ordinals begin at 1 again.
	if _, err := p.Intents.SetLayout(ctx, p.Call, host, h.Version, domain.LayoutRequest{Count: 1, CPUsEach: 1, Devices: []string{site.Disk}}); err == nil {
		t.Error("a layout was set against an older version of the host")
	}
	if _, err := p.Intents.SetLayout(ctx, p.Call, host, p.Host(host).Version, domain.LayoutRequest{Count: 2, CPUsEach: 3, Devices: []string{site.Disk}}); err != nil {
		t.Fatal(err)
	}
	units := p.Units(host)
	if len(units) != 2 || units[0].Name != "h1-cu01" || units[0].State != domain.UnitPreparing || units[0].CPUs != layout.Units[0].CPUs {
		t.Fatalf("units %+v", units)
	}
	init := p.Ended(p.initialize(host), domain.JobSucceeded)
	if h = p.Host(host); h.State != domain.HostReady || !h.Fenced || h.Units["free"] != 2 || h.FenceNumber != 2 || h.Facts.VolumeGroups[0].SizeBytes != 8<<30 {
		t.Fatalf("initialized: %+v", h)
	}
	if d := h.Facts.Devices; len(d) != 1 || !slices.Equal(d[0].Signatures, []string{"LVM2_member"}) {
		t.Errorf("the disk that was taken is shown as %+v", d)
	}

	for _, s := range init.Steps {
		if s.State != domain.StepSucceeded || s.FinishedAt == nil {
			t.Errorf("step %+v", s)
		}
	}

	a := p.allocated()
	p.wantStates(a, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	if got := p.Allocation(a); got.KeysApplied != got.KeysVersion || got.UID < intent.DefaultFirstUID || got.HostID != host {
		t.Errorf("allocation %+v", got)
	}
	_, other := site.NewKey(t)
	keys := p.must(p.Intents.ReplaceKeys(ctx, p.Call, a, 0, []string{other}))
	p.Ended(keys, domain.JobSucceeded)
	if got := p.Allocation(a); got.KeysApplied != 2 || got.SSHKeys[0] != other {
		t.Errorf("keys %+v", got)
	}
	if _, err := p.Intents.DecommissionHost(ctx, p.Call, host, 0); err == nil {
		t.Error("a host with an allocation was decommissioned")
	}
	before := p.Allocation(a)
	p.Ended(p.deallocate(a), domain.JobSucceeded)
	after := p.Allocation(a)
	if after.State != domain.AllocationDeallocated || after.EndedAt == nil {
		t.Errorf("deallocated: %+v", after)
	}
	unit, err := p.DB.Unit(ctx, after.UnitID)
	if err != nil || unit.State != domain.UnitFree || unit.WipedAt == nil || unit.Wipe == nil || unit.Wipe.Method != "discard" || unit.Wipe.AllocationID != a.String() {
		t.Errorf("wiped unit: %+v, %v", unit, err)
	}
	if at, err := p.DB.AddressByValue(ctx, before.Address); err != nil || at.State != domain.AddressFree || at.AllocationID != nil {
		t.Errorf("address: %+v, %v", at, err)
	}

	p.Ended(p.must(p.Intents.DecommissionHost(ctx, p.Call, host, 0)), domain.JobSucceeded)
	if h = p.Host(host); h.State != domain.HostDecommissioned || h.Fenced || len(h.Units) != 0 {
		t.Errorf("decommissioned: %+v", h)
	}
	if err := p.Intents.RemoveHost(ctx, p.Call, host, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.DB.ShownHostByName(ctx, domain.DefaultWorkspace, "h1"); err == nil {
		t.Error("a removed host is still found by its name")
	}
	if _, err := p.Intents.ProbeHost(ctx, p.Call, host, 0); err == nil {
		t.Error("a removed host was probed")
	}
	p.ready("h1") // the name, the machine and the units' names are free again

	want := []string{
		"host.register", "host.trust_key", "job.host_probe succeeded", "host.set_layout", "host.set_layout", "host.initialize",
		"job.host_initialize succeeded", "host.decommission", "job.host_decommission succeeded", "host.remove",
	}
	if diff := cmp.Diff(want, actions(p.Events(host))); diff != "" {
		t.Errorf("events of the host:\n%s", diff)
	}
	want = []string{
		"allocation.create", "job.unit_allocate succeeded", "allocation.replace_keys", "job.allocation_keys succeeded",
		"allocation.deallocate", "job.unit_deallocate succeeded",
	}
	if diff := cmp.Diff(want, actions(p.Events(a))); diff != "" {
		t.Errorf("events of the allocation:\n%s", diff)
	}
	p.noSecrets()
}

// noSecrets looks for the private key wherever a person could read it.
func (p place) noSecrets() {
	p.T.Helper()
	all, err := p.DB.Events(p.T.Context(), store.EventFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 1000})
	if err != nil || len(all) == 0 {
		p.T.Fatalf("events: %d, %v", len(all), err)
	}
	jobs, err := p.DB.Jobs(p.T.Context(), store.JobFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 1000})
	if err != nil || len(jobs) == 0 {
		p.T.Fatalf("jobs: %d, %v", len(jobs), err)
	}
	var seen bytes.Buffer
	enc := json.NewEncoder(&seen)
	for _, e := range all {
		if e.ActorName == "" || e.Action == "" || e.ObjectKind == "" {
			p.T.Errorf("an event that tells nothing: %+v", e)
		}
		_ = enc.Encode(e)
	}
	for _, j := range jobs {
		_ = enc.Encode(j)
		log, err := p.DB.JobLog(p.T.Context(), j.ID, 0, 10_000)
		if err != nil {
			p.T.Fatal(err)
		}
		_ = enc.Encode(log)
	}
	for _, line := range strings.Split(p.PrivateKey, "\n")[1:3] {
		if strings.Contains(seen.String(), line) || strings.Contains(seen.String(), "PRIVATE KEY") {
			p.T.Error("the private key stands in events, jobs or logs")
		}
	}
}

func TestAPersonConfirmsTheKey(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host, job := p.register("h1", false)
	j := p.Ended(job, domain.JobSucceeded)
	h := p.Host(host)
	if h.State != domain.HostAwaitingHostKey || h.OfferedHostKey != p.ssh.Key() || h.HostKey != "" || !strings.Contains(j.Outcome, intent.Fingerprint(p.ssh.Key())) {
		t.Fatalf("%+v, %q", h, j.Outcome)
	}
	if len(p.Runner.Calls()) != 0 {
		t.Error("a play was run on a host whose key nobody knows")
	}
	if _, err := p.Intents.ConfirmHostKey(t.Context(), p.Call, host, 0, "SHA256:other"); err == nil {
		t.Error("another fingerprint was confirmed")
	}
	p.Ended(p.must(p.Intents.ConfirmHostKey(t.Context(), p.Call, host, 0, intent.Fingerprint(p.ssh.Key()))), domain.JobSucceeded)
	if h = p.Host(host); h.State != domain.HostProbed || h.HostKey != p.ssh.Key() || h.OfferedHostKey != "" {
		t.Errorf("%+v", h)
	}
}

func TestChangedKeyStopsEverything(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	plays := len(p.Runner.Calls())
	was := p.ssh.Key()
	now := p.ssh.ChangeKey(t)
	j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
	if j.Error.Code != domain.ErrCodeHostKeyChanged || j.Error.NextStep == "" || !strings.Contains(j.Error.Message, intent.Fingerprint(now)) {
		t.Errorf("%+v", j.Error)
	}
	h := p.Host(host)
	if h.HostKey != was || h.OfferedHostKey != now || h.State != domain.HostReady || len(p.Runner.Calls()) != plays {
		t.Errorf("%+v, %d plays", h, len(p.Runner.Calls())-plays)
	}
	p.Ended(p.must(p.Intents.ConfirmHostKey(t.Context(), p.Call, host, 0, intent.Fingerprint(now))), domain.JobSucceeded)
	if h = p.Host(host); h.HostKey != now || h.OfferedHostKey != "" {
		t.Errorf("confirmed: %+v", h)
	}
}

// TestAKeyThatCameAndWentIsNotOffered any more: it may have been an attacker's.
func TestAKeyThatCameAndWentIsNotOffered(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	real := p.ssh.Key()
	p.Tx(func(tx *store.Tx) error { return tx.OfferHostKey(t.Context(), host, "ssh-ed25519 attacker") })
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	if h := p.Host(host); h.HostKey != real || h.OfferedHostKey != "" {
		t.Errorf("%+v", h)
	}
}

func TestProbesThatMeetAnotherMachine(t *testing.T) {
	t.Parallel()
	p := setup(t)
	h1 := p.probed("h1")
	p.Runner.Handle("host_probe", scripted.Script{Result: site.Facts("h1")}) // the same machine answers under another name
	h2, job := p.register("h2", true)
	if j := p.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeDuplicate || !strings.Contains(j.Error.Message, "registered as host h1;") || j.Error.NextStep == "" || j.Steps[1].State != domain.StepFailed {
		t.Errorf("duplicate: %+v, %+v", j.Error, j.Steps)
	}
	if h := p.Host(h2); h.State != domain.HostRegistered || h.Facts != nil {
		t.Errorf("duplicate: %+v", h)
	}
	p.Runner.Handle("host_probe", scripted.Script{Result: site.Facts("somebody else")})
	if j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, h1, 0)), domain.JobFailed); j.Error.Code != domain.ErrCodeHostDiffers {
		t.Errorf("differs: %+v", j.Error)
	}
	if h := p.Host(h1); *h.MachineID != site.Facts("h1").MachineID {
		t.Errorf("differs: %+v", h)
	}
	lies := site.Facts("h1")
	lies.CPUs[0].Node = 99
	for _, result := range []any{lies, "no object", nil} {
		p.Runner.Handle("host_probe", scripted.Script{Result: result})
		if j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, h1, 0)), domain.JobFailed); j.Error.Code != domain.ErrCodeHostUnsupported {
			t.Errorf("%v: %+v", result, j.Error)
		}
	}
}

// TestAHostWithFaultsLeavesPlacement until a probe no longer finds them; jobs
// that succeed there meanwhile don't make it healthy.
func TestAHostWithFaultsLeavesPlacement(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 3)
	host := p.ready("h1")
	tenant := p.allocated()
	uplink := p.Host(host).Facts.Uplink
	unwell, lost := site.Facts("h1"), site.Facts("h1")
	unwell.Faults = []string{"Unit h1-cu01 lacks: address 10.0.2.101 on ens3."}
	lost.Uplink = domain.Uplink{}
	less := site.Facts("h1") // huge pages have taken what units were promised
	less.Nodes[0].ReservedBytes, less.Nodes[1].ReservedBytes = 7<<30, 7<<30
	less.IDOverlaps = []string{"ada (UID 200001) in the range 134466 to 200001 of debian (/etc/subuid)"}
	for want, facts := range map[string]domain.Facts{
		unwell.Faults[0]: unwell, "No interface carries an IPv4 default route now": lost, "The host has less than its layout promises: ": less,
	} {
		p.Runner.Handle("host_probe", scripted.Script{Result: facts})
		job := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
		if said := job.Outcome; strings.Contains(said, "Subordinate IDs of others reach into tenants: ada (UID 200001)") != (len(facts.IDOverlaps) > 0) {
			t.Errorf("%s: the probe says %q", want, said)
		}
		var none *intent.NoCapacity
		_, _, err := p.Allocate(intent.CreateAllocation{LoginUser: "tenant2"})
		if h := p.Host(host); h.Health != domain.HealthDegraded || !strings.Contains(h.HealthMessage, want) || h.Facts.Uplink != uplink || !errors.As(err, &none) {
			t.Errorf("%s: %s, %q, uplink %+v, %v", want, h.Health, h.HealthMessage, h.Facts.Uplink, err)
		}
		if !slices.ContainsFunc(none.Why.RuledOut, func(r domain.RuledOut) bool { return r.Filter == "host_health" && r.Units == 1 }) {
			t.Errorf("%s: %+v", want, none.Why)
		}
	}
	p.Ended(p.deallocate(tenant), domain.JobSucceeded)
	if h := p.Host(host); h.Health != domain.HealthDegraded {
		t.Errorf("after a job: %s", h.Health)
	}
	p.Runner.Handle("host_probe", scripted.Script{Result: site.Facts("h1")})
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	if h := p.Host(host); h.Health != domain.HealthHealthy || h.HealthMessage != "" {
		t.Errorf("after a probe: %s, %q", h.Health, h.HealthMessage)
	}
	p.allocated()
}

// TestDeclaredLost: everything on the host ends, and what ran is told.
func TestDeclaredLost(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	host := p.ready("h1")
	a := p.allocated()
	begun := make(chan struct{}, 1)
	p.Runner.HandleFunc("unit_allocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	b, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	if err := p.Intents.DeclareHostLost(t.Context(), p.Call, host, 0, "h2"); err == nil {
		t.Error("declared lost without its name being typed")
	}
	if err := p.Intents.DeclareHostLost(t.Context(), p.Call, host, 0, "h1"); err != nil {
		t.Fatal(err)
	}
	p.wantStates(a, domain.AllocationLost, domain.UnitRemoved, domain.AddressQuarantined)
	p.wantStates(b, domain.AllocationLost, domain.UnitRemoved, domain.AddressQuarantined)
	if j := p.Job(job); j.State != domain.JobFailed || j.Error.Code != "host_lost" {
		t.Errorf("%+v", j)
	}
	if h := p.Host(host); h.State != domain.HostLost || h.LiveAllocations != 0 || len(h.Units) != 0 {
		t.Errorf("%+v", h)
	}
	for _, again := range []error{
		func() error { _, err := p.Intents.ProbeHost(t.Context(), p.Call, host, 0); return err }(),
		p.Intents.RetryJob(t.Context(), p.Call, job, false),
	} {
		if again == nil {
			t.Error("a lost host is worked on")
		}
	}
	at, err := p.DB.AddressByValue(t.Context(), p.Allocation(a).Address)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Intents.ReleaseAddress(t.Context(), p.Call, at.ID, 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Intents.RemoveHost(t.Context(), p.Call, host, 0); err != nil {
		t.Fatal(err)
	}
	p.Succeed()
	// The machine answers again, under another address and name: refused.
	p.Runner.HandleFunc("host_probe", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, play, sink, scripted.Script{Result: site.Facts("h1")})
	})
	again, probe := p.register("h9", true)
	if j := p.Ended(probe, domain.JobFailed); j.Error.Code != domain.ErrCodeMachineLost || j.Error.NextStep == "" || !strings.Contains(j.Error.Message, "lost as host h1") {
		t.Errorf("%+v", j.Error)
	}
	if h := p.Host(again); h.State != domain.HostRegistered || h.Facts != nil || h.MachineID != nil {
		t.Errorf("%+v", h)
	}
	if err := p.Intents.RemoveHost(t.Context(), p.Call, again, 0); err != nil {
		t.Fatal(err)
	}
	// Installed anew it is another machine.
	p.Runner.HandleFunc("host_probe", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, play, sink, scripted.Script{Result: site.Facts("h1 anew")})
	})
	p.ready("h1")
}

// TestKeysAreReadUnderTheLock: a job that loaded an allocation and then had to
// wait for the host's lock brings the keys of now, and nothing to a unit that
// is being given back.
func TestKeysAreReadUnderTheLock(t *testing.T) {
	t.Parallel()
	if testkit.IsCockroach(t) {
		t.Skip("looks at PostgreSQL's own table of locks")
	}
	p := place{Site: site.New(t)}
	p.AddAddresses("default", 2)
	h := p.ReadyHost(site.HostSpec{Units: []string{"1"}})
	p.Backend()
	a := p.allocated()
	_, second := site.NewKey(t)
	_, third := site.NewKey(t)

	one, release := p.heldUp(h.ID, a, second)
	two := p.must(p.Intents.ReplaceKeys(t.Context(), p.Call, a, 0, []string{third}))
	release()
	p.Ended(one, domain.JobSucceeded)
	p.Ended(two, domain.JobSucceeded)
	for _, c := range p.Runner.Calls()[1:] {
		if !bytes.Contains(c.Vars, []byte(third)) {
			t.Error("keys that were replaced are brought to the host")
		}
	}
	if got := p.Allocation(a); got.KeysApplied != 3 {
		t.Errorf("%+v", got)
	}

	late, release := p.heldUp(h.ID, a, second)
	plays := len(p.Runner.Calls())
	gone := p.deallocate(a)
	release()
	if j := p.Ended(late, domain.JobFailed); j.Error.Code != domain.ErrCodeSuperseded {
		t.Errorf("%+v", j.Error)
	}
	p.Ended(gone, domain.JobSucceeded)
	if n := len(p.Runner.Calls()) - plays; n != 1 {
		t.Errorf("%d plays, of which one is the wipe", n)
	}
}

// heldUp has keys replaced by a job that has loaded everything and waits for
// the host's lock, until release.
func (p place) heldUp(host, allocation uuid.UUID, key string) (job uuid.UUID, release func()) {
	p.T.Helper()
	conn, err := pgx.Connect(p.T.Context(), p.URL)
	if err != nil {
		p.T.Fatal(err)
	}
	tx, err := conn.Begin(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	if _, err := tx.Exec(p.T.Context(), `SELECT 1 FROM host_locks WHERE host_id = $1 FOR UPDATE`, host); err != nil {
		p.T.Fatal(err)
	}
	job = p.must(p.Intents.ReplaceKeys(p.T.Context(), p.Call, allocation, 0, []string{key}))
	site.Eventually(p.T, "the job to wait for the lock", func() bool {
		var waiting int
		err := tx.QueryRow(p.T.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting > 0
	})
	return job, func() {
		_ = tx.Rollback(context.Background())
		_ = conn.Close(context.Background())
	}
}

// TestAProbeMayEndWhileTheHostIsInitialized.
func TestAProbeMayEndWhileTheHostIsInitialized(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	p.Runner.HandleFunc("host_probe", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: goOn, Result: site.Facts("h1")})
	})
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook == "playbook.yml" {
			close(goOn)
			site.Eventually(t, "the end of the probe", func() bool { return p.jobs("host_probe", "running") == 0 })
		}
		return site.Play(ctx, play, sink, scripted.Script{})
	})
	probe := p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0))
	site.Await(t, "the probe", begun)
	init := p.initialize(host)
	p.Ended(probe, domain.JobSucceeded)
	p.Ended(init, domain.JobSucceeded)
}

func (p place) jobs(kind, state string) int {
	jobs, err := p.DB.Jobs(context.Background(), store.JobFilter{WorkspaceID: domain.DefaultWorkspace, Kind: kind, State: state, Limit: 100})
	if err != nil {
		return -1
	}
	return len(jobs)
}

// TestTheLogTellsWhatHappened, step by step, without a gap.
func TestTheLogTellsWhatHappened(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.Runner.HandleFunc("host_probe", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, play, sink, scripted.Script{Result: site.Facts("h1"), Events: []ansible.Event{
			{Kind: ansible.EventTaskStarted, Task: "Read the facts", Role: "host_probe"}, {Kind: ansible.EventOK, Task: "Read the facts", Host: "h1", DurationMS: 12, Output: "ok"},
		}})
	})
	_, job := p.register("h1", true)
	p.Ended(job, domain.JobSucceeded)
	log, err := p.DB.JobLog(t.Context(), job, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for i, e := range log {
		if e.Sequence != int64(i+1) || e.Attempt != 1 || e.Time.IsZero() {
			t.Errorf("entry %d: %+v", i, e)
		}
		told = append(told, e.Step+" "+e.Kind)
	}
	if !slices.Contains(told, "host_key note") || !slices.Contains(told, "probe ok") || told[len(told)-1] != "probe finished" {
		t.Errorf("%q", told)
	}
	rest, err := p.DB.JobLog(t.Context(), job, log[1].Sequence, 1)
	if err != nil || len(rest) != 1 || rest[0].Sequence != log[2].Sequence {
		t.Errorf("from the middle: %+v, %v", rest, err)
	}
}
