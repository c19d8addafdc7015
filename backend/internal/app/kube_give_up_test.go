package app_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

// withLost is a cluster of three control planes and a worker with a snapshot, two of whose hosts were declared lost then.
func withLost(t *testing.T) (*kubeSite, uuid.UUID, *restoreHost, kube.Snapshot) {
	t.Helper()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"}, "k4")
	r := k.restoreHost(k.etcdHost(2 * kube.SnapshotPart))
	backend := k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	backend.Stop()
	site.Await(t, "the backend's end", backend.Stopped())
	k.sql(`UPDATE hosts SET state = 'lost' WHERE name IN ('k2', 'k3')`)
	k.sql(`UPDATE kube_clusters SET state = 'degraded'`)
	return k, cluster, r, k.snapshots(cluster)[0]
}

// TestARestoreWithoutLostControlPlanes: the one that is left gets the snapshot, the lost ones leave the cluster and are forgotten, and nothing is
// played on them. A backend that is killed in the middle costs nothing.
func TestARestoreWithoutLostControlPlanes(t *testing.T) {
	t.Parallel()
	k, cluster, r, s := withLost(t)
	first := k.BackendWith(k.work(), queue.Config{})
	if !slices.Equal(s.Lost, []string{"k2", "k3"}) || s.CanRestore() != nil {
		t.Errorf("lost %q, %v", s.Lost, s.CanRestore())
	}
	if _, err := k.restore(s.ID, "other", "k2", "k3"); err == nil || !strings.Contains(err.Error(), "stop on all control planes: k1. Given up for good: k2, k3.") {
		t.Errorf("restored without its name: %v", err)
	}
	begun := make(chan struct{}, 1)
	r.held = func(did string) <-chan struct{} {
		if did != "swapped k1" {
			return nil
		}
		begun <- struct{}{}
		return make(chan struct{})
	}
	third := ""
	nodes, err := kube.NodesOf(t.Context(), k.DB.Reader, cluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.Name == "k3" {
			third = n.ID.String()
		}
	}
	before := len(k.plays())
	job, err := k.restore(s.ID, "apps", "k2", third)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the swap", begun)
	k.killed(first, r)
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	want := slices.Concat(playsOn("k1", "checked", "made", "stopped", "swapped", "stopped", "swapped", "started", "settled", "finished"), playsOn("k1 k4", "restart"))
	if !slices.Equal(r.did, want) || r.sent != int(s.Parts) {
		t.Errorf("did %q, %d parts came, of %d", r.did, r.sent, s.Parts)
	}
	if !slices.Equal(r.members, []string{"k1"}) {
		t.Errorf("restored for the members %q", r.members)
	}
	plays := k.plays()[before:]
	if slices.ContainsFunc(plays, func(p string) bool { return strings.HasSuffix(p, " k2") || strings.HasSuffix(p, " k3") }) {
		t.Errorf("played on lost hosts: %q", plays)
	}
	for _, name := range []string{"k1", "k4"} {
		if !slices.Contains(plays, "kube_prepare/routes.yml "+name) {
			t.Errorf("no routes on %s: %q", name, plays)
		}
	}
	for name, want := range map[string]bool{"k1": true, "k2": false, "k3": false, "k4": true} {
		if known, _ := k.server.Knows(name); known != want {
			t.Errorf("the cluster knows %s: %t", name, known)
		}
	}
	if got := k.nodes(cluster); !slices.Equal(got, []string{"k1 ready 10.244.0.0/24", "k4 ready 10.244.3.0/24"}) {
		t.Errorf("nodes %q", got)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	if n := k.count(`SELECT count(*) FROM events WHERE action = 'cluster.restore' AND job_id = $1 AND state_after->>'without' = '["k2", "k3"]' AND state_after->>'stops' = '["k1"]'`, job); n != 1 {
		t.Errorf("%d events", n)
	}

	// It takes another control plane.
	k.host("k5")
	if job, err = k.add(kube.NodesDraft{ControlPlane: []string{"k5"}}); err != nil {
		t.Fatal(err)
	}
	k.server.SetNode("k5", true)
	k.Ended(job, domain.JobSucceeded)
}

// TestAFailedRestoreKeepsTheLost until the cluster has the new data: their rows stay, the one that is left goes back, and a retry ends well. A host
// that was never a member is cleaned.
func TestAFailedRestoreKeepsTheLost(t *testing.T) {
	t.Parallel()
	k, cluster, r, s := withLost(t)
	k.sql(`UPDATE hosts SET state = 'ready' WHERE name = 'k3'`)
	k.sql(`UPDATE kube_nodes SET state = 'prepared' WHERE name = 'k3'`)
	k.BackendWith(k.work(), queue.Config{})
	r.fail["swapped k1"] = "the disk is full"
	job, err := k.restore(s.ID, "apps", "k2", "k3")
	if err != nil {
		t.Fatal(err)
	}
	if j := k.Ended(job, domain.JobFailed); !strings.Contains(j.Error.Message, "The cluster is as it was before") {
		t.Errorf("%+v", j.Error)
	}
	if want := playsOn("k1", "checked", "made", "stopped", "swapped", "back"); !slices.Equal(r.did, want) {
		t.Errorf("did %q", r.did)
	}
	if n := len(k.nodes(cluster)); n != 4 {
		t.Errorf("%d nodes", n)
	}
	r.lock.Lock()
	r.fail = map[string]string{}
	r.lock.Unlock()
	before := len(k.plays())

	// Meanwhile one of them is back in the cluster, as its row says.
	k.sql(`UPDATE hosts SET state = 'ready' WHERE name = 'k2'`)
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	if j := k.Ended(job, domain.JobFailed); j.Error.Code != "restore_host" || !strings.Contains(j.Error.Message, "k2 is given up, but it is ready") || len(k.plays()) > before {
		t.Errorf("%+v, plays %q", j.Error, k.plays()[before:])
	}
	k.sql(`UPDATE hosts SET state = 'lost' WHERE name = 'k2'`)
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if got := k.nodes(cluster); !slices.Equal(got, []string{"k1 ready 10.244.0.0/24", "k4 ready 10.244.3.0/24"}) {
		t.Errorf("nodes %q", got)
	}
	if plays := k.plays()[before:]; !slices.Contains(plays, "kubeadm_reset/playbook.yml k3") {
		t.Errorf("k3 was not cleaned: %q", plays)
	}
}

var errRolledBack = errors.New("rolled back")

// TestTheWayOutIsTold: where the lost members of etcd were most of them, conditions and the cluster say what to do, though nothing answers.
func TestTheWayOutIsTold(t *testing.T) {
	t.Parallel()
	k, cluster, _, _ := withLost(t)
	k.sql(`UPDATE kube_clusters SET state = 'active'`)
	k.server.Refuse(func(string, string) int { return 503 })
	const way = "the hosts of k2, k3 were declared lost. Restore a snapshot on the control planes that are left: kloigos cluster-snapshot restore ID --without k2 --without k3 --confirm apps"
	for condition, policy := range map[string]string{"api_ready": "cluster", "etcd_healthy": "cluster_health", "nodes_remedied": "cluster_health"} {
		if c := k.conditionOf(policy, cluster, condition); c.Status != reconcile.False || !strings.Contains(c.Message, way) {
			t.Errorf("%s is %s: %s", condition, c.Status, c.Message)
		}
	}
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, way) {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	k.sql(`UPDATE hosts SET state = 'ready' WHERE name = 'k3'`)
	if c := k.conditionOf("cluster", cluster, "api_ready"); c.Status != reconcile.False || strings.Contains(c.Message, "cluster-snapshot restore") {
		t.Errorf("with a quorum: %s: %s", c.Status, c.Message)
	}
}

// TestSomeControlPlanesAreNotGivenUp: those that may answer with the old data, the last one, and one whose address is the endpoint.
func TestSomeControlPlanesAreNotGivenUp(t *testing.T) {
	t.Parallel()
	k, cluster, _, s := withLost(t)
	refused := func(what string, without ...string) {
		t.Helper()
		_, err := k.restore(s.ID, "apps", without...)
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("without %q: %v", without, err)
		}
	}
	conflicts := func(code string, without ...string) {
		t.Helper()
		_, err := k.restore(s.ID, "apps", without...)
		var conflict *fault.Conflict
		if !errors.As(err, &conflict) || conflict.Code != code {
			t.Errorf("without %q: %v", without, err)
		}
	}
	refused("lost or unreachable: k2, k3. Can be given up: --without k2 --without k3.")
	refused("lost or unreachable: k3. Can be given up: --without k3.", "k2")
	refused("no control plane k4", "k2", "k3", "k4")
	refused("no control plane k9", "k9")
	refused("k1 is ready, and its host is ready", "k1", "k2", "k3")
	k.sql(`UPDATE kube_nodes SET state = 'leaving' WHERE name = 'k1'`)
	refused("k1 is leaving", "k1", "k2", "k3")
	k.sql(`UPDATE kube_nodes SET state = 'ready' WHERE name = 'k1'`)
	k.sql(`UPDATE hosts SET state = 'lost' WHERE name = 'k1'`)
	conflicts("restore_host", "k1", "k2", "k3")
	if s := k.snapshots(cluster)[0]; s.CanRestore() == nil || !strings.Contains(s.CanRestore().Error(), "No control plane is left") {
		t.Errorf("%v", s.CanRestore())
	}
	k.sql(`UPDATE hosts SET state = 'ready', health = 'unreachable' WHERE name = 'k1'`)
	refused("lost or unreachable: k1.", "k2", "k3")
	k.sql(`UPDATE hosts SET health = 'healthy' WHERE name = 'k1'`)
	was := k.cluster(cluster).Endpoint
	k.sql(`UPDATE kube_clusters SET endpoint = (SELECT h.facts->'uplink'->>'address' || ':6443' FROM hosts h WHERE h.name = 'k3')`)
	conflicts("restore_endpoint", "k2", "k3")
	err := k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindSnapshot(t.Context(), tx.Reader, k.workspace, s.ID.String())
		if err == nil {
			_, err = kube.AskRestore(t.Context(), tx, k.kinds, ref, kube.RestoreDraft{Confirm: "apps", Without: []string{"k3", "k2"}, EndpointMoved: true})
		}
		return errors.Join(err, errRolledBack)
	})
	if err == nil || err.Error() != errRolledBack.Error() {
		t.Errorf("with an endpoint that was moved: %v", err)
	}
	k.sql(`UPDATE kube_clusters SET endpoint = $1`, was)
	if _, err := k.restore(s.ID, "apps", "k3", "k2"); err != nil {
		t.Error(err)
	}
}

