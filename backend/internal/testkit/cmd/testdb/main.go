// Command testdb runs another command with KLOIGOS_TEST_DATABASE_URL naming a throwaway database server, so that all
// packages of one `go test` share it. Where the variable is set already, it only runs the command.
//
//	testdb -- go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"kloigos/backend/internal/testkit"
	"kloigos/crdb/localdb"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: testdb -- command [arguments]")
		os.Exit(2)
	}
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	// A Ctrl-C reaches the command too, which ends by itself; a TERM is for this process only and is passed on.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	if os.Getenv(testkit.URLVariable) == "" {
		server, err := localdb.Start(context.Background(), localdb.Options{})
		if err != nil {
			return 1, fmt.Errorf("start a database: %w", err)
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		cmd.Env = append(cmd.Env, testkit.URLVariable+"="+server.URL)
	}
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
