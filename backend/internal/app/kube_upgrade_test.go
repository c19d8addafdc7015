package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/kubeserver"
	"kloigos/backend/internal/testkit/site"
)

const (
	before = "v1.36.3"
	behind = "v1.36.4"
)

// upgradable is a site with a cluster of the version before, whose catalog has the one behind it, and whose hosts take it.
func upgradable(t *testing.T, controlPlanes []string, workers ...string) (*kubeSite, uuid.UUID) {
	t.Helper()
	k := newKubeSite(t)
	backend := k.BackendWith(k.work(), queue.Config{})
	members := []string{controlPlanes[0]}
	k.etcd(&members)
	for _, name := range append(slices.Clone(controlPlanes), workers...) {
		k.host(name)
		k.server.SetKubelet(name, before)
	}
	cluster, job := k.createWith(controlPlanes, workers...)
	k.Ended(job, domain.JobSucceeded)
	backend.Stop()
	site.Await(t, "the backend's end", backend.Stopped())
	k.sql(`UPDATE kube_versions SET upgrades_to = '{v1.36.4,v1.37.0}'`)
	k.offer(behind, true)
	k.Runner.HandleFunc(kube.UpgradePlaybook, k.upgraded)
	return k, cluster
}

func (k *kubeSite) offer(name string, active bool) {
	k.T.Helper()
	err := kernel.Engine{DB: k.DB.DB}.Do(k.T.Context(), kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Installation: true}, func(tx *kernel.Tx) error {
		_, err := kube.CreateVersion(k.T.Context(), tx, kube.VersionDraft{Name: name, Active: active, Bundle: "/srv/" + name + ".tar", BundleSHA256: bundleSum})
		return err
	})
	if err != nil {
		k.T.Fatal(err)
	}
}

// upgraded stands in for the playbook. It upgrades static pods, then the kubelet, and only on a node that is cordoned and empty.
func (k *kubeSite) upgraded(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	name := play.Hosts[0].Name
	switch play.Playbook {
	case "control_plane.yml":
		k.server.SetVersion(behind)
	case "playbook.yml":
		if _, cordoned := k.server.Knows(name); !cordoned {
			k.T.Errorf("the kubelet of %s is upgraded while pods may come", name)
		}
		k.server.SetKubelet(name, behind)
	}
	return site.Play(ctx, play, sink, scripted.Script{})
}

func (k *kubeSite) upgrade(draft kube.UpgradeDraft) (uuid.UUID, error) {
	draft.Parallel = max(draft.Parallel, 1)
	return k.ask(func(tx *kernel.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskUpgrade(k.T.Context(), tx, k.kinds, ref, draft)
	})
}

// versionsOf are the versions of nodes, with the phases of those that are in the middle.
func (k *kubeSite) versionsOf(cluster uuid.UUID) (all []string) {
	k.T.Helper()
	found, err := kube.NodesOf(k.T.Context(), k.DB.Reader, cluster)
	if err != nil {
		k.T.Fatal(err)
	}
	for _, n := range found {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", n.Name, n.HasVersion(), n.UpgradePhase)))
	}
	return all
}

// TestAnUpgrade: the control plane first, then one worker after the other, each drained within its disruption budgets.
func TestAnUpgrade(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"}, "k2", "k3")
	k.BackendWith(k.work(), queue.Config{})
	k.server.SetPods("k2", kubeserver.Pod{Name: "web", Refused: 1})
	played := len(k.plays())
	job, err := k.upgrade(kube.UpgradeDraft{To: behind})
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	want := []string{
		"kube_etcd/playbook.yml k1", "kubeadm_upgrade/bring.yml k1", "kubeadm_upgrade/bring.yml k2", "kubeadm_upgrade/bring.yml k3",
		"kube_etcd/playbook.yml k1", "kubeadm_upgrade/control_plane.yml k1", "kubeadm_upgrade/playbook.yml k1", "kube_etcd/playbook.yml k1",
		"kubeadm_upgrade/playbook.yml k2", "kubeadm_upgrade/playbook.yml k3",
	}
	if got := k.plays()[played:]; !slices.Equal(got, want) {
		t.Errorf("plays %q, want %q", got, want)
	}
	c := k.cluster(cluster)
	if c.State != kube.ClusterActive || c.KubeVersion != behind || c.TargetVersion != "" {
		t.Errorf("cluster %s, version %s, target %q", c.State, c.KubeVersion, c.TargetVersion)
	}
	if got := k.versionsOf(cluster); !slices.Equal(got, []string{"k1 " + behind, "k2 " + behind, "k3 " + behind}) {
		t.Errorf("nodes %q", got)
	}
	for _, name := range []string{"k1", "k2", "k3"} {
		if _, cordoned := k.server.Knows(name); cordoned {
			t.Errorf("%s is still cordoned", name)
		}
	}
}

