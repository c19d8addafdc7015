package ansible

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SuperviseArg is the hidden first argument with which main calls [Supervise].
const SuperviseArg = "supervise-play"

// File descriptors that the backend gives its supervisor, beside stdout and stderr, which go to Ansible.
const (
	controlFD = 0 // read end: whatever comes, or its end, ends the run
	statusFD  = 3 // write end: one superviseStatus
	eventsFD  = 4 // write end: the callback plugin's lines; Ansible has it as ansibleEventsFD
	lockFD    = 5 // the run's directory, whose lock is held as long as the supervisor lives

	ansibleEventsFD = 3

	specFile = "supervise.json"
	// killWithin bounds how long killed processes may take to be gone: one that hangs in the kernel never is.
	killWithin = 8 * time.Second
)

// superviseSpec is what to run. It goes through a file: arguments can be read by everybody.
type superviseSpec struct {
	Argv        []string      `json:"argv"`
	Env         []string      `json:"env"`
	Nice        int           `json:"nice"`
	Grace       time.Duration `json:"grace"`
	MemoryLimit uint64        `json:"memory_limit"`
}

// superviseStatus is how it went.
type superviseStatus struct {
	Error       string        `json:"error,omitempty"` // could not be started
	Exit        int           `json:"exit"`
	Signal      int           `json:"signal"`
	Stopped     bool          `json:"stopped"` // ended by the backend, or by its death
	Left        int           `json:"left"`    // processes that could not be ended
	MaxRSSBytes int64         `json:"max_rss_bytes"`
	CPU         time.Duration `json:"cpu"`
}

// Supervise is the body of the supervisor: a process between the backend and one ansible-playbook. It adopts every
// orphan of the run (a child subreaper), and when Ansible ends, or the backend says so, or the backend dies, it ends
// all that is left, in whatever session, removes the run's directory with its keys and exits. It never outlives its
// backend for longer than that takes.
//
// args is the run's directory alone. The result is the process's exit code.
func Supervise(args []string) int {
	// The parent-death signal of the child follows this thread.
	runtime.LockOSThread()
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "supervise-play is started by kloigos itself")
		return 64
	}
	for _, fd := range []int{statusFD, eventsFD, lockFD} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			fmt.Fprintln(os.Stderr, "supervise-play is started by kloigos itself")
			return 64
		}
	}
	s := supervisor{dir: args[0], stop: make(chan struct{}), main: make(chan syscall.WaitStatus, 1), gone: make(chan struct{})}
	status := s.run()
	if status.Left == 0 {
		_ = os.RemoveAll(s.dir)
	}
	_ = json.NewEncoder(os.NewFile(statusFD, "status")).Encode(status)
	return 0
}

type supervisor struct {
	dir  string
	spec superviseSpec
	stop chan struct{}           // closed when the run is to end
	main chan syscall.WaitStatus // of ansible-playbook
	gone chan struct{}           // closed when no child is left

	maxRSS int64 // until gone is closed, the reaper's
	cpu    time.Duration
}

func (s *supervisor) run() superviseStatus {
	go s.watchControl()
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, unix.SIGTERM)
	// A terminal's Ctrl-C is the backend's to judge; a closed pipe shows where it is written to.
	signal.Ignore(unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)

	pid, err := s.start()
	if err != nil {
		return superviseStatus{Error: err.Error()}
	}
	go s.reap(pid)

	var status superviseStatus
	var ended syscall.WaitStatus
	select {
	case ended = <-s.main:
	case <-s.stop:
		status.Stopped = true
	case <-terminate:
		status.Stopped = true
	}
	status.Left = s.endAll()
	if status.Stopped {
		select {
		case ended = <-s.main:
		default:
		}
	}
	status.Exit = ended.ExitStatus()
	if ended.Signaled() {
		status.Signal = int(ended.Signal())
	}
	if status.Left == 0 {
		status.MaxRSSBytes, status.CPU = s.maxRSS, s.cpu
	}
	return status
}

// watchControl closes stop at the first byte, and at the end of the pipe: the backend is done, or dead.
func (s *supervisor) watchControl() {
	defer close(s.stop)
	control := os.NewFile(controlFD, "control")
	_, _ = control.Read(make([]byte, 1))
}

func (s *supervisor) start() (int, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, specFile))
	if err != nil {
		return 0, fmt.Errorf("read what to run: %w", err)
	}
	if err := json.Unmarshal(raw, &s.spec); err != nil || len(s.spec.Argv) == 0 {
		return 0, errors.New("read what to run: not valid")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become a subreaper: %w", err)
	}
	unix.Umask(0o077)
	// No core dumps: there are keys in memory. The child inherits this thread's priority.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, s.spec.Nice)

	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	// syscall and not os/exec, because the reaper waits for all children and must not race with another waiter.
	pid, err := syscall.ForkExec(s.spec.Argv[0], s.spec.Argv, &syscall.ProcAttr{
		Dir:   s.dir,
		Env:   s.spec.Env,
		Files: []uintptr{null.Fd(), 1, 2, eventsFD},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, fmt.Errorf("start ansible-playbook: %w", err)
	}
	if s.spec.MemoryLimit > 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: s.spec.MemoryLimit, Max: s.spec.MemoryLimit}, nil)
	}
	// When memory is short, a play is to go before a backend.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("300"), 0)
	return pid, nil
}

// reap waits for every child, adopted ones included. When there is none left there is no descendant either, and none
// can come: an orphan's parent would have been a child.
func (s *supervisor) reap(mainPID int) {
	for {
		var ws unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &ws, 0, &usage)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // ECHILD
			close(s.gone)
			return
		}
		s.maxRSS = max(s.maxRSS, usage.Maxrss*1024)
		s.cpu += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		if pid == mainPID {
			s.main <- syscall.WaitStatus(ws)
		}
	}
}

// endAll asks all descendants to end, then kills them, again and again while new ones appear. It returns how many
// are left.
func (s *supervisor) endAll() int {
	began := time.Now()
	asked := map[int]bool{}
	for {
		kill := time.Since(began) > s.spec.Grace
		for _, pid := range descendants(os.Getpid()) {
			if kill {
				_ = unix.Kill(pid, unix.SIGKILL)
			} else if !asked[pid] {
				asked[pid] = true
				_ = unix.Kill(pid, unix.SIGTERM)
				// A stopped process takes nothing but SIGKILL otherwise.
				_ = unix.Kill(pid, unix.SIGCONT)
			}
		}
		select {
		case <-s.gone:
			return 0
		case <-time.After(15 * time.Millisecond):
		}
		if time.Since(began) > s.spec.Grace+killWithin {
			return len(descendants(os.Getpid()))
		}
	}
}
