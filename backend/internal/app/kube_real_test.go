package app_test

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/domain"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/realkube"
	"kloigos/backend/internal/testkit/site"
)

// realSite is a kubeSite whose cluster is a real API server behind a front. Ansible is scripted: hosts and kubelets stand in.
type realSite struct {
	*kubeSite
	real    *realkube.Cluster
	front   *realkube.Front
	cluster uuid.UUID
}

const rolesBound = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"

// newRealSite starts a cluster as kubeadm leaves it: its group of administrators is bound to cluster-admin.
func newRealSite(t *testing.T) *realSite {
	t.Helper()
	r := &realSite{real: realkube.New(t, "csrsigning", "clusterrole-aggregation", "namespace", "garbagecollector", "resourcequota")}
	r.kubeSite, r.front = newKubeSite(t), r.real.Front()
	r.endpoint, r.ca = r.front.Endpoint, string(r.real.CA)
	r.sign = func(request string) string {
		signed, err := r.real.Sign(request, 365*24*time.Hour)
		if err != nil {
			t.Error(err)
		}
		return signed
	}
	r.real.Must(http.MethodPost, rolesBound, map[string]any{
		"metadata": map[string]any{"name": "kubeadm:cluster-admins"}, "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "kubeadm:cluster-admins"}},
	}, nil)
	return r
}

// request is a request for a certificate of our own access, with its key.
func (r *realSite) request(t *testing.T) string {
	t.Helper()
	text, err := r.kubeSite.cluster(r.cluster).OpenAdminKey(r.keys)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "kloigos"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// node says what the kubelet of a host would.
func (r *realSite) node(name string) {
	r.T.Helper()
	r.real.Must(http.MethodPost, "/api/v1/nodes", map[string]any{"metadata": map[string]any{"name": name}}, nil)
	r.real.Must(http.MethodPatch, "/api/v1/nodes/"+name+"/status", map[string]any{"status": map[string]any{
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "KubeletReady"}}, "nodeInfo": map[string]any{"kubeletVersion": "v1.36.3"},
	}}, nil)
}

// bound are the names of our bindings in the cluster, each with its subject.
func (r *realSite) bound() (all []string) {
	r.T.Helper()
	var found struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Subjects []struct {
				Name string `json:"name"`
			} `json:"subjects"`
		} `json:"items"`
	}
	r.real.Must(http.MethodGet, rolesBound+"?labelSelector=app.kubernetes.io/managed-by%3Dkloigos", nil, &found)
	for _, b := range found.Items {
		name := b.Metadata.Name
		for _, s := range b.Subjects {
			name += " " + s.Name
		}
		all = append(all, name)
	}
	return all
}

// member is an account with a role in the workspace and a binding in the cluster.
func (r *realSite) member(name, role string) (account uuid.UUID, binding kube.Binding) {
	r.T.Helper()
	account = uuid.New()
	r.sql(`INSERT INTO accounts (id, name, password_hash, role) VALUES ($1, $2, '', 'administrator')`, account, name)
	r.sql(`INSERT INTO grants (id, account_id, scope, scope_id, role, created_by) VALUES ($1, $2, 'workspace', $3, 'viewer', 'ada')`, uuid.New(), account, r.workspace)
	err := r.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(r.T.Context(), tx.Reader, r.workspace, "apps")
		if err == nil {
			binding, err = kube.CreateBinding(r.T.Context(), tx, ref, name, role, "")
		}
		return err
	})
	if err != nil {
		r.T.Fatal(err)
	}
	return account, binding
}

func (r *realSite) look(ctx context.Context) (reconcile.Outcome, error) {
	return kubework.Policies(r.config)[0].Run(ctx, reconcile.Item{ObjectID: r.cluster})
}

// condition looks at the cluster and returns one of its conditions.
func (r *realSite) condition(kind string) reconcile.Condition {
	r.T.Helper()
	out, err := r.look(r.T.Context())
	if err != nil {
		r.T.Fatal(err)
	}
	at := slices.IndexFunc(out.Conditions, func(c reconcile.Condition) bool { return c.Type == kind })
	if at < 0 {
		r.T.Fatalf("no condition %s in %+v", kind, out.Conditions)
	}
	return out.Conditions[at]
}

