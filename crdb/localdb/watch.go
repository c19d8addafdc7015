package localdb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// launch is how an engine is started and reached.
type launch struct {
	argv []string
	env  []string
	// signal ends the server: gently where its data is kept, at once where it is not.
	signal string
	// adminURL names a database that is always there; an error means not yet.
	adminURL func() (string, error)
}

// watchScript runs the server as its child and holds the read end of a pipe whose other end only the starting process
// has. When that process closes it, or ends in whatever way, the server is told to end, and killed after half a minute.
// Arguments: signal, file for the server's process id, directory to remove afterwards (or empty), command.
const watchScript = `
signal=$1 pid=$2 remove=$3
shift 3
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
echo "$server" >"$pid"
(
    read -r _ <&3
    kill -s "$signal" "$server"
    i=0
    while [ "$i" -lt 300 ]; do i=$((i + 1)); sleep 0.1; kill -0 "$server" || exit 0; done
    kill -s KILL "$server"
) 2>/dev/null & dog=$!
wait "$server"
code=$?
kill "$dog" 2>/dev/null
if [ -n "$remove" ]; then rm -rf -- "$remove"; fi
exit "$code"
`

const pidFile = "server.pid"

// watched is a server under its watchdog.
type watched struct {
	// hold is the pipe's write end, and closing it ends the server. A bare descriptor, because an os.File closes itself
	// when nobody refers to it any more, and a caller may well drop the Server that it means to keep until its own end.
	hold    int
	once    sync.Once
	process *os.Process
	log     string
	done    chan struct{}
}

func startWatched(plan launch, dir string, throwaway bool) (*watched, error) {
	var pipe [2]int
	// Close-on-exec, so that no other child keeps the server alive.
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make the watchdog's pipe: %w", err)
	}
	read, write := os.NewFile(uintptr(pipe[0]), "watchdog"), pipe[1]
	defer func() { _ = read.Close() }()
	logPath := filepath.Join(dir, "server.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		_ = syscall.Close(write)
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { _ = log.Close() }()

	remove := ""
	if throwaway {
		remove = dir
	}
	argv := append([]string{"-c", watchScript, "kloigos-db-watchdog", plan.signal, filepath.Join(dir, pidFile), remove}, plan.argv...)
	cmd := exec.Command("/bin/sh", argv...)
	cmd.Stdin = read
	// Never the parent's own streams: `go test` waits for all who hold them.
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}, plan.env...)
	cmd.Dir = "/"
	// A session of its own: a Ctrl-C at the terminal is for the starting process, who then stops the server in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = syscall.Close(write)
		return nil, fmt.Errorf("start the server's watchdog: %w", err)
	}
	w := &watched{hold: write, process: cmd.Process, log: logPath, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		_ = cmd.Wait() // how it ended is in its log
	}()
	return w, nil
}

func (w *watched) stop(timeout time.Duration) error {
	w.once.Do(func() { _ = syscall.Close(w.hold) })
	select {
	case <-w.done:
		return nil
	case <-time.After(timeout):
		// The watchdog leads its own group, the server with it.
		_ = syscall.Kill(-w.process.Pid, syscall.SIGKILL)
		<-w.done
		return errors.New("the database server did not end by itself and was killed")
	}
}

// logTail returns the end of the server's log for an error message.
func (w *watched) logTail() string {
	file, err := os.Open(w.log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	const limit = 2000
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-limit), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(file, limit))
	if len(text) == 0 {
		return ""
	}
	return "\n--- the end of its log ---\n" + strings.TrimSpace(string(text))
}

// readPID returns the process id that the watchdog wrote down when it started the server.
func readPID(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	return pid, nil
}

// withParentDeath makes the server end when even the watchdog was killed.
func withParentDeath(signal string, setprivArgs, argv []string) []string {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return argv
	}
	prefix := append([]string{setpriv, "--pdeathsig", signal}, setprivArgs...)
	return append(append(prefix, "--"), argv...)
}
