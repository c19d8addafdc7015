package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api/client"
	"kloigos/rig/demo"
	"kloigos/rig/runs"
)

// Backend is one place for a backend: its address and its wire stay, the
// process comes and goes.
type Backend struct {
	world  *World
	name   string
	listen string
	wire   *Wire
	plain  *client.Client

	// Guarded by the world's lock:
	process *demo.Process // nil before the first start
	from    int64         // where its log begins in the file that all before it have written to
	meant   bool          // it was ended on purpose
	log     logReader
}

// What nothing is promised about may take as long as a busy machine needs.
const (
	startLimit = 90 * time.Second
	patience   = 60 * time.Second
)

func (w *World) addBackend() (*Backend, error) {
	ports, err := demo.FreePorts(0, 1)
	if err != nil {
		return nil, err
	}
	wire, err := NewWire(w.database)
	if err != nil {
		return nil, err
	}
	b := &Backend{world: w, name: fmt.Sprintf("backend-%d", len(w.backends)+1), listen: fmt.Sprintf("127.0.0.1:%d", ports[0]), wire: wire}
	// A backend that was stopped in the middle of an answer is not waited for.
	if b.plain, err = client.New(client.Config{BaseURL: "http://" + b.listen, UserAgent: "kloigos-faults", Timeout: w.spec.Patience}); err != nil {
		return nil, err
	}
	b.log.path = filepath.Join(w.dir, b.name+".log")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.backends = append(w.backends, b)
	return b, nil
}

func (b *Backend) api(token string) *client.Client { return b.plain.WithToken(token) }

// Start starts a process and waits until it takes requests.
func (b *Backend) Start(ctx context.Context) error {
	b.noteEnd()
	from := int64(0)
	if info, err := os.Stat(b.log.path); err == nil {
		from = info.Size()
	}
	p, err := b.world.group.Start(b.name, b.world.suite.program(), append([]string{"KLOIGOS_DATABASE_URL=" + b.wire.URL, "KLOIGOS_LISTEN=" + b.listen}, b.world.env...), "serve")
	if err != nil {
		return err
	}
	b.world.mu.Lock()
	b.process, b.from, b.meant = p, from, false
	b.world.mu.Unlock()
	err = await(ctx, b.name+" to be ready", startLimit, func() bool { return b.ready(ctx) || p.Ended() })
	if err == nil && p.Ended() {
		err = fmt.Errorf("%s ended:\n%s", b.name, p.Tail())
	}
	return err
}

func (b *Backend) ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.listen+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Alive tells whether its process runs, or is stopped.
func (b *Backend) Alive() bool {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	return b.process != nil && !b.process.Ended()
}

// PID is its process's.
func (b *Backend) PID() int {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	return b.process.PID
}

// Kill ends the process, and nothing but it, as a crash would.
func (b *Backend) Kill() error {
	if p := b.doom(); p != nil {
		return p.Kill()
	}
	return nil
}

// doom notes that the process is ended on purpose, if it has not ended before.
func (b *Backend) doom() *demo.Process {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	if b.process == nil || b.process.Ended() {
		return nil
	}
	if !b.meant {
		b.world.kills++
	}
	b.meant = true
	return b.process
}

// Signal sends a signal to the process alone.
func (b *Backend) Signal(s syscall.Signal) error {
	if s == syscall.SIGTERM {
		b.doom()
	}
	if err := syscall.Kill(b.PID(), s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %s: %w", b.name, err)
	}
	return nil
}

// noteEnd notes a process that has ended and that neither the scenario nor a
// failpoint ended: a backend that is only started again would hide it.
func (b *Backend) noteEnd() {
	b.world.mu.Lock()
	p, from := b.process, b.from
	if p == nil || !p.Ended() || b.meant {
		b.world.mu.Unlock()
		return
	}
	b.meant = true
	b.world.mu.Unlock()
	all, err := os.ReadFile(b.log.path)
	if err != nil {
		b.world.sees("%s ended by itself: %v", b.name, err)
		return
	}
	its := string(all[min(from, int64(len(all))):])
	if !strings.Contains(its, atFailpoint) {
		b.world.sees("%s ended by itself:\n%s", b.name, lastLines(its))
		return
	}
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	b.world.kills++
}

// atFailpoint is what a backend says that ends at one.
const atFailpoint = "failpoint: simulate a crash of this backend"

// revive starts those that have ended.
func (w *World) revive(ctx context.Context) error {
	for _, b := range w.backends {
		if !b.Alive() {
			if err := b.Start(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// alive is one of the backends that run, or the first if none does.
func (w *World) alive() *Backend {
	var up []*Backend
	for _, b := range w.backends {
		if b.Alive() {
			up = append(up, b)
		}
	}
	if len(up) == 0 {
		return w.backends[0]
	}
	return up[w.someInt(len(up))]
}

// marked are the processes of all runs of this world.
func (w *World) marked() []int { return runs.Processes(w.runRoot) }

// supervisors are those of its plays.
func (b *Backend) supervisors() []int { return runs.Supervisors(b.PID()) }

// ansibles are its plays, without their children.
func (b *Backend) ansibles() []int { return runs.Ansibles(b.PID()) }

// leavesNothing holds that no process of any run is left.
func (w *World) leavesNothing() error {
	var left []int
	err := await(context.Background(), "the processes of all runs to end", 15*time.Second, func() bool {
		left = w.marked()
		return len(left) == 0
	})
	if err == nil {
		return nil
	}
	for _, pid := range left {
		err = fmt.Errorf("%w; %d: %s", err, pid, runs.CommandLine(pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return err
}
