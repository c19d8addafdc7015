// Package runs finds the processes of plays on this machine, from outside of the backends that run them. Tests stop,
// count and kill them.
//
// Every process of a run carries its run's directory in its environment, however far it went apart from its parents; but
// for the master of a shared ssh connection, which tells it in its title.
package runs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

const (
	// runVariable names the run's directory; the supervisor of a backend sets it (backend/internal/ansible).
	runVariable = "KLOIGOS_RUN="
	// masterTitle is followed by the path of a shared connection's socket, which lies in the run's directory.
	masterTitle = "ssh: "
)

// Processes are the ids of all processes of runs whose directory is below root. A process that has ended, and that its
// parent has not looked at yet, is none.
func Processes(root string) []int {
	root = filepath.Clean(root)
	return find(func(p procfs.Proc) bool {
		run := runOf(p)
		return run == root || strings.HasPrefix(run, root+string(filepath.Separator))
	})
}

// Supervisors are the children of a backend that supervise plays, without those that wait for one.
func Supervisors(backend int) []int {
	return find(func(p procfs.Proc) bool {
		stat, err := p.Stat()
		return err == nil && stat.PPID == backend && strings.HasPrefix(commandLine(p), "kloigos-supervisor") && HasPlay(p.PID)
	})
}

// Ansibles are the processes of the plays that a backend has supervised, without the children of those.
func Ansibles(backend int) []int {
	supervisors := Supervisors(backend)
	return find(func(p procfs.Proc) bool {
		if program(p.PID) != "ansible-playbook" {
			return false
		}
		above := parent(p.PID)
		for program(above) == "bwrap" { // the two processes of the wall
			above = parent(above)
		}
		return slices.Contains(supervisors, above)
	})
}

func program(pid int) string {
	path, _, _ := strings.Cut(CommandLine(pid), " ")
	return filepath.Base(path)
}

// parent is 0 for a process that has ended.
func parent(pid int) int {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return stat.PPID
}

// Of is the directory of the run that a process is of; empty if it is of none.
func Of(pid int) string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return ""
	}
	return runOf(p)
}

// HasPlay tells whether a process is of a run that has its play, whose inventory is in its directory; a run that was only
// begun ahead of time has none yet.
func HasPlay(pid int) bool {
	run := Of(pid)
	if run == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(run, "inventory.json"))
	return err == nil
}

// CommandLine is how a process was called; empty if it has ended.
func CommandLine(pid int) string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return ""
	}
	return commandLine(p)
}

func commandLine(p procfs.Proc) string {
	words, err := p.CmdLine()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// runOf looks at the environment and, since the master of a shared ssh connection writes its title over that, at the title.
// A connection that is of no run seems to be of one in its socket's directory, where no backend has any.
func runOf(p procfs.Proc) string {
	environment, err := p.Environ()
	if err != nil {
		return "" // it has ended, or is another user's
	}
	for _, variable := range environment {
		if run, ok := strings.CutPrefix(variable, runVariable); ok {
			return run
		}
	}
	if socket, ok := strings.CutPrefix(commandLine(p), masterTitle); ok && filepath.IsAbs(socket) {
		return filepath.Dir(socket)
	}
	return ""
}

func find(is func(procfs.Proc) bool) []int {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	var found []int
	for _, p := range all {
		if is(p) {
			found = append(found, p.PID)
		}
	}
	return found
}
