package site

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"kloigos/backend/internal/area/network"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// Facts are those of a host of eight CPUs on two NUMA nodes, with one empty
// disk; the machine-id comes from the name.
func Facts(host string) domain.Facts {
	id := sha256.Sum256([]byte(host))
	f := domain.Facts{
		MachineID: hex.EncodeToString(id[:16]), Hostname: host, Kernel: "6.1.0", Architecture: "x86_64", MemoryBytes: 16 << 30,
		OS:           domain.OSFacts{ID: "debian", VersionID: "12", Name: "Debian GNU/Linux 12 (bookworm)"},
		Nodes:        []domain.Node{{Node: 0, CPUs: "0-3", MemoryBytes: 8 << 30}, {Node: 1, CPUs: "4-7", MemoryBytes: 8 << 30}},
		Devices:      []domain.Device{{Path: "/dev/vdb", ByID: Disk, SizeBytes: 64 << 30, Discard: true}},
		VolumeGroups: []domain.VolumeGroup{},
		Uplink:       domain.Uplink{Interface: "ens3", Address: "10.0.2.15", Prefix: 24, Gateway: "10.0.2.2"},
		Capabilities: domain.Capabilities{CGroup2: true, CPUSet: true, AppArmor: true, NFTables: true, LVM: true, Systemd: "252", Python: "3.11.2"},
	}
	for c := range 8 {
		f.CPUs = append(f.CPUs, domain.CPU{CPU: c, Node: c / 4, Socket: c / 4, Core: c % 4})
	}
	return f
}

// Disk is the empty disk of a host with Facts.
const Disk = "/dev/disk/by-id/virtio-kloigos0"

// HostSpec is how a host is to be built; zero values are filled in.
type HostSpec struct {
	Name, Region, Zone, AdminUser string
	Port                          int // of its SSH server; that of all others if 0
	Networks                      []string
	Labels                        map[string]string
	Units                         []string // CPU sets; one unit each
}

// ReadyHost builds a host whose units are free, as its jobs would have left it.
func (s *Site) ReadyHost(spec HostSpec) store.Host {
	s.T.Helper()
	ctx := s.T.Context()
	if spec.Name == "" {
		spec.Name = "h-" + uuid.NewString()[:8]
	}
	if spec.AdminUser == "" {
		spec.AdminUser = "operator1"
	}
	if spec.Networks == nil {
		spec.Networks = []string{"default"}
	}
	if spec.Units == nil {
		spec.Units = []string{"1"}
	}
	if spec.Labels == nil {
		spec.Labels = map[string]string{}
	}
	if spec.Port == 0 {
		spec.Port = s.answers().Port
	}
	_, key := NewKey(s.T)
	h := store.Host{
		ID: uuid.New(), WorkspaceID: domain.DefaultWorkspace, OrganizationID: domain.DefaultOrganization, Name: spec.Name, Address: "127.0.0.1",
		Port: spec.Port, AdminUser: spec.AdminUser, Region: spec.Region, Zone: spec.Zone, Networks: spec.Networks, Labels: spec.Labels, Profile: "minimal",
		HostKey: key, State: domain.HostRegistered, Incarnation: uuid.New(),
	}
	r := domain.LayoutRequest{Devices: []string{Disk}}
	for _, cpus := range spec.Units {
		r.Units = append(r.Units, domain.LayoutUnit{CPUs: cpus})
	}
	layout, err := domain.PlanLayout(Facts(spec.Name), r)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Tx(func(tx *store.Tx) error {
		if err := tx.InsertHost(ctx, h); err != nil {
			return err
		}
		state := h.State
		move := func(events ...domain.Event) (err error) {
			for _, on := range events {
				if state, err = tx.MoveHost(ctx, h.ID, state, on); err != nil {
					return err
				}
			}
			return nil
		}
		if err := move(domain.ProbeRequested); err != nil {
			return err
		}
		if err := tx.SetHostFacts(ctx, h.ID, Facts(spec.Name)); err != nil {
			return err
		}
		if err := move(domain.ProbeSucceeded); err != nil {
			return err
		}
		probed, err := tx.Host(ctx, h.ID)
		if err != nil {
			return err
		}
		if err := tx.SetHostLayout(ctx, probed, layout, len(layout.Units)+1); err != nil {
			return err
		}
		for i, u := range layout.Units {
			if err := tx.InsertUnit(ctx, probed, uuid.New(), i+1, u); err != nil {
				return err
			}
		}
		if err := move(domain.InitializeRequested, domain.InitializeSucceeded); err != nil {
			return err
		}
		if err := tx.SetFenced(ctx, h.ID, true); err != nil {
			return err
		}
		_, err = tx.MoveUnitsOfHost(ctx, h.ID, domain.PrepareSucceeded, "")
		return err
	})
	return s.Host(h.ID)
}

// Host reads a host.
func (s *Site) Host(id uuid.UUID) store.Host {
	s.T.Helper()
	h, err := s.DB.Host(s.T.Context(), id)
	if err != nil {
		s.T.Fatalf("read host: %v", err)
	}
	return h
}

