package kubework

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// upgrade is one look of an attempt at a cluster that is upgraded. Its version is the one that it comes from.
type upgrade struct {
	steps
	world
	a      *work.Attempt
	client *kubeapi.Client
	to     kube.Version
	known  []kubeapi.Node // what the cluster says of its nodes
}

// upgrading makes the handler of a step of an upgrade.
func (s steps) upgrading(f func(u upgrade, ctx context.Context) error) work.Handler {
	return func(ctx context.Context, a *work.Attempt) error {
		w, err := s.load(ctx, a)
		if err != nil {
			return err
		}
		u := upgrade{steps: s, world: w, a: a}
		if u.to, err = kube.FindVersion(ctx, a.DB.Reader, w.TargetVersion); err != nil {
			return fmt.Errorf("load the version %s: %w", w.TargetVersion, err)
		}
		if u.client, err = s.open(w.Cluster); err != nil {
			return err
		}
		defer u.client.Close()
		return f(u, ctx)
	}
}

// left are the nodes of a role that have not the version yet, in the order of their turns: one that has begun goes first.
func (u upgrade) left(role string) []kube.Node {
	left := slices.DeleteFunc(u.nodesOfRole(role), func(n kube.Node) bool { return n.HasVersion() == u.to.Name })
	slices.SortStableFunc(left, func(a, b kube.Node) int {
		switch begun := (a.UpgradeSince != nil); {
		case begun == (b.UpgradeSince != nil):
			return 0
		case begun:
			return -1
		}
		return 1
	})
	return left
}

// look asks the cluster for its nodes.
func (u *upgrade) look(ctx context.Context) (err error) {
	if u.known, err = u.client.Nodes(ctx); err != nil {
		return notYet(ctx, readyPause, err)
	}
	return nil
}

// etcdIsWell asks every member of etcd.
func (u upgrade) etcdIsWell(ctx context.Context) error {
	speaker, err := u.speaker()
	if err != nil {
		return err
	}
	members, err := u.etcd(ctx, u.a, speaker)
	if err != nil {
		return err
	}
	return etcdWell(members)
}

func (u upgrade) check(ctx context.Context) error {
	if err := u.client.Ready(ctx); err != nil {
		return notYet(ctx, apiPause, err)
	}
	if err := u.look(ctx); err != nil {
		return err
	}
	for _, n := range u.nodes {
		if why := whyNotReady(u.known, n.Name); why != "" && n.UpgradeSince == nil {
			return work.NotYet(readyPause, fmt.Sprintf("%s is not ready: %s", n.Name, why))
		}
	}
	return u.etcdIsWell(ctx)
}

// bring brings the version beside the one that hosts run. It takes the time of a download, and no node is drained meanwhile.
func (u upgrade) bring(ctx context.Context) error {
	for _, n := range u.nodes {
		if n.HasVersion() == u.to.Name {
			continue
		}
		u.a.Log.Note("Bringing %s to %s.", u.to.Name, n.Name)
		if _, err := u.Play(ctx, u.a, Play{Host: n.HostID, Playbook: kube.UpgradePlaybook, File: bringFile, Vars: u.bringVars()}); err != nil {
			return err
		}
	}
	return nil
}

// controlPlanes upgrades control planes one by one.
func (u upgrade) controlPlanes(ctx context.Context) error {
	for _, n := range u.left(kube.ControlPlane) {
		if n.UpgradePhase == "" {
			if err := u.staticPods(ctx, n); err != nil {
				return err
			}
			n.UpgradePhase = kube.PhaseControlPlane
		}
		waits, err := u.kubelet(ctx, n)
		if err != nil {
			return err
		}
		if waits != "" {
			return work.NotYet(drainPause, waits)
		}
		if err := u.etcdIsWell(ctx); err != nil { // or it is asked again, before the next
			return err
		}
	}
	return nil
}

