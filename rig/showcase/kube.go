package showcase

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// cluster makes a kubernetes workspace in a project of the second organization: three hosts that are nodes of a cluster, of
// which one is not ready, a host beside them, somebody's role in it, and the catalog of versions.
func (w *world) cluster(organization, project, account uuid.UUID) {
	workspaces := &table{name: "workspaces", columns: []string{"id", "project_id", "name", "type", "created_at", "updated_at"}}
	hosts := &table{name: "hosts", columns: append(append([]string{}, w.hosts.columns...), "purpose")}
	locks := &table{name: "host_locks", columns: w.locks.columns}
	versions := &table{name: "kube_versions", columns: []string{"id", "name", "active", "upgrades_to", "bundle", "bundle_sha256", "created_at", "updated_at"}}
	clusters := &table{name: "kube_clusters", columns: []string{
		"id", "workspace_id", "name", "kube_version", "endpoint", "pod_range", "service_range", "state", "state_message", "admin_key_sealed", "snapshot_hours", "created_at", "updated_at",
	}}
	nodes := &table{name: "kube_nodes", columns: []string{
		"id", "workspace_id", "cluster_id", "host_id", "name", "role", "pod_range", "state", "state_message", "created_at", "updated_at",
	}}
	bindings := &table{name: "kube_bindings", columns: []string{"id", "workspace_id", "cluster_id", "account_id", "account", "role", "created_at", "updated_at"}}
	namespaces := &table{name: "kube_namespaces", columns: []string{
		"id", "workspace_id", "cluster_id", "name", "labels", "quota_cpu", "quota_memory", "quota_pods", "quota_storage", "default_cpu", "default_memory", "adopt", "created_at", "updated_at",
	}}
	snapshots := &table{name: "kube_snapshots", columns: []string{
		"id", "workspace_id", "cluster_id", "node", "kube_version", "key_sealed", "size", "stored", "parts", "sha256", "begun_at", "taken_at", "created_at", "updated_at",
	}}
	w.more = append(w.more, workspaces, hosts, locks, versions, clusters, nodes, bindings, namespaces, snapshots)

	at, seen := w.ago(5*24*time.Hour), w.ago(20*time.Second)
	for _, v := range []struct {
		name   string
		active bool
		to     []string
	}{{"v1.35.9", false, []string{"v1.36.3"}}, {"v1.36.3", true, []string{}}} {
		sum := sha256.Sum256([]byte(v.name))
		versions.add(w.id(), v.name, v.active, v.to, "https://files.kloigos.example/kubernetes-"+v.name+".tar", hex.EncodeToString(sum[:]), at, at)
	}
	apps, id := w.id(), w.id()
	workspaces.add(apps, project, "apps", "kubernetes", at, at)
	why := "1 of 3 nodes is not ready."
	clusters.add(id, apps, "apps", "v1.36.3", "10.30.0.10:6443", "10.244.0.0/16", "10.96.0.0/16", "degraded", why, []byte("sealed"), int64(24), at, seen)
	for n, role := range []string{"control_plane", "worker", "worker", ""} {
		h := &host{id: w.id(), name: fmt.Sprintf("kube-%d", n+1), state: "ready", place: places[0], machine: machines[0]}
		machineID := hex.EncodeToString(h.id[:])
		found := w.facts(h, machineID)
		hosts.add(h.id, apps, organization, h.name, fmt.Sprintf("10.30.0.%d", n+10), 22, "operator1", h.place.region, h.place.zone, []string{"default"},
			map[string]string{}, "minimal", false, hostKey, "", h.state, "healthy", "", seen, machineID, storedFacts{found, found.CPUs}, at, nil, 1, w.id(), true, at,
			"healthy", "", "kubernetes")
		locks.add(h.id, int64(0))
		if role == "" {
			continue // it can become a node
		}
		state, message := "ready", ""
		if n == 2 {
			state, message = "not_ready", "Kubelet stopped posting node status."
		}
		nodes.add(w.id(), apps, id, h.id, h.name, role, fmt.Sprintf("10.244.%d.0/24", n), state, message, at, seen)
	}
	bindings.add(w.id(), apps, id, account, ownerOfAcme, "editor", at, at)
	namespaces.add(w.id(), apps, id, "cart", map[string]string{}, "", "", int64(0), "", "", "", false, at, at)
	namespaces.add(w.id(), apps, id, "shop", map[string]string{"team": "shop"}, "4", "8Gi", int64(50), "100Gi", "100m", "128Mi", false, at, at)
	for day := range 3 {
		taken := w.ago(time.Duration(24*day+5) * time.Hour)
		sum := sha256.Sum256([]byte{byte(day)})
		snapshots.add(w.id(), apps, id, "kube-1", "v1.36.3", []byte("sealed"), int64(48_361_504-day*811_008), int64(9_204_112-day*90_112), int64(13), hex.EncodeToString(sum[:]),
			taken, taken.Add(20*time.Second), taken, taken)
	}
}