// The API server dies as soon as the control plane is there, while the job waits for it. The job waits, and ends well once it is back.
func (r *realSite) creates() {
	r.T.Helper()
	r.BackendWith(r.work(), queue.Config{})
	r.host("k1")
	r.node("k1")
	dead := make(chan struct{})
	r.Runner.HandleFunc("kubeadm_init", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		made, err := r.initialized(ctx, play, sink)
		r.real.Kill()
		close(dead)
		return made, err
	})
	missed := make(chan struct{}, 100)
	r.front.Before(func(string, string) bool {
		select {
		case missed <- struct{}{}:
		default:
		}
		return true
	})
	cluster, job := r.create("k1")
	r.cluster = cluster
	site.Await(r.T, "the end of the API server", dead)
	site.Await(r.T, "a request in vain", missed)
	r.real.Start()
	r.Ended(job, domain.JobSucceeded)
	r.front.Before(nil)
	if c := r.kubeSite.cluster(cluster); c.State != kube.ClusterActive || c.Ready != 1 {
		r.T.Errorf("cluster %s with %d ready nodes", c.State, c.Ready)
	}
}

func TestRealAPIServerUnderACluster(t *testing.T) {
	r := newRealSite(t)
	r.creates()
	account, binding := r.member("grace", kube.Editor)
	want := []string{"kloigos-binding-" + binding.ID.String() + " " + kube.User(account)}
	kept := func(t *testing.T) {
		t.Helper()
		if c := r.condition("bindings_kept"); c.Status != reconcile.True || !slices.Equal(r.bound(), want) {
			t.Errorf("%s: %s; bindings %q", c.Status, c.Message, r.bound())
		}
	}
	path := rolesBound + "/kloigos-binding-" + binding.ID.String()

	t.Run("killed between create and record", func(t *testing.T) { r.cutAfterCreate(t, kept) })
	t.Run("deleted by hand", func(t *testing.T) {
		r.real.Must(http.MethodDelete, path, nil, nil)
		if c := r.condition("bindings_kept"); !strings.Contains(c.Message, "grace was missing") {
			t.Errorf("told %q", c.Message)
		}
		kept(t)
	})
	t.Run("given to somebody else by hand", func(t *testing.T) {
		r.real.Must(http.MethodPatch, path, map[string]any{"subjects": []any{map[string]any{"kind": "User", "name": "mallory", "apiGroup": "rbac.authorization.k8s.io"}}}, nil)
		if c := r.condition("bindings_kept"); !strings.Contains(c.Message, "grace was changed") {
			t.Errorf("told %q", c.Message)
		}
		kept(t)
	})
	t.Run("a webhook that refuses", func(t *testing.T) { r.refuses(t, path, kept) })
	t.Run("too many requests", func(t *testing.T) { r.tooMany(t, path, kept) })
	t.Run("down", func(t *testing.T) {
		r.real.Kill()
		if c := r.condition("api_ready"); c.Status != reconcile.False || c.Message == "" || !c.RetryHelps {
			t.Errorf("condition %+v", c)
		}
		r.real.Start()
		if c := r.condition("api_ready"); c.Status != reconcile.True {
			t.Errorf("condition %+v", c)
		}
		kept(t)
	})
	t.Run("an expired certificate", func(t *testing.T) { r.expired(t) })
	t.Run("two at once", func(t *testing.T) { r.twoAtOnce(t, path, kept) })
	t.Run("a certificate for a person", func(t *testing.T) {
		made, err := r.config.Issue(t.Context(), r.kubeSite.cluster(r.cluster), kube.User(account), time.Hour)
		if err != nil || time.Until(made.Ends) > time.Hour+time.Minute {
			t.Fatalf("until %s, %v", made.Ends, err)
		}
		r.sql(`DELETE FROM grants WHERE account_id = $1`, account)
		r.condition("bindings_kept")
		if left := r.bound(); len(left) > 0 {
			t.Errorf("bindings left: %q", left)
		}
	})
}

