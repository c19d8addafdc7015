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
)

// standIn is what backends find on their PATH in place of Ansible where only its start is of interest.
type standIn struct{ dir string }

func (b *Bed) newStandIn(ctx context.Context) (standIn, error) {
	s := standIn{b.path("stand-in")}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(s.dir, "ansible-playbook"), "./inventory/bench/cmd/ansible-playbook")
	cmd.Dir = b.options.Root
	if output, err := cmd.CombinedOutput(); err != nil {
		return s, fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(output))
	}
	return s, errors.Join(s.hang(false), s.forget())
}

//go:embed standin/ansible-playbook.py
var loadedStandIn []byte

// newLoadedStandIn is one that is begun as Ansible itself is: in a process that has loaded Ansible ahead of time.
func (b *Bed) newLoadedStandIn() (standIn, error) {
	s := standIn{b.path("loaded-stand-in")}
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
	return s, os.WriteFile(filepath.Join(s.dir, "ansible-playbook"), slices.Concat(python, []byte("\n"), loadedStandIn), 0o700)
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
	if err := os.Remove(filepath.Join(s.dir, "starts")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// starts is when plays began.
func (s standIn) starts() (all []time.Time, err error) {
	text, err := os.ReadFile(filepath.Join(s.dir, "starts"))
	for line := range strings.Lines(string(text)) {
		ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read when plays began: %w", err)
		}
		all = append(all, time.Unix(0, ns))
	}
	return all, err
}
