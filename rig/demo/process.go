package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"kloigos/rig/freeport"
)

// Group is the processes that the demo started. They end with it: in order and gently by Stop, at once by the kernel
// if the demo itself is killed.
type Group struct {
	logs string // directory for their output

	mu      sync.Mutex
	started []*Process
}

// Process is one started program.
type Process struct {
	Name string
	Log  string // file with its output
	PID  int

	program string
	env     []string
	args    []string
	done    chan struct{}
	err     error // how it ended; set before done is closed
}

// NewGroup writes the output of each process to a file in the directory.
func NewGroup(logs string) *Group { return &Group{logs: logs} }

// Start starts a program with exactly this environment.
func (g *Group) Start(name, program string, env []string, args ...string) (*Process, error) {
	p := &Process{Name: name, Log: filepath.Join(g.logs, name+".log"), program: program, env: env, args: args, done: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.started = append(g.started, p)
	g.mu.Unlock()
	return p, nil
}

func (p *Process) start() error {
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", p.Name, err)
	}
	cmd := exec.Command(p.program, p.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, log, log
	// A group of its own: a Ctrl-C is the demo's, which then stops the others in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The death signal is tied to the thread that started the process, so the thread must last as long as that.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = log.Close()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.PID = cmd.Process.Pid
	return nil
}

// Stop ends all processes, the last one started first.
func (g *Group) Stop() error {
	started := g.processes()
	slices.Reverse(started)
	var errs []error
	for _, p := range started {
		errs = append(errs, p.stop())
	}
	return errors.Join(errs...)
}

// processes are all that were started, in order; one that was replaced is not among them.
func (g *Group) processes() []*Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.started)
}

// stop asks once, asks again (a backend then no longer waits for its running tasks), and kills.
func (p *Process) stop() error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGTERM, 5 * time.Second}, {syscall.SIGTERM, 10 * time.Second}, {syscall.SIGKILL, 5 * time.Second}} {
		if p.Ended() {
			return nil
		}
		target := p.PID
		if step.signal == syscall.SIGKILL {
			target = -p.PID // with all that is left of its group
		}
		if err := syscall.Kill(target, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s: %w", p.Name, err)
		}
		select {
		case <-p.done:
			return nil
		case <-time.After(step.wait):
		}
	}
	return fmt.Errorf("stop %s: process %d does not end", p.Name, p.PID)
}

// Kill ends the process at once, as a crash of the machine would.
func (p *Process) Kill() error {
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(endsWithin):
		return fmt.Errorf("kill %s: %s later process %d, or one that it began, still has its output", p.Name, endsWithin, p.PID)
	}
}

// endsWithin is what a killed process has for ending.
const endsWithin = 20 * time.Second

// Done is closed when it has ended, and all of its output is in its log.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended tells whether it is over.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Tail returns the last lines of its output.
func (p *Process) Tail() string {
	const limit = 3000
	file, err := os.Open(p.Log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-limit), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(file, limit))
	return strings.TrimSpace(string(text))
}

// lastWords are the end of its output, for an error message.
func (p *Process) lastWords() string { return fmt.Sprintf("the end of %s:\n%s", p.Log, p.Tail()) }

// await calls ready until it succeeds, the process ends, or the time is over.
func (p *Process) await(ctx context.Context, timeout time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended (%v); %s", p.Name, p.err, p.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; %s", p.Name, err, p.lastWords())
		case <-tick.C:
		}
	}
}

// FreePorts returns loopback ports that nobody listens on. The wanted one is first if it is free (0: none is wanted).
func FreePorts(wanted, count int) ([]int, error) {
	ports := make([]int, 0, count)
	if wanted != 0 && count > 0 && freeport.Free(wanted) {
		ports = append(ports, wanted)
	}
	for len(ports) < count {
		port, err := freeport.Find()
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		if port != wanted {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// replace kills a process as a crash would, if it still runs, and starts it anew under the same name and in its place.
func (g *Group) replace(p *Process) (*Process, error) {
	if err := p.Kill(); err != nil {
		return nil, err
	}
	next := &Process{Name: p.Name, Log: p.Log, program: p.program, env: p.env, args: p.args, done: make(chan struct{})}
	if err := next.start(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started[slices.Index(g.started, p)] = next
	return next, nil
}
