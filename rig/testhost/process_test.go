package testhost

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestParseStartTime(t *testing.T) {
	t.Parallel()
	tail := " S 1 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 123456 0 0"
	got, err := parseStartTime("42 (a) odd ) name)" + tail)
	if err != nil || got != 123456 {
		t.Errorf("got %d, %v; want 123456", got, err)
	}
	if _, err := parseStartTime("42 (gone)" + strings.Replace(tail, " S ", " Z ", 1)); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a zombie: %v, want ErrProcessDone", err)
	}
	if _, err := parseStartTime("42 (short) S 1"); err == nil {
		t.Error("a short line is accepted")
	}
}

// sleeper starts a process that stands in for QEMU and is reaped when it ends.
func sleeper(t *testing.T) (*exec.Cmd, *process) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() { _ = cmd.Wait(); close(reaped) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-reaped })
	start, err := startTime(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, &process{PID: cmd.Process.Pid, Start: start}
}

func TestStopDirEndsItsProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, p := sleeper(t)
	if err := p.save(dir); err != nil {
		t.Fatal(err)
	}
	if err := StopDir(dir); err != nil {
		t.Fatal(err)
	}
	if p.alive() {
		t.Error("the process lives on")
	}
	if err := StopDir(dir); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestStopDirSparesAReusedProcessID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, p := sleeper(t)
	other := process{PID: p.PID, Start: p.Start - 1}
	if err := other.save(dir); err != nil {
		t.Fatal(err)
	}
	if err := StopDir(dir); err != nil {
		t.Fatal(err)
	}
	if !p.alive() {
		t.Error("a stranger was ended")
	}
}

func TestRemoveDirRefusesADirectoryWithoutAMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := filepath.Join(dir, "keep")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveDir(dir); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(keep); err != nil {
		t.Error(err)
	}
}

func TestLockFileLetsOneInAtATime(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(cancelled, name); !errors.Is(err, context.Canceled) {
		t.Errorf("a second holder: %v, want to wait until the context ends", err)
	}
	var released atomic.Bool
	entered := make(chan bool)
	go func() {
		unlock, err := lockFile(t.Context(), name)
		entered <- err == nil && released.Load()
		if err == nil {
			unlock()
		}
	}()
	released.Store(true)
	unlock()
	if !<-entered {
		t.Error("the lock was not passed on after its release")
	}
}

func TestChoosePorts(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", LoopbackHost+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	takenPort := taken.Addr().(*net.TCPAddr).Port
	ports, err := choosePorts([]string{GuestAddress, "10.0.2.101", "10.0.2.102"}, map[string]int{GuestAddress: takenPort})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{takenPort: true}
	for address, port := range ports {
		if seen[port] {
			t.Errorf("%s was given %d, which is in use", address, port)
		}
		seen[port] = true
	}
	if len(ports) != 3 {
		t.Errorf("%d ports, want 3", len(ports))
	}
	if _, err := choosePorts([]string{"10.0.2.101", "10.0.2.101"}, nil); err == nil {
		t.Error("an address twice is accepted")
	}
}

func TestStateRemembersPorts(t *testing.T) {
	t.Parallel()
	s := state{SSHPort: 40022, Forward: map[string]string{"10.0.2.101": "127.0.0.1:40101"}}
	ports := s.ports()
	if ports[GuestAddress] != 40022 || ports["10.0.2.101"] != 40101 {
		t.Errorf("got %v", ports)
	}
}

func TestEnsureKeyKeepsAKey(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "key")
	first, err := ensureKey(name, "me")
	if err != nil {
		t.Fatal(err)
	}
	second, err := ensureKey(name, "me")
	if err != nil {
		t.Fatal(err)
	}
	if first.public != second.public || !strings.HasPrefix(first.public, "ssh-ed25519 ") {
		t.Errorf("public keys %q and %q", first.public, second.public)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v; want 0600", info.Mode(), err)
	}
	line, err := os.ReadFile(name + ".pub")
	if err != nil || string(line) != first.public+" me\n" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestRunEndsWithItsContextAndShowsTheEnd(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	err := run(t.Context(), &log, "sh", "-c", "echo the reason; exit 3")
	if err == nil || !strings.Contains(err.Error(), "the reason") || log.String() != "the reason\n" {
		t.Errorf("error %v, log %q", err, log.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	// The grandchild holds the output open: only ending the whole group ends the wait.
	if err := run(ctx, &log, "sh", "-c", "sleep 30 & sleep 30; true"); err == nil {
		t.Error("no error")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestNewUUIDIsVersion4(t *testing.T) {
	t.Parallel()
	one, two := newUUID(), newUUID()
	if one == two || len(one) != 36 || one[14] != '4' || !strings.Contains("89ab", one[19:20]) {
		t.Errorf("got %s and %s", one, two)
	}
}

// An emulator that dies while it starts has to be told apart from a slow guest.
func TestStartReportsWhatQEMUSaid(t *testing.T) {
	if present("qemu-system-x86_64") && present("qemu-img") {
		dir := t.TempDir()
		broken := imageAt(filepath.Join(dir, "image"), "0")
		if err := os.MkdirAll(broken.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(broken.Root, make([]byte, 1<<20), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), Options{Image: broken, Dir: filepath.Join(dir, "vm"), Accelerator: accelTCG})
		if err == nil || !strings.Contains(err.Error(), "vmlinuz") {
			t.Errorf("got %v, want QEMU's complaint about the missing kernel", err)
		}
		if p, err := loadProcess(filepath.Join(dir, "vm")); err == nil && p != nil && p.alive() {
			t.Errorf("process %s was left", strconv.Itoa(p.PID))
		}
		return
	}
	t.Skip("QEMU is not installed")
}
