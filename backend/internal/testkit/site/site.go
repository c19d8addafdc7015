// Package site gives a test a whole control plane without its API: a real
// database with the default scopes, an organization's key and playbooks, the
// intents, backends that run jobs, a scripted Ansible, and a real SSH server
// that shows a host key.
//
// It builds hosts and units through the store and the intents, never by SQL of
// its own, so that no test stands on a state that can't come about.
package site

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
	"kloigos/backend/internal/testkit/writeguard"
	"kloigos/backend/internal/worker"
)

// Site is one installation.
type Site struct {
	T       testing.TB
	URL     string
	DB      *store.DB
	Intents *intent.Intents
	Runner  *scripted.Runner
	Signals *queue.Signals
	Actor   domain.Actor
	Call    intent.Call // of the actor, without a key
	Policy  domain.TargetPolicy
	// PrivateKey is the organization's; it must not be seen anywhere.
	PrivateKey string
	// Keyset opens the keys of organizations that a test makes by the API; nil if it makes none.
	Keyset *secret.Keyset

	once   sync.Once
	server *SSHServer
}

// Playbooks are those that jobs are bound to.
var Playbooks = []string{"host_probe", "host_measure", "host_initialize", "host_decommission", "host_admin_key", "unit_allocate", "unit_deallocate", "kube_prepare", "kubeadm_init", "kubeadm_join", "kubeadm_reset", "kube_etcd", "kubeadm_upgrade", "kubeadm_certs"}

// New makes an installation. All playbooks succeed until a test says otherwise.
func New(t testing.TB) *Site {
	t.Helper()
	return NewWith(t, intent.Config{})
}

// NewWith makes an installation with its own range of UIDs, say.
func NewWith(t testing.TB, cfg intent.Config) *Site {
	t.Helper()
	url := testkit.MigratedURL(t)
	writes := writeguard.New(t)
	db, err := store.Open(t.Context(), url, store.WithTracer(multitracer.New(sqlguard.Tracer(t), writes)))
	if err != nil {
		t.Fatal(err)
	}
	writes.Watch(db.DB)
	t.Cleanup(db.Close)
	if testkit.Twice() {
		db.TryTwice()
	}
	cfg.Targets.AllowLoopback = true
	s := &Site{
		T: t, URL: url, DB: db, Intents: intent.New(db, cfg), Runner: scripted.New(), Signals: queue.NewSignals(), Policy: cfg.Targets,
		Actor: domain.Actor{Kind: domain.ActorAccount, ID: uuid.New(), Name: "ada", Address: "192.0.2.7", RequestID: "r-1"},
	}
	s.Call = intent.By(s.Actor).In(domain.DefaultWorkspace)
	private, public := NewKey(t)
	s.PrivateKey = private
	s.Tx(func(tx *store.Tx) error {
		if err := tx.EnsureDefaultScopes(t.Context()); err != nil {
			return err
		}
		key := store.OrganizationKey{OrganizationID: domain.DefaultOrganization, PublicKey: public, PrivateSealed: []byte("sealed:" + private)}
		if err := tx.InsertOrganizationKey(t.Context(), key); err != nil {
			return err
		}
		for _, name := range Playbooks {
			content := []byte("content of " + name)
			v := store.PlaybookVersion{Playbook: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(content)), SizeBytes: 1, DecodedBytes: 1, Files: 1, Seeded: true, CreatedBy: "init"}
			if _, _, err := tx.SeedPlaybook(t.Context(), name, v, content); err != nil {
				return err
			}
		}
		return nil
	})
	s.Succeed()
	return s
}

// Succeed lets every playbook succeed.
func (s *Site) Succeed() {
	s.Runner.Handle("host_probe", scripted.Script{ResultOf: func(host string) any { return Facts(host) }})
	s.Runner.HandleFunc("host_measure", Measured)
	s.Runner.Handle("host_initialize", scripted.Script{Result: map[string]any{"units": []any{}, "volume_group": map[string]any{"size_bytes": 8 << 30, "free_bytes": 1 << 30}}})
	s.Runner.Handle("host_decommission", scripted.Script{})
	s.Runner.Handle("unit_allocate", scripted.Script{})
	s.Runner.HandleFunc("unit_deallocate", Wiped)
}

// Use is what Measured tells of every unit.
var Use = map[string]any{
	"cpu_millis": 1250, "memory_bytes": 3 << 20, "cache_bytes": 1 << 20, "processes": 17, "disk_used_bytes": 5 << 20, "disk_bytes": 64 << 20,
	"received_bytes": 4 << 20, "sent_bytes": 2 << 20, "receive_rate": 1 << 10, "send_rate": 0,
}

// Measured answers host_measure: every unit uses the same, in each sample.
func Measured(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	units, samples, err := Asked(p)
	if err != nil {
		return ansible.Outcome{}, err
	}
	for range samples {
		Sample(p, sink, units, Use)
	}
	return Play(ctx, p, sink, scripted.Script{})
}

// Asked is the units that a measurement is asked for, and how often.
func Asked(p ansible.Play) (units []string, samples int, err error) {
	text, err := json.Marshal(p.Vars)
	if err != nil {
		return nil, 0, err
	}
	var vars struct {
		Units   []struct{ ID string } `json:"host_measure_units"`
		Samples []int                 `json:"host_measure_samples"`
	}
	if err := json.Unmarshal(text, &vars); err != nil {
		return nil, 0, err
	}
	for _, u := range vars.Units {
		units = append(units, u.ID)
	}
	return units, len(vars.Samples), nil
}

