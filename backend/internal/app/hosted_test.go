package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/managementserver"
	"kloigos/backend/internal/testkit/site"
)

// hostedSite is a kubeSite with a management cluster.
type hostedSite struct {
	*kubeSite
	mgmt *managementserver.Server
}

func newHostedSite(t *testing.T) *hostedSite {
	t.Helper()
	h := &hostedSite{kubeSite: newKubeSite(t)}
	h.server.SetVersion("v1.30.1")
	kubeconfig := managementserver.Client(t, "https://"+h.server.Endpoint, h.server.CA, func(request string) string { return h.server.Sign(request, 24*time.Hour) })
	h.mgmt = managementserver.New(t, func() string { return kubeconfig })
	h.operator(func(tx *kernel.Tx) error {
		for _, v := range []kube.VersionDraft{{Name: "v1.30.1", UpgradesTo: []string{"v1.30.2"}}, {Name: "v1.30.2"}, {Name: "v1.36.3"}} {
			v.Active, v.Bundle, v.BundleSHA256 = true, "/srv/kubernetes.tar", bundleSum
			if _, err := kube.CreateVersion(t.Context(), tx, v); err != nil {
				return err
			}
		}
		return nil
	})
	h.manage("mgmt-1", 2)
	return h
}

func (h *hostedSite) operator(f func(tx *kernel.Tx) error) {
	h.T.Helper()
	if err := (kernel.Engine{DB: h.DB.DB}).Do(h.T.Context(), kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Installation: true}, f); err != nil {
		h.T.Fatal(err)
	}
}

func (h *hostedSite) manage(name string, capacity int64) {
	h.T.Helper()
	h.operator(func(tx *kernel.Tx) error {
		_, err := kube.CreateManagement(h.T.Context(), tx, h.keys, h.config.Managers, kube.ManagementDraft{
			Name: name, Kubeconfig: h.mgmt.Kubeconfig(), Pool: kube.DefaultPool, Active: true, DataStore: kube.DefaultDataStore,
			NewestVersion: kube.DefaultNewestVersion, ServiceType: kube.LoadBalancer, Capacity: capacity,
		})
		return err
	})
}

func (h *hostedSite) ask(version string, workers ...string) (hosted, job uuid.UUID, err error) {
	err = h.do(func(tx *kernel.Tx) (err error) {
		hosted, job, err = kube.CreateHosted(h.T.Context(), tx, h.keys, h.kinds, kube.HostedDraft{
			Name: "apps", KubeVersion: version, Pool: kube.DefaultPool, Workers: workers, PodRange: kube.DefaultPodRange, ServiceRange: kube.DefaultServiceRange,
			Replicas: 2, Konnectivity: true, CoreDNS: true,
		})
		return err
	})
	return hosted, job, err
}

func (h *hostedSite) made(workers ...string) (hosted, job uuid.UUID) {
	h.T.Helper()
	hosted, job, err := h.ask("v1.30.1", workers...)
	if err != nil {
		h.T.Fatal(err)
	}
	return hosted, job
}

func (h *hostedSite) plane(id uuid.UUID) kube.Hosted {
	h.T.Helper()
	p, err := kube.HostedByID(h.T.Context(), h.DB.Reader, id)
	if err != nil {
		h.T.Fatal(err)
	}
	return p
}

// change asks for a job about the control plane and waits for its end.
func (h *hostedSite) change(want domain.JobState, ask func(tx *kernel.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error)) {
	h.T.Helper()
	var job uuid.UUID
	err := h.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindHosted(h.T.Context(), tx.Reader, h.workspace, "apps")
		if err == nil {
			job, err = ask(tx, ref)
		}
		return err
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.Ended(job, want)
}

func (h *hostedSite) remove(want domain.JobState) {
	h.T.Helper()
	h.change(want, func(tx *kernel.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
		return kube.DeleteHosted(h.T.Context(), tx, h.kinds, ref, 0, "apps")
	})
}

func (h *hostedSite) replicas(p kube.Hosted) any {
	plane := h.mgmt.Plane(p.Namespace, p.Cluster)
	return plane["spec"].(map[string]any)["controlPlane"].(map[string]any)["deployment"].(map[string]any)["replicas"]
}

