// Command bench measures the figures of docs/benchmarks.md. See ./task bench.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"kloigos/rig/bench"
)

const usage = `./task bench [-- options]

Measures Kloigos beside the bare parts that it is made of, each figure as a ratio
taken in one run, and prints the table. Takes about half an hour; the machine
should have nothing else to do.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the second signal ends it at once
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	var names []string
	for _, f := range bench.Figures() {
		names = append(names, f.Name)
	}
	scale := bench.Full
	var only string
	var write bool
	flags.StringVar(&only, "only", "", "some figures, separated by commas: "+strings.Join(names, ", "))
	flags.IntVar(&scale.Rounds, "rounds", scale.Rounds, "rounds of each side; the median of them counts")
	flags.BoolVar(&write, "write", false, "put the table into docs/benchmarks.md")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	var some []string
	if only != "" {
		some = strings.Split(only, ",")
	}
	if write && len(some) > 0 {
		fmt.Fprintln(os.Stderr, "bench: --write wants all figures: the table was taken in one run")
		return 2
	}
	if err := measure(ctx, scale, some, write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func measure(ctx context.Context, scale bench.Scale, only []string, write bool) (err error) {
	dir, err := os.MkdirTemp("", "kloigos-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// PostgreSQL refuses root and runs as another user, who must find the way to its data.
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("open the way to the database: %w", err)
	}
	bed, err := bench.NewBed(ctx, bench.Options{Root: ".", Dir: dir, Out: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bed.Close()) }()
	machine, err := bed.Machine(ctx)
	if err != nil {
		return err
	}
	results, err := bench.Run(ctx, bed, scale, only)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n\n", machine)
	bench.Print(os.Stdout, results)
	if write {
		return bench.Write("docs/benchmarks.md", machine, results)
	}
	return nil
}
