package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork"
	"kloigos/backend/internal/domain"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/queue"
)

// A cluster whose endpoint is the name that a zone gives to it is not made before the name servers have the name, and its certificate has it.
func TestAClusterWaitsForItsName(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.endpoint = "apps.example.org:6443"
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	if err := k.do(func(tx *kernel.Tx) error {
		_, err := dns.CreateZone(t.Context(), tx, k.keys, dns.ZoneDraft{
			Name: "example.org", Server: "127.0.0.1:53", AllowPrivate: true, KeyName: "k", KeyAlgorithm: "hmac-sha256", KeySecret: "c2VjcmV0c2VjcmV0c2VjcmV0", Mode: dns.Sync,
			NamesAllocations: true,
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	cluster, job := k.create("k1")
	k.until(func() bool {
		var running bool
		err := k.pool.QueryRow(t.Context(), "SELECT s.state = 'running' AND j.state = 'queued' FROM job_steps s JOIN jobs j ON j.id = s.job_id WHERE j.id = $1 AND s.name = 'dns_name'", job).Scan(&running)
		return err == nil && running // it is looked at again later
	})
	if plays := k.plays(); !slices.Equal(plays, []string{"kube_prepare/playbook.yml k1"}) {
		t.Errorf("plays before there is a name: %q", plays)
	}
	policies := dnswork.NamingPolicies(dnswork.Config{DB: k.DB.DB, Keys: k.keys})
	at := slices.IndexFunc(policies, func(p reconcile.Policy) bool { return p.Name == "cluster_names" })
	if out := lookAt(t, policies[at], cluster, false); out.Changed != 1 {
		t.Errorf("named: %+v", out)
	}
	k.sql("UPDATE dns_record_sets SET state = 'live', live_revision = revision WHERE owner = $1", "cluster:"+cluster.String()) // as the synchronization writes it
	k.until(func() bool { return slices.Contains(k.plays(), "kubeadm_init/playbook.yml k1") })
	for _, c := range k.Runner.Calls() {
		text, err := json.Marshal(c.Play.Vars)
		if c.Play.Name == "kubeadm_init" && (err != nil || !strings.Contains(string(text), `"kubeadm_init_dns_name":"apps.example.org"`)) {
			t.Errorf("variables %s, %v", text, err)
		}
	}
	if err := k.Intents.CancelJob(t.Context(), k.Call, job); err != nil { // nobody answers at that name
		t.Fatal(err)
	}
	k.Ended(job, domain.JobCancelled)
}

func (k *kubeSite) until(holds func() bool) {
	k.T.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			k.T.Fatal("waited for a minute")
		}
	}
}
