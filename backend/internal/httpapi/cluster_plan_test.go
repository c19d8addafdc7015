package httpapi_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/scope"
)

// clustered is a backend with a cluster of a control plane and a worker in a workspace of its own.
type clustered struct {
	*backend
	in      uuid.UUID // workspace
	cluster uuid.UUID
	nodes   map[string]uuid.UUID
	hosts   map[string]uuid.UUID
}

func withCluster(t *testing.T, planes, workers []string) clustered {
	t.Helper()
	var kinds intent.Config
	b := setup(t, func(c *httpapi.Config) {
		kinds = intent.Config{Targets: domain.TargetPolicy{AllowLoopback: true}, Kinds: c.Kinds}
		c.Intents = intent.New(c.DB, kinds)
	})
	c := clustered{b, uuid.New(), uuid.New(), map[string]uuid.UUID{}, map[string]uuid.UUID{}}
	b.sql(`INSERT INTO workspaces (id, project_id, name, type) SELECT $1, w.project_id, 'apps', 'kubernetes' FROM workspaces w WHERE w.id = $2`, c.in, domain.DefaultWorkspace)
	b.workspace = c.in.String()
	for _, name := range []string{"v1.36.3", "v1.37.0"} {
		b.sql(`INSERT INTO kube_versions (id, name, active, upgrades_to, bundle, bundle_sha256) VALUES ($1, $2, true, $3, '/srv/k.tar', $4)`,
			uuid.New(), name, map[string][]string{"v1.36.3": {"v1.37.0"}, "v1.37.0": {}}[name], strings.Repeat("0", 64))
	}
	b.sql(`INSERT INTO kube_clusters (id, workspace_id, name, kube_version, endpoint, pod_range, service_range, state, admin_key_sealed)
VALUES ($1, $2, 'apps', 'v1.36.3', 'api.example.com:6443', '10.244.0.0/16', '10.96.0.0/16', 'active', '\x00')`, c.cluster, c.in)
	for _, name := range planes {
		c.node(name, "control_plane")
	}
	for _, name := range workers {
		c.node(name, "worker")
	}
	return c
}

// host is a host that is ready for Kubernetes.
func (c clustered) host(name string) {
	c.t.Helper()
	h := c.probed(name)
	c.hosts[name] = uuid.MustParse(h.ID)
	c.sql(`UPDATE hosts SET state = 'ready', facts = jsonb_build_object('uplink', jsonb_build_object('address', '192.0.2.' || $2::TEXT)) WHERE id = $1`, h.ID, strconv.Itoa(len(c.hosts)))
}

func (c clustered) node(name, role string) {
	c.t.Helper()
	c.host(name)
	c.nodes[name] = uuid.New()
	c.sql(`INSERT INTO kube_nodes (id, workspace_id, cluster_id, host_id, name, role, pod_range, state, kube_version) VALUES ($1, $2, $3, $4, $5, $6, '10.244.' || $7::TEXT || '.0/24', 'ready', 'v1.36.3')`,
		c.nodes[name], c.in, c.cluster, c.hosts[name], name, role, strconv.Itoa(len(c.nodes)))
}

func (c clustered) plan(path string, body any, token string) api.Plan {
	c.t.Helper()
	p := decode[api.Plan](c.t, c.mustDo(http.MethodPost, path+"?plan=true", body, http.StatusAccepted, bearer(token)...))
	if p.State != "ready" || p.HostID != "" || p.JobID != "" || p.ObjectKind == "" {
		c.t.Fatalf("%+v", p)
	}
	return p
}

func (c clustered) apply(path string, body any, plan, token string) answer {
	c.t.Helper()
	return c.do(http.MethodPost, path+"?plan_id="+plan, body, bearer(token)...)
}

// lines are what a plan lists, each in a line.
func lines(p api.Plan) (all []string) {
	for _, c := range p.Changes {
		all = append(all, strings.Join([]string{c.Task, c.Action, c.Kind, c.Name, c.Before, c.After, c.Note}, "|"))
	}
	return all
}

