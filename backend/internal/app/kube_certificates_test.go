package app_test

import (
	"context"
	"encoding/json"
	"net"
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
	"kloigos/backend/internal/kernel/db"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

const year = 365 * 24 * time.Hour

// conditionOf looks at a cluster by a policy of the area, and returns one condition.
func (k *kubeSite) conditionOf(policy string, cluster uuid.UUID, condition string) reconcile.Condition {
	k.T.Helper()
	all := slices.Concat(kubework.Policies(k.config), kubework.HealthPolicies(k.config))
	at := slices.IndexFunc(all, func(p reconcile.Policy) bool { return p.Name == policy })
	for _, c := range lookAt(k.T, all[at], cluster, false).Conditions {
		if c.Type == condition {
			return c
		}
	}
	k.T.Fatalf("no condition %s", condition)
	return reconcile.Condition{}
}

// renewals answers plays that renew certificates, and notes the nodes in their order.
func (k *kubeSite) renewals(nodes *[]string, sick *atomic.Bool) {
	k.Runner.HandleFunc(kube.CertsPlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if sick.Load() {
			k.T.Errorf("%s is restarted while etcd is not well", play.Hosts[0].Name)
		}
		*nodes = append(*nodes, play.Hosts[0].Name)
		sick.Store(len(*nodes) == 1)
		return site.Play(ctx, play, sink, scripted.Script{Result: map[string]any{"end": time.Now().Add(year).Unix(), "renewed": 9}})
	})
}

// TestCertificatesAreRenewed: a policy asks for it 60 days before the first of them ends, within the maintenance window, and the job
// takes one control plane after the other.
func TestCertificatesAreRenewed(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	k.config.Kinds = k.kinds
	members := []string{"k1", "k2", "k3"}
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
	var renewed []string
	k.renewals(&renewed, &sick)
	if c := k.conditionOf("cluster_certificates", cluster, "certificates_valid"); c.Status != reconcile.True {
		t.Errorf("%+v before anything is known", c)
	}
	k.sql(`UPDATE kube_nodes SET certificates_end = now() + INTERVAL '61 days'`)
	if c := k.conditionOf("cluster_certificates", cluster, "certificates_valid"); c.Status != reconcile.True || k.jobOf(cluster, "cluster_renew_certificates") != uuid.Nil {
		t.Errorf("%+v with 61 days left", c)
	}
	k.sql(`UPDATE kube_nodes SET certificates_end = now() + INTERVAL '59 days'`)
	k.window(rollout.Window{From: time.Now().UTC().Add(2 * time.Hour).Format("15:04"), To: time.Now().UTC().Add(3 * time.Hour).Format("15:04")})
	if c := k.conditionOf("cluster_certificates", cluster, "certificates_valid"); c.Status != reconcile.False || k.jobOf(cluster, "cluster_renew_certificates") != uuid.Nil {
		t.Errorf("%+v, and a job outside of the window", c)
	}
	k.window(rollout.Window{})
	if c := k.conditionOf("cluster_certificates", cluster, "certificates_valid"); !strings.Contains(c.Message, "A job renews it") {
		t.Errorf("%+v in the window", c)
	}
	job := k.jobOf(cluster, "cluster_renew_certificates")
	if job == uuid.Nil {
		t.Fatal("no job")
	}
	k.BackendWith(k.work(), queue.Config{})
	site.Await(t, "a look at etcd", looks)
	sick.Store(false)
	k.Ended(job, domain.JobSucceeded)
	if !slices.Equal(renewed, []string{"k1", "k2", "k3"}) {
		t.Errorf("renewed on %q", renewed)
	}
	if c := k.conditionOf("cluster_certificates", cluster, "certificates_valid"); c.Status != reconcile.True {
		t.Errorf("%+v afterwards", c)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	// 13 days before the end the window is not waited for any more; a person is not kept by it at all.
	k.sql(`UPDATE kube_nodes SET certificates_end = now() + INTERVAL '13 days' WHERE name = 'k2'`)
	k.window(rollout.Window{From: time.Now().UTC().Add(2 * time.Hour).Format("15:04"), To: time.Now().UTC().Add(3 * time.Hour).Format("15:04")})
	if c := k.conditionOf("cluster_certificates", cluster, "certificates_valid"); !strings.Contains(c.Message, "A job renews it") {
		t.Errorf("%+v with 13 days left", c)
	}
}

// jobOf is the unfinished job of a kind about a cluster.
func (k *kubeSite) jobOf(cluster uuid.UUID, kind string) (id uuid.UUID) {
	k.T.Helper()
	err := k.pool.QueryRow(k.T.Context(), `SELECT COALESCE((SELECT j.id FROM jobs j JOIN job_objects o ON o.job_id = j.id WHERE o.object_id = $1 AND j.kind = $2 AND j.finished_at IS NULL LIMIT 1),
	'00000000-0000-0000-0000-000000000000')`, cluster, kind).Scan(&id)
	if err != nil {
		k.T.Fatal(err)
	}
	return id
}

func (k *kubeSite) window(w rollout.Window) {
	k.T.Helper()
	err := k.do(func(tx *kernel.Tx) error {
		c, ref, err := kube.FindCluster(k.T.Context(), tx.Reader, k.workspace, "apps")
		if err != nil {
			return err
		}
		return kube.SetWindow(k.T.Context(), tx, ref, c.Version, w)
	})
	if err != nil {
		k.T.Fatal(err)
	}
}

// TestAFailedRenewalLeavesTheClusterDegraded: a host that can't renew is named, and asking again goes on with it.
func TestAFailedRenewalLeavesTheClusterDegraded(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	k.BackendWith(k.work(), queue.Config{})
	k.Runner.Handle(kube.CertsPlaybook, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "etcd did not start again within 900 s"}})
	ask := func() uuid.UUID {
		job, err := k.ask(func(tx *kernel.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
			return kube.AskRenew(t.Context(), tx, k.kinds, ref)
		})
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	k.Ended(ask(), domain.JobFailed)
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, "did not start again") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	var renewed []string
	k.renewals(&renewed, new(atomic.Bool))
	k.Ended(ask(), domain.JobSucceeded)
	if !slices.Equal(renewed, []string{"k1"}) {
		t.Errorf("renewed on %q", renewed)
	}
}

