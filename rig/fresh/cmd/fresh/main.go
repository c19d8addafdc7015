// Command fresh runs the README's commands on a bare Debian 12 with Go. See ./task test:fresh.
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
	"time"

	"kloigos/rig/fresh"
)

const usage = `./task test:fresh [-- options]

Makes a bare Debian 12 with Go in a directory, clones the present commit into it and
runs there ./task test, and ./task demo until it prints its ssh: line. As root.

`

// short are some of the tests that fail where a package is missing that only tests need: they run Ansible against an sshd.
const short = "./task test PACKAGES=./backend/internal/ansible -- " +
	"-count 1 -run '^(TestPlayRunsAndTellsOfIt|TestFailingTask|TestUnreachableAndWrongKeys|TestFence|TestSeveralHostsInOneProcess)$'"

func main() {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case fresh.FirstArg:
			os.Exit(fresh.First(os.Args[2]))
		case fresh.WorkArg:
			os.Exit(fresh.Work(os.Args[2]))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("fresh", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	o := fresh.Options{Source: "."}
	var install bool
	var order, line string
	flags.BoolVar(&install, "install", false, "only install what ./task test lacks, and run some of its tests")
	flags.StringVar(&order, "order", "test,demo", "which of test and demo are run, and in which order")
	flags.StringVar(&line, "run", "", "run this command line there instead")
	flags.BoolVar(&o.User, "user", false, "as a user with sudo, not as root")
	flags.StringVar(&o.Images, "images", "", "bind this directory with built images of the demo's VM into the root; saves minutes")
	flags.BoolVar(&o.Caches, "caches", false, "bind this machine's Go modules and compiled packages into the root; saves minutes")
	flags.DurationVar(&o.Timeout, "timeout", 3*time.Hour, "bound of the whole run")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "fresh: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	var err error
	if o.Commands, err = commands(install, order, line); err != nil {
		fmt.Fprintln(os.Stderr, "fresh:", err)
		return 2
	}
	if err := fresh.Run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fresh:", err)
		return 1
	}
	return 0
}

func commands(install bool, order, line string) ([]fresh.Command, error) {
	switch {
	case install:
		return []fresh.Command{{Line: short, NoSkips: true}}, nil
	case line != "":
		return []fresh.Command{{Line: line}}, nil
	}
	var list []fresh.Command
	for name := range strings.SplitSeq(order, ",") {
		switch name {
		case "test":
			list = append(list, fresh.Command{Line: "./task test"})
		case "demo":
			list = append(list, fresh.Command{Line: "./task demo", Until: "ssh:"})
		default:
			return nil, fmt.Errorf("-order %s: test and demo are known", name)
		}
	}
	return list, nil
}
