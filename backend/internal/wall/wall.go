// Package wall owns what a walled command sees of the machine.
//
// A walled command has the system's programs and libraries, the few files of /etc that they need, the paths that its
// [Spec] names, an empty /tmp, devices without hardware and, where that is wanted, the network. All else is not there: no
// other file, no other process, no socket in the file system, no shared memory, and no capability or namespace to get one
// with. When the process that started it ends, it ends with all that it started.
//
// The wall is bubblewrap: namespaces of the user, of mounts, processes, IPC and, without a network, of that. It is built
// by whoever starts the command, root or not.
//
// It refuses to run a command without the wall, and to know what a command is for.
package wall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Spec is what a command has beside the system's programs. Its zero value is a command that reads its standard input and
// writes its output.
type Spec struct {
	// ReadOnly are files and directories, at the same place inside. Each must exist.
	ReadOnly []string
	// Writable are the same, to be written as well.
	Writable []string
	// Network is that of this machine, loopback and what listens there included; else there is none.
	Network bool
	// Dir is where the command begins; "/" if empty.
	Dir string
	// Limits hold for each process of the command.
	Limits Limits
}

// Limits of a process; 0 is none.
type Limits struct {
	Memory  uint64 // bytes of address space
	CPU     uint64 // seconds
	Written uint64 // bytes of one file
}

const (
	// searchPath is where bubblewrap is looked for, and nothing that the environment names.
	searchPath = "/usr/local/bin:/usr/bin:/bin"
	limiter    = "/usr/bin/prlimit" // of util-linux, which every Debian has
	// scratch bounds each directory in memory that is not the caller's.
	scratch = 64 << 20
	// checkWithin is far more than the wall takes on a busy machine.
	checkWithin = 30 * time.Second
)

// ErrUnavailable is in every error that says that the wall can't be built on this machine.
var ErrUnavailable = errors.New("the wall around Ansible can't be built")

// configuration is what programs read of /etc: accounts, names, certificates, time and where libraries are. Nothing of
// it is secret. What is not there is left out.
var configuration = []string{
	"alternatives", "ca-certificates", "crypto-policies", "gai.conf", "group", "host.conf", "hosts", "ld.so.cache", "ld.so.conf",
	"ld.so.conf.d", "localtime", "nsswitch.conf", "passwd", "pki/ca-trust", "pki/tls/certs", "protocols", "resolv.conf", "services",
	"ssl/certs", "ssl/openssl.cnf", "timezone",
}

// Check builds the wall around a command that does nothing, with a network and without. Its error says what is in the
// way.
func Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	for _, network := range []bool{true, false} {
		cmd, err := Command(ctx, Spec{Network: network}, nil, "/bin/true")
		if err != nil {
			return err
		}
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w: %w: %s", ErrUnavailable, err, strings.TrimSpace(said.String()))
		}
	}
	return nil
}

// Argv is the command line that builds the wall and runs a command in it; what argv lacks may be appended to it. The
// wall's own process passes on its environment, all open files, and the exit code, which is 128 and the number of the
// signal for a command that one ended. The command ends when the thread ends that has started the wall.
func (s Spec) Argv(argv ...string) ([]string, error) {
	program, err := bubblewrap()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(limiter); err != nil {
		return nil, fmt.Errorf("%w: %s is not there", ErrUnavailable, limiter)
	}
	wall := []string{limiter, "--core=0"}
	for name, most := range map[string]uint64{"as": s.Limits.Memory, "cpu": s.Limits.CPU, "fsize": s.Limits.Written} {
		if most > 0 {
			wall = append(wall, "--"+name+"="+strconv.FormatUint(most, 10))
		}
	}
	wall = append(wall, "--", program,
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent")
	if !s.Network {
		wall = append(wall, "--unshare-net")
	}
	system, err := system()
	if err != nil {
		return nil, err
	}
	wall = append(wall, system...)
	for _, path := range s.ReadOnly {
		wall = append(wall, "--ro-bind", path, path)
	}
	for _, path := range s.Writable {
		wall = append(wall, "--bind", path, path)
	}
	dir := s.Dir
	if dir == "" {
		dir = "/"
	}
	for _, path := range slices.Concat(s.ReadOnly, s.Writable, []string{dir}) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return nil, fmt.Errorf("wall: %q is not an absolute, clean path", path)
		}
	}
	return append(append(wall, "--remount-ro", "/", "--chdir", dir, "--"), argv...), nil
}

// Command is a walled command with nothing but env in its environment, in a session of its own. When ctx ends it is
// killed, with all that it started, and so it is at the end of the thread that starts it: start it where
// [runtime.LockOSThread] holds until it has ended.
func Command(ctx context.Context, spec Spec, env []string, argv ...string) (*exec.Cmd, error) {
	walled, err := spec.Argv(argv...)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, walled[0], walled[1:]...)
	cmd.Dir = "/"
	cmd.Env = append([]string{}, env...) // nil would be this process's own
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

func bubblewrap() (string, error) {
	for _, dir := range filepath.SplitList(searchPath) {
		program := filepath.Join(dir, "bwrap")
		if unix.Access(program, unix.X_OK) == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("%w: bubblewrap is not installed", ErrUnavailable)
}

// system is what every command has.
func system() ([]string, error) {
	args := []string{"--ro-bind", "/usr", "/usr"}
	for _, path := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		target, err := os.Readlink(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err == nil: // into /usr
			args = append(args, "--symlink", target, path)
		case errors.Is(err, syscall.EINVAL): // a directory
			args = append(args, "--ro-bind", path, path)
		default:
			return nil, fmt.Errorf("wall: %w", err)
		}
	}
	for _, name := range configuration {
		path := filepath.Join("/etc", name)
		args = append(args, "--ro-bind-try", path, path)
	}
	size := strconv.Itoa(scratch)
	return append(args,
		"--proc", "/proc", "--remount-ro", "/proc", // the kernel's settings are root's, in whatever namespace root is
		"--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
		"--perms", "1777", "--size", size, "--tmpfs", "/tmp",
	), nil
}
