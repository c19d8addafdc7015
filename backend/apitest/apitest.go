// Package apitest gives the test of a client a real installation: the API on a
// database of its own, a backend that carries jobs out with a scripted Ansible,
// and an account that can log in. It lies outside of internal so that clients
// such as the command line can be tested with it; nothing else may import it.
package apitest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/api"
	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/area/drift"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/config"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/worker"
	"kloigos/playbooks"
	"kloigos/rig/dnsserver"
)

// Site is one installation.
type Site struct {
	URL      string // of the API, without its prefix
	Account  string // of the administrator
	Password string

	t    testing.TB
	site *site.Site
	keys *secret.Keyset
}

// New makes an installation, which ends with the test. Every playbook succeeds.
func New(t testing.TB) *Site {
	t.Helper()
	s := &Site{Account: "admin", t: t, site: site.New(t)}
	password, _, err := intent.CreateAdministrator(t.Context(), s.site.DB, domain.Actor{Kind: domain.ActorInit, Name: "init"}, s.Account)
	if err != nil {
		t.Fatal(err)
	}
	s.Password = password
	areas := s.areas()
	s.site.Intents = intent.New(s.site.DB, intent.Config{Targets: s.site.Policy, Kinds: areas.Kinds})
	server := httpapi.New(httpapi.Config{
		Roles: iam.Permissions(api.Permissions()),
		Kinds: areas.Kinds, Areas: areas.Routes, Policies: s.reconcile(areas),
		DB: s.site.DB, Intents: s.site.Intents, Sessions: intent.NewSessions(s.site.DB), Signals: s.site.Signals, Version: "test",
		Contract: worker.Contract, Judge: judge.New("ansible-playbook"), Log: slog.New(slog.DiscardHandler),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	s.URL = "http://" + l.Addr().String()
	return s
}

// areas starts a backend that carries out all jobs, those of areas among them.
func (s *Site) areas() app.Areas {
	s.t.Helper()
	keys, err := secret.Create(filepath.Join(s.t.TempDir(), "keyset.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.keys, s.site.Keyset = keys, keys
	d := s.site.DB.DB
	areas, err := app.NewAreas(app.Parts{DB: d, Engine: kernel.Engine{DB: d}, Keyset: keys, Config: config.Config{
		DNSResolver: &netip.AddrPort{}, ChannelNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		ManagementNetworks: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")},
	}, Version: "test", Repair: s.repair, Play: s.site.Worker(nil).PlayFor, LogIn: nobody, Intents: &s.site.Intents})
	if err != nil {
		s.t.Fatal(err)
	}
	runner := &work.Runner{DB: d, Registry: areas.Kinds, Handlers: areas.Handlers, Backend: "test"}
	s.site.BackendWith(queue.Kinds(runner, s.site.Work()), queue.Config{})
	return areas
}

// nobody logs in: the SSH server of a test lets nobody in.
func nobody(context.Context, uuid.UUID, []byte) error { return iam.ErrLoginRefused }

// repair asks for the job that made a host, or a unit if there is one.
func (s *Site) repair(ctx context.Context, by audit.Actor, host, unit, allocation uuid.UUID) (uuid.UUID, error) {
	if unit == uuid.Nil {
		return s.site.Intents.InitializeHost(ctx, intent.By(by), host, 0, false)
	}
	return s.site.Intents.SetUpAgain(ctx, intent.By(by), allocation)
}

// Drift lets a host be found otherwise than it was promised.
func (s *Site) Drift(host string) error {
	found, _, err := drift.FindScope(s.t.Context(), s.site.DB.Reader, domain.DefaultWorkspace, drift.HostNoun, host)
	if err != nil {
		return err
	}
	h, err := drift.HostByID(s.t.Context(), s.site.DB.Reader, found.ID)
	if err != nil {
		return err
	}
	_, err = drift.Record(s.t.Context(), s.site.DB.DB, "drift", h, []drift.Finding{{Name: h.Name, Promise: "hidepid", Promised: "proc=hidden", Found: "proc=shown"}})
	return err
}

// Snapshot makes a snapshot of a cluster, both by their ids, as its job does when all of its one part is here.
func (s *Site) Snapshot(cluster, id string) error {
	ctx := s.t.Context()
	c, err := kube.ClusterByID(ctx, s.site.DB.Reader, uuid.MustParse(cluster))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(nil)
	made, err := kube.NewSnapshot(s.keys, c, uuid.MustParse(id), "k1", time.Now(), kube.TakenSnapshot{Size: 1 << 20, Stored: 1 << 10, Parts: 1, SHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	cipher, err := made.Cipher(s.keys)
	if err != nil {
		return err
	}
	return s.site.DB.InTx(ctx, func(tx *store.Tx) error {
		if err := kube.BeginSnapshot(ctx, tx.Tx, made); err != nil {
			return err
		}
		if err := kube.PutPart(ctx, tx.Tx, made.ID, 0, cipher.Seal(0, nil)); err != nil {
			return err
		}
		return kube.FinishSnapshot(ctx, tx.Tx, audit.Actor{Kind: audit.Policy, Name: "test"}, uuid.New(), made)
	})
}

// EnrolAgent enrols the agent of a host with a token, as the program there does.
func (s *Site) EnrolAgent(host, token string) error {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	machine, boot := site.Facts(host).MachineID, uuid.NewString()
	body, err := json.Marshal(api.AgentEnrol{
		Token: token, PublicKey: public, MachineID: machine, BootID: boot, Version: "1.0.0",
		Signature: ed25519.Sign(key, api.AgentProofText("enrol", token, machine, boot)),
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+api.AgentPrefix+"/enrol", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("enrol: %s", response.Status)
	}
	return nil
}

// StoreAgentBuild puts a build of the agent there, as init does with a release. Its bytes are no program, and nothing runs it.
func (s *Site) StoreAgentBuild(version string) error {
	sum := sha256.Sum256([]byte(version))
	_, err := agent.PutBuild(s.t.Context(), s.site.DB.DB, agent.Build{
		Version: version, Arch: "amd64", Expires: time.Now().Add(time.Hour), Size: int64(len(version)), SHA256: hex.EncodeToString(sum[:]),
		Manifest: []byte("manifest"), Signature: []byte("signature"),
	}, strings.NewReader(version), api.AgentPartSize)
	return err
}

// NameServer is a real one, which takes updates of its zone with a key.
type NameServer struct {
	Address, Zone, KeyName, KeySecret string
}

// NameServer starts a name server on loopback. The lines are records of its zone, example.org.
func (s *Site) NameServer(records ...string) *NameServer {
	s.t.Helper()
	server := dnsserver.Knot(s.t, dnsserver.Options{Records: records})
	return &NameServer{server.Address, server.Zone, server.SHA256.Name, server.SHA256.Secret}
}

// reconcile runs the policies until the test ends.
func (s *Site) reconcile(areas app.Areas) *reconcile.Registry {
	s.t.Helper()
	db := s.site.DB
	all := append(policy.Policies(db, policy.Retention{}), areas.Policies...)
	all = append(all, reconcile.InFlight(db.DB, append(s.site.Intents.InFlight(), areas.InFlight...))...)
	registry, err := reconcile.NewRegistry(policy.NotReconciled(), append(all, reconcile.Lag(db.DB, all))...)
	if err != nil {
		s.t.Fatal(err)
	}
	registry.Trigger(db.DB)
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		reconcile.New(db.DB, registry, reconcile.Config{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}).Run(ctx)
	})
	s.t.Cleanup(func() { stop(); done.Wait() })
	return registry
}

// ReadyHost makes a host whose units, one for each set of CPUs, are free.
func (s *Site) ReadyHost(name string, cpus ...string) {
	s.t.Helper()
	s.site.ReadyHost(site.HostSpec{Name: name, Units: cpus})
}

// SSHServer listens as a host does, and returns its port and host key.
func (s *Site) SSHServer() (port int, key string) {
	s.t.Helper()
	server := site.NewSSHServer(s.t)
	return server.Port, server.Key()
}

// NewKey makes a key of a tenant, as a line of authorized_keys.
func (s *Site) NewKey() string {
	s.t.Helper()
	_, public := site.NewKey(s.t)
	return public
}

// Fail has the runs of a playbook fail at a task from now on.
func (s *Site) Fail(playbook, message string) {
	s.site.Runner.HandleFunc(playbook, func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		const task = "A task"
		return site.Play(ctx, p, sink, scripted.Script{
			Events: []ansible.Event{
				{Kind: ansible.EventTaskStarted, Task: task},
				{Kind: ansible.EventFailed, Task: task, Host: p.Hosts[0].Name, Message: message},
			},
			Failure: &ansible.Failure{Task: task, Message: message},
		})
	})
}

// Succeed has all playbooks succeed again.
func (s *Site) Succeed() { s.site.Succeed() }

// HoldProbes keeps probes from ending until release is called, or until they are
// cancelled.
func (s *Site) HoldProbes() (release func()) {
	wait := make(chan struct{})
	s.site.Runner.Handle("host_probe", scripted.Script{Wait: wait, ResultOf: func(host string) any { return site.Facts(host) }})
	return func() { close(wait) }
}

// Packaged is a playbook of this release, its files by their paths.
func (s *Site) Packaged(playbook string) map[string][]byte {
	s.t.Helper()
	packed, err := bundle.Build(playbooks.Files, playbook)
	if err != nil {
		s.t.Fatal(err)
	}
	files, err := bundle.All(packed.Content, bundle.DefaultLimits)
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}
