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
	"kloigos/rig/testhost"
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
		r.offerVersion(ctx, kube.Version),
		r.kloigos(ctx, "workspace", "create", cluster, "--project", "default/default", "--type", "kubernetes"))
}

func (r *rig) offerVersion(ctx context.Context, version string) error {
	return r.kloigos(ctx, "kube-version", "create", version, "--bundle", r.served+version, "--bundle-sha256", r.bundles[version].digest)
}

func (r *rig) host(ctx context.Context) (err error) {
	if err := r.balance(ctx, r.VM); err != nil {
		return err
	}
	r.before, err = r.register(ctx, node, r.VM)
	return err
}

// register makes a VM a host, and returns what it shows of Kubernetes then.
func (r *rig) register(ctx context.Context, name string, vm *testhost.VM) (shows string, err error) {
	if err := r.kloigos(ctx, "host", "create", name, "--address", vm.SSHHost, "--port", strconv.Itoa(vm.SSHPort), "--admin-user", vm.User, "--host-key", vm.HostKey, "--wait"); err != nil {
		return "", err
	}
	if err := r.kloigos(ctx, "host", "initialize", name, "--wait"); err != nil {
		return "", err
	}
	return left(ctx, vm)
}

func (r *rig) create(ctx context.Context) error {
	return r.killing(ctx, "cluster_create", []string{"prepare", "control_plane"}, r.createCluster)
}

func (r *rig) createCluster(ctx context.Context) error {
	return r.kloigos(ctx, "cluster", "create", cluster, "--kubernetes-version", kube.Version, "--control-plane", node, "--endpoint", r.endpoint,
		"--oidc-issuer", "https://login.example.org", "--oidc-client-id", "kubernetes", "--oidc-username-claim", "email", "--oidc-groups-claim", "groups", "--wait")
}

// provider looks for the flags of the provider of logins. Nobody answers at that name: an API server runs without its provider.
func (r *rig) provider(ctx context.Context) error {
	out, err := r.kubectl(ctx, "get", "pods", "--namespace", "kube-system", "--selector", "component=kube-apiserver", "--output", "jsonpath={.items[*].spec.containers[0].command}")
	for _, flag := range []string{
		"--oidc-issuer-url=https://login.example.org", "--oidc-client-id=kubernetes", "--oidc-username-claim=email", "--oidc-username-prefix=oidc:",
		"--oidc-groups-claim=groups", "--oidc-groups-prefix=oidc:",
	} {
		if err == nil && !strings.Contains(out, `"`+flag+`"`) {
			err = fmt.Errorf("the API server runs without %s", flag)
		}
	}
	return err
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
	return errors.Join(r.nodesAre(ctx, kube.Version, node), r.provider(ctx))
}

// nodesAre waits until the cluster has these nodes and no others, ready and with a version.
func (r *rig) nodesAre(ctx context.Context, version string, names ...string) error {
	var wanted []string
	for _, name := range names {
		wanted = append(wanted, name+" Ready "+version)
	}
	return r.until(ctx, "the nodes to be "+strings.Join(wanted, ", "), func() error {
		out, err := r.kubectl(ctx, "get", "nodes", "--no-headers")
		var found []string
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) == 5 { // name, status, roles, age, version
				found = append(found, f[0]+" "+f[1]+" "+f[4])
			}
		}
		if err == nil && !slices.Equal(found, wanted) {
			err = fmt.Errorf("the nodes are %q", found)
		}
		return err
	})
}

// workload is a pod that is called web, wherever it is. A control plane takes no pods of others unless they say that they bear it.
var workload = fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
	"selector": {"matchLabels": {"run": "web"}}, "template": {"metadata": {"labels": {"run": "web"}}, "spec": {
		"hostname": "web", "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}],
		"containers": [{"name": "web", "image": "%s", "imagePullPolicy": "Never", "ports": [{"containerPort": %d}]}]}}}}`, kube.AnswerImage, kube.AnswerPort)

// pod makes one, asks it through the API server and through its service on the node, reads its log, and runs a program in it.
func (r *rig) pod(ctx context.Context) error {
	if err := r.until(ctx, "the account of the pod", func() error {
		_, err := r.kubectl(ctx, "get", "serviceaccount", "default", "--no-headers")
		return err
	}); err != nil {
		return err
	}
	if _, err := r.run(ctx, workload, r.builder.Path("kubectl"), "apply", "--filename", "-"); err != nil {
		return err
	}
	if _, err := r.kubectl(ctx, "expose", "deployment", "web", "--port", "80", "--target-port", strconv.Itoa(kube.AnswerPort)); err != nil {
		return err
	}
	return r.answers(ctx, r.VM)
}

// answers waits for the pod, asks it in every way, and through its service on a node.
func (r *rig) answers(ctx context.Context, from *testhost.VM) error {
	if _, err := r.kubectl(ctx, "rollout", "status", "deployment/web", "--timeout", podTime.String()); err != nil {
		return err
	}
	return errors.Join(r.askPod(ctx), r.service(ctx, from))
}

// answer is what the pod says.
const answer = "I am web"

func (r *rig) askPod(ctx context.Context) error {
	for _, look := range []struct {
		wanted string
		args   []string
	}{
		{answer, []string{"get", "--raw", "/api/v1/namespaces/default/services/web:80/proxy/through-the-api"}},
		{`asked for "/through-the-api"`, []string{"logs", "deployment/web"}},
		{"127.0.0.1", []string{"exec", "deployment/web", "--", "/usr/local/bin/answer", "addresses"}},
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

// service asks the pod on a node, through the address of its service, which only kube-proxy's rules lead anywhere.
func (r *rig) service(ctx context.Context, from *testhost.VM) error {
	address, err := r.kubectl(ctx, "get", "service", "web", "--output", "jsonpath={.spec.clusterIP}")
	if err != nil {
		return err
	}
	return r.until(ctx, "the service to answer", func() error {
		out, err := from.Run(ctx, fmt.Sprintf(`python3 -c 'import urllib.request; print(urllib.request.urlopen("http://%s/service", timeout=20).read().decode())'`, address))
		if err == nil && !strings.Contains(out, answer) {
			err = fmt.Errorf("the service says %q", out)
		}
		return err
	})
}

func (r *rig) remove(ctx context.Context) error {
	return r.killing(ctx, "cluster_delete", []string{"reset_control_plane"}, func(ctx context.Context) error {
		return r.kloigos(ctx, "cluster", "delete", cluster, "--confirm", cluster, "--wait")
	})
}

// stays is what the packages that a host keeps bring with them.
var stays = []string{"file /etc/cni/net.d/", "file /etc/systemd/system/multi-user.target.wants/containerd.service", "setting net/bridge/"}

func (r *rig) clean(ctx context.Context) error { return cleaned(ctx, r.VM, r.before) }

// cleaned compares what a host shows of Kubernetes with what it showed before it was in a cluster.
func cleaned(ctx context.Context, vm *testhost.VM, showed string) error {
	after, err := left(ctx, vm)
	if err != nil {
		return err
	}
	var found []string
	before := strings.Split(showed, "\n")
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
		return fmt.Errorf("afterwards the host differs: %s", strings.Join(found, "; "))
	}
	return nil
}

func left(ctx context.Context, vm *testhost.VM) (string, error) {
	return vm.Run(ctx, "echo "+base64.StdEncoding.EncodeToString(leftScript)+" | base64 -d | sudo python3 -")
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