// staticPods upgrades what a control plane runs. The first one upgrades what belongs to the cluster, too.
func (u upgrade) staticPods(ctx context.Context, n kube.Node) error {
	if err := u.etcdIsWell(ctx); err != nil {
		return err
	}
	dns, err := u.client.HasDNS(ctx)
	if err != nil {
		return notYet(ctx, apiPause, err)
	}
	first := !slices.ContainsFunc(u.nodesOfRole(kube.ControlPlane), func(o kube.Node) bool {
		return o.HasVersion() == u.to.Name || o.ID != n.ID && o.UpgradePhase != ""
	})
	if err := u.phase(ctx, n, ""); err != nil {
		return err
	}
	u.a.Log.Note("Upgrading the control plane %s.", n.Name)
	if _, err := u.Play(ctx, u.a, Play{Host: n.HostID, Playbook: kube.UpgradePlaybook, File: memberFile, Vars: u.planeVars(n, first, dns)}); err != nil {
		return err
	}
	return u.phase(ctx, n, kube.PhaseControlPlane)
}

// workers upgrades workers, some at the same time.
func (u upgrade) workers(ctx context.Context) error {
	var args kube.UpgradeArgs
	if err := u.a.Arguments(&args); err != nil {
		return fmt.Errorf("read the arguments of the job: %w", err)
	}
	left := u.left(kube.Worker)
	var waits []string
	for len(left) > 0 && len(waits) < max(args.Parallel, kube.DefaultParallel) {
		why, err := u.kubelet(ctx, left[0])
		if err != nil {
			return err
		}
		if why != "" {
			waits = append(waits, why)
		}
		left = left[1:]
	}
	if len(waits) > 0 {
		return work.NotYet(drainPause, waits[0])
	}
	return nil
}

// kubelet brings one node on, by its phase: it is drained, its kubelet gets the version, it is ready, and pods may come again. waits
// says what it waits for; "" once it is done.
func (u upgrade) kubelet(ctx context.Context, n kube.Node) (waits string, err error) {
	if err := u.late(n); err != nil {
		return "", err
	}
	if n.UpgradePhase != kube.PhaseRestarted {
		if waits, err = u.drainFor(ctx, n); waits != "" || err != nil {
			return waits, err
		}
		u.a.Log.Note("Upgrading the kubelet of %s.", n.Name)
		if _, err := u.Play(ctx, u.a, Play{Host: n.HostID, Playbook: kube.UpgradePlaybook, File: mainFile, Vars: u.nodeVars(n)}); err != nil {
			return "", err
		}
		if err := u.phase(ctx, n, kube.PhaseRestarted); err != nil {
			return "", err
		}
	}
	if err := u.look(ctx); err != nil {
		return "", err
	}
	at := slices.IndexFunc(u.known, func(k kubeapi.Node) bool { return k.Name == n.Name })
	switch {
	case at < 0:
		return n.Name + ": the cluster does not know it", nil
	case u.known[at].Version != u.to.Name:
		return fmt.Sprintf("%s still tells of %s", n.Name, u.known[at].Version), nil
	case !u.known[at].Ready:
		return n.Name + ": " + u.known[at].Why, nil
	}
	if _, err := u.client.Cordon(ctx, n.Name, false); err != nil {
		return "", notYet(ctx, apiPause, err)
	}
	u.a.Log.Note("%s has %s and is ready.", n.Name, u.to.Name)
	return "", u.record(ctx, u.a, func(tx *db.Tx) error { return kube.SetNodeUpgraded(ctx, tx, n.ID, u.to.Name) })
}

// drainFor empties a node. The only node of a cluster keeps its pods: they have nowhere to go, and a kubelet that starts anew
// leaves containers running.
func (u upgrade) drainFor(ctx context.Context, n kube.Node) (waits string, err error) {
	if n.UpgradePhase != kube.PhaseDraining {
		if err := u.phase(ctx, n, kube.PhaseDraining); err != nil {
			return "", err
		}
	}
	known, err := u.client.Cordon(ctx, n.Name, true)
	if err != nil {
		return "", notYet(ctx, apiPause, err)
	}
	if !known || len(u.nodes) == 1 {
		return "", nil
	}
	left, err := u.client.Evict(ctx, n.Name)
	if err != nil {
		return "", notYet(ctx, drainPause, err)
	}
	if len(left) > 0 {
		return fmt.Sprintf("%d pods are left on %s; %s", len(left), n.Name, left[0]), nil
	}
	return "", nil
}

