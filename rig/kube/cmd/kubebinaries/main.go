// Kubebinaries builds the programs of Kubernetes that tests need, unless the cache has them. With -missing it names those that are not
// built, and builds nothing. -version is that of Kubernetes.
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
	missing := flag.Bool("missing", false, "name the programs that are not built, and build none")
	version := flag.String("version", kube.Version, "of Kubernetes; "+kube.NextVersion+" is "+kube.Version+" that says it were another")
	flag.Parse()
	if err := build(ctx, *version, *missing, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kube:binaries:", err)
		stop()
		os.Exit(1)
	}
}

func build(ctx context.Context, version string, missing bool, programs []string) error {
	dir, err := kube.DefaultDir()
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		programs = []string{"etcd", "etcdutl", "kube-apiserver", "kube-controller-manager"}
	} else if programs[0] == "all" {
		programs = kube.Programs()
	}
	b := kube.Builder{Dir: dir, Log: os.Stderr}.For(version)
	if missing {
		for _, p := range b.Missing(programs...) {
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
