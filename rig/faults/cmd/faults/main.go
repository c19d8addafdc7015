// Command faults runs the fault suite. See ./task test:faults.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"kloigos/rig/faults"
)

const usage = `./task test:faults [-- options]

Lets things go wrong and holds that nothing was lost and nothing was done twice.
Takes some five minutes; with --long an hour. The seed is printed: the same seed draws
the same again.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the second signal ends it at once
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	var names []string
	for _, s := range faults.Scenarios() {
		names = append(names, s.Name)
	}
	o := faults.Options{Root: ".", Out: os.Stdout, Database: os.Getenv("KLOIGOS_TEST_DATABASE_URL")}
	only := flags.String("only", "", "some scenarios, separated by commas: "+strings.Join(names, ", "))
	flags.Uint64Var(&o.Seed, "seed", rand.Uint64(), "of all draws; default: another one each time")
	flags.BoolVar(&o.Long, "long", false, "an hour instead of minutes")
	flags.IntVar(&o.Lanes, "lanes", 0, "scenarios beside each other; default: two, with --long one")
	flags.BoolVar(&o.Cockroach, "cockroach", false, "put a proxy before each database, which speaks as a CockroachDB does")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if o.Lanes == 0 && !o.Long {
		o.Lanes = 2
	}
	if *only != "" {
		for name := range strings.SplitSeq(*only, ",") {
			o.Only = append(o.Only, strings.TrimSpace(name))
		}
	}
	if err := all(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	return 0
}

func all(ctx context.Context, o faults.Options) (err error) {
	if o.Dir, err = os.MkdirTemp("", "kloigos-faults-"); err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	// PostgreSQL refuses root and runs as another user, who must find the way to its data.
	if err := os.Chmod(o.Dir, 0o711); err != nil {
		return fmt.Errorf("open the way to the database: %w", err)
	}
	fmt.Printf("seed %d\n", o.Seed)
	begun := time.Now()
	err = faults.Run(ctx, o)
	fmt.Printf("took %s\n", time.Since(begun).Round(time.Second))
	return err
}
