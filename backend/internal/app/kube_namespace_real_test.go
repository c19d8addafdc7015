package app_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

// made is a realSite with a cluster of one node.
func (r *realSite) made() {
	r.T.Helper()
	r.BackendWith(r.work(), queue.Config{})
	r.host("k1")
	r.node("k1")
	cluster, job := r.create("k1")
	r.cluster = cluster
	r.Ended(job, domain.JobSucceeded)
}

func (r *realSite) namespace(t *testing.T, draft kube.NamespaceDraft) (n kube.Namespace) {
	t.Helper()
	err := r.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(t.Context(), tx.Reader, r.workspace, "apps")
		if err == nil {
			n, err = kube.CreateNamespace(t.Context(), tx, ref, draft)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (r *realSite) onNamespace(t *testing.T, name string, f func(tx *kernel.Tx, ref scope.Ref[kube.Namespace]) error) {
	t.Helper()
	err := r.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindNamespace(t.Context(), tx.Reader, r.workspace, name)
		if err == nil {
			err = f(tx, ref)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// keep looks at a namespace once, and returns its condition.
func (r *realSite) keep(t *testing.T, n kube.Namespace, observe bool) (reconcile.Condition, reconcile.Outcome) {
	t.Helper()
	out := lookAt(t, kubework.NamespacePolicies(r.config)[0], n.ID, observe)
	if len(out.Conditions) == 0 {
		return reconcile.Condition{}, out
	}
	return out.Conditions[0], out
}

// hard is our quota of a namespace in the cluster.
func (r *realSite) hard(name string) map[string]string {
	r.T.Helper()
	var quota struct {
		Spec struct {
			Hard map[string]string `json:"hard"`
		} `json:"spec"`
	}
	r.real.Do(http.MethodGet, "/api/v1/namespaces/"+name+"/resourcequotas/kloigos", nil, &quota)
	return quota.Spec.Hard
}

func TestRealNamespaces(t *testing.T) {
	r := newRealSite(t)
	r.made()
	const spaces = "/api/v1/namespaces"
	shop := r.namespace(t, kube.NamespaceDraft{Name: "shop", QuotaCPU: "4", QuotaPods: 50, Labels: map[string]string{"team": "shop"}})
	if c, _ := r.keep(t, shop, true); c.Status != reconcile.False || !strings.Contains(c.Message, "namespace was missing") || r.real.Do(http.MethodGet, spaces+"/shop", nil, nil) != http.StatusNotFound {
		t.Errorf("observed %+v", c)
	}
	r.keep(t, shop, false)
	if c, _ := r.keep(t, shop, false); c.Status != reconcile.True || c.Message != "" || r.hard("shop")["limits.cpu"] != "4" || r.hard("shop")["pods"] != "50" {
		t.Errorf("kept: %+v, quota %v", c, r.hard("shop"))
	}

	t.Run("changed by hand", func(t *testing.T) {
		r.real.Must(http.MethodPatch, spaces+"/shop/resourcequotas/kloigos", map[string]any{"spec": map[string]any{"hard": map[string]any{"pods": "77"}}}, nil)
		r.real.Must(http.MethodPatch, spaces+"/shop", map[string]any{"metadata": map[string]any{"labels": map[string]any{"theirs": "stays", "team": "cart"}}}, nil)
		if c, _ := r.keep(t, shop, true); !strings.Contains(c.Message, "quota was changed") || r.hard("shop")["pods"] != "77" {
			t.Errorf("observed %+v", c)
		}
		if c, _ := r.keep(t, shop, false); !strings.Contains(c.Message, "quota was changed") || !strings.Contains(c.Message, "namespace was changed") || r.hard("shop")["pods"] != "50" {
			t.Errorf("put back: %+v, quota %v", c, r.hard("shop"))
		}
		if labels := r.labels("shop"); labels["team"] != "shop" || labels["theirs"] != "stays" {
			t.Errorf("labels %v", labels)
		}
	})
	t.Run("the quota counts", func(t *testing.T) {
		r.onNamespace(t, "shop", func(tx *kernel.Tx, ref scope.Ref[kube.Namespace]) error {
			return kube.ChangeNamespace(t.Context(), tx, ref, 0, func(d *kube.NamespaceDraft) { d.QuotaPods, d.QuotaCPU = 2, "250m" })
		})
		r.keep(t, shop, false)
		r.counts(t, "2")
		pod := func(name string) int {
			return r.real.Do(http.MethodPost, spaces+"/shop/pods", map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{
				"automountServiceAccountToken": false, "containers": []any{map[string]any{"name": "c", "image": "none"}},
			}}, nil)
		}
		site.Eventually(t, "the account of pods", func() bool { // the controller of accounts does not run: it is made by hand
			return r.real.Do(http.MethodPost, spaces+"/shop/serviceaccounts", map[string]any{"metadata": map[string]any{"name": "default"}}, nil) == http.StatusConflict
		})
		if first, second, third := pod("one"), pod("two"), pod("three"); first != http.StatusCreated || second != http.StatusCreated || third != http.StatusForbidden {
			t.Errorf("pods: %d, %d, then %d", first, second, third)
		}
		// Lowered below what is in use: nothing that runs is touched, and nothing new is let in.
		r.onNamespace(t, "shop", func(tx *kernel.Tx, ref scope.Ref[kube.Namespace]) error {
			return kube.ChangeNamespace(t.Context(), tx, ref, 0, func(d *kube.NamespaceDraft) { d.QuotaPods = 1 })
		})
		if c, _ := r.keep(t, shop, false); c.Status != reconcile.True {
			t.Errorf("lowered: %+v", c)
		}
		r.counts(t, "1")
		if fourth := pod("four"); fourth != http.StatusForbidden || r.real.Do(http.MethodGet, spaces+"/shop/pods/two", nil, nil) != http.StatusOK {
			t.Errorf("below what is in use: %d", fourth)
		}
		for _, name := range []string{"one", "two"} {
			r.real.Must(http.MethodDelete, spaces+"/shop/pods/"+name+"?gracePeriodSeconds=0", nil, nil)
		}
	})
	t.Run("a role in it", func(t *testing.T) { r.roleInNamespace(t, shop) })
	t.Run("somebody else's", func(t *testing.T) { r.adopts(t) })
	t.Run("deleted through a finalizer", func(t *testing.T) {
		r.real.Must(http.MethodPost, spaces+"/shop/configmaps", map[string]any{"metadata": map[string]any{"name": "held", "finalizers": []any{"example.org/holds"}}}, nil)
		r.onNamespace(t, "shop", func(tx *kernel.Tx, ref scope.Ref[kube.Namespace]) error {
			return kube.DeleteNamespace(t.Context(), tx, ref, 0, "shop", false)
		})
		site.Eventually(t, "the reason why it is not gone", func() bool {
			c, out := r.keep(t, shop, false)
			return c.Type == "namespace_gone" && strings.Contains(c.Message, "example.org/holds") && out.Again > 0
		})
		r.real.Must(http.MethodPatch, spaces+"/shop/configmaps/held", map[string]any{"metadata": map[string]any{"finalizers": nil}}, nil)
		site.Eventually(t, "its end", func() bool { _, out := r.keep(t, shop, false); return out.Gone })
		if _, err := kube.NamespaceByID(t.Context(), r.DB.Reader, shop.ID); !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("its row: %v", err)
		}
	})
}

// counts waits until the API server counts pods by our quota of the namespace shop.
func (r *realSite) counts(t *testing.T, pods string) {
	t.Helper()
	site.Eventually(t, "the quota to count", func() bool {
		var quota struct {
			Status struct {
				Hard map[string]string `json:"hard"`
			} `json:"status"`
		}
		r.real.Must(http.MethodGet, "/api/v1/namespaces/shop/resourcequotas/kloigos", nil, &quota)
		return quota.Status.Hard["pods"] == pods
	})
}

func (r *realSite) labels(name string) map[string]string {
	r.T.Helper()
	var found struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	r.real.Must(http.MethodGet, "/api/v1/namespaces/"+name, nil, &found)
	return found.Metadata.Labels
}

// roleInNamespace: whoever has a role in a namespace may do there, and nowhere else, what it allows.
func (r *realSite) roleInNamespace(t *testing.T, shop kube.Namespace) {
	account, _ := r.member("linus", kube.Viewer)
	r.sql(`DELETE FROM kube_bindings WHERE account_id = $1`, account)
	bound := r.bind(t, "linus", kube.Editor, "shop")
	if bound.Namespace != "shop" {
		t.Fatalf("bound in %q", bound.Namespace)
	}
	r.condition("bindings_kept")
	made, err := r.config.Issue(t.Context(), r.kubeSite.cluster(r.cluster), kube.User(account), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	client, err := r.real.HTTP(made.Certificate, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) int {
		answer, err := client.Get("https://" + r.real.Endpoint + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	site.Eventually(t, "the role to count", func() bool { return ask("/api/v1/namespaces/shop/pods") == http.StatusOK })
	if status := ask("/api/v1/namespaces/default/pods"); status != http.StatusForbidden {
		t.Errorf("in another namespace: %d", status)
	}
	// One of the same name elsewhere is not taken for it.
	const rbac, forged = "/apis/rbac.authorization.k8s.io/v1/namespaces/", "/rolebindings/kloigos-binding-"
	name := bound.ID.String()
	r.real.Must(http.MethodPost, rbac+"default/rolebindings", map[string]any{
		"metadata": map[string]any{"name": "kloigos-binding-" + name, "labels": map[string]any{"app.kubernetes.io/managed-by": "kloigos"}},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}},
	}, nil)
	if c := r.condition("bindings_kept"); !strings.Contains(c.Message, "A binding of mallory was left over") || strings.Contains(c.Message, "linus") {
		t.Errorf("told %q", c.Message)
	}
	if status := r.real.Do(http.MethodGet, rbac+"default"+forged+name, nil, nil); status != http.StatusNotFound {
		t.Errorf("the forged binding: %d", status)
	}
	r.real.Must(http.MethodDelete, rbac+"shop"+forged+name, nil, nil)
	if c := r.condition("bindings_kept"); !strings.Contains(c.Message, "linus was missing") {
		t.Errorf("told %q", c.Message)
	}
	r.breaksGlass(t)
	site.Eventually(t, "the role to count again", func() bool { return ask("/api/v1/namespaces/shop/pods") == http.StatusOK })
}

func (r *realSite) bind(t *testing.T, account, role, namespace string) (made kube.Binding) {
	t.Helper()
	err := r.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(t.Context(), tx.Reader, r.workspace, "apps")
		if err == nil {
			made, err = kube.CreateBinding(t.Context(), tx, ref, account, role, namespace)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// breaksGlass: in an emergency somebody gets everything, for an hour at most.
func (r *realSite) breaksGlass(t *testing.T) {
	t.Helper()
	admin, err := r.config.IssueAdmin(t.Context(), r.kubeSite.cluster(r.cluster), kube.User(uuid.New()), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	client, err := r.real.HTTP(admin.Certificate, admin.Key)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get("https://" + r.real.Endpoint + "/api/v1/namespaces/kube-system/secrets")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || time.Until(admin.Ends) > time.Hour+time.Minute {
		t.Errorf("as an administrator: %d until %s", answer.StatusCode, admin.Ends)
	}
	if _, err := r.config.IssueAdmin(t.Context(), r.kubeSite.cluster(r.cluster), "x", 2*time.Hour); err == nil {
		t.Error("a file for two hours")
	}
}

// adopts: a namespace of somebody else is left alone until it is adopted, and stays when Kloigos lets go of it.
func (r *realSite) adopts(t *testing.T) {
	const path = "/api/v1/namespaces/cart"
	r.real.Must(http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "cart", "labels": map[string]any{"theirs": "stays"}}}, nil)
	cart := r.namespace(t, kube.NamespaceDraft{Name: "cart", QuotaPods: 7})
	if c, _ := r.keep(t, cart, false); c.Reason != "foreign" || len(r.hard("cart")) > 0 || r.labels("cart")["kloigos.io/namespace"] != "" {
		t.Errorf("not adopted: %+v, quota %v", c, r.hard("cart"))
	}
	bound := "/apis/rbac.authorization.k8s.io/v1/namespaces/cart/rolebindings/kloigos-binding-" + r.bind(t, "linus", kube.Viewer, "cart").ID.String()
	if c := r.condition("bindings_kept"); !strings.Contains(c.Message, "linus waits for the namespace cart") || r.real.Do(http.MethodGet, bound, nil, nil) != http.StatusNotFound {
		t.Errorf("a role in what is not adopted: %q", c.Message)
	}
	r.onNamespace(t, "cart", func(tx *kernel.Tx, ref scope.Ref[kube.Namespace]) error {
		return kube.ChangeNamespace(t.Context(), tx, ref, 0, func(d *kube.NamespaceDraft) { d.Adopt = true })
	})
	if c, _ := r.keep(t, cart, false); c.Status != reconcile.True || r.hard("cart")["pods"] != "7" || r.labels("cart")["theirs"] != "stays" {
		t.Errorf("adopted: %+v, quota %v", c, r.hard("cart"))
	}
	if r.condition("bindings_kept"); r.real.Do(http.MethodGet, bound, nil, nil) != http.StatusOK {
		t.Error("no role in what is adopted")
	}
	r.onNamespace(t, "cart", func(tx *kernel.Tx, ref scope.Ref[kube.Namespace]) error {
		return kube.DeleteNamespace(t.Context(), tx, ref, 0, "cart", true)
	})
	if _, out := r.keep(t, cart, false); !out.Gone {
		t.Error("Kloigos did not let go of it")
	}
	if r.condition("bindings_kept"); r.real.Do(http.MethodGet, bound, nil, nil) != http.StatusNotFound {
		t.Error("a role is left in what Kloigos let go of")
	}
	if labels := r.labels("cart"); labels["theirs"] != "stays" || labels["kloigos.io/namespace"] != "" || len(r.hard("cart")) > 0 || r.real.Do(http.MethodGet, path, nil, nil) != http.StatusOK {
		t.Errorf("afterwards: labels %v, quota %v", labels, r.hard("cart"))
	}
}
