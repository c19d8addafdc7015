// Kubebundle makes a bundle of Kubernetes from the programs that kubebinaries built, and tells its SHA-256.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kloigos/rig/kube"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	version := flag.String("version", kube.Version, "of Kubernetes, as kubebinaries built it")
	flag.Parse()
	if err := bundle(ctx, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kube:bundle:", err)
		stop()
		os.Exit(1)
	}
}

func bundle(ctx context.Context, version string, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d arguments; name the file to write", len(args))
	}
	file := "kubernetes-" + version + ".tar"
	if len(args) == 1 {
		file = args[0]
	}
	dir, err := kube.DefaultDir()
	if err != nil {
		return err
	}
	digest, err := kube.Builder{Dir: dir, Log: os.Stderr}.For(version).Bundle(ctx, ".", file)
	if err != nil {
		return err
	}
	fmt.Printf("%s  %s\n", digest, file)
	return nil
}
