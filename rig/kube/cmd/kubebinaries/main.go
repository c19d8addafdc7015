// Kubebinaries builds the programs of Kubernetes that tests need, unless the cache has them. With -missing it names those that are not
// built, and builds nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kloigos/rig/kube"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := build(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kube:binaries:", err)
		stop()
		os.Exit(1)
	}
}

func build(ctx context.Context, programs []string) error {
	dir, err := kube.DefaultDir()
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		programs = []string{"etcd", "kube-apiserver", "kube-controller-manager"}
	} else if programs[0] == "all" {
		programs = kube.Programs()
	}
	b := kube.Builder{Dir: dir, Log: os.Stderr}
	if programs[0] == "-missing" {
		for _, p := range b.Missing(programs[1:]...) {
			fmt.Println(p)
		}
		return nil
	}
	if err := b.Build(ctx, programs...); err != nil {
		return err
	}
	for _, p := range programs {
		fmt.Println(b.Path(p))
	}
	return nil
}
