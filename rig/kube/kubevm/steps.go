package kubevm

import (
	"context"
	_ "embed" // the script
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"kloigos/rig/kube"
)

//go:embed guest/left.py
var leftScript []byte

func (r *rig) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", r.path("bin")+"/", "./cli/cmd/kloigos")
	cmd.Dir = r.root
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build kloigos: %w: %s", err, said)
	}
	_, err := r.run(ctx, r.Password+"\n", r.path("bin/kloigos"), "login", r.Web, "--ca-file", r.CAFile, "--account", r.Account, "--password-stdin")
	return err
}

func (r *rig) offer(ctx context.Context) error {
	return errors.Join(
		r.kloigos(ctx, "kube-version", "create", kube.Version, "--bundle", r.bundle, "--bundle-sha256", r.digest),
		r.kloigos(ctx, "workspace", "create", cluster, "--project", "default/default", "--type", "kubernetes"))
}

func (r *rig) host(ctx context.Context) (err error) {
	if err := r.kloigos(ctx, "host", "create", node, "--address", r.VM.SSHHost, "--port", strconv.Itoa(r.VM.SSHPort), "--admin-user", r.VM.User, "--host-key", r.VM.HostKey, "--wait"); err != nil {
		return err
	}
	if err := r.kloigos(ctx, "host", "initialize", node, "--wait"); err != nil {
		return err
	}
	r.before, err = r.left(ctx)
	return err
}

func (r *rig) create(ctx context.Context) error {
	return r.kloigos(ctx, "cluster", "create", cluster, "--kubernetes-version", kube.Version, "--control-plane", node, "--endpoint", r.endpoint, "--wait")
}

// connect is the last line of what docs/kubernetes.md promises.
func (r *rig) connect(ctx context.Context) error {
	if err := r.kloigos(ctx, "cluster-binding", "create", r.Account, "--cluster", cluster, "--role", "editor"); err != nil {
		return err
	}
	// A cluster that is a minute old may take its time to sign; the command then says to try again.
	if err := r.until(ctx, "a kubeconfig", func() error { return r.kloigos(ctx, "kube", "login", cluster) }); err != nil {
		return err
	}
	// The policy brings the binding into the cluster.
	return r.until(ctx, "the node to be shown", func() error {
		out, err := r.kubectl(ctx, "get", "nodes", "--no-headers")
		if fields := strings.Fields(out); err == nil && (len(fields) < 2 || fields[0] != node || fields[1] != "Ready") {
			err = fmt.Errorf("the nodes are %q", out)
		}
		return err
	})
}

// pod makes one, asks it through the API server and through its service on the node, reads its log, and runs a program in it.
func (r *rig) pod(ctx context.Context) error {
	if err := r.until(ctx, "the account of the pod", func() error {
		_, err := r.kubectl(ctx, "get", "serviceaccount", "default", "--no-headers")
		return err
	}); err != nil {
		return err
	}
	port := strconv.Itoa(kube.AnswerPort)
	// A control plane takes no pods of others unless they say that they bear it.
	bears := `{"apiVersion":"v1","spec":{"tolerations":[{"operator":"Exists"}]}}`
	if _, err := r.kubectl(ctx, "run", "web", "--image", kube.AnswerImage, "--image-pull-policy", "Never", "--port", port, "--overrides", bears); err != nil {
		return err
	}
	if _, err := r.kubectl(ctx, "expose", "pod", "web", "--port", "80", "--target-port", port); err != nil {
		return err
	}
	if _, err := r.kubectl(ctx, "wait", "--for", "condition=Ready", "pod/web", "--timeout", podTime.String()); err != nil {
		return err
	}
	return errors.Join(r.askPod(ctx), r.service(ctx))
}

// answer is what the pod says.
const answer = "I am web"

func (r *rig) askPod(ctx context.Context) error {
	port := strconv.Itoa(kube.AnswerPort)
	for _, look := range []struct {
		wanted string
		args   []string
	}{
		{answer, []string{"get", "--raw", "/api/v1/namespaces/default/pods/web:" + port + "/proxy/through-the-api"}},
		{`asked for "/through-the-api"`, []string{"logs", "web"}},
		{"127.0.0.1", []string{"exec", "web", "--", "/usr/local/bin/answer", "addresses"}},
	} {
		out, err := r.kubectl(ctx, look.args...)
		if err == nil && !strings.Contains(out, look.wanted) {
			err = fmt.Errorf("kubectl %s says %q, without %q", look.args[0], out, look.wanted)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// service asks the pod through the address of its service, which only kube-proxy's rules lead anywhere.
func (r *rig) service(ctx context.Context) error {
	address, err := r.kubectl(ctx, "get", "service", "web", "--output", "jsonpath={.spec.clusterIP}")
	if err != nil {
		return err
	}
	return r.until(ctx, "the service to answer", func() error {
		out, err := r.VM.Run(ctx, fmt.Sprintf(`python3 -c 'import urllib.request; print(urllib.request.urlopen("http://%s/service", timeout=20).read().decode())'`, address))
		if err == nil && !strings.Contains(out, answer) {
			err = fmt.Errorf("the service says %q", out)
		}
		return err
	})
}

func (r *rig) remove(ctx context.Context) error {
	return r.kloigos(ctx, "cluster", "delete", cluster, "--confirm", cluster, "--wait")
}

// stays is what the packages that a host keeps bring with them.
var stays = []string{"file /etc/cni/net.d/", "file /etc/systemd/system/multi-user.target.wants/containerd.service", "setting net/bridge/"}

// clean compares what the host shows of Kubernetes with what it showed before there was a cluster.
func (r *rig) clean(ctx context.Context) error {
	after, err := r.left(ctx)
	if err != nil {
		return err
	}
	var found []string
	before := strings.Split(r.before, "\n")
	for _, line := range strings.Split(after, "\n") {
		known := slices.Contains(before, line) || slices.ContainsFunc(stays, func(s string) bool { return strings.HasPrefix(line, s) })
		if !known {
			found = append(found, line)
		}
	}
	for _, line := range before {
		if !slices.Contains(strings.Split(after, "\n"), line) {
			found = append(found, "gone: "+line)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("after the deletion the host differs: %s", strings.Join(found, "; "))
	}
	return nil
}

func (r *rig) left(ctx context.Context) (string, error) {
	return r.VM.Run(ctx, "echo "+base64.StdEncoding.EncodeToString(leftScript)+" | base64 -d | sudo python3 -")
}

// until tries until something holds or ctx ends.
func (r *rig) until(ctx context.Context, what string, holds func() error) error {
	for {
		err := holds()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w; %w", what, ctx.Err(), err)
		case <-time.After(5 * time.Second):
		}
	}
}
