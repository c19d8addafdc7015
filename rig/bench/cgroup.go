package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// errNoCgroups says that no cgroup that bounds the processor can be made here.
var errNoCgroups = errors.New("no cgroup with a bound on its processor time can be made")

// cpuGroup is a cgroup, of version 2 or 1.
type cpuGroup string

const cgroupPeriod = 100 * time.Millisecond

// newCPUGroup makes a cgroup whose processes get at most a part of a core.
func newCPUGroup(name string, cores float64) (cpuGroup, error) {
	period := strconv.FormatInt(cgroupPeriod.Microseconds(), 10)
	quota := strconv.FormatInt(int64(cores*float64(cgroupPeriod.Microseconds())), 10)
	var failed []error
	for _, version := range []struct {
		root  string
		files map[string]string
	}{
		{"/sys/fs/cgroup", map[string]string{"cpu.max": quota + " " + period}},
		{"/sys/fs/cgroup/cpu", map[string]string{"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota}},
	} {
		// Without its file of processes a directory is no hierarchy, but anything.
		if _, err := os.Stat(filepath.Join(version.root, "cgroup.procs")); err != nil {
			failed = append(failed, err)
			continue
		}
		g := cpuGroup(filepath.Join(version.root, name))
		err := os.Mkdir(string(g), 0o755)
		for file, value := range version.files {
			if err == nil {
				err = g.write(file, value)
			}
		}
		if err == nil {
			return g, nil
		}
		failed = append(failed, err)
		_ = g.remove() // it may not have been made
	}
	return "", fmt.Errorf("%w: %w", errNoCgroups, errors.Join(failed...))
}

// write never makes a file: what is not there is not a cgroup's.
func (g cpuGroup) write(file, value string) error {
	f, err := os.OpenFile(filepath.Join(string(g), file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// add puts a process, and what it will start, into the cgroup.
func (g cpuGroup) add(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// remove removes the cgroup; its processes have ended.
func (g cpuGroup) remove() error { return os.Remove(string(g)) }
