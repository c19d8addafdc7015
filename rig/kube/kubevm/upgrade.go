package kubevm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kloigos/rig/kube"
)

// upgrade offers the next version, as docs/kubernetes.md says, and has the cluster upgraded to it.
func (r *rig) upgrade(ctx context.Context) error {
	if err := errors.Join(
		r.offerVersion(ctx, kube.NextVersion),
		r.kloigos(ctx, "kube-version", "change", kube.Version, "--upgrades-to", kube.NextVersion),
	); err != nil {
		return err
	}
	before, err := r.workloadIs(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(
		r.kloigos(ctx, "cluster", "upgrades", cluster),
		r.kloigos(ctx, "cluster", "upgrade", cluster, "--to", kube.NextVersion, "--wait"),
	); err != nil {
		return err
	}
	after, err := r.workloadIs(ctx)
	if err == nil && !r.options.Worker && after != before { // the only node is not drained
		err = fmt.Errorf("the pod was %s, and is %s", before, after)
	}
	return err
}

// workloadIs tells which pod there is and how often its containers started anew.
func (r *rig) workloadIs(ctx context.Context) (string, error) {
	return r.kubectl(ctx, "get", "pods", "--selector", "run=web", "--output", "jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount} {end}")
}

// upgraded looks at everything that has a version.
func (r *rig) upgraded(ctx context.Context) error {
	if err := r.kloigos(ctx, "kube", "login", cluster); err != nil { // the certificate before may have ended by now
		return err
	}
	names := []string{node}
	if r.options.Worker {
		names = append(names, workerNode)
	}
	if err := r.nodesAre(ctx, kube.NextVersion, names...); err != nil {
		return err
	}
	server, err := r.kubectl(ctx, "version", "--output", "json")
	if err == nil && !strings.Contains(server, `"gitVersion": "`+kube.NextVersion+`"`) {
		err = errors.New("the API server tells of another version")
	}
	if err != nil {
		return err
	}
	if err := r.until(ctx, "every part to be of the version", func() error { return r.imagesAre(ctx, kube.NextVersion) }); err != nil {
		return err
	}
	return errors.Join(r.provider(ctx), r.answers(ctx, r.VM))
}

// imagesAre holds against a version what each part of the cluster runs in a pod.
func (r *rig) imagesAre(ctx context.Context, version string) error {
	out, err := r.kubectl(ctx, "get", "pods", "--namespace", "kube-system", "--output", `jsonpath={range .items[*]}{.spec.containers[0].image} {.status.phase}{"\n"}{end}`)
	if err != nil {
		return err
	}
	for _, part := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		found := 0
		for line := range strings.Lines(out) {
			if !strings.Contains(line, "/"+part+":") {
				continue
			}
			if found++; !strings.Contains(line, ":"+version+" Running") {
				return fmt.Errorf("there is %s", strings.TrimSpace(line))
			}
		}
		if found == 0 {
			return fmt.Errorf("no pod of %s is shown", part)
		}
	}
	return nil
}