// TestASnapshotWithoutQuorum is taken where a person asks for it, from the member that has most of those that are left.
func TestASnapshotWithoutQuorum(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3", "k4", "k5"})
	h := k.etcdHost(1000)
	k.sql(`UPDATE hosts SET state = 'lost' WHERE name IN ('k3', 'k4', 'k5')`)
	h.sick, h.applied = []string{"k1", "k2", "k3"}, map[string]int{"k1": 5, "k2": 9}
	k.BackendWith(k.work(), queue.Config{})
	job := k.snapshot()
	k.Ended(job, domain.JobSucceeded)
	if !slices.Equal(h.taken, []string{"k2"}) || k.snapshots(cluster)[0].Node != "k2" {
		t.Errorf("taken on %q", h.taken)
	}
	if n := k.count(`SELECT count(*) FROM events WHERE action = 'cluster.snapshot' AND job_id = $1 AND state_after->>'without' = '["k3", "k4", "k5"]'`, job); n != 1 {
		t.Errorf("%d events", n)
	}
	h.mu.Lock()
	h.applied = nil
	h.mu.Unlock()
	if j := k.Ended(k.snapshot(), domain.JobFailed); j.Error.Code != "no_member" || len(h.taken) > 1 {
		t.Errorf("%+v, taken on %q", j.Error, h.taken)
	}
}
