// Command testdb runs another command with KLOIGOS_TEST_DATABASE_URL naming a throwaway database server, so that all
// packages of one `go test` share it. Where the variable is set already, that server is taken.
//
//	testdb -- go test ./...
//	testdb -cockroach -refuse 0.05 -- go test ./backend/internal/store
//
// With -cockroach a proxy stands before the server, which speaks as a CockroachDB does (see crdb/proxy).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"kloigos/backend/internal/testkit"
	"kloigos/crdb/localdb"
	"kloigos/crdb/proxy"
)

func main() {
	flags := flag.NewFlagSet("testdb", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: testdb [options] -- command [arguments]")
		flags.PrintDefaults()
	}
	var o proxy.Options
	cockroach := flags.Bool("cockroach", false, "speak as a CockroachDB does")
	flags.Float64Var(&o.Refuse, "refuse", 0, "share of transactions that -cockroach refuses with 40001")
	flags.Uint64Var(&o.Seed, "seed", 1, "of the draws of -cockroach")
	if err := flags.Parse(os.Args[1:]); err != nil {
		os.Exit(2)
	}
	if flags.NArg() == 0 {
		flags.Usage()
		os.Exit(2)
	}
	if !*cockroach {
		o = proxy.Options{}
	}
	code, err := run(flags.Args(), *cockroach, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
	}
	os.Exit(code)
}

func run(args []string, cockroach bool, o proxy.Options) (code int, err error) {
	// A Ctrl-C reaches the command too, which ends by itself; a TERM is for this process only and is passed on.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	url := os.Getenv(testkit.URLVariable)
	if url == "" {
		options := localdb.Options{}
		if cockroach {
			options.Engine = localdb.Postgres
		}
		server, err := localdb.Start(context.Background(), options)
		if err != nil {
			return 1, fmt.Errorf("start a database: %w", err)
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		url = server.URL
	}
	if cockroach {
		through, err := proxy.Start(url, o)
		if err != nil {
			return 1, err
		}
		defer func() {
			fmt.Fprintf(os.Stderr, "testdb: as a CockroachDB: %d round trips, %d transactions refused, %d begun anew\n",
				through.RoundTrips(), through.Refused(), through.Restarts())
			through.Close()
		}()
		url = through.URL
	}
	cmd.Env = append(cmd.Env, testkit.URLVariable+"="+url)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start %s: %w", args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case got := <-signals:
			if got != os.Interrupt {
				_ = cmd.Process.Signal(got)
			}
		case err := <-ended:
			var exit *exec.ExitError
			switch {
			case err == nil:
				return 0, nil
			case errors.As(err, &exit) && exit.ExitCode() > 0:
				return exit.ExitCode(), nil
			}
			return 1, fmt.Errorf("run %s: %w", args[0], err)
		}
	}
}
