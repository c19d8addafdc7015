package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of the times in /proc/PID/stat: USER_HZ, which is 100 on every Linux that Go runs on.
const clockTick = time.Second / 100

// process is what /proc tells of one process.
type process struct {
	parent int
	cpu    time.Duration // its own, user and system
	waited time.Duration // of its children that have ended
}

func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	// The name, in parentheses, may hold anything; behind it come plain numbers, the third of all first.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	number := func(n int) int64 {
		v, _ := strconv.ParseInt(fields[n-3], 10, 64) // 0 for what is no number: none of those that are asked for
		return v
	}
	return process{
		parent: int(number(4)),
		cpu:    time.Duration(number(14)+number(15)) * clockTick,
		waited: time.Duration(number(16)+number(17)) * clockTick,
	}, nil
}

// familyCPU is the time that a process and its children have used, those that ended included.
func familyCPU(pid int) (time.Duration, error) {
	head, err := readProcess(pid)
	if err != nil {
		return 0, err
	}
	total := head.cpu + head.waited
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if p, err := readProcess(child); err == nil && p.parent == pid {
			total += p.cpu + p.waited
		}
	}
	return total, nil
}

// memory is resident memory in bytes: all of it, and what is not a mapped file.
type memory struct{ resident, anonymous int64 }

func readMemory(pid int) (memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	var m memory
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			m.resident = kib << 10
		case "RssAnon":
			m.anonymous = kib << 10
		}
	}
	return m, nil
}

// costed tells what each request of a round cost the processors, which says more than its time where the machine has
// other things to do. The program is a process; 0 if none takes part.
func (b *Bed) costed(name string, program int, run func() (measured, error)) (measured, error) {
	spent := func() (database, ours time.Duration, err error) {
		if database, err = familyCPU(b.master); err == nil && program != 0 {
			ours, err = familyCPU(program)
		}
		return database, ours, err
	}
	databaseBefore, oursBefore, err := spent()
	if err != nil {
		return measured{}, err
	}
	m, err := run()
	if err != nil {
		return measured{}, err
	}
	databaseAfter, oursAfter, err := spent()
	if err != nil {
		return measured{}, err
	}
	each := time.Duration(max(1, len(m.latencies)))
	b.say("   %-8s %6.0f/s; CPU of each: database %s, program %s", name, m.perSecond, milliseconds((databaseAfter-databaseBefore)/each),
		milliseconds((oursAfter-oursBefore)/each))
	return m, nil
}