// From a pool to a worker that joined, through an upgrade, sleep and wake, and back until nothing is left.
func TestHostedClusterAndBack(t *testing.T) {
	t.Parallel()
	h := newHostedSite(t)
	h.BackendWith(h.work(), queue.Config{})
	h.host("k1")
	hosted, job := h.made("k1")
	h.Ended(job, domain.JobSucceeded)
	if got, want := h.plays(), []string{"kube_prepare/playbook.yml k1", "kubeadm_join/playbook.yml k1"}; !slices.Equal(got, want) {
		t.Errorf("plays %q, want %q", got, want)
	}
	p := h.plane(hosted)
	c := h.cluster(p.ClusterID)
	if p.State != kube.HostedReady || c.State != kube.ClusterActive || c.Ready != 1 || c.CA != h.server.CA || c.Endpoint != h.server.Endpoint {
		t.Errorf("control plane %s, cluster %s with %d nodes at %s", p.State, c.State, c.Ready, c.Endpoint)
	}
	h.holdsNoSecret()
	h.holdsNoKey(c)

	ctx := t.Context()
	h.server.SetVersion("v1.30.2")
	h.change(domain.JobSucceeded, func(tx *kernel.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
		return kube.UpgradeHosted(ctx, tx, h.kinds, ref, "v1.30.2")
	})
	if p, c := h.plane(hosted), h.cluster(p.ClusterID); c.KubeVersion != "v1.30.2" || p.TargetVersion != "" || p.State != kube.HostedReady {
		t.Errorf("after the upgrade %s, on its way to %q, %s", c.KubeVersion, p.TargetVersion, p.State)
	}
	h.change(domain.JobSucceeded, func(tx *kernel.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
		return kube.SleepHosted(ctx, tx, h.kinds, ref)
	})
	if p := h.plane(hosted); p.State != kube.HostedAsleep || h.replicas(p) != float64(0) {
		t.Errorf("asleep: %s, %v replicas", p.State, h.replicas(p))
	}
	// Nobody calls a cluster ill that sleeps.
	h.server.Refuse(func(string, string) int { return http.StatusServiceUnavailable })
	for range 3 {
		lookAt(t, kubework.Policies(h.config)[0], p.ClusterID, false)
	}
	if c := h.cluster(p.ClusterID); c.State != kube.ClusterActive {
		t.Errorf("the cluster that sleeps is %s", c.State)
	}
	h.server.Refuse(nil)
	h.change(domain.JobSucceeded, func(tx *kernel.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
		return kube.WakeHosted(ctx, tx, h.kinds, ref)
	})
	if p := h.plane(hosted); p.State != kube.HostedReady || h.replicas(p) != float64(2) {
		t.Errorf("awake: %s, %v replicas", p.State, h.replicas(p))
	}
	h.refusesDeletionOfTheManagementCluster()

	h.remove(domain.JobSucceeded)
	if left := h.mgmt.Paths(); len(left) > 0 {
		t.Errorf("left in the management cluster: %q", left)
	}
	if left, err := kube.Clusters(ctx, h.DB.Reader, kube.ClusterFilter{WorkspaceID: h.workspace, Limit: 1}); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func (h *hostedSite) refusesDeletionOfTheManagementCluster() {
	h.T.Helper()
	err := (kernel.Engine{DB: h.DB.DB}).Do(h.T.Context(), kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Installation: true}, func(tx *kernel.Tx) error {
		_, ref, err := kube.FindManagement(h.T.Context(), tx.Reader, "mgmt-1")
		if err != nil {
			return err
		}
		return kube.DeleteManagement(h.T.Context(), tx, ref, 0)
	})
	var conflict *fault.Conflict
	if !errors.As(err, &conflict) {
		h.T.Errorf("deletion of a management cluster in use: %v", err)
	}
}