// Sample tells one sample: that each of the units uses this.
func Sample(p ansible.Play, sink func(ansible.Event), units []string, use map[string]any) {
	told := make([]map[string]any, len(units))
	for i, id := range units {
		told[i] = map[string]any{"id": id}
		maps.Copy(told[i], use)
	}
	raw, _ := json.Marshal(map[string]any{"units": told})
	sink(ansible.Event{Kind: ansible.EventResult, Host: p.Hosts[0].Name, Result: raw})
}

// Wiped answers unit_deallocate with the evidence that its playbook gives.
func Wiped(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	text, err := json.Marshal(p.Vars)
	if err != nil {
		return ansible.Outcome{}, err
	}
	var vars struct {
		Group string `json:"unit_deallocate_volume_group"`
		Unit  struct {
			ID, Volume string
			Bytes      int64 `json:"volume_bytes"`
		} `json:"unit_deallocate_unit"`
		Allocation struct {
			ID        string
			LoginUser string `json:"login_user"`
		} `json:"unit_deallocate_allocation"`
	}
	if err := json.Unmarshal(text, &vars); err != nil {
		return ansible.Outcome{}, err
	}
	return Play(ctx, p, sink, scripted.Script{Result: map[string]any{"wipe": map[string]any{
		"allocation_id": vars.Allocation.ID, "unit_id": vars.Unit.ID, "method": "discard", "device": "/dev/" + vars.Group + "/" + vars.Unit.Volume,
		"bytes": vars.Unit.Bytes, "bytes_read_back": 66 << 20, "seconds": 0.4, "file_system": uuid.NewString(), "wiped_at": time.Now().UTC().Format(time.RFC3339),
		"removed": []string{"/var/spool/cron/crontabs/" + vars.Allocation.LoginUser}, "leftovers": []string{},
	}}})
}

// Play runs one script, for use inside a Func.
func Play(ctx context.Context, p ansible.Play, sink func(ansible.Event), script scripted.Script) (ansible.Outcome, error) {
	one := scripted.New()
	one.Handle(p.Name, script)
	return one.Run(ctx, p, sink)
}

// Tx writes what a test needs; it ends the test if it can't.
func (s *Site) Tx(f func(*store.Tx) error) {
	s.T.Helper()
	if err := s.DB.InTx(s.T.Context(), f); err != nil {
		s.T.Fatalf("write: %v", err)
	}
}

// NewKey makes a key pair: PEM, and a line of an authorized_keys file.
func NewKey(t testing.TB) (private, public string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// opener opens what New sealed, and what a keyset did.
type opener struct{ keyset *secret.Keyset }

func (o opener) Open(sealed []byte, associated string) ([]byte, error) {
	private, ok := bytes.CutPrefix(sealed, []byte("sealed:"))
	switch {
	case !ok && o.keyset != nil:
		return o.keyset.Open(sealed, associated)
	case !ok || associated != domain.DefaultOrganization.String():
		return nil, fmt.Errorf("not sealed for %s", associated)
	}
	return private, nil
}

// Backend is a process that runs jobs.
type Backend struct {
	ID      uuid.UUID
	Queue   *queue.Queue
	stop    context.CancelFunc
	hard    context.CancelFunc
	stopped chan struct{}
}

// Stop is SIGTERM: nothing new is begun, what runs may end.
func (b *Backend) Stop() { b.stop() }

// Kill also ends what runs, as a second SIGTERM does.
func (b *Backend) Kill() { b.stop(); b.hard() }

// Stopped is closed when nothing runs any more.
func (b *Backend) Stopped() <-chan struct{} { return b.stopped }

// Worker carries jobs out; it counts in a registry, if not nil.
func (s *Site) Worker(r *prometheus.Registry) *worker.Worker {
	return worker.New(s.DB, s.Runner, opener{s.Keyset}, worker.Config{Name: "backend-1", Targets: s.Policy, Metrics: r})
}

// Work is what backends do by default.
func (s *Site) Work() queue.Work { return s.WorkCounted(nil) }

// WorkCounted is Work that counts in a registry.
func (s *Site) WorkCounted(r *prometheus.Registry) queue.Work { return s.Worker(r).Work }

// Backend starts a backend; it ends with the test.
func (s *Site) Backend() *Backend {
	return s.BackendWith(s.Work(), queue.Config{})
}

// BackendWith starts a backend that does something else, or otherwise.
func (s *Site) BackendWith(work queue.Work, cfg queue.Config) *Backend {
	s.T.Helper()
	b := &Backend{ID: uuid.New(), stopped: make(chan struct{})}
	if cfg.Poll == 0 {
		cfg.Poll = 10 * time.Millisecond
	}
	cfg.Worker = b.ID
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	asked := time.Now()
	place, err := s.DB.SeenBackend(s.T.Context(), store.Backend{ID: b.ID, Name: "backend-" + b.ID.String()[:4], Version: "test", Roles: "worker"})
	if err != nil {
		s.T.Fatal(err)
	}
	b.Queue = queue.New(s.DB, work, s.Signals, cfg)
	b.Queue.SetPlace(place, asked)
	var stop, hard context.Context
	stop, b.stop = context.WithCancel(context.Background())
	hard, b.hard = context.WithCancel(context.Background())
	go func() {
		defer close(b.stopped)
		b.Queue.Run(stop, hard)
	}()
	s.T.Cleanup(func() {
		b.Kill()
		select {
		case <-b.stopped:
		case <-time.After(30 * time.Second):
			s.T.Error("a backend does not stop")
		}
	})
	return b
}

const patience = 30 * time.Second

// Eventually waits until a condition holds, at most half a minute.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("in vain: waited for %s", what)
		}
	}
}

// Await waits for a channel that something is said on, or that is closed.
func Await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("in vain: waited for %s", what)
		panic("unreachable")
	}
}
