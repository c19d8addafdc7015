package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/domain"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/kubeserver"
	"kloigos/backend/internal/testkit/site"
)

// etcd answers plays about etcd with members; sick are those that are not well.
func (k *kubeSite) etcd(members *[]string, sick ...string) {
	k.Runner.HandleFunc(kube.EtcdPlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		var vars struct {
			Member string `json:"kube_etcd_remove_member"`
		}
		text, err := json.Marshal(play.Vars)
		if err == nil {
			err = json.Unmarshal(text, &vars)
		}
		if err != nil {
			return ansible.Outcome{}, err
		}
		if play.Playbook == "remove.yml" {
			*members = slices.DeleteFunc(*members, func(m string) bool { return m == vars.Member })
			return site.Play(ctx, play, sink, scripted.Script{})
		}
		all := []any{}
		for _, m := range *members {
			all = append(all, map[string]any{"name": m, "healthy": !slices.Contains(sick, m), "why": map[bool]string{true: "no answer"}[slices.Contains(sick, m)]})
		}
		return site.Play(ctx, play, sink, scripted.Script{Result: map[string]any{"members": all}})
	})
}

func (k *kubeSite) ask(f func(tx *kernel.Tx, cluster scope.Ref[kube.Cluster]) (uuid.UUID, error)) (job uuid.UUID, err error) {
	return job, k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(k.T.Context(), tx.Reader, k.workspace, "apps")
		if err == nil {
			job, err = f(tx, ref)
		}
		return err
	})
}

func (k *kubeSite) add(draft kube.NodesDraft) (uuid.UUID, error) {
	return k.ask(func(tx *kernel.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskAddNodes(k.T.Context(), tx, k.kinds, ref, draft)
	})
}

func (k *kubeSite) onNode(name string, f func(tx *kernel.Tx, node scope.Ref[kube.Node]) (uuid.UUID, error)) (job uuid.UUID, err error) {
	return job, k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindNode(k.T.Context(), tx.Reader, k.workspace, name)
		if err == nil {
			job, err = f(tx, ref)
		}
		return err
	})
}

func (k *kubeSite) remove(name string) (uuid.UUID, error) {
	return k.onNode(name, func(tx *kernel.Tx, ref scope.Ref[kube.Node]) (uuid.UUID, error) {
		return kube.AskRemoveNode(k.T.Context(), tx, k.kinds, ref, name)
	})
}

func (k *kubeSite) nodes(cluster uuid.UUID) (all []string) {
	k.T.Helper()
	found, err := kube.NodesOf(k.T.Context(), k.DB.Reader, cluster)
	if err != nil {
		k.T.Fatal(err)
	}
	for _, n := range found {
		all = append(all, fmt.Sprintf("%s %s %s", n.Name, n.State, n.PodRange))
	}
	return all
}

