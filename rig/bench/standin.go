package bench

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// standIn is what backends find on their PATH in place of Ansible where only its start is of interest.
type standIn struct {
	dir  string
	pipe *os.File // what `starts` in it leads to: behind the wall nothing there can be written but a pipe
}

func (b *Bed) newStandIn(ctx context.Context) (standIn, error) {
	s := standIn{dir: b.path("stand-in")}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(s.dir, "ansible-playbook"), "./rig/bench/cmd/ansible-playbook")
	cmd.Dir = b.options.Root
	if output, err := cmd.CombinedOutput(); err != nil {
		return s, fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(output))
	}
	return s, errors.Join(s.hang(false), s.listen())
}

//go:embed standin/ansible-playbook.py
var loadedStandIn []byte

// newLoadedStandIn is one that is begun as Ansible itself is: in a process that has loaded Ansible ahead of time.
func (b *Bed) newLoadedStandIn() (standIn, error) {
	s := standIn{dir: b.path("loaded-stand-in")}
	ansible, err := exec.LookPath("ansible-playbook")
	if err != nil {
		return s, fmt.Errorf("find Ansible, which is to be loaded: %w", err)
	}
	script, err := os.ReadFile(ansible)
	if err != nil {
		return s, fmt.Errorf("read which Python Ansible has: %w", err)
	}
	python, _, _ := bytes.Cut(script, []byte("\n"))
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return s, err
	}
	return s, errors.Join(s.listen(), os.WriteFile(filepath.Join(s.dir, "ansible-playbook"), slices.Concat(python, []byte("\n"), loadedStandIn), 0o700))
}

// listen makes the pipe, and has what is beside the stand-in shown to it behind the wall (backend/internal/wall).
func (s *standIn) listen() (err error) {
	if err := os.WriteFile(filepath.Join(s.dir, "pyvenv.cfg"), nil, 0o600); err != nil {
		return err
	}
	file := filepath.Join(s.dir, "starts")
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := unix.Mkfifo(file, 0o600); err != nil {
		return fmt.Errorf("make the pipe of starts: %w", err)
	}
	// For writing too: then it stays open whoever else closes it.
	if s.pipe, err = os.OpenFile(file, os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
		return err
	}
	// Room for 50,000 starts.
	_, err = unix.FcntlInt(s.pipe.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	return err
}

// environment has a backend run it.
func (s standIn) environment(b *Bed) []string {
	return []string{"PATH=" + s.dir + string(filepath.ListSeparator) + os.Getenv("PATH"), "KLOIGOS_RUN_ROOT=" + b.runRoot()}
}

// hang has the plays that begin from now on go on until it is called with false.
func (s standIn) hang(yes bool) error {
	file := filepath.Join(s.dir, "hang")
	if yes {
		return os.WriteFile(file, nil, 0o600)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forget forgets when plays began.
func (s standIn) forget() error {
	_, err := s.starts()
	return err
}

// starts is when plays began since it was asked last.
func (s standIn) starts() (all []time.Time, err error) {
	var text []byte
	for buffer := make([]byte, 64<<10); ; {
		n, err := unix.Read(int(s.pipe.Fd()), buffer)
		if errors.Is(err, unix.EAGAIN) || err == nil && n == 0 {
			break
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("read when plays began: %w", err)
		}
		text = append(text, buffer[:max(n, 0)]...)
	}
	for line := range strings.Lines(string(text)) {
		ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read when plays began: %w", err)
		}
		all = append(all, time.Unix(0, ns))
	}
	return all, nil
}
