// Package memory owns one question: how much memory can the processes that this
// one starts still take, before the kernel or a limit set on this service kills
// something? It knows nothing of jobs, and it reads at every question, because
// others on the machine take memory too.
package memory

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// reserve is left to the backend itself and to the rest of the machine: caches,
// a large bundle, an SSH server that has to be able to let the operator in.
const reserve = 128 << 20

// Memory reads what a machine and the cgroups of a process leave.
type Memory struct {
	proc    string // where /proc is
	cgroups string // where the cgroup v2 hierarchy is
}

// Here is the memory of this process on this machine.
func Here() Memory { return Memory{proc: "/proc", cgroups: "/sys/fs/cgroup"} }

// Available is how many bytes can still be taken: the least of what the kernel
// says of the machine (MemAvailable) and of what each limit of a cgroup that
// this process is in leaves. Memory that the kernel can take back at once (files
// that were read and not written) counts as available in both.
func (m Memory) Available() (int64, error) {
	least, err := m.machine()
	if err != nil {
		return 0, err
	}
	path, err := m.cgroup()
	if err != nil || path == "" {
		return least, err
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		left, err := m.left(filepath.Join(m.cgroups, dir))
		if err != nil {
			return 0, err
		}
		if least = min(least, left); dir == "/" {
			return max(least, 0), nil
		}
	}
}

// Room is how many more processes of this size (bytes) there is memory for, if
// recent of them have been started but have not taken theirs yet. 0 if it
// can't be known any more: then something is wrong with the machine.
func (m Memory) Room(size int64, recent int) int {
	available, err := m.Available()
	if err != nil {
		return 0
	}
	return int(max((available-reserve)/size-int64(recent), 0))
}

func (m Memory) machine() (int64, error) {
	n, found, err := field(filepath.Join(m.proc, "meminfo"), "MemAvailable:")
	if err != nil {
		return 0, fmt.Errorf("read the memory of the machine: %w", err)
	}
	if !found {
		return 0, errors.New("the kernel does not tell MemAvailable")
	}
	return n << 10, nil // it is in KiB
}

// cgroup is this process's path in the hierarchy of version 2; "" if it has none.
func (m Memory) cgroup() (string, error) {
	content, err := os.ReadFile(filepath.Join(m.proc, "self", "cgroup"))
	if err != nil {
		return "", fmt.Errorf("read this process's cgroup: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			// In a container the path may lead out of what is mounted there.
			return filepath.Clean("/" + path), nil
		}
	}
	return "", nil
}

// left is what one cgroup's limit leaves; without a limit, everything. In the
// root of the hierarchy, or of a container, the files may be absent.
func (m Memory) left(dir string) (int64, error) {
	limit, err := number(filepath.Join(dir, "memory.max"))
	if errors.Is(err, os.ErrNotExist) || err == nil && limit == math.MaxInt64 {
		return math.MaxInt64, nil
	}
	if err != nil {
		return 0, err
	}
	used, err := number(filepath.Join(dir, "memory.current"))
	if err != nil {
		return 0, err
	}
	reclaimable, _, err := field(filepath.Join(dir, "memory.stat"), "inactive_file")
	if err != nil {
		return 0, fmt.Errorf("read what a cgroup holds: %w", err)
	}
	return limit - used + reclaimable, nil
}

// number reads a file with one number, or "max".
func number(file string) (int64, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("read a cgroup's limit: %w", err)
	}
	text := strings.TrimSpace(string(content))
	if text == "max" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", file, err)
	}
	return n, nil
}

// field finds `name number` in a file of such lines.
func field(file, name string) (n int64, found bool, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, false, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, true, err
		}
	}
	return 0, false, nil
}
