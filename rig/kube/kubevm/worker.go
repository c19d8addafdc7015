package kubevm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"kloigos/rig/kube"
	"kloigos/rig/testhost"
)

// The second VM. It is in the network of the first one, and has its way out.
const (
	workerNode    = "k2"
	workerAddress = "10.0.2.16"
	workerCPUs    = 2
	workerMemory  = 2048
	planeMemory   = 3072 // where it is a control plane too
)

type worker struct {
	network *testhost.Switch
	vm      *testhost.VM // nil before it was started
	before  string       // what it showed of Kubernetes before it joined
}

// closeNetwork is for after the machines.
func (r *rig) closeNetwork() error {
	if r.worker == nil {
		return nil
	}
	return r.worker.network.Close()
}

func (r *rig) stopWorker() error {
	if r.worker == nil || r.worker.vm == nil {
		return nil
	}
	return r.worker.vm.Stop()
}

// secondHost starts a VM and makes it a host.
func (r *rig) secondHost(ctx context.Context) error {
	_, port, err := net.SplitHostPort(r.VM.Forward[workerAddress])
	if err != nil {
		return fmt.Errorf("find the way to the second machine: %w", err)
	}
	o := testhost.Options{
		Dir: r.path("worker"), Hostname: workerNode, CPUs: workerCPUs, Nodes: 1, MemoryMiB: workerMemory, Address: workerAddress, Switch: r.worker.network.Path,
	}
	if r.options.ControlPlane {
		o.MemoryMiB = planeMemory
	}
	if o.Through, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("find the way to the second machine: %w", err)
	}
	if o.Image, err = testhost.EnsureImage(ctx, "", r.Stages().Writer()); err != nil {
		return err
	}
	if r.worker.vm, err = testhost.Start(ctx, o); err != nil {
		return err
	}
	system, err := r.Client.GetSystem(ctx)
	if err != nil {
		return fmt.Errorf("ask for the control plane's key: %w", err)
	}
	if err := r.worker.vm.AuthorizeKey(ctx, system.PublicKey); err != nil {
		return err
	}
	if err := r.balance(ctx, r.worker.vm); err != nil {
		return err
	}
	r.worker.before, err = r.register(ctx, workerNode, r.worker.vm)
	return err
}

func (r *rig) join(ctx context.Context) error {
	if err := r.kloigos(ctx, "cluster", "add-nodes", cluster, "--workers", workerNode, "--wait"); err != nil {
		return err
	}
	return r.nodesAre(ctx, kube.Version, node, workerNode)
}

// far is a pod that is called far. It prefers the worker, and may run elsewhere.
var far = fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "far"}, "spec": {
	"selector": {"matchLabels": {"run": "far"}}, "template": {"metadata": {"labels": {"run": "far"}}, "spec": {
		"hostname": "far", "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}],
		"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": {
			"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["%s"]}]}}]}},
		"containers": [{"name": "far", "image": "%s", "imagePullPolicy": "Never"}]}}}}`, workerNode, kube.AnswerImage)

// betweenNodes has a pod of each node ask the one of the other, by the address of the pod and of the service.
func (r *rig) betweenNodes(ctx context.Context) error {
	if _, err := r.run(ctx, far, r.builder.Path("kubectl"), "apply", "--filename", "-"); err != nil {
		return err
	}
	if _, err := r.kubectl(ctx, "rollout", "status", "deployment/far", "--timeout", podTime.String()); err != nil {
		return err
	}
	web, err := r.podOn(ctx, "web", node)
	if err != nil {
		return err
	}
	other, err := r.podOn(ctx, "far", workerNode)
	if err != nil {
		return err
	}
	service, err := r.kubectl(ctx, "get", "service", "web", "--output", "jsonpath={.spec.clusterIP}")
	if err != nil {
		return err
	}
	port := strconv.Itoa(kube.AnswerPort)
	return errors.Join(
		r.asks(ctx, "deployment/far", "http://"+net.JoinHostPort(web, port)+"/from-far", answer),
		r.asks(ctx, "deployment/web", "http://"+net.JoinHostPort(other, port)+"/from-web", "I am far"),
		r.asks(ctx, "deployment/far", "http://"+service+"/by-service", answer),
		r.answers(ctx, r.worker.vm),
	)
}

// podOn waits for the only pod of a name to run on a node, and returns its address.
func (r *rig) podOn(ctx context.Context, name, where string) (address string, err error) {
	err = r.until(ctx, name+" to be on "+where, func() error {
		out, err := r.kubectl(ctx, "get", "pods", "--selector", "run="+name, "--output", `jsonpath={range .items[*]}{.spec.nodeName} {.status.podIP}{"\n"}{end}`)
		if f := strings.Fields(out); err == nil && len(f) == 2 && f[0] == where {
			address = f[1]
			return nil
		}
		return errors.Join(err, fmt.Errorf("it is %q", out))
	})
	return address, err
}

// asks runs a request in a pod until its answer is the wanted one.
func (r *rig) asks(ctx context.Context, pod, url, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return r.until(ctx, url+" to answer to "+pod, func() error {
		out, err := r.kubectl(ctx, "exec", pod, "--", "/usr/local/bin/answer", "ask", url)
		if err == nil && !strings.Contains(out, wanted) {
			err = fmt.Errorf("it says %q", out)
		}
		return err
	})
}

// leave takes the worker out of the cluster. The pod that preferred it then runs on the other node.
func (r *rig) leave(ctx context.Context) error {
	if err := r.kloigos(ctx, "cluster-node", "remove", workerNode, "--confirm", workerNode, "--wait"); err != nil {
		return err
	}
	if err := r.nodesAre(ctx, r.version(), node); err != nil {
		return err
	}
	for _, name := range []string{"web", "far"} {
		if _, err := r.podOn(ctx, name, node); err != nil {
			return err
		}
	}
	return r.answers(ctx, r.VM)
}

func (r *rig) workerClean(ctx context.Context) error {
	return cleaned(ctx, r.worker.vm, r.worker.before)
}