// TestHostsComeAndGo: a worker joins a cluster that is there and leaves it again, drained within its disruption budgets.
func TestHostsComeAndGo(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	k.host("k2")
	cluster, job := k.create("k1", "k2")
	k.Ended(job, domain.JobSucceeded)
	k.host("k3")
	before := len(k.plays())
	job, err := k.add(kube.NodesDraft{Workers: []string{"k3"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.add(kube.NodesDraft{Workers: []string{"k3"}}); err == nil {
		t.Error("a cluster that a job changes takes another change")
	}
	k.Ended(job, domain.JobSucceeded)
	want := []string{"kube_prepare/playbook.yml k3", "kubeadm_join/playbook.yml k3", "kube_prepare/routes.yml k1", "kube_prepare/routes.yml k2", "kube_prepare/routes.yml k3"}
	if got := k.plays()[before:]; !slices.Equal(got, want) {
		t.Errorf("plays %q, want %q", got, want)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive || c.Ready != 3 {
		t.Errorf("cluster %s, %d ready", c.State, c.Ready)
	}
	k.holdsNoSecret()

	k.server.SetPods("k2", kubeserver.Pod{Name: "web", Refused: 1})
	before = len(k.plays())
	if job, err = k.remove("k2"); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	want = []string{"kubeadm_reset/playbook.yml k2", "kube_prepare/routes.yml k1", "kube_prepare/routes.yml k3"}
	if got := k.plays()[before:]; !slices.Equal(got, want) {
		t.Errorf("plays of the removal %q, want %q", got, want)
	}
	if known, _ := k.server.Knows("k2"); known {
		t.Error("the cluster still has the node")
	}
	evictions := 0
	for _, r := range k.server.Requests() {
		if strings.HasSuffix(r, "/web/eviction") {
			evictions++
		}
	}
	if evictions != 2 {
		t.Errorf("the pod was asked to leave %d times", evictions)
	}
	if got := k.nodes(cluster); !slices.Equal(got, []string{"k1 ready 10.244.0.0/24", "k3 ready 10.244.2.0/24"}) {
		t.Errorf("nodes %q", got)
	}
	// Its range is free again, and its host is too.
	if job, err = k.add(kube.NodesDraft{Workers: []string{"k2"}}); err != nil {
		t.Fatal(err)
	}
	k.server.SetNode("k2", true)
	k.Ended(job, domain.JobSucceeded)
	if got := k.nodes(cluster); !slices.Contains(got, "k2 ready 10.244.1.0/24") {
		t.Errorf("nodes %q", got)
	}
	if _, err := k.remove("k1"); err == nil || !strings.Contains(err.Error(), "only control plane") {
		t.Errorf("the removal of the only control plane: %v", err)
	}
	k.sql(`UPDATE kube_clusters SET endpoint = (SELECT h.facts->'uplink'->>'address' || ':6443' FROM hosts h WHERE h.name = 'k1') WHERE id = $1`, cluster)
	if _, err := k.add(kube.NodesDraft{ControlPlane: []string{"k9"}}); err == nil || !strings.Contains(err.Error(), "address of k1 alone") {
		t.Errorf("a control plane behind the address of another: %v", err)
	}
}

// TestAFailedRemovalGoesOnAfterwards: the cluster is degraded with the reason, and a retry begins with the step that failed.
func TestAFailedRemovalGoesOnAfterwards(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	k.host("k2")
	cluster, job := k.create("k1", "k2")
	k.Ended(job, domain.JobSucceeded)
	k.Runner.Handle("kubeadm_reset", scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "after the reset there is still: cni0"}}, scripted.Script{})
	job, err := k.remove("k2")
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobFailed)
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, "cni0") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	if got := k.nodes(cluster); !slices.Contains(got, "k2 leaving 10.244.1.0/24") {
		t.Errorf("nodes %q", got)
	}
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if c := k.cluster(cluster); c.State != kube.ClusterActive || c.Nodes != 1 {
		t.Errorf("cluster %s, %d nodes", c.State, c.Nodes)
	}
}

