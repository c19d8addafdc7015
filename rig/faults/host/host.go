// Package host stands in for a Linux host that Kloigos manages: an SSH server
// with a host key, a fence that keeps the promises of docs/host-contract.md,
// units with their tenants, and modules that take their time, go on when the
// one who started them is gone, and sometimes fail.
//
// It notes whatever no host may ever hear (two runs at once, a unit that is
// given away unwiped) as a violation. It proves nothing about a playbook.
package host

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// Task is what a stand-in of Ansible sends to a host for one task.
type Task struct {
	Playbook string         `json:"playbook"` // "host_probe", "bootstrap", ...
	Part     int            `json:"part"`     // from 1
	Parts    int            `json:"parts"`
	Check    bool           `json:"check"`
	Vars     map[string]any `json:"vars"`
}

// Answer is what a module returns.
type Answer struct {
	Changed bool           `json:"changed"`
	Message string         `json:"message,omitempty"` // of a failure
	Result  map[string]any `json:"result,omitempty"`  // kloigos_result
	Lines   int            `json:"lines,omitempty"`   // events that the play is to tell beside
}

// Exit codes of a module's start.
const (
	ExitFailed  = 1
	ExitRefused = 97
	ExitBroken  = 98
	ExitNoFence = 127
	ExitKilled  = 137
)

// Manners say how a host behaves from now on. The zero value is a good host.
type Manners struct {
	Failing     float64       // part of the tasks that fail
	Unreachable float64       // part of the connections that break before anything is said
	Pause       time.Duration // that each task takes longer
	Of          string        // the only playbook whose tasks take longer; "" for any
	Hangs       bool          // takes connections and says nothing
	Silent      bool          // nothing passes any more, on connections that are open as well, and nobody is told
	Lines       int           // events that each task tells beside
	Full        bool          // its disk is full: the fence can note no new number, and no task can write
}

// Host is one stand-in.
type Host struct {
	Name string
	Port int
	Key  string // public, as a line of authorized_keys

	signer  ssh.Signer
	manners atomic.Pointer[Manners]

	network  sync.Mutex
	listener net.Listener // nil while it is unplugged
	conns    map[net.Conn]bool
	serving  sync.WaitGroup

	fence  fence
	system system

	chance   sync.Mutex
	draw     *mrand.Rand
	broken   sync.Mutex
	violated []string
}

// New starts a host that listens on a free port of 127.0.0.1; logs is the
// directory for its token log.
func New(name, logs string, seed uint64) (*Host, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of host %s: %w", name, err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("make the key of host %s: %w", name, err)
	}
	h := &Host{
		Name: name, Key: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), signer: signer,
		conns: map[net.Conn]bool{}, draw: mrand.New(mrand.NewPCG(seed, uint64(len(name)))),
	}
	h.Behave(Manners{})
	h.fence = fence{host: h, path: filepath.Join(logs, name+".log"), groups: map[string]*group{}}
	h.system = system{host: h, units: map[string]*unit{}, active: map[string]int{}}
	if err := os.WriteFile(h.fence.path, nil, 0o600); err != nil {
		return nil, fmt.Errorf("make the token log of host %s: %w", name, err)
	}
	return h, h.Plug()
}

// Behave sets the host's manners.
func (h *Host) Behave(m Manners) { h.manners.Store(&m) }

// chanceOf draws whether something happens that happens so often.
func (h *Host) chanceOf(p float64) bool {
	h.chance.Lock()
	defer h.chance.Unlock()
	return h.draw.Float64() < p
}

func (h *Host) someTime(longest time.Duration) time.Duration {
	h.chance.Lock()
	defer h.chance.Unlock()
	return time.Duration(h.draw.Int64N(int64(longest)))
}

// violate notes what no host may ever hear.
func (h *Host) violate(format string, args ...any) {
	h.broken.Lock()
	defer h.broken.Unlock()
	h.violated = append(h.violated, "host "+h.Name+": "+fmt.Sprintf(format, args...))
}

// Violations are all that were noted.
func (h *Host) Violations() []string {
	h.broken.Lock()
	defer h.broken.Unlock()
	return append([]string(nil), h.violated...)
}

// MachineID is the machine's, in 32 hexadecimal digits.
func (h *Host) MachineID() string {
	sum := sha256.Sum256([]byte(h.Key))
	return hex.EncodeToString(sum[:16])
}

// Plug connects the host to the network, at the port that it had.
func (h *Host) Plug() error {
	h.network.Lock()
	defer h.network.Unlock()
	if h.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", h.Port))
	if err != nil {
		return fmt.Errorf("plug host %s in: %w", h.Name, err)
	}
	h.listener, h.Port = l, l.Addr().(*net.TCPAddr).Port
	h.serving.Go(func() { h.accept(l) })
	return nil
}

// Unplug cuts every connection and takes no new ones; what runs goes on.
func (h *Host) Unplug() {
	h.network.Lock()
	defer h.network.Unlock()
	if h.listener != nil {
		_ = h.listener.Close()
		h.listener = nil
	}
	for c := range h.conns {
		_ = c.Close()
	}
}

// Reboot ends all that runs and cuts every connection, and is away for a while;
// units stay.
func (h *Host) Reboot(away time.Duration) error {
	h.Unplug()
	h.fence.endAll()
	time.Sleep(away)
	return h.Plug()
}

// Close ends the host for good.
func (h *Host) Close() {
	h.Unplug()
	h.fence.endAll()
	h.serving.Wait()
}

func (h *Host) accept(l net.Listener) {
	for {
		accepted, err := l.Accept()
		if err != nil {
			return
		}
		conn := &wire{Conn: accepted, host: h, gone: make(chan struct{})}
		h.network.Lock()
		h.conns[conn] = true
		h.network.Unlock()
		h.serving.Go(func() {
			defer func() {
				_ = conn.Close()
				h.network.Lock()
				delete(h.conns, conn)
				h.network.Unlock()
			}()
			h.serve(conn)
		})
	}
}
