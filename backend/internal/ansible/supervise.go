package ansible

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SuperviseArg is the hidden first argument with which main calls [Supervise].
const SuperviseArg = "supervise-play"

// File descriptors that the backend gives its supervisor, beside stdout and stderr, which go to Ansible.
const (
	controlFD = 0 // read end: tells of the order, which is there by then; whatever comes then, or its end, ends the run
	statusFD  = 3 // write end: one superviseStatus
	eventsFD  = 4 // write end: the callback plugin's lines; Ansible has it as ansibleEventsFD
	lockFD    = 5 // the run's directory, whose lock is held as long as the supervisor lives
	orderFD   = 6 // read end: the order itself, for what has loaded Ansible and waits for it

	ansibleEventsFD = 3

	specFile = "supervise.json"
	// killWithin bounds how long killed processes may take to be gone: one that hangs in the kernel never is.
	killWithin = 8 * time.Second
)

// superviseSpec is what holds for any play. It goes through a file: arguments can be read by everybody.
type superviseSpec struct {
	Wall  []string      `json:"wall"` // before each command: builds the wall around it
	Load  []string      `json:"load"` // loads Ansible and waits for the order; none where that is not possible
	Env   []string      `json:"env"`
	Nice  int           `json:"nice"`
	Grace time.Duration `json:"grace"`
}

// order is what to play. It comes as a line, first to what has loaded Ansible, then to the supervisor.
type order struct {
	Argv    []string `json:"argv"`    // of ansible-playbook
	Modules string   `json:"modules"` // in the run's directory: what Ansible packs goes there and is taken from there; may be empty
	Keep    string   `json:"keep"`    // where it goes after the run, which no play sees; may be empty
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

// notLoaded is how what was to load Ansible ahead says that it couldn't, and has begun nothing (see
// launch/kloigos_launch.py).
const notLoaded = 97

// Supervise is the body of the supervisor: a process between the backend and one ansible-playbook. It loads Ansible,
// where that is possible, and waits for its order. It adopts every orphan of the run (a child subreaper), and when
// Ansible ends, or the backend says so, or the backend dies, it ends all that is left, in whatever session, removes the
// run's directory with its keys and exits. It never outlives its backend for longer than that takes.
//
// args is the run's directory alone. The result is the process's exit code.
func Supervise(args []string) int {
	// The parent-death signal of the child follows this thread.
	runtime.LockOSThread()
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "supervise-play is started by kloigos itself")
		return 64
	}
	for _, fd := range []int{statusFD, eventsFD, lockFD, orderFD} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			fmt.Fprintln(os.Stderr, "supervise-play is started by kloigos itself")
			return 64
		}
	}
	s := supervisor{dir: args[0], orders: make(chan order, 1), stop: make(chan struct{}), terminate: make(chan os.Signal, 1)}
	status := s.run()
	if status.Left == 0 {
		s.keepModules(status)
		_ = os.RemoveAll(s.dir)
	}
	_ = json.NewEncoder(os.NewFile(statusFD, "status")).Encode(status)
	return 0
}

type supervisor struct {
	dir       string
	spec      superviseSpec
	orders    chan order     // at most one
	stop      chan struct{}  // closed when the run is to end
	terminate chan os.Signal // the same
	ansible   *child
	played    order // "" until it began
}