func listed(t *testing.T, p api.Plan, want ...string) {
	t.Helper()
	if got := lines(p); !slices.Equal(got, want) {
		t.Errorf("the plan lists\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// unchanged fails if anything but a plan, its event and the key of its request differs.
func (c clustered) unchanged(since map[string]string) {
	c.t.Helper()
	now := c.dump()
	for _, table := range []string{"plans", "events", "idempotency_keys", "tokens", "touched", "reconcile_items"} {
		delete(now, table)
		delete(since, table)
	}
	for table, rows := range now {
		if since[table] != rows {
			c.t.Errorf("%s was\n%s\nand is\n%s", table, since[table], rows)
		}
	}
}

// TestPlanOfAClustersDeletion: what goes is listed, nothing is changed by that, and what was shown is done, or nothing.
func TestPlanOfAClustersDeletion(t *testing.T) {
	t.Parallel()
	c := withCluster(t, []string{"k1"}, []string{"k2"})
	c.mustDo(http.MethodPost, "/cluster-namespaces", api.CreateClusterNamespace{Cluster: "apps", Name: "shop"}, 201)
	ann, bob := c.operatorOf("ann"), c.operatorOf("bob")
	at, body := "/clusters/apps/delete", api.DeleteCluster{Confirm: "apps"}
	c.addZone(nil, "example.org")
	for _, name := range []string{"apps", "other"} {
		c.mustDo(http.MethodPost, "/dns-record-sets", api.CreateDNSRecordSet{Zone: "example.org", Name: name, Type: "A", TTL: 300, Values: []string{"192.0.2.1"}}, 201)
	}
	c.sql("UPDATE dns_record_sets SET owner = 'cluster:' || $1::TEXT WHERE name = 'apps.example.org.'", c.cluster) // as its policy writes it

	before := c.dump()
	p := c.plan(at, body, ann)
	c.unchanged(before)
	listed(t, p,
		"reset_workers|remove|cluster_node|k2|worker, ready, v1.36.3||Kubernetes is taken off its host",
		"reset_control_plane|remove|cluster_node|k1|control plane, ready, v1.36.3||Kubernetes is taken off its host, with the data of etcd",
		"forget|remove|dns_record_set|apps.example.org. A|||a policy takes it from the name servers as soon as the deletion begins",
		"forget|remove|cluster_namespace|shop|||all that is in it goes with the cluster",
		"forget|remove|cluster|apps|v1.36.3 at api.example.com:6443||",
	)
	if p.Kind != "cluster_delete" || p.ObjectID != c.cluster.String() || p.ObjectName != "apps" || p.Counts.Remove != 5 || p.Approvals != nil {
		t.Errorf("%+v", p)
	}
	if a := c.do(http.MethodPost, at+"?plan=true", api.DeleteCluster{Confirm: "other"}, bearer(ann)...); a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", a.status, a.body)
	}
	stranger := c.granted("sam", "operator", scope.Organization, c.tree().organizations[1])
	for _, path := range []string{at + "?plan=true", at + "?plan_id=" + p.ID} {
		if a := c.do(http.MethodPost, path, body, bearer(stranger)...); a.status != http.StatusNotFound {
			t.Errorf("a stranger: %d %s", a.status, a.body)
		}
	}
	c.coded(c.apply(at, api.DeleteCluster{Confirm: "else"}, p.ID, ann), "plan_mismatch", "another request")

	// Another node: the plan is stale. Once it is as it was, the plan holds again.
	c.sql(`UPDATE kube_nodes SET state = 'not_ready' WHERE id = $1`, c.nodes["k2"])
	if p = c.thePlan(p.ID, ann); !slices.Equal(p.Moved, []string{"observed_state"}) || p.Operations[0].Allowed {
		t.Errorf("%v %+v", p.Moved, p.Operations)
	}
	c.coded(c.apply(at, body, p.ID, ann), "plan_stale", "has changed since")
	c.sql(`UPDATE kube_nodes SET state = 'ready' WHERE id = $1`, c.nodes["k2"])
	second := c.plan(at, body, bob)

	c.rule("one", "default/default", 1, 24, "cluster_delete")
	c.coded(c.do(http.MethodPost, at, body, bearer(ann)...), "approval_required", "needs a plan with 1 approval")
	c.coded(c.apply(at, body, p.ID, ann), "approval_required", "1 more")
	c.coded(c.approve(p.ID, ann), "own_plan", "others")
	if a := c.approve(p.ID, bob); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := c.apply(at, body, p.ID, ann)
	if a.status != http.StatusAccepted || decode[api.Cluster](t, a).State != "deleting" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	job := strings.TrimPrefix(a.header.Get("Location"), api.Prefix+"/jobs/")
	if p = c.thePlan(p.ID, ann); p.State != "applied" || p.AppliedJobID != job {
		t.Errorf("%+v", p)
	}
	if j := decode[api.Job](t, c.mustDo(http.MethodGet, "/jobs/"+job, nil, http.StatusOK, bearer(ann)...)); j.PlanID != p.ID {
		t.Errorf("the job is of plan %q", j.PlanID)
	}
	c.coded(c.apply(at, body, p.ID, ann), "plan_applied", "already")
	c.coded(c.approve(second.ID, ann), "plan_stale", "has changed since")

	// The job was approved: cancelled and tried again it goes on with that.
	c.mustDo(http.MethodPost, "/jobs/"+job+"/cancel", nil, http.StatusAccepted, bearer(ann)...)
	c.mustDo(http.MethodPost, "/jobs/"+job+"/retry", nil, http.StatusAccepted, bearer(ann)...)
	c.mustDo(http.MethodPost, "/jobs/"+job+"/cancel", nil, http.StatusAccepted, bearer(ann)...)
	c.sql(`UPDATE plans SET state = 'ready', applied_job_id = NULL WHERE id = $1`, p.ID)
	c.coded(c.do(http.MethodPost, "/jobs/"+job+"/retry", nil, bearer(ann)...), "approval_required", "needs a plan")
}

// TestPlansOfAClustersChanges: each lists what its job would do in the order of its steps, and changes nothing.
func TestPlansOfAClustersChanges(t *testing.T) {
	t.Parallel()
	c := withCluster(t, []string{"k1", "k2", "k3"}, []string{"k4"})
	c.host("k5")
	ann := c.operatorOf("ann")
	before := c.dump()
	up := api.UpgradeCluster{To: "v1.37.0", Parallel: 1}
	p := c.plan("/clusters/apps/upgrade", up, ann)
	if got := lines(p)[4:]; !slices.Equal(got, []string{
		"upgrade_control_planes|change|cluster_node|k1|v1.36.3|v1.37.0|wave 1, drained", "upgrade_control_planes|change|cluster_node|k2|v1.36.3|v1.37.0|wave 2, drained",
		"upgrade_control_planes|change|cluster_node|k3|v1.36.3|v1.37.0|wave 3, drained", "upgrade_workers|change|cluster_node|k4|v1.36.3|v1.37.0|wave 4, drained",
		"finish|change|cluster|apps|v1.36.3|v1.37.0|",
	}) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	leaves := c.plan("/cluster-nodes/k3/remove", api.RemoveClusterNode{Confirm: "k3"}, ann)
	if got := lines(leaves)[:4]; !slices.Equal(got, []string{
		"drain|change|cluster_node|k3|control plane, ready, v1.36.3||takes no new pods, and its pods are evicted as far as their disruption budgets allow",
		"remove|remove|etcd_member|k3|||etcd has 2 then, of which 2 have to be well", "remove|remove|cluster_node|k3|control plane, ready, v1.36.3||",
		"reset_host|change|host|k3|||Kubernetes is taken off its host",
	}) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	grows := api.AddClusterNodes{Workers: []string{"k5"}}
	added := c.plan("/clusters/apps/add-nodes", grows, ann)
	if got := lines(added)[:2]; !slices.Equal(got, []string{
		"prepare|change|host|k5|||container runtime, programs and images of v1.36.3 are installed", "workers|create|cluster_node|k5||worker, v1.36.3|",
	}) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	replaced := c.plan("/cluster-nodes/k4/replace", api.ReplaceClusterNode{Host: "k5", Confirm: "k4"}, ann)
	if replaced.ObjectName != "k4" || replaced.Counts.Create != 1 || replaced.Counts.Remove != 1 {
		t.Errorf("%+v", replaced.Counts)
	}
	c.unchanged(before)

	if a := c.apply("/clusters/apps/add-nodes", grows, added.ID, ann); a.status != http.StatusAccepted {
		t.Fatalf("%d %s", a.status, a.body)
	}
	c.coded(c.apply("/clusters/apps/upgrade", up, p.ID, ann), "plan_stale", "has changed since")
	c.coded(c.apply("/cluster-nodes/k3/remove", api.RemoveClusterNode{Confirm: "k3"}, leaves.ID, ann), "plan_stale", "has changed since")
}
