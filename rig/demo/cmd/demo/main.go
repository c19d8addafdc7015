// Command demo sets up a whole installation of Kloigos on this machine and stays in the foreground until Ctrl-C, which
// stops all that it started. See ./task demo.
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

	"kloigos/rig/demo"
)

const usage = `./task demo [-- options]

Sets up a database, backends and web apps behind HAProxy (two of each, or as you
say), and a host: a throwaway VM, or one of yours. Stays in the foreground; Ctrl-C
stops all that it started.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The second signal ends the demo at once; what it started ends with it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	options := demo.Options{Out: os.Stdout, In: os.Stdin}
	var host, device, address string
	var yes, check, network bool
	flags.BoolVar(&check, "check", false, "do the whole job without a person: a line for each check, exit 0 or 1")
	flags.BoolVar(&options.Ask, "ask", false, "with --check: wait after a failed check, with everything still running; run it again, go on, or end")
	flags.BoolVar(&network, "network", false, "with --check: the checks of units with networks of their own, instead of the others")
	flags.StringVar(&host, "host", "", "a host of yours instead of the VM: user@address[:port]; shows what it will do, and asks")
	flags.StringVar(&device, "device", "", "with --host: empty disks to take, by-id, separated by commas")
	flags.StringVar(&address, "address", "", "with --host: free address of its network, for the unit")
	flags.BoolVar(&yes, "yes", false, "with --host: yes to every question")
	flags.IntVar(&options.Backends, "backends", 2, "how many backends run")
	flags.IntVar(&options.Webapps, "webapps", 2, "how many web apps run")
	flags.IntVar(&options.Port, "port", 0, "port of the origin (8443, or another if that is taken)")
	flags.StringVar(&options.Dir, "dir", "", "where the demo keeps its files")
	flags.StringVar(&options.UnitNetwork, "unit-network", "", "auto, host or unit: the network of new units (KLOIGOS_UNIT_NETWORK)")
	flags.BoolVar(&options.SkipPackages, "skip-packages", false, "install nothing")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "demo: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if host != "" {
		target, err := demo.ParseTarget(host)
		if err != nil {
			fmt.Fprintln(os.Stderr, "demo: --host:", err)
			return 2
		}
		target.Address, target.Yes = address, yes
		if device != "" {
			target.Devices = strings.Split(device, ",")
		}
		options.Target = target
	}
	if check {
		if host != "" {
			fmt.Fprintln(os.Stderr, "demo: --check wants the throwaway VM: it reboots the host and searches its disks")
			return 2
		}
		options.Check = true
	}
	if err := demonstrate(ctx, options, check, network); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	return 0
}

func demonstrate(ctx context.Context, options demo.Options, check, network bool) (err error) {
	installation, err := demo.Up(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, installation.Down()) }()
	if check {
		if network {
			return installation.Check(ctx, installation.NetworkChecks())
		}
		return installation.Check(ctx, installation.Checks())
	}
	fmt.Println()
	for _, line := range installation.Lines() {
		fmt.Println(line)
	}
	fmt.Println()
	fmt.Println("Kill any of the processes and see what happens (kill -9 and its number): each is started again.")
	fmt.Println("Ctrl-C stops all of it.")
	return installation.Wait(ctx)
}
