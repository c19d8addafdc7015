// Command demo sets up a whole installation on this machine. It is what
// `./task demo` runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"kloigos/inventory/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := options(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = demo.Run(ctx, o)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func options(args []string) (demo.Options, error) {
	o := demo.Options{In: os.Stdin, Out: os.Stdout}
	flags := flag.NewFlagSet("./task demo --", flag.ContinueOnError)
	flags.BoolVar(&o.Check, "check", false, "do the whole job without a person, print a line for each check, exit 0 or 1")
	flags.StringVar(&o.Host, "host", "", "user@address[:port] of a real host instead of the throwaway VM")
	list(flags, "address", "a free address of the real host's network, for a unit (can be repeated)", &o.Addresses)
	list(flags, "device", "an empty disk of the real host, /dev/disk/by-id/... (can be repeated; default: all empty ones)", &o.Devices)
	flags.BoolVar(&o.Yes, "yes", false, "don't ask before touching a real host")
	flags.IntVar(&o.Backends, "backends", 2, "how many backends")
	flags.IntVar(&o.Webapps, "webapps", 2, "how many web apps")
	flags.IntVar(&o.Port, "port", 8443, "port of the web page and the API, if it is free")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.Backends < 1 || o.Webapps < 1 {
		flags.Usage()
		return o, fmt.Errorf("what was asked makes no sense: %s", strings.Join(args, " "))
	}
	var err error
	if o.Root, err = os.Getwd(); err != nil {
		return o, err
	}
	state, err := directory("XDG_STATE_HOME", ".local/state")
	if err != nil {
		return o, err
	}
	cache, err := directory("XDG_CACHE_HOME", ".cache")
	o.Dir, o.Cache = filepath.Join(state, "demo"), cache
	return o, err
}

func list(flags *flag.FlagSet, name, usage string, to *[]string) {
	flags.Func(name, usage, func(v string) error {
		*to = append(*to, v)
		return nil
	})
}

// directory is where the XDG base directories put what is ours.
func directory(variable, fallback string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kloigos"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, fallback, "kloigos"), err
}
