package localdb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

const (
	postgresUser       = "kloigos"
	postgresMinVersion = 15
)

// preparePostgres makes the data directory where it is missing, and returns how to run the server on it.
//
// Layout of dir: pgdata/ (owned by the user that runs the server), password (0600), server.pid, server.log.
func preparePostgres(ctx context.Context, opts Options, throwaway bool) (launch, error) {
	dir := opts.Dir
	bin, err := postgresBin()
	if err != nil {
		return launch{}, err
	}
	runAs, err := unprivileged()
	if err != nil {
		return launch{}, err
	}
	password, err := postgresPassword(filepath.Join(dir, "password"))
	if err != nil {
		return launch{}, err
	}
	data := filepath.Join(dir, "pgdata")
	if err := runAs.openWay(dir); err != nil {
		return launch{}, err
	}
	if err := initPostgres(ctx, bin, dir, data, password, runAs); err != nil {
		return launch{}, err
	}
	if err := awaitLeft(ctx, data); err != nil {
		return launch{}, err
	}
	port := opts.Port
	if port == 0 {
		if port, err = freePort(ctx); err != nil {
			return launch{}, err
		}
	}
	// PostgreSQL: INT disconnects the clients and writes a checkpoint, QUIT only ends.
	signal, settings := "INT", durableSettings
	if throwaway {
		signal, settings = "QUIT", throwawaySettings
	}
	argv := []string{
		filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "timezone=UTC", "-c", "log_timezone=UTC", "-c", "max_connections=1000",
	}
	for _, setting := range slices.Concat(settings, opts.Settings) {
		argv = append(argv, "-c", setting)
	}
	admin := url.URL{
		Scheme: "postgresql", User: url.UserPassword(postgresUser, password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return launch{
		argv:     withParentDeath(signal, runAs.setprivArgs(), argv),
		signal:   signal,
		adminURL: func() (string, error) { return admin.String(), nil },
	}, nil
}

var (
	durableSettings = []string{"fsync=on", "synchronous_commit=on", "shared_buffers=128MB"}
	// A throwaway server never has to survive a crash of the machine; nothing that a client can see is different.
	throwawaySettings = []string{
		"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "max_wal_size=1GB",
		"checkpoint_timeout=1h", "autovacuum=off", "shared_buffers=128MB",
	}
)

func initPostgres(ctx context.Context, bin, dir, data, password string, runAs account) error {
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return checkVersion(bin, data)
	}
	// Made beside and renamed, so that an initdb that was cut never passes for a data directory.
	half := data + ".half"
	if err := os.RemoveAll(half); err != nil {
		return fmt.Errorf("clear the half-made data directory: %w", err)
	}
	if err := os.Mkdir(half, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := runAs.chown(half); err != nil {
		return err
	}
	// The server's user must be able to read the password, which lies in a directory that is not its own.
	pwfile := filepath.Join(dir, "pgdata.password")
	if err := os.WriteFile(pwfile, []byte(password+"\n"), 0o600); err != nil {
		return fmt.Errorf("write initdb's password file: %w", err)
	}
	defer func() { _ = os.Remove(pwfile) }()
	if err := runAs.chown(pwfile); err != nil {
		return err
	}
	argv := runAs.command(filepath.Join(bin, "initdb"), "-D", half, "-U", postgresUser, "--pwfile", pwfile,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(string(output)))
	}
	if err := os.Rename(half, data); err != nil {
		return fmt.Errorf("put the data directory in place: %w", err)
	}
	return nil
}

// awaitLeft waits until nothing is left of a server that was killed: its children notice after a moment, and have its
// shared memory until then, which another server refuses to start beside.
func awaitLeft(ctx context.Context, data string) error {
	const limit = 10 * time.Second
	real, err := filepath.EvalSymlinks(data)
	if err != nil {
		return fmt.Errorf("find the data directory: %w", err)
	}
	for end := time.Now().Add(limit); len(children(real)) > 0 && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for what a killed server has left: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	// What is still there is a server that runs, or a child of one in a long query: the new one refuses to start and says
	// why. Or it is anybody's shell in that directory, which the new one does not mind.
	return nil
}

// children are the processes whose working directory is a data directory, as that of every process of a server is.
func children(data string) (found []int) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	for _, p := range all {
		if cwd, err := p.Cwd(); err == nil && cwd == data {
			found = append(found, p.PID)
		}
	}
	return found
}

// checkVersion refuses a data directory that another major version made: the server would only say so in its log.
func checkVersion(bin, data string) error {
	made, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return fmt.Errorf("read the data directory's version: %w", err)
	}
	if have := majorOf(bin); have != 0 && strconv.Itoa(have) != strings.TrimSpace(string(made)) {
		return fmt.Errorf("%s was made by PostgreSQL %s, the one installed is %d: upgrade it with pg_upgrade, or remove it",
			data, strings.TrimSpace(string(made)), have)
	}
	return nil
}

// postgresBin returns the directory with the server's programs: Debian keeps them off the PATH, one a version.
func postgresBin() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return majorOf(b) - majorOf(a) })
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, dir := range dirs {
		if major := majorOf(dir); major != 0 && major < postgresMinVersion {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no database server: install PostgreSQL 15 or newer (Debian: apt-get install postgresql-15), " +
		"or put a cockroach binary on the PATH")
}

// majorOf reads the version out of Debian's path (/usr/lib/postgresql/15/bin); 0 where it can't.
func majorOf(bin string) int {
	major, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return major
}

func postgresPassword(path string) (string, error) {
	kept, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(kept)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the database's password: %w", err)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	password := hex.EncodeToString(random)
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the database's password: %w", err)
	}
	return password, nil
}

func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// account is who runs the server: nobody else (the zero value) or, since PostgreSQL refuses root, another user.
type account struct {
	other    bool
	uid, gid int
}

func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(found.Uid)
		gid, gidErr := strconv.Atoi(found.Gid)
		if uidErr != nil || gidErr != nil {
			continue
		}
		if _, err := exec.LookPath("setpriv"); err != nil {
			return account{}, errors.New("PostgreSQL refuses to run as root and setpriv (util-linux) is missing")
		}
		return account{other: true, uid: uid, gid: gid}, nil
	}
	return account{}, errors.New("PostgreSQL refuses to run as root and there is no user postgres or nobody to run it as")
}

func (a account) setprivArgs() []string {
	if !a.other {
		return nil
	}
	return []string{"--reuid", strconv.Itoa(a.uid), "--regid", strconv.Itoa(a.gid), "--clear-groups"}
}

func (a account) command(argv ...string) []string {
	if !a.other {
		return argv
	}
	return append(append(append([]string{"setpriv"}, a.setprivArgs()...), "--"), argv...)
}

func (a account) chown(path string) error {
	if !a.other {
		return nil
	}
	if err := os.Chown(path, a.uid, a.gid); err != nil {
		return fmt.Errorf("give %s to the database's user: %w", path, err)
	}
	return nil
}

// openWay lets the server's user pass through dir to what is its own there, and through nothing above it.
func (a account) openWay(dir string) error {
	if !a.other {
		return nil
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("open the way to the data directory: %w", err)
	}
	for parent := dir; parent != "/"; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return fmt.Errorf("look at the way to the data directory: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("%s is closed to the user that PostgreSQL runs as (root may not run it): choose another directory", parent)
		}
	}
	return nil
}