// expired: somebody put a certificate in the row that ended. It is told, and the one from before serves again.
func (r *realSite) expired(t *testing.T) {
	before := r.kubeSite.cluster(r.cluster).AdminCertificate
	signed, err := r.real.Sign(r.request(t), -time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r.sql(`UPDATE kube_clusters SET admin_certificate = $2 WHERE id = $1`, r.cluster, signed)
	if c := r.condition("access_certificate"); c.Status != reconcile.False || !strings.Contains(c.Message, "ended at") {
		t.Errorf("condition %+v", c)
	}
	r.sql(`UPDATE kube_clusters SET admin_certificate = $2 WHERE id = $1`, r.cluster, before)
	if c := r.condition("access_certificate"); c.Status != reconcile.True {
		t.Errorf("condition %+v", c)
	}
}

// cutAfterCreate: the API server has the binding, and whoever made it dies before the answer. The next look finds it.
func (r *realSite) cutAfterCreate(t *testing.T, kept func(*testing.T)) {
	ctx, kill := context.WithCancel(t.Context())
	var made atomic.Int64
	r.front.After(func(method, path string) {
		if method == http.MethodPost && path == rolesBound {
			made.Add(1)
			kill()
		}
	})
	if _, err := r.look(ctx); err == nil {
		t.Error("it did not notice that it was killed")
	}
	r.front.After(nil)
	if made.Load() != 1 || len(r.bound()) != 1 {
		t.Errorf("%d made, bindings %q", made.Load(), r.bound())
	}
	kept(t)
}

// refused looks at the cluster in vain, and returns the reason.
func (r *realSite) refused(t *testing.T) *reconcile.Failure {
	t.Helper()
	out, err := r.look(t.Context())
	var failure *reconcile.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("not refused: %v, %+v", err, out)
	}
	return failure
}

func (r *realSite) refuses(t *testing.T, path string, kept func(*testing.T)) {
	remove := r.real.Webhook("rbac.authorization.k8s.io", "v1", "clusterrolebindings", func() string { return "no bindings on Fridays" })
	r.real.Must(http.MethodDelete, path, nil, nil)
	site.Eventually(t, "the webhook to count", func() bool { // the API server learns of it a moment later
		out, err := r.look(t.Context())
		if err == nil && len(out.Conditions) > 0 {
			r.real.Do(http.MethodDelete, path, nil, nil)
		}
		return err != nil
	})
	if f := r.refused(t); f.RetryHelps || !strings.Contains(f.Message, "no bindings on Fridays") {
		t.Errorf("failure %+v", f)
	}
	remove()
	site.Eventually(t, "the webhook to be forgotten", func() bool {
		_, err := r.look(t.Context())
		return err == nil
	})
	kept(t)
}

// tooMany: one request that changes something holds the only place of the server, so that it answers 429 to the next.
func (r *realSite) tooMany(t *testing.T, path string, kept func(*testing.T)) {
	held, release := make(chan struct{}, 10), make(chan struct{})
	remove := r.real.Webhook("", "v1", "configmaps", func() string {
		held <- struct{}{}
		<-release
		return ""
	})
	r.real.Kill()
	r.real.Start("--enable-priority-and-fairness=false", "--max-mutating-requests-inflight=1")
	r.real.Must(http.MethodDelete, path, nil, nil)
	// Who is of system:masters is never refused with 429, and so neither holds nor needs a place: the holder is another administrator.
	holder, err := r.real.HTTP(r.real.Issue("holder", realkube.Administrators))
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+r.real.Endpoint+"/api/v1/namespaces/default/configmaps", strings.NewReader(`{"metadata":{"name":"held"}}`))
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := holder.Do(request)
		if err != nil {
			t.Error(err)
			return
		}
		_ = answer.Body.Close()
	})
	site.Await(t, "the place to be held", held)
	if f := r.refused(t); !f.RetryHelps || !kubeapi.Is(f.Err, http.StatusTooManyRequests) {
		t.Errorf("failure %+v", f)
	}
	close(release)
	done.Wait()
	remove()
	r.real.Kill()
	r.real.Start()
	r.condition("bindings_kept")
	kept(t)
}

// twoAtOnce: a backend that was thought dead makes the same binding as the one that took over.
func (r *realSite) twoAtOnce(t *testing.T, path string, kept func(*testing.T)) {
	for range 5 {
		r.real.Must(http.MethodDelete, path, nil, nil)
		var done sync.WaitGroup
		for range 2 {
			done.Go(func() {
				if _, err := r.look(t.Context()); err != nil {
					var failure *reconcile.Failure
					if !errors.As(err, &failure) || !failure.RetryHelps {
						t.Errorf("look: %v", err)
					}
				}
			})
		}
		done.Wait()
		r.condition("bindings_kept")
		kept(t)
	}
}