// TestUpgradesThatAreRefused: each by the rule that it breaks. The plan tells the same.
func TestUpgradesThatAreRefused(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"}, "k2")
	k.offer("v1.37.0", false)
	k.offer("v1.38.0", true)
	refused := func(to, want string) {
		t.Helper()
		if _, err := k.upgrade(kube.UpgradeDraft{To: to}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("to %s: %v, want %q", to, err, want)
		}
	}
	refused("v1.36.9", "no such version")
	refused("v1.37.0", "not offered")
	refused("v1.38.0", "One minor version at a time")
	refused(before, "newer versions only")
	if _, err := k.upgrade(kube.UpgradeDraft{To: behind, Parallel: 11}); err == nil {
		t.Error("11 workers at the same time")
	}
	k.sql(`UPDATE kube_nodes SET state = 'not_ready' WHERE name = 'k2'`)
	refused(behind, "k2 is not_ready")
	k.sql(`UPDATE kube_nodes SET state = 'ready', kube_version = 'v1.33.0' WHERE name = 'k2'`)
	refused(behind, "too far behind")
	k.sql(`UPDATE kube_nodes SET kube_version = ''`)
	k.sql(`UPDATE kube_clusters SET state = 'degraded' WHERE id = $1`, cluster)
	refused(behind, "Only an active one")
	k.sql(`UPDATE kube_clusters SET state = 'active' WHERE id = $1`, cluster)

	closed := rollout.Window{From: time.Now().UTC().Add(2 * time.Hour).Format("15:04"), To: time.Now().UTC().Add(3 * time.Hour).Format("15:04")}
	err := k.do(func(tx *kernel.Tx) error {
		c, ref, err := kube.FindCluster(t.Context(), tx.Reader, k.workspace, "apps")
		if err != nil {
			return err
		}
		return kube.SetWindow(t.Context(), tx, ref, c.Version, closed)
	})
	if err != nil {
		t.Fatal(err)
	}
	refused(behind, "maintenance window opens at")
	plans, err := kube.PlanUpgrades(t.Context(), k.DB.Reader, k.cluster(cluster))
	if err != nil || len(plans) != 2 || plans[0].To != behind || plans[0].Refused == nil || len(plans[0].Nodes) != 2 || plans[1].Refused == nil {
		t.Errorf("plans %+v, %v", plans, err)
	}
	if _, err := k.upgrade(kube.UpgradeDraft{To: behind, Now: true}); err != nil {
		t.Errorf("outside of the window, as asked: %v", err)
	}
}

