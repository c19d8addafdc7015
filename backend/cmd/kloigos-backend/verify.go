package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/verify"
)

const verifyUsage = `kloigos-backend verify [flags]

Holds everything that must always be true against the database, at one moment and
without changing anything: no two tenants on a unit, nothing on its way without a job,
no job without a worker, events that tell what the rows say. Prints a line for each
and ends with 0, or with 1 if one is broken. Backends may run meanwhile.

Of the settings it reads KLOIGOS_DATABASE_URL only, from the environment: every user of
a machine can read the arguments of its processes. Its flags are:

`

const databaseVariable = "KLOIGOS_DATABASE_URL"

// verifyCommand is kloigos-backend verify; what it returns is the exit code.
func verifyCommand(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	overdue := flags.Duration("overdue", time.Minute, "how long after its end a job's lease may still stand; more where no backend runs")
	tokens := flags.String("token-logs", "", "directory with the fence's log of each host, /var/log/kloigos/tokens.log, as <host's name or id>.log")
	acknowledged := flags.String("acknowledged", "", "file with the ids of allocations that clients were told of, one a line")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(stdout, verifyUsage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend verify: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	sound, err := verifyDatabase(ctx, verify.Options{Overdue: *overdue}, *tokens, *acknowledged, stdout)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "kloigos-backend verify: %v\n", err)
		return 2
	}
	if !sound {
		return 1
	}
	return 0
}

func verifyDatabase(ctx context.Context, o verify.Options, tokens, acknowledged string, out io.Writer) (sound bool, err error) {
	if tokens != "" {
		if o.Tokens, err = verify.ReadTokenLogs(tokens); err != nil {
			return false, err
		}
	}
	if acknowledged != "" {
		if o.Acknowledged, err = verify.ReadAcknowledged(acknowledged); err != nil {
			return false, err
		}
	}
	cfg, err := config.Load(nil, func(name string) string {
		if name != databaseVariable { // what else is set for a backend here, well or not, is not its business
			return ""
		}
		return os.Getenv(name)
	})
	if err != nil {
		return false, err
	}
	db, err := store.Open(ctx, cfg.DatabaseURL, store.ReadsOnly())
	if err != nil {
		return false, err
	}
	defer db.Close()
	results, err := verify.Run(ctx, db, o)
	if err != nil {
		return false, err
	}
	return verify.Print(out, results)
}
