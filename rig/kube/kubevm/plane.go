package kubevm

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"kloigos/rig/kube"
	"kloigos/rig/testhost"
)

// joinPlane has the second machine join as a control plane: etcd then has two members.
func (r *rig) joinPlane(ctx context.Context) error {
	before, err := left(ctx, r.worker.vm)
	if err != nil {
		return err
	}
	r.worker.before = before
	if err := r.killing(ctx, "cluster_add_nodes", []string{"prepare", "control_planes"}, func(ctx context.Context) error {
		return r.kloigos(ctx, "cluster", "add-nodes", cluster, "--control-plane", workerNode, "--wait")
	}); err != nil {
		return err
	}
	return r.nodesAre(ctx, r.version(), node, workerNode)
}

// twoPlanes looks at what makes a control plane of each machine.
func (r *rig) twoPlanes(ctx context.Context) error {
	if err := r.membersAre(ctx, node, workerNode); err != nil {
		return err
	}
	for n, vm := range r.machines() {
		address := []string{testhost.GuestAddress, workerAddress}[n]
		out, err := vm.Run(ctx, "sudo kubectl --kubeconfig /etc/kubernetes/admin.conf --server https://"+address+":6443 get --raw /readyz")
		if err != nil {
			return fmt.Errorf("ask the API server of a machine: %w", err)
		}
		if strings.TrimSpace(out) != "ok" {
			return fmt.Errorf("the API server of a machine says %q", out)
		}
	}
	return r.answers(ctx, r.worker.vm)
}

// membersScript asks the etcd of a machine for its members.
const membersScript = `
import json, ssl, urllib.request
at = "/etc/kubernetes/pki/etcd/"
trust = ssl.create_default_context(cafile=at + "ca.crt")
trust.load_cert_chain(at + "healthcheck-client.crt", at + "healthcheck-client.key")
asked = urllib.request.Request("https://127.0.0.1:2379/v3/cluster/member/list", b"{}")
print(*sorted(member["name"] for member in json.load(urllib.request.urlopen(asked, timeout=30, context=trust))["members"]))
`

// membersAre holds against names which members etcd has, as each of the machines tells.
func (r *rig) membersAre(ctx context.Context, names ...string) error {
	for n, vm := range r.machines()[:len(names)] {
		out, err := vm.Run(ctx, "echo "+base64.StdEncoding.EncodeToString([]byte(membersScript))+" | base64 -d | sudo python3 -")
		if err != nil {
			return fmt.Errorf("ask the etcd of %s: %w", names[n], err)
		}
		if strings.TrimSpace(out) != strings.Join(names, " ") {
			return fmt.Errorf("the etcd of %s has the members %q", names[n], out)
		}
	}
	return nil
}

// leavePlane takes the second control plane out: etcd then has one member again, and everything works on.
func (r *rig) leavePlane(ctx context.Context) error {
	if err := r.killing(ctx, "cluster_remove_node", []string{"remove"}, func(ctx context.Context) error {
		return r.kloigos(ctx, "cluster-node", "remove", workerNode, "--confirm", workerNode, "--wait")
	}); err != nil {
		return err
	}
	if err := r.nodesAre(ctx, r.version(), node); err != nil {
		return err
	}
	if err := r.membersAre(ctx, node); err != nil {
		return err
	}
	return r.answers(ctx, r.VM)
}

// version is the one that the cluster has by then.
func (r *rig) version() string {
	if r.options.Upgrade {
		return kube.NextVersion
	}
	return kube.Version
}

// balance has the endpoint of the cluster lead to the API server of the first control plane on a machine, as the load balancer of an
// installation does: it is an address of the loopback here, so that every machine needs its own.
func (r *rig) balance(ctx context.Context, vm *testhost.VM) error {
	_, err := vm.Run(ctx, fmt.Sprintf(
		"sudo systemd-run --unit balancer --socket-property ListenStream=%s /lib/systemd/systemd-socket-proxyd %s:6443", r.endpoint, testhost.GuestAddress))
	return err
}