// TestAFailedUpgradeGoesOn: the cluster stays degraded with the reason although all nodes are ready, grows no more, and a retry does
// nothing twice.
func TestAFailedUpgradeGoesOn(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"}, "k2", "k3")
	k.BackendWith(k.work(), queue.Config{})
	var broken atomic.Bool
	broken.Store(true)
	k.Runner.HandleFunc(kube.UpgradePlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook == "playbook.yml" && play.Hosts[0].Name == "k3" && broken.Load() {
			return site.Play(ctx, play, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "kubeadm upgrade failed: no space left"}})
		}
		return k.upgraded(ctx, play, sink)
	})
	job, err := k.upgrade(kube.UpgradeDraft{To: behind, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobFailed)
	if got := k.versionsOf(cluster); !slices.Equal(got, []string{"k1 " + behind, "k2 " + behind, "k3 " + before + " draining"}) {
		t.Errorf("nodes %q", got)
	}
	c := k.cluster(cluster)
	if c.State != kube.ClusterDegraded || c.KubeVersion != before || c.TargetVersion != behind || !strings.Contains(c.StateMessage, "no space left") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	lookAt(t, kubework.Policies(k.config)[0], cluster, false)
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded {
		t.Errorf("the policy calls it %s", c.State)
	}
	if _, err := k.upgrade(kube.UpgradeDraft{To: "v1.37.0"}); err == nil {
		t.Error("another upgrade begins before the first is finished")
	}
	k.host("k4")
	if _, err := k.add(kube.NodesDraft{Workers: []string{"k4"}}); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("a node joins in the middle of an upgrade: %v", err)
	}
	broken.Store(false)
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if c := k.cluster(cluster); c.State != kube.ClusterActive || c.KubeVersion != behind {
		t.Errorf("cluster %s, version %s", c.State, c.KubeVersion)
	}
	times := map[string]int{}
	for _, play := range k.plays() {
		times[play]++
	}
	if times["kubeadm_upgrade/control_plane.yml k1"] != 1 || times["kubeadm_upgrade/playbook.yml k2"] != 1 || times["kubeadm_upgrade/playbook.yml k3"] != 2 {
		t.Errorf("plays %v", times)
	}
}

// TestAnUpgradeIsTakenOver: a backend dies while the first of three control planes is upgraded. The next one goes on, upgrades the
// cluster itself on that node alone, and touches no control plane while a member of etcd is not well.
func TestAnUpgradeIsTakenOver(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	members := []string{"k1", "k2", "k3"}
	k.etcd(&members)
	first := k.BackendWith(k.work(), queue.Config{})
	begun := make(chan struct{}, 1)
	k.Runner.HandleFunc(kube.UpgradePlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook == "control_plane.yml" {
			begun <- struct{}{}
			return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
		}
		return k.upgraded(ctx, play, sink)
	})
	job, err := k.upgrade(kube.UpgradeDraft{To: behind})
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the upgrade of a control plane", begun)
	first.Stop()
	first.Kill()
	site.Await(t, "the backend's end", first.Stopped())

	var sick atomic.Bool
	looks := make(chan struct{}, 100)
	k.Runner.HandleFunc(kube.EtcdPlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		all := []any{}
		for _, m := range members {
			all = append(all, map[string]any{"name": m, "healthy": m != "k1" || !sick.Load(), "why": "no answer"})
		}
		if sick.Load() {
			looks <- struct{}{}
		}
		return site.Play(ctx, play, sink, scripted.Script{Result: map[string]any{"members": all}})
	})
	k.Runner.HandleFunc(kube.UpgradePlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook == "control_plane.yml" {
			if sick.Load() {
				t.Errorf("%s is upgraded while etcd is not well", play.Hosts[0].Name)
			}
			sick.Store(play.Hosts[0].Name == "k1")
		}
		return k.upgraded(ctx, play, sink)
	})
	k.BackendWith(k.work(), queue.Config{})
	site.Await(t, "a look at etcd", looks)
	sick.Store(false)
	k.Ended(job, domain.JobSucceeded)
	applied := map[string]bool{}
	for _, c := range k.Runner.Calls() {
		var vars struct {
			Apply bool `json:"kubeadm_upgrade_control_plane_apply"`
		}
		if c.Play.Name == kube.UpgradePlaybook && c.Play.Playbook == "control_plane.yml" && json.Unmarshal(c.Vars, &vars) == nil {
			applied[c.Play.Hosts[0].Name] = vars.Apply
		}
	}
	if len(applied) != 3 || !applied["k1"] || applied["k2"] || applied["k3"] {
		t.Errorf("the cluster was upgraded on %v", applied)
	}
	if got := k.versionsOf(cluster); !slices.Equal(got, []string{"k1 " + behind, "k2 " + behind, "k3 " + behind}) {
		t.Errorf("nodes %q", got)
	}
}