// holdsNoKey looks for the key of our access, and for the token of the management cluster, in everything that was written.
func (h *hostedSite) holdsNoKey(c kube.Cluster) {
	h.T.Helper()
	key, err := c.OpenAdminKey(h.keys)
	if err != nil {
		h.T.Fatal(err)
	}
	line := strings.Split(string(key), "\n")[1]
	for _, table := range []string{"jobs", "job_steps", "job_objects", "job_log", "events", "kube_hosted", "kube_clusters", "kube_management_clusters"} {
		for _, secret := range []string{line, managementserver.Token} {
			var n int
			err := h.pool.QueryRow(h.T.Context(), fmt.Sprintf("SELECT count(*) FROM %s x WHERE x::TEXT LIKE $1", table), "%"+secret+"%").Scan(&n)
			if err != nil || n > 0 {
				h.T.Errorf("%d rows of %s have a secret: %v", n, table, err)
			}
		}
	}
}

// Killed after the management cluster made the control plane, and before anybody here wrote that: another backend finds it by
// name and label, and there is one.
func TestAHalfMadeControlPlaneIsAdopted(t *testing.T) {
	t.Parallel()
	h := newHostedSite(t)
	first := h.BackendWith(h.work(), queue.Config{})
	made := make(chan struct{})
	var once atomic.Bool
	h.mgmt.After(func(method, path string) {
		if method == http.MethodPatch && strings.Contains(path, "/tenantcontrolplanes/") && once.CompareAndSwap(false, true) {
			close(made)
			<-t.Context().Done() // the answer never comes
		}
	})
	hosted, job := h.made()
	site.Await(t, "the control plane", made)
	p := h.plane(hosted)
	before := h.mgmt.Plane(p.Namespace, p.Cluster)["metadata"].(map[string]any)["uid"]
	first.Stop()
	first.Kill()
	h.BackendWith(h.work(), queue.Config{})
	h.Ended(job, domain.JobSucceeded)
	after := h.mgmt.Plane(p.Namespace, p.Cluster)["metadata"].(map[string]any)["uid"]
	planes := slices.DeleteFunc(h.mgmt.Paths(), func(path string) bool { return !strings.Contains(path, "/tenantcontrolplanes/") })
	if before != after || len(planes) != 1 {
		t.Errorf("control planes %q, uid %v became %v", planes, before, after)
	}
}

// What somebody else made under our name is neither changed nor deleted.
func TestAForeignNamespaceIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHostedSite(t)
	hosted, job := h.made() // no backend works yet
	path := "/api/v1/namespaces/" + h.plane(hosted).Namespace
	h.mgmt.Put(path, map[string]any{"metadata": map[string]any{"name": h.plane(hosted).Namespace, "uid": "theirs"}})
	h.BackendWith(h.work(), queue.Config{})
	if j := h.Ended(job, domain.JobFailed); !strings.Contains(j.Error.Message, "belongs to somebody else") {
		t.Errorf("error %+v", j.Error)
	}
	if p := h.plane(hosted); p.State != kube.HostedFailed || h.cluster(p.ClusterID).State != kube.ClusterFailed {
		t.Errorf("control plane %s", p.State)
	}
	h.remove(domain.JobFailed)
	if left := h.mgmt.Paths(); !slices.Equal(left, []string{path}) {
		t.Errorf("left %q", left)
	}
}

// A management cluster that is overloaded or away for a while is asked again; one that refuses fails the job with its reason.
func TestAManagementClusterThatRefuses(t *testing.T) {
	t.Parallel()
	h := newHostedSite(t)
	h.BackendWith(h.work(), queue.Config{})
	var asked atomic.Int64
	h.mgmt.Refuse(func(method, path string) (int, string) {
		switch n := asked.Add(1); {
		case n == 2:
			return http.StatusTooManyRequests, "slow down"
		case n == 3:
			return http.StatusBadGateway, "nobody is there"
		case method == http.MethodPatch && strings.Contains(path, "/tenantcontrolplanes/"):
			return http.StatusForbidden, "admission webhook \"vtenantcontrolplane.kb.io\" denied the request: no"
		}
		return 0, ""
	})
	hosted, job := h.made()
	if j := h.Ended(job, domain.JobFailed); j.Error.Code != "management_cluster_refused" || !strings.Contains(j.Error.Message, "denied the request: no") || asked.Load() < 6 {
		t.Errorf("error %+v after %d requests", j.Error, asked.Load())
	}
	h.mgmt.Refuse(nil)
	if err := h.Intents.RetryJob(t.Context(), h.Call, job, false); err != nil {
		t.Fatal(err)
	}
	h.Ended(job, domain.JobSucceeded)
	if p := h.plane(hosted); p.State != kube.HostedReady {
		t.Errorf("control plane %s", p.State)
	}
}

