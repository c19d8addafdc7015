// Kubevm makes a cluster of Kubernetes on a throwaway VM through Kloigos, uses it, and deletes it. See ./task test:kube:vm.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kloigos/rig/kube"
	"kloigos/rig/kube/kubevm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The second signal ends it at once; what it started ends with it.
	context.AfterFunc(ctx, stop)
	options := kubevm.Options{Out: os.Stdout}
	flag.StringVar(&options.Dir, "dir", "", "where it keeps its files")
	flag.StringVar(&options.Bundle, "bundle", "", "a bundle that is there already")
	flag.BoolVar(&options.Upgrade, "upgrade", false, "upgrade the cluster while it is in use, from "+kube.Version+" to "+kube.NextVersion)
	flag.BoolVar(&options.Worker, "worker", false, "have a second machine join, and leave")
	flag.BoolVar(&options.ControlPlane, "control-plane", false, "have a second machine join as a control plane, and leave")
	flag.BoolVar(&options.Restore, "restore", false, "put the cluster back to a snapshot of its etcd")
	flag.BoolVar(&options.Kill, "kill", false, "kill the backend of a job in each of the job's steps")
	flag.BoolVar(&options.KeepGoing, "keep", false, "after a failure, leave the machine running until Ctrl-C")
	flag.Parse()
	if err := kubevm.Run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "test:kube:vm:", err)
		os.Exit(1)
	}
}