func (u upgrade) phase(ctx context.Context, n kube.Node, phase kube.UpgradePhase) error {
	return u.record(ctx, u.a, func(tx *db.Tx) error { return kube.SetPhase(ctx, tx, n.ID, phase) })
}

// late ends the wait for a node. A job that is retried gives it its whole time again.
func (u upgrade) late(n kube.Node) error {
	at := slices.IndexFunc(u.a.Steps, func(step work.JobStep) bool { return step.State == "running" })
	if n.UpgradeSince == nil || at < 0 {
		return nil
	}
	took := min(time.Since(*n.UpgradeSince), time.Duration(u.a.Steps[at].Waited*float64(time.Second)))
	if took < kube.UpgradeWithin {
		return nil
	}
	return &work.Error{
		Code: "node_late", Message: fmt.Sprintf("The upgrade of %s takes longer than %s. It is cordoned, and its upgrade stands at %s.", n.Name, kube.UpgradeWithin, n.UpgradePhase),
		NextStep: "Find out what keeps its pods or its kubelet, then retry the job.",
	}
}

func (u upgrade) finish(ctx context.Context) error {
	has, err := u.client.Version(ctx)
	if err != nil {
		return notYet(ctx, apiPause, err)
	}
	if has != u.to.Name {
		return work.NotYet(apiPause, fmt.Sprintf("the API server still has %s", has))
	}
	if err := u.look(ctx); err != nil {
		return err
	}
	for _, n := range u.nodes {
		if why := whyNotReady(u.known, n.Name); why != "" {
			return work.NotYet(readyPause, fmt.Sprintf("%s is not ready: %s", n.Name, why))
		}
	}
	u.a.Outcome("The cluster has %s on %d nodes.", u.to.Name, len(u.nodes))
	u.a.AtSuccess(func(ctx context.Context, tx *db.Tx) error { return kube.SetClusterUpgraded(ctx, tx, u.ID, u.to.Name) })
	return nil
}

// bringVars are the variables that bring a version to a host.
type bringVars struct {
	Version string `json:"kubeadm_upgrade_bring_version"`
	Bundle  string `json:"kubeadm_upgrade_bring_bundle"`
	SHA256  string `json:"kubeadm_upgrade_bring_bundle_sha256"`
}

func (u upgrade) bringVars() bringVars {
	return bringVars{Version: u.to.Name, Bundle: u.to.Bundle, SHA256: u.to.BundleSHA256}
}

// planeVars are the variables of the upgrade of a control plane.
type planeVars struct {
	Node    string `json:"kubeadm_upgrade_control_plane_node"`
	Version string `json:"kubeadm_upgrade_control_plane_version"`
	Bundle  string `json:"kubeadm_upgrade_control_plane_bundle"`
	SHA256  string `json:"kubeadm_upgrade_control_plane_bundle_sha256"`
	Apply   bool   `json:"kubeadm_upgrade_control_plane_apply"`
	DNS     bool   `json:"kubeadm_upgrade_control_plane_dns"`
}

func (u upgrade) planeVars(n kube.Node, apply, dns bool) planeVars {
	return planeVars{Node: n.Name, Version: u.to.Name, Bundle: u.to.Bundle, SHA256: u.to.BundleSHA256, Apply: apply, DNS: dns}
}

// nodeVars are the variables of the upgrade of a kubelet.
type nodeVars struct {
	Node    string `json:"kubeadm_upgrade_node_node"`
	Version string `json:"kubeadm_upgrade_node_version"`
	Bundle  string `json:"kubeadm_upgrade_node_bundle"`
	SHA256  string `json:"kubeadm_upgrade_node_bundle_sha256"`
}

func (u upgrade) nodeVars(n kube.Node) nodeVars {
	return nodeVars{Node: n.Name, Version: u.to.Name, Bundle: u.to.Bundle, SHA256: u.to.BundleSHA256}
}