// A management cluster takes what it has room for, and nothing that its Kamaji refuses; a kubelet never gets ahead of its API server.
func TestVersionsAndRoomOfHostedControlPlanes(t *testing.T) {
	t.Parallel()
	h := newHostedSite(t)
	h.BackendWith(h.work(), queue.Config{})
	if _, _, err := h.ask("v1.36.3"); err == nil || !strings.Contains(err.Error(), "takes nothing newer than v1.30.2") {
		t.Errorf("v1.36.3: %v", err)
	}
	h.sql(`UPDATE kube_management_clusters SET capacity = 0`)
	if _, _, err := h.ask("v1.30.1"); err == nil || !strings.Contains(err.Error(), "one has no room left") {
		t.Errorf("without room: %v", err)
	}
	h.sql(`UPDATE kube_management_clusters SET capacity = 1`)
	h.host("k1")
	h.server.SetVersion("v1.29.9")
	_, job := h.made("k1")
	if j := h.Ended(job, domain.JobFailed); j.Error.Code != "kubelet_too_new" || !strings.Contains(j.Error.Message, "v1.30.1") {
		t.Errorf("error %+v", j.Error)
	}
	if plays := h.plays(); len(plays) > 0 {
		t.Errorf("plays %q", plays)
	}
}

// Kamaji renews what it made, and somebody changes the control plane by hand: the policy takes the one over and tells the other.
func TestPolicyOfHostedControlPlanes(t *testing.T) {
	t.Parallel()
	h := newHostedSite(t)
	h.BackendWith(h.work(), queue.Config{})
	hosted, job := h.made()
	h.Ended(job, domain.JobSucceeded)
	policies := kubework.HostedPolicies(h.config)
	status := func(policy int, id uuid.UUID, kind string) string {
		t.Helper()
		for _, c := range lookAt(t, policies[policy], id, false).Conditions {
			if c.Type == kind {
				return string(c.Status) + " " + c.Message
			}
		}
		return "none"
	}
	p := h.plane(hosted)
	for _, kind := range []string{"control_plane_ready", "as_asked", "access_kept", "steady"} {
		if got := status(1, hosted, kind); !strings.HasPrefix(got, string(reconcile.True)) {
			t.Errorf("%s: %s", kind, got)
		}
	}
	h.sql(`UPDATE kube_clusters SET ca = 'an older one' WHERE id = $1`, p.ClusterID)
	if got := status(1, hosted, "access_kept"); !strings.Contains(got, "authority of the cluster is another one") {
		t.Errorf("another authority: %s", got)
	}
	if c := h.cluster(p.ClusterID); c.CA != h.server.CA {
		t.Error("the authority was not taken over")
	}
	spec := h.mgmt.Plane(p.Namespace, p.Cluster)["spec"].(map[string]any)
	spec["controlPlane"].(map[string]any)["deployment"].(map[string]any)["replicas"] = float64(5)
	if got := status(1, hosted, "as_asked"); !strings.Contains(got, "5 replicas instead of 2") {
		t.Errorf("changed by hand: %s", got)
	}
	h.mgmt.Put("/apis/kamaji.clastix.io/v1alpha1/namespaces/x/tenantcontrolplanes/lost", map[string]any{"metadata": map[string]any{
		"name": "lost", "namespace": "x", "labels": map[string]any{"app.kubernetes.io/managed-by": "kloigos", "kloigos.io/cluster": uuid.NewString()},
	}})
	if got := status(0, p.ManagementID, "all_known"); !strings.Contains(got, "x/lost") {
		t.Errorf("a forgotten one: %s", got)
	}
	h.mgmt.Refuse(func(string, string) (int, string) { return http.StatusServiceUnavailable, "away" })
	if got := status(0, p.ManagementID, "healthy"); !strings.Contains(got, "away") {
		t.Errorf("away: %s", got)
	}
	if m, err := kube.ManagementByID(t.Context(), h.DB.Reader, p.ManagementID); err != nil || m.Healthy == nil || *m.Healthy {
		t.Errorf("management cluster %+v, %v", m.Healthy, err)
	}
}
