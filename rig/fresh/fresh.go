// Package fresh proves that the commands of the README work on a machine that has Debian 12 and Go, and nothing else. It
// makes such a root with mmdebstrap, clones the present commit into it and runs the commands there.
//
// Root and commands live in namespaces of their own (mounts, processes, IPC, host name) under one first process. When that
// process ends, the kernel ends all others and drops the mounts, so nothing of a run can stay on the machine but a
// directory, which the next run removes. The network is the machine's.
package fresh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Options say what is run in the bare root.
type Options struct {
	// Source is the source tree; its present commit is cloned.
	Source string
	// User runs the commands as an ordinary user with sudo; otherwise root runs them.
	User bool
	// Images is a directory of the machine with built images of the demo's VM; empty means that the root builds its own.
	Images string
	// Caches lets Go in the root use the machine's modules and compiled packages, which saves minutes. Not with User.
	Caches bool
	// Commands are run one after the other.
	Commands []Command
	// Timeout bounds the whole run.
	Timeout time.Duration
}

// Command is one command line, as a person types it in the clone.
type Command struct {
	Line string
	// Until ends the command by a Ctrl-C once a line begins so; empty means that it ends by itself.
	Until string
	// NoSkips fails the command if its tests skip any of themselves, as some do where a package is missing.
	NoSkips bool
}

// workDirs is where roots are made: on disk, since a root with its compiled code takes some gigabytes.
const workDirs = "/var/tmp"

const prefix = "kloigos-fresh-"

// Run makes the root, runs the commands and removes the root again.
func Run(ctx context.Context, o Options, out io.Writer) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("a bare root can only be made by root: sudo ./task test:fresh")
	}
	if o.User && o.Caches {
		return errors.New("the caches of Go are root's: a user can't write to them")
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	removeLeftovers()
	dir, err := os.MkdirTemp(workDirs, prefix)
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir), lock.Close()) }()
	plan, err := newPlan(ctx, o, dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	err = enter(ctx, string(text), out)
	if ctx.Err() != nil {
		return fmt.Errorf("the run was ended: %w", context.Cause(ctx))
	}
	return err
}

// lockDir marks a directory as one that is in use; the mark ends with the process.
func lockDir(dir string) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return file, nil
}

// removeLeftovers removes the roots of runs that were killed.
func removeLeftovers() {
	dirs, _ := filepath.Glob(filepath.Join(workDirs, prefix+"*"))
	for _, dir := range dirs {
		lock, err := lockDir(dir)
		if err != nil {
			continue // another run is using it
		}
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}
}

// Arguments with which the program calls itself.
const (
	FirstArg  = "first-process"
	WorkArg   = "work"
	hostName  = "fresh"
	killGrace = 10 * time.Second
)

// enter starts the first process of the new namespaces and waits for it.
func enter(ctx context.Context, plan string, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	// The kernel sends the death signal when the thread that started the process ends, so the thread has to stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, self, FirstArg, plan)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Setpgid:    true, // a Ctrl-C is for this process, which then ends the other
		Pdeathsig:  syscall.SIGKILL,
	}
	cmd.WaitDelay = killGrace
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("in the bare root: %w", err)
	}
	return nil
}

// First is the first process of the namespaces. It starts the one that does the work and collects all orphans, as an init
// does: a test that asks whether a process has ended would otherwise find a zombie.
func First(plan string) int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	code, err := first(plan)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fresh:", err)
		return 1
	}
	return code
}

func first(plan string) (int, error) {
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("make the mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return 0, fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Sethostname([]byte(hostName)); err != nil {
		return 0, fmt.Errorf("set the host name: %w", err)
	}
	worker, err := os.StartProcess("/proc/self/exe", []string{"fresh", WorkArg, plan}, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0, fmt.Errorf("start the work: %w", err)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the work: %w", err)
		case pid == worker.Pid && status.Exited():
			return status.ExitStatus(), nil
		case pid == worker.Pid:
			return 0, fmt.Errorf("the work was ended by %s", status.Signal())
		}
	}
}

// Work makes the root and runs the commands in it.
func Work(text string) int {
	var plan plan
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		fmt.Fprintln(os.Stderr, "fresh: read the plan:", err)
		return 1
	}
	if err := plan.work(); err != nil {
		fmt.Fprintln(os.Stderr, "fresh:", err)
		return 1
	}
	return 0
}

// stage does one thing and tells how long it took.
func stage(name string, do func() error) error {
	fmt.Printf("\n--- %s\n", name)
	began := time.Now()
	err := do()
	took := time.Since(began).Round(time.Second)
	if err != nil {
		return fmt.Errorf("%s, after %s: %w", name, took, err)
	}
	fmt.Printf("--- %s: ok in %s\n", name, took)
	return nil
}

// output runs a program of the machine and returns what it prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	text, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}
