// Command kloigos-backend is the control plane: API, workers and reconciler in
// one program. See kloigos-backend help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/kernel/failpoint"
)

const usage = `kloigos-backend cuts Linux hosts into compute units and hands them out.

  kloigos-backend init      prepare the database: schema, keys, playbooks, the first
                            administrator (its password is printed once, here); can be
                            run again
  kloigos-backend serve     serve the roles of this backend until SIGTERM
  kloigos-backend verify    hold what must always be true against the database, change
                            nothing; see kloigos-backend verify --help
  kloigos-backend account   help a person who cannot log in; see kloigos-backend account --help
  kloigos-backend keyset    replace the key that seals secrets; see kloigos-backend keyset --help
  kloigos-backend failpoints  name the places at which a test can end a backend
  kloigos-backend version   print the version

Each of these settings is an environment variable or a flag:

`

func main() {
	// First of all: a supervisor of plays is this same program, and must start
	// nothing else.
	if len(os.Args) > 1 && os.Args[1] == ansible.SuperviseArg {
		os.Exit(ansible.Supervise(os.Args[2:]))
	}
	if err := keepToItself(); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "kloigos-backend: %v\n", err)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// keepToItself keeps the keys in this process's memory from a core file, and
// its memory and environment from the plays that it runs, which have the same
// user. It does not pass on to them.
func keepToItself() error {
	return errors.Join(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}), unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		help(stdout)
		return 0
	}
	if args[0] == "version" {
		_, _ = fmt.Fprintln(stdout, app.Version())
		return 0
	}
	if args[0] == "failpoints" {
		for _, p := range failpoint.All() {
			_, _ = fmt.Fprintf(stdout, "%-32s %s\n", p.Name, p.Means)
		}
		return 0
	}
	if args[0] == "account" {
		return accountCommand(args[1:], stdout, stderr)
	}
	if args[0] == "keyset" {
		return keysetCommand(args[1:], stdout, stderr)
	}
	if args[0] == "verify" {
		return verifyCommand(args[1:], stdout, stderr)
	}
	if args[0] != "init" && args[0] != "serve" {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend: there is no command %q; see kloigos-backend help\n", args[0])
		return 2
	}
	cfg, err := config.Load(args[1:], os.Getenv)
	if errors.Is(err, flag.ErrHelp) {
		help(stdout)
		return 0
	}
	if err == nil {
		err = command(args[0], cfg, stdout, stderr)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend: %v\n", err)
		return 1
	}
	return 0
}

func help(w io.Writer) {
	_, _ = io.WriteString(w, usage)
	config.Usage(w)
}

// command runs init or serve. The first SIGTERM or SIGINT stops politely, the
// second at once.
func command(name string, cfg config.Config, stdout, stderr io.Writer) error {
	stop, stopNow := context.WithCancel(context.Background())
	hard, hardNow := context.WithCancel(context.Background())
	defer stopNow()
	defer hardNow()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		stopNow()
		<-signals
		hardNow()
	}()
	if name == "init" {
		return app.Init(stop, cfg, stdout)
	}
	log := cfg.Logger(stderr)
	slog.SetDefault(log) // for what logs without one of its own: a line of another form is lost to whoever reads them by machine
	b, err := app.Open(stop, cfg, log)
	if err != nil {
		return err
	}
	defer b.Close()
	return b.Serve(stop, hard, nil)
}
