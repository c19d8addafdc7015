// Command kloigos-agent tells a backend how its host is. It never changes the host.
//
//	kloigos-agent run    speaks to the backend; needs no privilege
//	kloigos-agent read   reads the host as root, without a network, for run
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

	"kloigos/agent/internal/reader"
	"kloigos/agent/internal/speaker"
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
		return fmt.Errorf("use: %s run|read|version", os.Args[0])
	}
	switch os.Args[1] {
	case "read":
		return reader.Serve(ctx, os.Stdout)
	case "run":
		config, err := speaker.Load(os.Getenv)
		if err != nil {
			return err
		}
		config.Version = running()
		return speaker.Run(ctx, config, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	case "version":
		fmt.Println(running())
		return nil
	}
	return fmt.Errorf("unknown command %q: use run, read or version", os.Args[1])
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
