package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// managed adds a management cluster with room for a number of control planes.
func (c clustered) managed(name string, capacity int) (id uuid.UUID) {
	c.t.Helper()
	id = uuid.New()
	c.sql(`INSERT INTO kube_management_clusters (id, name, pool, active, server, credentials_sealed, data_store, newest_version, service_type, address, first_port, capacity)
VALUES ($1, $2, 'default', true, '192.0.2.200:6443', '\x00', 'default', 'v1.37.0', 'node_port', '192.0.2.200', 30000, $3)`, id, name, capacity)
	return id
}

// hosted makes the cluster one whose control plane is in a management cluster, in a state.
func (c clustered) hosted(management uuid.UUID, state string) {
	c.t.Helper()
	c.sql(`INSERT INTO kube_hosted (id, workspace_id, cluster_id, management_cluster_id, slot, namespace, replicas, konnectivity, core_dns, port, konnectivity_port, state)
VALUES ($1, $2, $3, $4, 0, 'kloigos-1', 2, true, true, 30000, 30001, $5)`, uuid.New(), c.in, c.cluster, management, state)
}

// TestPlansOfHostedControlPlanes: each lists what its job would do, and approvals of the kind are asked for.
func TestPlansOfHostedControlPlanes(t *testing.T) {
	t.Parallel()
	c := withCluster(t, nil, []string{"k1"})
	c.hosted(c.managed("mgmt-1", 5), "ready")
	ann, bob := c.operatorOf("ann"), c.operatorOf("bob")
	before := c.dump()
	body := api.DeleteCluster{Confirm: "apps"}
	up := api.UpgradeHostedControlPlane{KubernetesVersion: "v1.37.0"}
	p := c.plan("/hosted-control-planes/apps/delete", body, ann)
	listed(t, p,
		"reset_workers|remove|cluster_node|k1|worker, ready, v1.36.3||Kubernetes is taken off its host",
		"remove_control_plane|remove|hosted_control_plane|apps|v1.36.3, 2 replicas||with its data and its namespace kloigos-1 in the management cluster",
		"forget|remove|cluster|apps|v1.36.3 at api.example.com:6443||",
	)
	upgrade := c.plan("/hosted-control-planes/apps/upgrade", up, ann)
	listed(t, upgrade, "apply|change|hosted_control_plane|apps|v1.36.3|v1.37.0|its workers stay as they are")
	sleep := c.plan("/hosted-control-planes/apps/sleep", nil, ann)
	listed(t, sleep, "apply|change|hosted_control_plane|apps|2 replicas|0 replicas|nobody can use the cluster then; pods on workers go on, and its data stays")
	if a := c.do(http.MethodPost, "/hosted-control-planes/apps/wake?plan=true", nil, bearer(ann)...); a.status != http.StatusConflict {
		t.Errorf("one that is awake: %d %s", a.status, a.body)
	}
	c.unchanged(before)
	if p.Kind != "hosted_cluster_delete" || p.ObjectKind != "hosted_control_plane" || p.ObjectName != "apps" {
		t.Errorf("%+v", p)
	}

	c.sql(`UPDATE kube_hosted SET state = 'asleep'`)
	listed(t, c.plan("/hosted-control-planes/apps/wake", nil, ann), "apply|change|hosted_control_plane|apps|0 replicas|2 replicas|")
	c.coded(c.apply("/hosted-control-planes/apps/delete", body, p.ID, ann), "plan_stale", "has changed since")
	c.sql(`UPDATE kube_hosted SET state = 'ready'`)

	c.rule("one", "default/default", 1, 24, "hosted_cluster_delete")
	c.coded(c.do(http.MethodPost, "/hosted-control-planes/apps/delete", body, bearer(ann)...), "approval_required", "needs a plan with 1 approval")
	c.coded(c.apply("/hosted-control-planes/apps/delete", body, p.ID, ann), "approval_required", "1 more")
	if a := c.approve(p.ID, bob); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := c.apply("/hosted-control-planes/apps/delete", body, p.ID, ann)
	if a.status != http.StatusAccepted || decode[api.HostedControlPlane](t, a).State != "deleting" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	c.coded(c.apply("/hosted-control-planes/apps/upgrade", up, upgrade.ID, ann), "plan_stale", "has changed since")
}

// TestPlanOfAHostedCreation: the management cluster is chosen when the plan is applied, so another one there is no other plan.
func TestPlanOfAHostedCreation(t *testing.T) {
	t.Parallel()
	c := withCluster(t, nil, nil)
	c.sql(`DELETE FROM kube_clusters`)
	first := c.managed("mgmt-1", 1)
	c.host("k1")
	ann := c.operatorOf("ann")
	body := api.CreateHostedControlPlane{Name: "apps", KubernetesVersion: "v1.36.3", Workers: []string{"k1"}}
	before := c.dump()
	p := c.plan("/hosted-control-planes", body, ann)
	c.unchanged(before)
	listed(t, p,
		"host_control_plane|create|hosted_control_plane|apps||v1.36.3 in the pool default|2 replicas, reaches nodes through tunnels that they open, Kamaji sets up CoreDNS",
		"api|create|cluster|apps||v1.36.3|pods in 10.244.0.0/16, services in 10.96.0.0/16",
		"prepare|change|host|k1|||container runtime, programs and images of v1.36.3 are installed",
		"workers|create|cluster_node|k1||worker, v1.36.3|",
	)
	c.managed("mgmt-2", 9)
	c.sql(`UPDATE kube_management_clusters SET active = false WHERE id = $1`, first)
	c.coded(c.apply("/hosted-control-planes", api.CreateHostedControlPlane{Name: "apps", KubernetesVersion: "v1.37.0", Workers: []string{"k1"}}, p.ID, ann), "plan_mismatch", "another request")
	a := c.apply("/hosted-control-planes", body, p.ID, ann)
	if a.status != http.StatusAccepted || decode[api.HostedControlPlane](t, a).State != "creating" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if p = c.thePlan(p.ID, ann); p.State != "applied" || p.AppliedJobID == "" {
		t.Errorf("%+v", p)
	}
}
