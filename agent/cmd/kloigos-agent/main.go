// Command kloigos-agent tells a backend how its host is. It never changes the host.
//
//	kloigos-agent run    speaks to the backend; needs no privilege
//	kloigos-agent read   reads the host as root, without a network, for run
//	kloigos-agent update installs a build that run has fetched, as root, if a release key signed it
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"kloigos/agent/internal/reader"
	"kloigos/agent/internal/speaker"
	"kloigos/agent/internal/update"
)

// version is set by the linker for a release.
var version = ""

func main() {
	runtime.GOMAXPROCS(1) // it does one thing at a time, and leaves the host to others
	debug.SetGCPercent(50)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kloigos-agent:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func start(ctx context.Context) error {
	if len(os.Args) != 2 {
		return fmt.Errorf("use: %s run|read|update|version", os.Args[0])
	}
	place, err := update.Load(os.Getenv, running())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	switch os.Args[1] {
	case "read":
		return read(ctx, place, log)
	case "run":
		return run(ctx, place, log)
	case "update":
		return update.Serve(place)
	case "version":
		fmt.Println(running())
		return nil
	}
	return fmt.Errorf("unknown command %q: use run, read, update or version", os.Args[1])
}

func run(ctx context.Context, place update.Place, log *slog.Logger) error {
	config, err := speaker.Load(os.Getenv)
	if err != nil {
		return err
	}
	if !update.Child() {
		err := update.Launch(ctx, place, log)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to stop
		}
		if err != nil {
			return err
		}
	} else {
		place.Base = os.Getenv(update.BaseEnv)
	}
	config.Version, config.Update = running(), place
	return speaker.Run(ctx, config, log)
}

// lookAgain is how often the reader looks whether another version should read.
const lookAgain = 30 * time.Second

func read(ctx context.Context, place update.Place, log *slog.Logger) error {
	if update.Child() {
		place.Base = os.Getenv(update.BaseEnv)
	} else if err := update.ExecReader(place); err != nil {
		log.Error("another version can't be started, so this one reads", "error", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chosen := place.ChooseProven()
	go func() {
		for place.ChooseProven() == chosen {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookAgain):
			}
		}
		stop() // the socket starts it again
	}()
	return reader.Serve(ctx, os.Stdout)
}

// running is the version of this build.
func running() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return strings.Trim(info.Main.Version, "()")
}
