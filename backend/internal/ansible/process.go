package ansible

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// markName is in the environment of every process of a run, with the run's directory as the value. It finds those
// whose supervisor is gone.
const markName = "KLOIGOS_RUN"

// processIDs lists all processes of the machine.
func processIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf reads the parent and the state out of /proc/<pid>/stat. The command's name there may hold anything, so the
// fields are counted from its closing parenthesis.
func parentOf(pid int) (parent int, state byte, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, 0, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 2 || len(fields[0]) != 1 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, fields[0][0], err == nil
}

// descendants lists the living processes below ancestor, whatever their session or process group. Zombies are left
// out: only their parents can end those.
func descendants(ancestor int) []int {
	children := map[int][]int{}
	alive := map[int]bool{}
	for _, pid := range processIDs() {
		if parent, state, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
			alive[pid] = state != 'Z' && state != 'X'
		}
	}
	var found []int
	seen := map[int]bool{ancestor: true}
	for queue := []int{ancestor}; len(queue) > 0; queue = queue[1:] {
		for _, pid := range children[queue[0]] {
			if seen[pid] {
				continue
			}
			seen[pid] = true
			queue = append(queue, pid)
			if alive[pid] {
				found = append(found, pid)
			}
		}
	}
	return found
}

// isMarked tells whether a process belongs to the run in dir. The master of a shared ssh connection writes its title
// over its environment, and the title is the path of its socket.
func isMarked(pid int, dir string) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	environ, err := os.ReadFile(proc + "/environ")
	if err != nil {
		return false
	}
	mark := []byte(markName + "=" + dir + "\x00")
	if bytes.HasPrefix(environ, mark) || bytes.Contains(environ, append([]byte{0}, mark...)) {
		return true
	}
	cmdline, err := os.ReadFile(proc + "/cmdline")
	return err == nil && bytes.HasPrefix(cmdline, []byte("ssh: "+dir+"/"))
}

// killMarked ends all processes that carry the mark of a run, and returns how many are left when the time is over.
func killMarked(dir string, within time.Duration) int {
	for deadline := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		left := 0
		for _, pid := range processIDs() {
			if pid != os.Getpid() && isMarked(pid, dir) {
				left++
				killIfMarked(pid, dir)
			}
		}
		if left == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// killIfMarked holds on to the process while it looks a second time, so that a pid that was given to another process
// in between is never hit.
func killIfMarked(pid int, dir string) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if isMarked(pid, dir) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}