// ShownHost reads a host with the job that is active there.
func (s *Site) ShownHost(id uuid.UUID) store.ShownHost {
	s.T.Helper()
	h, err := s.DB.ShownHost(s.T.Context(), id)
	if err != nil {
		s.T.Fatalf("read host: %v", err)
	}
	return h
}

// Units reads the units of a host.
func (s *Site) Units(host uuid.UUID) []store.Unit {
	s.T.Helper()
	units, err := s.DB.UnitsOfHost(s.T.Context(), host)
	if err != nil {
		s.T.Fatalf("read units: %v", err)
	}
	return units
}

// Allocation reads an allocation.
func (s *Site) Allocation(id uuid.UUID) store.Allocation {
	s.T.Helper()
	a, err := s.DB.Allocation(s.T.Context(), id)
	if err != nil {
		s.T.Fatalf("read allocation: %v", err)
	}
	return a
}

// Job reads a job.
func (s *Site) Job(id uuid.UUID) store.Job {
	s.T.Helper()
	j, err := s.DB.Job(s.T.Context(), id)
	if err != nil {
		s.T.Fatalf("read job: %v", err)
	}
	return j
}

// Ended waits for a job to end and holds its state against the wanted one.
func (s *Site) Ended(id uuid.UUID, want domain.JobState) store.Job {
	s.T.Helper()
	var j store.Job
	Eventually(s.T, "the end of a job", func() bool {
		j = s.Job(id)
		return j.FinishedAt != nil
	})
	if j.State != want {
		s.T.Fatalf("job %s is %s, not %s: %v, %s", j.Kind, j.State, want, j.Error, j.Outcome)
	}
	return j
}

// Events reads the audit events of an object, oldest first.
func (s *Site) Events(object uuid.UUID) []store.Event {
	s.T.Helper()
	events, err := s.DB.Events(s.T.Context(), store.EventFilter{WorkspaceID: domain.DefaultWorkspace, ObjectID: &object, Limit: 500})
	if err != nil {
		s.T.Fatalf("read events: %v", err)
	}
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	return events
}

// AddAddresses adds n addresses to a network's pool.
func (s *Site) AddAddresses(pool string, n int) {
	s.T.Helper()
	first := sha256.Sum256([]byte(pool))
	a := netip.AddrFrom4([4]byte{10, first[0], first[1], 0})
	all := make([]netip.Addr, n)
	for i := range all {
		all[i], a = a, a.Next()
	}
	s.Tx(func(tx *store.Tx) error {
		of, err := network.Keep(s.T.Context(), tx.Tx, domain.DefaultWorkspace, pool)
		if err != nil {
			return err
		}
		_, err = tx.InsertAddresses(s.T.Context(), store.AddressPool{Workspace: domain.DefaultWorkspace, Network: of[0].ID, Name: pool}, all, "")
		return err
	})
}

// Allocate asks for a unit with a key that is new, and returns what was made.
func (s *Site) Allocate(r intent.CreateAllocation) (allocation, job uuid.UUID, err error) {
	s.T.Helper()
	if r.SSHKeys == nil {
		_, key := NewKey(s.T)
		r.SSHKeys = []string{key}
	}
	if r.UnitID == nil && r.CPUs == 0 {
		r.CPUs = 1
	}
	return s.Intents.CreateAllocation(s.T.Context(), s.Call, r)
}

// answers is what stands for all hosts that were built: something is there.
func (s *Site) answers() *SSHServer {
	s.T.Helper()
	s.once.Do(func() { s.server = NewSSHServer(s.T) })
	return s.server
}

// SSHServer shows a host key to whoever connects, and does nothing else.
type SSHServer struct {
	Port int
	stop func()
	mu   sync.Mutex
	keys []ssh.Signer
	// seen counts connections that came as far as to authentication.
	seen int
}

// NewSSHServer listens on 127.0.0.1 until the test ends.
func NewSSHServer(t testing.TB) *SSHServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &SSHServer{Port: l.Addr().(*net.TCPAddr).Port}
	s.ChangeKey(t)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { s.serve(conn) })
		}
	})
	s.stop = sync.OnceFunc(func() { _ = l.Close(); open.Wait() })
	t.Cleanup(s.stop)
	return s
}

// Stop lets nobody connect any more.
func (s *SSHServer) Stop() { s.stop() }

func (s *SSHServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen++
		return nil, fmt.Errorf("nobody logs in here")
	}}
	s.mu.Lock()
	for _, k := range s.keys {
		cfg.AddHostKey(k)
	}
	s.mu.Unlock()
	_, _, _, _ = ssh.NewServerConn(conn, cfg) // fails: the client only wants to see the key
}

// ChangeKey gives the server another ed25519 key and returns it as a line.
func (s *SSHServer) ChangeKey(t testing.TB) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s.UseKeys(signer)
	return s.Key()
}

// UseKeys gives the server these keys.
func (s *SSHServer) UseKeys(keys ...ssh.Signer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = keys
}

// Key is the first key, as a line.
func (s *SSHServer) Key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.keys[0].PublicKey())))
}

// Authentications is how often somebody tried to log in.
func (s *SSHServer) Authentications() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}