func (s *supervisor) run() superviseStatus {
	go s.watchControl()
	signal.Notify(s.terminate, unix.SIGTERM)
	// A terminal's Ctrl-C is the backend's to judge; a closed pipe shows where it is written to.
	signal.Ignore(unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	if err := s.prepare(); err != nil {
		return superviseStatus{Error: err.Error()}
	}
	if len(s.spec.Load) > 0 {
		s.ansible, _ = s.start(s.spec.Load, true)
	}
	var begun *order
	var ended *syscall.WaitStatus // of s.ansible
	for {
		select {
		case o := <-s.orders:
			begun, s.played = &o, o
		case e := <-s.ansible.ended():
			ended = &e
		case <-s.stop:
			return s.end(0, true)
		case <-s.terminate:
			return s.end(0, true)
		}
		// Whether what has ended had its order shows only when the order is there.
		if begun == nil || s.ansible != nil && ended == nil {
			continue
		}
		if ended != nil {
			if !s.ansible.neverBegan(*ended) {
				return s.end(*ended, false)
			}
			<-s.ansible.gone
			ended = nil
		}
		var err error
		if s.ansible, err = s.start(begun.Argv, false); err != nil {
			return superviseStatus{Error: err.Error()}
		}
	}
}

// watchControl passes on the order, and closes stop at whatever comes then, and at the end of the pipe: the backend is
// done, or dead.
func (s *supervisor) watchControl() {
	defer close(s.stop)
	control := bufio.NewReader(os.NewFile(controlFD, "control"))
	line, err := control.ReadBytes('\n')
	var o order
	if err != nil || json.Unmarshal(line, &o) != nil || len(o.Argv) == 0 {
		return
	}
	s.orders <- o
	_, _ = control.ReadByte()
}

func (s *supervisor) prepare() error {
	raw, err := os.ReadFile(filepath.Join(s.dir, specFile))
	if err != nil {
		return fmt.Errorf("read what to run: %w", err)
	}
	if err := json.Unmarshal(raw, &s.spec); err != nil {
		return errors.New("read what to run: not valid")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	unix.Umask(0o077)
	// No core dumps: there are keys in memory. The child inherits this thread's priority.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, s.spec.Nice)
	return nil
}

// start starts Ansible; waiting tells that it finds its order in its standard input, which is empty otherwise.
func (s *supervisor) start(argv []string, waiting bool) (*child, error) {
	c := &child{main: make(chan syscall.WaitStatus, 1), gone: make(chan struct{}), waits: waiting}
	empty, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("start ansible-playbook: %w", err)
	}
	defer empty.Close()
	input := empty.Fd()
	if waiting {
		input = orderFD
	}
	if len(s.spec.Wall) == 0 {
		return nil, errors.New("start ansible-playbook: there is no wall to run it behind")
	}
	argv = slices.Concat(s.spec.Wall, argv)
	defer oomBefore()()
	// syscall and not os/exec, because the reaper waits for all children and must not race with another waiter.
	c.pid, err = syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir:   s.dir,
		Env:   s.spec.Env,
		Files: []uintptr{input, 1, 2, eventsFD},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("start ansible-playbook: %w", err)
	}
	go c.reap()
	return c, nil
}

// oomBefore has the kernel, when memory is short, end what is started now before a backend, until the returned function is
// called. What is behind the wall can't be reached any more once it runs.
func oomBefore() (after func()) {
	const file = "/proc/self/oom_score_adj"
	was, err := os.ReadFile(file)
	if err != nil {
		return func() {}
	}
	_ = os.WriteFile(file, []byte("300"), 0)
	return func() { _ = os.WriteFile(file, was, 0) }
}

// end ends what is left and tells how the play went: ended, if it was not stopped before.
func (s *supervisor) end(ended syscall.WaitStatus, stopped bool) superviseStatus {
	status := superviseStatus{Stopped: stopped}
	if s.ansible == nil {
		return status
	}
	status.Left = s.endAll()
	if stopped {
		select {
		case ended = <-s.ansible.main:
		default:
		}
	}
	status.Exit = ended.ExitStatus()
	switch {
	case ended.Signaled():
		status.Signal = int(ended.Signal())
	case status.Exit > 128 && status.Exit <= 128+64: // the wall says so of what is behind it; Ansible has no such code but 250
		status.Exit, status.Signal = -1, status.Exit-128
	}
	if status.Left == 0 {
		status.MaxRSSBytes, status.CPU = s.ansible.maxRSS, s.ansible.cpu
	}
	return status
}

// child is the process of Ansible, with all that comes of it.
type child struct {
	pid   int
	waits bool                    // for its order; else it was started with it
	main  chan syscall.WaitStatus // its own end
	gone  chan struct{}           // closed when no child is left

	maxRSS int64 // until gone is closed, the reaper's
	cpu    time.Duration
}

// ended is never ready without a child.
func (c *child) ended() <-chan syscall.WaitStatus {
	if c == nil {
		return nil
	}
	return c.main
}

// neverBegan tells whether one that waited for its order could not load Ansible, or was killed (for its memory, say) and
// left the order, which is there by now, where it was put.
func (c *child) neverBegan(ended syscall.WaitStatus) bool {
	if !c.waits {
		return false
	}
	unread, err := unix.IoctlGetInt(orderFD, unix.TIOCINQ)
	return ended.ExitStatus() == notLoaded || err == nil && unread > 0
}

// reap waits for every child, adopted ones included. When there is none left there is no descendant either, and none
// can come: an orphan's parent would have been a child.
func (c *child) reap() {
	for {
		var ws unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &ws, 0, &usage)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // ECHILD
			close(c.gone)
			return
		}
		c.maxRSS = max(c.maxRSS, usage.Maxrss*1024)
		c.cpu += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		if pid == c.pid {
			c.main <- syscall.WaitStatus(ws)
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
			} else if !asked[pid] && pid != s.ansible.pid { // that is the wall, which would take all behind it along at once
				asked[pid] = true
				_ = unix.Kill(pid, unix.SIGTERM)
				// A stopped process takes nothing but SIGKILL otherwise.
				_ = unix.Kill(pid, unix.SIGCONT)
			}
		}
		select {
		case <-s.ansible.gone:
			return 0
		case <-time.After(15 * time.Millisecond):
		}
		if time.Since(began) > s.spec.Grace+killWithin {
			return len(descendants(os.Getpid()))
		}
	}
}
