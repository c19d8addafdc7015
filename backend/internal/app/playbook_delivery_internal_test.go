package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/playbook"
	"kloigos/backend/internal/area/playbook/playbookwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// deliverySite is an installation with ready hosts h1 to h5, the policy of deliveries, and a second version of a playbook.
type deliverySite struct {
	*site.Site
	hosts    []uuid.UUID
	playbook string
	sha      [3]string // of versions 1 and 2, by number
	policy   reconcile.Policy
	pool     *pgxpool.Pool
}

func newDeliverySite(t *testing.T, name string) *deliverySite {
	t.Helper()
	s := &deliverySite{Site: site.New(t), playbook: name}
	pool, err := pgxpool.New(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s.pool = pool
	for i := range 5 {
		s.hosts = append(s.hosts, s.ReadyHost(site.HostSpec{Name: fmt.Sprintf("h%d", i+1), Zone: "z"}).ID)
	}
	v, err := s.DB.VersionOnHost(t.Context(), name, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("another content of " + name)
	s.sha[1], s.sha[2] = v.SHA256, fmt.Sprintf("%x", sha256.Sum256(content))
	s.Tx(func(tx *store.Tx) error {
		_, number, _, err := tx.AddPlaybookVersion(t.Context(), store.PlaybookVersion{
			Playbook: name, SHA256: s.sha[2], SizeBytes: 1, DecodedBytes: 1, Files: 1, CreatedBy: "ada",
		}, content)
		if number != 2 {
			return fmt.Errorf("the second version is %d", number)
		}
		return err
	})
	intents := s.Intents
	parts := Parts{DB: s.DB.DB, CrossCheck: crossChecks(&intents), Probe: probes(&intents)}
	s.policy = playbookwork.Policy(playbookwork.Config{DB: s.DB.DB, Proof: playbookProof(parts)})
	s.BackendWith(s.Work(), queue.Config{})
	return s
}

func (s *deliverySite) do(f func(tx *kernel.Tx) error) error {
	call := kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Installation: true}
	return kernel.Engine{DB: s.DB.DB}.Do(s.T.Context(), call, f)
}

// deliver begins a delivery with h1 as its canary.
func (s *deliverySite) deliver(within time.Duration) uuid.UUID {
	s.T.Helper()
	var id uuid.UUID
	err := s.do(func(tx *kernel.Tx) (err error) {
		id, err = playbook.CreateDelivery(s.T.Context(), tx, playbook.DeliveryDraft{
			Name: "d", Playbook: s.playbook, Version: 2, Plan: rollout.Plan{Canaries: []string{"h1"}, First: 10, Groups: 1, WithinMS: within.Milliseconds()},
		}, playable())
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return id
}

func (s *deliverySite) delivery(id uuid.UUID) playbook.Delivery {
	s.T.Helper()
	d, err := playbook.DeliveryByID(s.T.Context(), s.DB.Reader, id)
	if err != nil {
		s.T.Fatal(err)
	}
	return d
}

// follow runs the policy until the delivery is as it is wanted.
func (s *deliverySite) follow(id uuid.UUID, until func(playbook.Delivery) bool) playbook.Delivery {
	s.T.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := s.policy.Run(s.T.Context(), reconcile.Item{ObjectID: id}); err != nil {
			s.T.Fatal(err)
		}
		if d := s.delivery(id); until(d) {
			return d
		}
	}
	d := s.delivery(id)
	targets, err := rollout.Targets(s.T.Context(), s.DB.Reader, rollout.TargetFilter{Rollout: id, Limit: 10})
	s.T.Fatalf("the delivery stays %s in wave %d: %s; %+v, %v", d.State, d.Wave, d.Reason, targets, err)
	return d
}

// holds is the number of the version that new jobs of a host are bound to.
func (s *deliverySite) holds(host uuid.UUID) int {
	s.T.Helper()
	v, err := s.DB.VersionOnHost(s.T.Context(), s.playbook, host)
	if err != nil {
		s.T.Fatal(err)
	}
	return v.Version
}

// played are the hosts on which the second version was played.
func (s *deliverySite) played() map[string]bool {
	hosts := map[string]bool{}
	for _, c := range s.Runner.Calls() {
		if c.Play.BundleSHA256 == s.sha[2] {
			for _, h := range c.Play.Hosts {
				hosts[h.Name] = true
			}
		}
	}
	return hosts
}

func ended(d playbook.Delivery) bool { return d.State.Ended() || d.State == rollout.Halted }

// TestAVersionReachesCanariesFirst: checks with the version prove each host, and then it is the default. Until then others keep theirs.
func TestAVersionReachesCanariesFirst(t *testing.T) {
	t.Parallel()
	s := newDeliverySite(t, "host_initialize")
	id := s.deliver(time.Minute)
	s.follow(id, func(d playbook.Delivery) bool { return d.Wave == 1 })
	if canary, other := s.holds(s.hosts[0]), s.holds(s.hosts[1]); canary != 2 || other != 1 {
		t.Fatalf("in the first wave version %d holds for the canary and %d for another host", canary, other)
	}
	err := s.Intents.SetDefaultPlaybookVersion(t.Context(), intent.By(s.Actor), s.playbook, 2, 0)
	if conflict := (*fault.Conflict)(nil); !errors.As(err, &conflict) || conflict.Code != "playbook_delivery_open" {
		t.Errorf("the default is changed beside the delivery: %v", err)
	}
	d := s.follow(id, ended)
	if d.State != rollout.Done || d.Waves != 3 {
		t.Fatalf("it is %s after %d waves: %s", d.State, d.Waves, d.Reason)
	}
	if played := s.played(); len(played) != 5 {
		t.Errorf("the version was played on %v", played)
	}
	if v, err := s.DB.VersionOnHost(t.Context(), s.playbook, uuid.Nil); err != nil || v.Version != 2 {
		t.Errorf("the default is version %d, %v", v.Version, err)
	}
	var left, told int
	if err := s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM host_playbooks), (SELECT count(*) FROM events WHERE action = 'playbook.set_default')`).Scan(&left, &told); err != nil || left != 0 || told != 1 {
		t.Errorf("%d hosts are bound still, %d events, %v", left, told, err)
	}
	if err := d.CanRollBack(); err == nil {
		t.Error("a delivery that is done can be rolled back")
	}
}

// TestAFailingVersionStaysOnItsCanary: the delivery halts, the default stays, and after the way back the canary has it again.
func TestAFailingVersionStaysOnItsCanary(t *testing.T) {
	t.Parallel()
	s := newDeliverySite(t, "host_initialize")
	s.Runner.HandleFunc("host_initialize", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		script := scripted.Script{Result: map[string]any{"units": []any{}, "volume_group": map[string]any{"size_bytes": 8 << 30, "free_bytes": 1 << 30}}}
		if p.BundleSHA256 == s.sha[2] {
			script = scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Task: "install", Message: "No package of this name."}}
		}
		return site.Play(ctx, p, sink, script)
	})
	id := s.deliver(time.Minute)
	d := s.follow(id, ended)
	if d.State != rollout.Halted || d.Wave != 1 || !strings.Contains(d.Reason, "h1") || !strings.Contains(d.Reason, "No package of this name") {
		t.Fatalf("it is %s in wave %d: %s", d.State, d.Wave, d.Reason)
	}
	if played := s.played(); len(played) != 1 || !played["h1"] {
		t.Errorf("the version was played on %v", played)
	}
	err := s.do(func(tx *kernel.Tx) error {
		return playbook.RollBackDelivery(t.Context(), tx, scope.Found[playbook.Delivery](id, uuid.Nil), d.Revision)
	})
	if err != nil {
		t.Fatal(err)
	}
	if d = s.follow(id, ended); d.State != rollout.Returned {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
	if canary, other := s.holds(s.hosts[0]), s.holds(s.hosts[1]); canary != 1 || other != 1 {
		t.Errorf("after the way back version %d holds for the canary and %d for another host", canary, other)
	}
}

// TestATenantProvesAVersion: where no check can be made, the next job that somebody asks for is the proof. A job of several hosts
// plays the version only if all of them have it.
func TestATenantProvesAVersion(t *testing.T) {
	t.Parallel()
	s := newDeliverySite(t, "unit_allocate")
	s.AddAddresses("default", 2)
	id := s.deliver(time.Minute)
	s.follow(id, func(d playbook.Delivery) bool { return d.Wave == 1 })
	_, key := site.NewKey(t)
	_, job, err := s.Allocate(intent.CreateAllocation{HostID: &s.hosts[0], LoginUser: "tenant", SSHKeys: []string{key}})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	if played := s.played(); len(played) != 1 || !played["h1"] {
		t.Errorf("the version was played on %v", played)
	}
	s.follow(id, func(d playbook.Delivery) bool { return d.Wave == 2 })
}

// TestAnUnusedVersionHalts: a version that no job tells anything of goes no further by itself.
func TestAnUnusedVersionHalts(t *testing.T) {
	t.Parallel()
	s := newDeliverySite(t, "unit_deallocate")
	id := s.deliver(10 * time.Second)
	s.follow(id, func(d playbook.Delivery) bool { return d.Wave == 1 })
	if _, err := s.pool.Exec(t.Context(), `UPDATE rollout_targets SET told_at = told_at - INTERVAL '11 seconds' WHERE state = 'told'`); err != nil {
		t.Fatal(err)
	}
	if d := s.follow(id, ended); d.State != rollout.Halted || !strings.Contains(d.Reason, "could prove") {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
}

// TestAJobOfSeveralHostsHasOneVersion: what a delivery gave to all of its hosts, else the default.
func TestAJobOfSeveralHostsHasOneVersion(t *testing.T) {
	t.Parallel()
	s := newDeliverySite(t, "host_probe")
	id := s.deliver(time.Minute)
	s.follow(id, func(d playbook.Delivery) bool { return d.Wave == 1 })
	for _, probe := range []struct {
		hosts []uuid.UUID
		want  string
	}{{s.hosts[:1], s.sha[2]}, {s.hosts[:2], s.sha[1]}} {
		job, err := s.Intents.ProbeHosts(t.Context(), intent.By(s.Actor).In(domain.DefaultWorkspace), probe.hosts)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.DB.PlaybookVersionByID(t.Context(), *s.Job(job).PlaybookVersionID)
		if err != nil || v.SHA256 != probe.want {
			t.Errorf("a probe of %d hosts has version %d, %v", len(probe.hosts), v.Version, err)
		}
	}
	if d := s.follow(id, ended); d.State != rollout.Done {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
}

// TestWhatCantBeDelivered says why.
func TestWhatCantBeDelivered(t *testing.T) {
	t.Parallel()
	s := newDeliverySite(t, "unit_allocate")
	plan := rollout.Plan{First: 10, Groups: 1, WithinMS: 60_000}
	lost := plan
	lost.Canaries = []string{"h9"}
	for want, draft := range map[string]playbook.DeliveryDraft{
		"no such playbook":          {Name: "d", Playbook: "nothing", Version: 2, Plan: plan},
		"no version 7":              {Name: "d", Playbook: s.playbook, Version: 7, Plan: plan},
		"the default already":       {Name: "d", Playbook: s.playbook, Version: 1, Plan: plan},
		"about clusters":            {Name: "d", Playbook: "kubeadm_init", Version: 2, Plan: plan},
		"No initialized host is":    {Name: "d", Playbook: s.playbook, Version: 2, Zone: "elsewhere", Plan: plan},
		"No initialized host of":    {Name: "d", Playbook: s.playbook, Version: 2, Plan: lost},
		"Use lower-case letters":    {Name: "D", Playbook: s.playbook, Version: 2, Plan: plan},
		"Use 1 to 100 percent":      {Name: "d", Playbook: s.playbook, Version: 2, Plan: rollout.Plan{Groups: 1, WithinMS: 60_000}},
		"Use the number of a versi": {Name: "d", Playbook: s.playbook, Plan: plan},
	} {
		err := s.do(func(tx *kernel.Tx) error {
			_, err := playbook.CreateDelivery(t.Context(), tx, draft, playable())
			return err
		})
		if invalid := (*fault.Invalid)(nil); !errors.As(err, &invalid) || !strings.Contains(fmt.Sprint(invalid.Fields), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s.deliver(time.Minute)
	err := s.do(func(tx *kernel.Tx) error {
		_, err := playbook.CreateDelivery(t.Context(), tx, playbook.DeliveryDraft{Name: "e", Playbook: s.playbook, Version: 2, Plan: plan}, playable())
		return err
	})
	if conflict := (*fault.Conflict)(nil); !errors.As(err, &conflict) || conflict.Code != "playbook_delivery_open" {
		t.Errorf("two deliveries of one playbook: %v", err)
	}
}
