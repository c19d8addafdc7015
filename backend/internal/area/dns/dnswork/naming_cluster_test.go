package dnswork

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/rig/dnsserver"
)

// cluster adds one with control planes that have not joined yet.
func (b *bench) cluster(endpoint string, planes map[string]string) uuid.UUID {
	b.t.Helper()
	id := uuid.New()
	b.exec(`INSERT INTO kube_clusters (id, workspace_id, name, kube_version, endpoint, pod_range, service_range, state, admin_key_sealed)
VALUES ($1, $2, 'apps', 'v1.36.3', $3, '10.244.0.0/16', '10.96.0.0/16', 'creating', '')`, id, b.workspace, endpoint)
	for name, address := range planes {
		host := uuid.New()
		b.exec(`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels, profile, trust_on_first_use, state, incarnation)
SELECT $1, w.id, p.organization_id, $3, $4, 22, 'root', 'r', 'z', '{}', '{}', 'minimal', true, 'registered', $5
  FROM workspaces w
  JOIN projects p ON p.id = w.project_id
 WHERE w.id = $2`, host, b.workspace, name, address, uuid.New())
		b.exec(`INSERT INTO kube_nodes (id, workspace_id, cluster_id, host_id, name, role, pod_range, state)
VALUES ($1, $2, $3, $4, $5, 'control_plane', $5, 'pending')`, uuid.New(), b.workspace, id, host, name)
	}
	return id
}

func (b *bench) live(id uuid.UUID) (name string, live bool) {
	b.t.Helper()
	name, live, err := dns.NameOfCluster(b.t.Context(), b.Reader, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return name, live
}

// A cluster whose endpoint has a name leads to its control planes as they join and leave, on a real name server, until it is deleted.
func TestNamesOfClusters(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	id := b.cluster("apps.example.org:6443", map[string]string{"k1": "192.0.2.11", "k2": "192.0.2.12", "k3": "2001:db8::13"})
	if name, live := b.live(id); name != "" || live {
		t.Errorf("no zone names it, and it has %s", name)
	}
	b.names(true)
	if name, live := b.live(id); name != "apps.example.org." || live {
		t.Errorf("it has %s, live: %t", name, live)
	}
	leads := func(why string, changed int64, want ...string) {
		t.Helper()
		if out := b.namedBy("cluster_names", id, false); out.Changed != changed || (len(want) > 0) == out.Gone {
			t.Errorf("%s: %+v", why, out)
		}
		b.sync()
		if got := b.tells("apps"); !slices.Equal(got, want) {
			t.Errorf("%s: the server tells %v", why, got)
		}
		if name, live := b.live(id); len(want) > 0 && (name != "apps.example.org." || !live) {
			t.Errorf("%s: it has %s, live: %t", why, name, live)
		}
	}
	leads("before any has joined", 1, "192.0.2.11")
	b.exec("UPDATE kube_nodes SET state = 'joined' WHERE cluster_id = $1", id)
	if name, live := b.live(id); name == "" || live {
		t.Errorf("the server lacks addresses of %s, live: %t", name, live)
	}
	leads("all have joined", 2, "192.0.2.11", "192.0.2.12")
	b.exec("UPDATE hosts SET state = 'lost' WHERE name = 'k1'")
	leads("a host is lost", 1, "192.0.2.12")
	b.exec("UPDATE kube_clusters SET state = 'deleting' WHERE id = $1", id)
	leads("deleting", 2)
	b.exec("DELETE FROM kube_nodes WHERE cluster_id = $1", id)
	b.exec("DELETE FROM kube_clusters WHERE id = $1", id)
	if out := b.namedBy("cluster_names", id, false); !out.Gone {
		t.Errorf("it is gone: %+v", out)
	}
}

// A cluster whose row is gone before its policy came to it leaves no record.
func TestAGoneClusterLeavesNoName(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	b.names(true)
	id := b.cluster("192.0.2.10:6443", nil)
	if out := b.namedBy("cluster_names", id, false); out.Changed != 1 || out.Conditions[0].Status != reconcile.True {
		t.Errorf("named: %+v", out)
	}
	b.sync()
	if got := b.tells("apps"); !slices.Equal(got, []string{"192.0.2.10"}) {
		t.Errorf("the server tells %v", got)
	}
	b.exec("DELETE FROM kube_clusters WHERE id = $1", id)
	if out := b.namedBy("cluster_names", id, false); out.Changed != 1 {
		t.Errorf("gone: %+v", out)
	}
	b.sync()
	if got := b.tells("apps"); len(got) != 0 {
		t.Errorf("the server still tells %v", got)
	}
}
