// Command showcase runs an installation without hosts, for looking at its pages. See rig/showcase/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kloigos/rig/showcase"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the second signal ends it at once
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	o := showcase.Options{Root: ".", Out: os.Stderr, Size: showcase.Full}
	flags := flag.NewFlagSet("showcase", flag.ContinueOnError)
	flags.IntVar(&o.Port, "port", 8090, "of the web app, if it is free")
	flags.IntVar(&o.Rate, "rate", 5, "lines a second that the running job tells")
	flags.IntVar(&o.Size.Hosts, "hosts", o.Size.Hosts, "hosts")
	flags.IntVar(&o.Size.UnitsEach, "units", o.Size.UnitsEach, "units of each host, 30 at most")
	flags.IntVar(&o.Size.Jobs, "jobs", o.Size.Jobs, "jobs")
	flags.IntVar(&o.Size.Events, "events", o.Size.Events, "audit events")
	flags.IntVar(&o.Size.LogLines, "log-lines", o.Size.LogLines, "lines of the longest log")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := show(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "showcase:", err)
		return 1
	}
	return 0
}

func show(ctx context.Context, o showcase.Options) (err error) {
	if o.Dir, err = os.MkdirTemp("", "kloigos-showcase-"); err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	s, err := showcase.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, line := range [][2]string{
		{"web", s.Web},
		{"account", s.Account},
		{"password", s.Password},
		{"api", s.API},
		{"token", s.Token},
		{"long job", s.Web + "/jobs/" + s.Jobs.Long},
		{"running job", s.Web + "/jobs/" + s.Jobs.Running},
		{"failed job", s.Web + "/jobs/" + s.Jobs.Failed},
	} {
		fmt.Printf("%-12s %s\n", line[0], line[1])
	}
	<-ctx.Done()
	return nil
}
