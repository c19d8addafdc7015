package testhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a QEMU of ours. Its identity is its process id together with its
// start time, so that a reused id is never taken for it.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since this machine booted, /proc/PID/stat field 22

	done chan struct{} // closed when it ended; nil if it is not our child
}

// spawn starts QEMU with its output in the directory's log. A process that is
// not detached is killed by the kernel when this one ends.
func spawn(dir string, args []string, detach bool) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, qemuLog), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open QEMU's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(program("qemu-system-x86_64"), args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = log, log
	// A session of its own keeps the terminal's Ctrl-C away from it: Stop ends it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !detach {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}

	started := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		// The kernel sends a parent-death signal when the thread that made the
		// child ends, so that thread has to stay for as long as the child.
		runtime.LockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start QEMU: %w", err)
	}
	p := &process{PID: cmd.Process.Pid, done: done}
	if p.Start, err = startTime(p.PID); err != nil {
		// It has ended already; its log says why.
		<-done
		return nil, fmt.Errorf("start QEMU: %s", readLog(dir))
	}
	return p, nil
}

// readLog is what QEMU said.
func readLog(dir string) string {
	content, err := os.ReadFile(filepath.Join(dir, qemuLog))
	if err != nil || len(bytes.TrimSpace(content)) == 0 {
		return "it ended and said nothing"
	}
	return strings.TrimSpace(string(content))
}

// startTime reads when a live process was started; a zombie counts as gone.
func startTime(pid int) (uint64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStartTime(string(content))
}

func parseStartTime(stat string) (uint64, error) {
	// The second field is the command in brackets and may hold anything.
	_, rest, ok := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return 0, fmt.Errorf("read a process's status: %d fields", len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, os.ErrProcessDone
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (p *process) alive() bool {
	start, err := startTime(p.PID)
	return err == nil && start == p.Start
}

// kill ends the process and waits until it is gone.
func (p *process) kill(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end QEMU %d: %w", p.PID, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for p.alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("end QEMU %d: %w", p.PID, ctx.Err())
		case <-tick.C:
		}
	}
	if p.done == nil { // not started here
		return nil
	}
	// Its first thread is gone, the others may still hold its disks.
	select {
	case <-ctx.Done():
		return fmt.Errorf("end QEMU %d: %w", p.PID, ctx.Err())
	case <-p.done:
		return nil
	}
}

// save writes the process's identity to its directory.
func (p *process) save(dir string) error {
	line := fmt.Sprintf("%d %d\n", p.PID, p.Start)
	return writeFile(filepath.Join(dir, pidFile), []byte(line), 0o600)
}

// loadProcess returns the process of a directory, nil if none was started there.
func loadProcess(dir string) (*process, error) {
	content, err := os.ReadFile(filepath.Join(dir, pidFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the process id: %w", err)
	}
	var p process
	if _, err := fmt.Sscanf(string(content), "%d %d", &p.PID, &p.Start); err != nil {
		return nil, fmt.Errorf("read the process id: %w", err)
	}
	return &p, nil
}

// writeFile replaces a file at once, so that a reader sees the old or the new.
func writeFile(name string, content []byte, mode os.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err := temporary.Write(content); err != nil {
		temporary.Close()
		return err
	}
	if err := temporary.Chmod(mode); err != nil {
		temporary.Close()
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