// TestANodeIsReplaced: the new host joins before the old one goes, and a machine that was declared lost is passed over.
func TestANodeIsReplaced(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	second := k.host("k2")
	cluster, job := k.create("k1", "k2")
	k.Ended(job, domain.JobSucceeded)
	k.host("k3")
	k.sql(`UPDATE hosts SET state = 'lost' WHERE id = $1`, second)
	before := len(k.plays())
	job, err := k.onNode("k2", func(tx *kernel.Tx, ref scope.Ref[kube.Node]) (uuid.UUID, error) {
		return kube.AskReplaceNode(t.Context(), tx, k.kinds, ref, "k3", "k2")
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	want := []string{"kube_prepare/playbook.yml k3", "kubeadm_join/playbook.yml k3", "kube_prepare/routes.yml k1", "kube_prepare/routes.yml k3"}
	if got := k.plays()[before:]; !slices.Equal(got, want) {
		t.Errorf("plays %q, want %q", got, want)
	}
	if got := k.nodes(cluster); !slices.Equal(got, []string{"k1 ready 10.244.0.0/24", "k3 ready 10.244.2.0/24"}) {
		t.Errorf("nodes %q", got)
	}
}

// TestSeveralControlPlanes: they join one at a time, each after etcd was asked; the key that their keys are encrypted with is in no
// row and no log; and a member whose loss would end etcd is not taken out.
func TestSeveralControlPlanes(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	members := []string{"k1"}
	k.etcd(&members)
	for _, name := range []string{"k1", "k2", "k3", "k4"} {
		k.host(name)
	}
	const uploaded = secretsPath + "/kubeadm-certs"
	keys := map[string]bool{}
	k.Runner.HandleFunc(kube.JoinPlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		switch play.Playbook {
		case "upload.yml":
			k.server.Put(uploaded, map[string]any{"metadata": map[string]any{"name": "kubeadm-certs", "ownerReferences": []any{map[string]any{"kind": "Secret", "name": "bootstrap-token-xxxxxx"}}}})
			k.server.Put(secretsPath+"/bootstrap-token-xxxxxx", map[string]any{"metadata": map[string]any{"name": "bootstrap-token-xxxxxx"}})
		case "control_plane.yml":
			members = append(members, play.Hosts[0].Name)
		}
		keys[play.Secrets[0]] = true
		return site.Play(ctx, play, sink, scripted.Script{})
	})
	cluster, job := k.createWith([]string{"k1", "k2", "k3"}, "k4")
	k.Ended(job, domain.JobSucceeded)
	want := []string{
		"kubeadm_init/playbook.yml k1", "kube_etcd/playbook.yml k1", "kubeadm_join/upload.yml k1", "kubeadm_join/control_plane.yml k2",
		"kube_etcd/playbook.yml k1", "kubeadm_join/upload.yml k1", "kubeadm_join/control_plane.yml k3", "kubeadm_join/playbook.yml k4",
	}
	if got := k.plays()[4:12]; !slices.Equal(got, want) {
		t.Errorf("plays %q, want %q", got, want)
	}
	if left := k.server.Names(secretsPath); len(left) > 0 {
		t.Errorf("secrets left in the cluster: %q", left)
	}
	if len(keys) < 3 {
		t.Errorf("%d secrets for two control planes and a worker", len(keys))
	}
	for key := range keys {
		for _, table := range []string{"jobs", "job_steps", "job_objects", "job_log", "events", "kube_nodes", "kube_clusters"} {
			var n int
			if err := k.pool.QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s x WHERE x::TEXT LIKE $1", table), "%"+key+"%").Scan(&n); err != nil || n > 0 {
				t.Errorf("%d rows of %s have a secret: %v", n, table, err)
			}
		}
	}

	// etcd says that another member is down: without k3, one of two would be left.
	k.etcd(&members, "k2")
	if job, err := k.remove("k3"); err != nil {
		t.Fatal(err)
	} else if j := k.Ended(job, domain.JobFailed); j.Error.Code != "etcd_quorum" || !slices.Contains(members, "k3") {
		t.Errorf("error %+v, members %q", j.Error, members)
	} else {
		k.etcd(&members)
		if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
			t.Fatal(err)
		}
		k.Ended(job, domain.JobSucceeded)
	}
	if !slices.Equal(members, []string{"k1", "k2"}) {
		t.Errorf("members %q", members)
	}
	// Two are left, and one of them is not ready: the rows alone say that the other may not go.
	k.sql(`UPDATE kube_nodes SET state = 'not_ready' WHERE name = 'k1'`)
	if _, err := k.remove("k2"); err == nil || !strings.Contains(err.Error(), "members of etcd") {
		t.Errorf("removal of k2: %v", err)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s", c.State)
	}
}

// TestACutJoinOfAControlPlaneIsOnlyRecorded: a backend that is killed between the join and its record leaves a member of etcd that is
// well. The next attempt asks, and takes nothing out.
func TestACutJoinOfAControlPlaneIsOnlyRecorded(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	first := k.BackendWith(k.work(), queue.Config{})
	members := []string{"k1"}
	k.etcd(&members)
	for _, name := range []string{"k1", "k2", "k3"} {
		k.host(name)
	}
	begun := make(chan struct{}, 2)
	k.Runner.HandleFunc(kube.JoinPlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook != "control_plane.yml" {
			return site.Play(ctx, play, sink, scripted.Script{})
		}
		members = append(members, play.Hosts[0].Name)
		k.server.SetControlPlane(play.Hosts[0].Name)
		begun <- struct{}{} // all of it is done on the host; the backend never hears of it
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	cluster, job := k.createWith([]string{"k1", "k2", "k3"})
	site.Await(t, "the join", begun)
	k.server.Refuse(func(string, string) int { return 503 })
	first.Stop()
	first.Kill()
	site.Await(t, "the backend's end", first.Stopped())
	k.server.Refuse(nil)
	k.Runner.HandleFunc(kube.JoinPlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook == "control_plane.yml" {
			members = append(members, play.Hosts[0].Name)
		}
		return site.Play(ctx, play, sink, scripted.Script{})
	})
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	var joined []string
	for _, play := range k.plays() {
		if strings.HasPrefix(play, "kube_etcd/remove.yml") {
			t.Errorf("%s: a member that was well was taken out", play)
		}
		if name, is := strings.CutPrefix(play, "kubeadm_join/control_plane.yml "); is {
			joined = append(joined, name)
		}
	}
	if !slices.Equal(joined, []string{"k2", "k3"}) || !slices.Equal(members, []string{"k1", "k2", "k3"}) {
		t.Errorf("joined %q, members %q", joined, members)
	}
	if left := k.server.Names(secretsPath); len(left) > 0 {
		t.Errorf("secrets left in the cluster: %q", left)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive || c.Ready != 3 {
		t.Errorf("cluster %s, %d ready", c.State, c.Ready)
	}
}
