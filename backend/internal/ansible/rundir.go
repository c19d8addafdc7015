package ansible

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	runPrefix = "r-"
	// maxRunRoot keeps ssh's control socket below the 104 bytes that a socket's path may have everywhere:
	// root, "/r-" and 8 digits, "/" and 40 digits, and the 17 that ssh appends while it makes the socket.
	maxRunRoot = 103 - (3 + 8) - 41 - 17
)

// runDir is the private directory of one run. It is locked for as long as the backend or the supervisor lives: the
// lock belongs to the open file, which both hold.
type runDir struct {
	path string
	lock *os.File
}

// defaultRunRoot prefers memory: the directory holds private keys.
func defaultRunRoot() string {
	name := fmt.Sprintf("kloigos-%d", os.Geteuid())
	for _, dir := range []string{os.Getenv("RUNTIME_DIRECTORY"), os.Getenv("XDG_RUNTIME_DIR"), "/run", "/dev/shm"} {
		var fs unix.Statfs_t
		if dir == "" || len(dir)+len(name)+1 > maxRunRoot || strings.Contains(dir, ":") || unix.Statfs(dir, &fs) != nil {
			continue
		}
		if (fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC) && unix.Access(dir, unix.W_OK) == nil {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join("/tmp", name)
}

// ensureRunRoot makes the directory and refuses one that somebody else could have prepared, since the default one
// lies where everybody may write.
func ensureRunRoot(root string) error {
	if !filepath.IsAbs(root) || len(root) > maxRunRoot {
		return fmt.Errorf("run root %q: not absolute, or longer than %d bytes, which ssh's control sockets below it do not allow", root, maxRunRoot)
	}
	if strings.ContainsFunc(root, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'%\{}$,:`, r) }) {
		return fmt.Errorf("run root %q: has a character that ssh or Ansible would read as something else", root)
	}
	if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make run root: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(root, &st); err != nil {
		return fmt.Errorf("look at run root: %w", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		return fmt.Errorf("run root %s: must be a directory of uid %d with mode 0700", root, os.Geteuid())
	}
	return nil
}

// withRoot holds the lock of the root, so that no sweep sees a run's directory between its making and its locking.
func withRoot(root string, fn func() error) error {
	f, err := os.Open(root)
	if err != nil {
		return fmt.Errorf("open run root: %w", err)
	}
	defer f.Close()
	if err := flock(f, unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock run root: %w", err)
	}
	return fn()
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func newRunDir(root string) (*runDir, error) {
	var random [4]byte
	rand.Read(random[:])
	d := &runDir{path: filepath.Join(root, runPrefix+hex.EncodeToString(random[:]))}
	err := withRoot(root, func() error {
		if err := os.Mkdir(d.path, 0o700); err != nil {
			return fmt.Errorf("make run directory: %w", err)
		}
		var err error
		if d.lock, err = os.Open(d.path); err != nil {
			return fmt.Errorf("open run directory: %w", err)
		}
		return flock(d.lock, unix.LOCK_EX|unix.LOCK_NB)
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// file is the path of a file in the directory.
func (d *runDir) file(name string) string { return filepath.Join(d.path, name) }

func (d *runDir) write(name string, content []byte) error {
	if err := os.WriteFile(d.file(name), content, 0o600); err != nil {
		return fmt.Errorf("write run directory: %w", err)
	}
	return nil
}

// remove is safe to repeat; the supervisor has done it as well.
func (d *runDir) remove() error {
	err := os.RemoveAll(d.path)
	return errors.Join(err, d.lock.Close())
}

// SweepRuns ends the processes and removes the directories of runs whose backend and supervisor are both gone, as
// after a power cut or a kill -9 of everything. Runs of living backends are not touched. It returns how many it
// removed.
func SweepRuns(root string) (int, error) {
	if root == "" {
		root = defaultRunRoot()
	}
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err := ensureRunRoot(root); err != nil {
		return 0, fmt.Errorf("sweep runs: %w", err)
	}
	dead, err := deadRuns(root)
	errs, swept := []error{err}, 0
	for _, d := range dead { // its own lock keeps others from it; that of the root is what every new run waits for
		err := d.sweep()
		if errs = append(errs, err); err == nil {
			swept++
		}
	}
	if err := errors.Join(errs...); err != nil {
		return swept, fmt.Errorf("sweep runs: %w", err)
	}
	return swept, nil
}

// deadRuns takes the locks of the runs that nobody holds.
func deadRuns(root string) (dead []*runDir, err error) {
	err = withRoot(root, func() error {
		entries, err := os.ReadDir(root)
		errs := []error{err}
		for _, e := range entries {
			if !e.IsDir() || !strings.HasPrefix(e.Name(), runPrefix) {
				continue
			}
			d := &runDir{path: filepath.Join(root, e.Name())}
			if d.lock, err = os.Open(d.path); err != nil {
				errs = append(errs, err)
				continue
			}
			if err := flock(d.lock, unix.LOCK_EX|unix.LOCK_NB); err == nil {
				dead = append(dead, d)
				continue
			} else if !errors.Is(err, unix.EWOULDBLOCK) { // else it is somebody's run
				errs = append(errs, err)
			}
			_ = d.lock.Close()
		}
		return errors.Join(errs...)
	})
	return dead, err
}

// sweep ends what is left of a dead run. What does not end keeps its directory, for the next sweep.
func (d *runDir) sweep() error {
	if left := killMarked(d.path, 10*time.Second); left > 0 {
		_ = d.lock.Close()
		return fmt.Errorf("%d processes of the dead run %s do not end", left, d.path)
	}
	return d.remove()
}
