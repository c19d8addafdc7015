package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// TestPlanOfAClustersCreation: each host is prepared, and the nodes come in their order. Nothing is made by looking.
func TestPlanOfAClustersCreation(t *testing.T) {
	t.Parallel()
	c := withCluster(t, nil, nil)
	c.sql(`DELETE FROM kube_clusters`)
	for _, name := range []string{"k1", "k2", "k3", "k4"} {
		c.host(name)
	}
	ann := c.operatorOf("ann")
	body := api.CreateCluster{Name: "apps", KubernetesVersion: "v1.36.3", ControlPlane: []string{"k1", "k2", "k3"}, Workers: []string{"k4"}, Endpoint: "api.example.com:6443"}
	before := c.dump()
	p := c.plan("/clusters", body, ann)
	c.unchanged(before)
	listed(t, p,
		"prepare|change|host|k1|||container runtime, programs and images of v1.36.3 are installed",
		"prepare|change|host|k2|||container runtime, programs and images of v1.36.3 are installed",
		"prepare|change|host|k3|||container runtime, programs and images of v1.36.3 are installed",
		"prepare|change|host|k4|||container runtime, programs and images of v1.36.3 are installed",
		"control_plane|create|cluster|apps||v1.36.3 at api.example.com:6443|pods in 10.244.0.0/16, services in 10.96.0.0/16",
		"control_plane|create|cluster_node|k1||control plane, v1.36.3|the first member of etcd",
		"control_planes|create|etcd_member|k2|||etcd has 2 then, of which 2 have to be well",
		"control_planes|create|cluster_node|k2||control plane, v1.36.3|",
		"control_planes|create|etcd_member|k3|||etcd has 3 then, of which 2 have to be well",
		"control_planes|create|cluster_node|k3||control plane, v1.36.3|",
		"workers|create|cluster_node|k4||worker, v1.36.3|",
		"routes|change|host|k1|||its routes lead to the pods of these nodes",
		"routes|change|host|k2|||its routes lead to the pods of these nodes",
		"routes|change|host|k3|||its routes lead to the pods of these nodes",
		"routes|change|host|k4|||its routes lead to the pods of these nodes",
	)
	if a := c.apply("/clusters", body, p.ID, ann); a.status != http.StatusAccepted {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestPlanOfARenewal: control planes only, with the end of the first certificate.
func TestPlanOfARenewal(t *testing.T) {
	t.Parallel()
	c := withCluster(t, []string{"k1"}, []string{"k2"})
	c.sql(`UPDATE kube_nodes SET certificates_end = '2027-03-01T00:00:00Z'`)
	listed(t, c.plan("/clusters/apps/renew-certificates", nil, c.operatorOf("ann")),
		"renew|change|cluster_node|k1|the first ends at 2027-03-01T00:00:00Z||certificates that end within 300 days are renewed, and its static pods restart")
}

// TestPlanOfARestore: the plan lists the members of etcd that stop, and the objects that are newer than the snapshot. A control plane that is
// given up is listed as removed.
func TestPlanOfARestore(t *testing.T) {
	t.Parallel()
	c := withCluster(t, []string{"k1", "k2", "k3"}, []string{"k4"})
	snapshot := uuid.New()
	c.sql(`INSERT INTO kube_snapshots (id, workspace_id, cluster_id, node, kube_version, key_sealed, size, stored, parts, sha256, begun_at, taken_at)
VALUES ($1, $2, $3, 'k1', 'v1.36.3', '\x00', 1, 1, 1, $4, '2026-11-01T00:00:00Z', '2026-11-01T00:00:01Z')`, snapshot, c.in, c.cluster, strings.Repeat("a", 64))
	c.sql(`UPDATE kube_nodes SET created_at = '2026-10-01T00:00:00Z' WHERE name <> 'k4'`)
	c.mustDo(http.MethodPost, "/cluster-namespaces", api.CreateClusterNamespace{Cluster: "apps", Name: "shop"}, 201)
	ann := c.operatorOf("ann")
	at, body := "/cluster-snapshots/"+snapshot.String()+"/restore", api.RestoreClusterSnapshot{Confirm: "apps"}
	listed(t, c.plan(at, body, ann),
		"exchange|change|etcd_member|k1|now|2026-11-01T00:00:00Z|etcd, the API server and all other static pods stop meanwhile",
		"exchange|change|etcd_member|k2|now|2026-11-01T00:00:00Z|etcd, the API server and all other static pods stop meanwhile",
		"exchange|change|etcd_member|k3|now|2026-11-01T00:00:00Z|etcd, the API server and all other static pods stop meanwhile",
		"restart_kubelets|change|cluster_node|k1|||its kubelet restarts",
		"restart_kubelets|change|cluster_node|k2|||its kubelet restarts",
		"restart_kubelets|change|cluster_node|k3|||its kubelet restarts",
		"restart_kubelets|change|cluster_node|k4|||its kubelet restarts; it joined after the snapshot, and registers again",
		"nodes_back|change|cluster_namespace|shop|||made after the snapshot: its policy makes it again, without what was in it",
	)
	c.sql(`UPDATE hosts SET state = 'lost' WHERE id = $1`, c.hosts["k3"])
	body.Without = []string{"k3"}
	got := lines(c.plan(at, body, ann))
	if all := strings.Join(got, "\n"); strings.Contains(all, "|etcd_member|k3|") || strings.Contains(all, "restart_kubelets|change|cluster_node|k3|") || !strings.Contains(all, "|remove|cluster_node|k3|control plane, ready, v1.36.3||it is given up") {
		t.Error(all)
	}
}