// TestTheEndOfCertificatesIsRead: from what the API server of each control plane shows.
func TestTheEndOfCertificatesIsRead(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	_, port, err := net.SplitHostPort(k.server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	k.config.PlanePort, k.config.Kinds = port, k.kinds
	k.sql(`UPDATE hosts SET facts = jsonb_set(facts, '{uplink,address}', '"127.0.0.1"')`)
	k.sql(`UPDATE kube_clusters SET state = 'degraded'`) // no job is asked for, which would read anew
	c := k.conditionOf("cluster_certificates", cluster, "certificates_valid")
	nodes, err := kube.NodesOf(t.Context(), k.DB.Reader, cluster)
	if err != nil {
		t.Fatal(err)
	}
	if ends := nodes[0].CertificatesEnd; ends == nil || time.Until(*ends) > 25*time.Hour || time.Until(*ends) < 23*time.Hour || c.Status != reconcile.False {
		t.Errorf("ends %v, %+v", ends, c)
	}
}

// TestOurOwnAccessIsRenewed: by the cluster itself, for the same key, without a job.
func TestOurOwnAccessIsRenewed(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	if c := k.conditionOf("cluster", cluster, "access_certificate"); c.Status != reconcile.True {
		t.Errorf("%+v", c)
	}
	var request string
	for _, c := range k.Runner.Calls() {
		var vars struct {
			Request string `json:"kubeadm_init_request"`
		}
		if c.Play.Name == kube.InitPlaybook && json.Unmarshal(c.Vars, &vars) == nil {
			request = vars.Request
		}
	}
	soon := k.server.Sign(request, 59*24*time.Hour)
	if err := k.DB.DB.InTx(t.Context(), func(tx *db.Tx) error { return kube.SetAccess(t.Context(), tx, cluster, k.server.CA, soon) }); err != nil {
		t.Fatal(err)
	}
	if c := k.conditionOf("cluster", cluster, "access_certificate"); c.Status != reconcile.True {
		t.Errorf("%+v", c)
	}
	if now := k.cluster(cluster).AdminCertificate; now == soon {
		t.Error("the certificate is still the same")
	}
	if c := k.conditionOf("cluster", cluster, "api_ready"); c.Status != reconcile.True {
		t.Errorf("with the new certificate: %+v", c)
	}
	var told int
	if err := k.pool.QueryRow(t.Context(), `SELECT count(*) FROM events WHERE action = 'cluster.renew_access'`).Scan(&told); err != nil || told != 1 {
		t.Errorf("%d events, %v", told, err)
	}
}
