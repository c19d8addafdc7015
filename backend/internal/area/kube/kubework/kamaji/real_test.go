package kamaji

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/testkit/realkube"
)

// eventually waits for what a cluster does by itself.
func eventually(t *testing.T, what string, holds func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = holds(); err == nil {
			return
		}
	}
	t.Fatalf("in vain: waited for %s: %v", what, err)
}

func realPlane() Plane {
	id := uuid.New()
	return Plane{
		Cluster: id, Namespace: kube.NamespaceOf(id), Name: "apps", Version: "v1.30.1", Replicas: 2, ServiceType: kube.NodePort, Address: "192.0.2.80", Port: 30000,
		KonnectivityPort: 30001, Konnectivity: true, CoreDNS: true, PodRange: "10.244.0.0/16", ServiceRange: "10.97.0.0/16", DataStore: "default",
	}
}

// realManagement is an API server with Kamaji's own types and a data store, and a client of it. No controller runs: the test does what
// Kamaji's would do.
func realManagement(t *testing.T) (*realkube.Cluster, *Client) {
	t.Helper()
	cluster := realkube.New(t)
	reach := kube.Reach{Server: cluster.Endpoint, CA: cluster.CA, Certificate: cluster.Admin, Key: cluster.AdminKey}
	c, err := New(reach, egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx := t.Context()
	eventually(t, "the API server", func() error { return c.plain.Ready(ctx) })
	if _, err := c.Check(ctx, "default"); err == nil || !strings.Contains(err.Error(), "there is no Kamaji") {
		t.Errorf("before Kamaji is there: %v", err)
	}
	definitions, err := cluster.Builder.KamajiDefinitions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range definitions {
		object := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal(text, &object.Object))
		create(t, c, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", object.Object)
	}
	eventually(t, "Kamaji's types", func() error {
		_, err := c.dynamic.Resource(planes).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
	eventually(t, "the data store", func() error {
		_, err := c.dynamic.Resource(dataStores).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group.String(), "kind": "DataStore", "metadata": map[string]any{"name": "default"},
			"spec": map[string]any{"driver": "etcd", "endpoints": []any{"127.0.0.1:2379"}},
		}}, metav1.CreateOptions{})
		return err
	})
	return cluster, c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, c *Client, kind schema.GroupVersionResource, namespace string, object map[string]any) {
	t.Helper()
	_, err := c.dynamic.Resource(kind).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	must(t, err)
}

// asKamaji writes the status and the secret that Kamaji's controller would.
func asKamaji(t *testing.T, cluster *realkube.Cluster, c *Client, p Plane) {
	t.Helper()
	certificate, key := cluster.Issue("tenant", pkix.Name{CommonName: "kubernetes-super-admin", Organization: []string{"system:masters"}})
	encode := base64.StdEncoding.EncodeToString
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: 'https://192.0.2.80:30000', certificate-authority-data: %s}}]\n"+
		"users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", encode(cluster.CA), encode(certificate), encode(key))
	name := p.Name + "-admin-kubeconfig"
	create(t, c, secrets, p.Namespace, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "labels": map[string]any{kamajiLabel: p.Name}},
		"data": map[string]any{"super-admin.conf": encode([]byte(config))},
	})
	status, err := json.Marshal(map[string]any{"status": map[string]any{
		"controlPlaneEndpoint": "192.0.2.80:30000",
		"kubeconfig":           map[string]any{"admin": map[string]any{"secretName": name}},
		"kubernetesResources": map[string]any{
			"version": map[string]any{"status": "Ready", "version": p.Version},
			"deployment": map[string]any{
				"replicas": p.Replicas, "readyReplicas": p.Replicas, "name": p.Name, "namespace": p.Namespace, "selector": "a=b", "lastUpdate": "2026-11-01T00:00:00Z",
			},
		},
	}})
	must(t, err)
	_, err = c.dynamic.Resource(planes).Namespace(p.Namespace).Patch(t.Context(), p.Name, "application/merge-patch+json", status, metav1.PatchOptions{}, "status")
	must(t, err)
}

func TestRealManagementCluster(t *testing.T) {
	cluster, c := realManagement(t)
	ctx := t.Context()
	if version, err := c.Check(ctx, "default"); err != nil || !strings.HasPrefix(version, "v1.") {
		t.Errorf("check: %q, %v", version, err)
	}
	if _, err := c.Check(ctx, "other"); err == nil || !strings.Contains(err.Error(), "no data store other") {
		t.Errorf("another data store: %v", err)
	}
	p := realPlane()
	for range 2 { // a repetition adopts
		must(t, c.Prepare(ctx, p))
		must(t, c.Apply(ctx, p))
	}
	found, err := c.Look(ctx, p)
	if err != nil || !found.Exists || found.Ready || found.Why == "" || found.Wanted != p.Version || found.Asked != 2 {
		t.Errorf("before Kamaji came: %+v, %v", found, err)
	}
	asKamaji(t, cluster, c, p)
	if found, err := c.Look(ctx, p); err != nil || !found.Ready || found.Endpoint != "192.0.2.80:30000" {
		t.Errorf("ready: %+v, %v", found, err)
	}
	access, err := c.Access(ctx, p, "192.0.2.80:30000")
	if err != nil || access.CA != string(cluster.CA) || len(access.Key) == 0 {
		t.Errorf("access: %v", err)
	}
	if _, err := c.Access(ctx, p, "192.0.2.81:30000"); err == nil {
		t.Error("a kubeconfig that leads elsewhere is believed")
	}

	p.Version, p.Replicas = "v1.30.2", 0
	must(t, c.Apply(ctx, p))
	if found, err := c.Look(ctx, p); err != nil || found.Ready || found.Wanted != "v1.30.2" || found.Asked != 0 {
		t.Errorf("after a change: %+v, %v", found, err)
	}
	if strangers, err := c.Strangers(ctx, nil); err != nil || len(strangers) != 1 {
		t.Errorf("strangers %q, %v", strangers, err)
	}
	deletes(ctx, t, c, p)
}

// deletes: nobody collects here what a control plane owned, and its namespace is finalized by hand, as no controller manager runs.
func deletes(ctx context.Context, t *testing.T, c *Client, p Plane) {
	t.Helper()
	eventually(t, "the deletion as far as the namespace", func() error {
		left, err := c.Delete(ctx, p)
		if err == nil && left != "the namespace is still being deleted" {
			err = errors.New(left)
		}
		return err
	})
	if found, err := c.dynamic.Resource(secrets).Namespace(p.Namespace).List(ctx, metav1.ListOptions{}); err != nil || len(found.Items) > 0 {
		t.Errorf("%d secrets are left, %v", len(found.Items), err)
	}
	space, err := c.dynamic.Resource(namespaces).Get(ctx, p.Namespace, metav1.GetOptions{})
	must(t, err)
	unstructured.RemoveNestedField(space.Object, "spec", "finalizers")
	_, err = c.dynamic.Resource(namespaces).Update(ctx, space, metav1.UpdateOptions{}, "finalize")
	must(t, err)
	for range 2 {
		if left, err := c.Delete(ctx, p); left != "" || err != nil {
			t.Errorf("left %q, %v", left, err)
		}
	}
}

func TestRealManagementClusterFaults(t *testing.T) {
	cluster, c := realManagement(t)
	ctx := t.Context()
	p := realPlane()
	must(t, c.Prepare(ctx, p))
	must(t, c.Apply(ctx, p))

	t.Run("somebody else owns a field", func(t *testing.T) {
		theirs := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group.String(), "kind": "TenantControlPlane", "metadata": map[string]any{"name": p.Name, "namespace": p.Namespace},
			"spec": map[string]any{"controlPlane": map[string]any{"deployment": map[string]any{"replicas": int64(5)}}},
		}}
		_, err := c.dynamic.Resource(planes).Namespace(p.Namespace).Apply(ctx, p.Name, theirs, metav1.ApplyOptions{FieldManager: "kubectl", Force: true})
		must(t, err)
		err = c.Apply(ctx, p)
		if !kubeapi.Is(err, http.StatusConflict) || Heals(err) || !strings.Contains(err.Error(), "replicas") {
			t.Errorf("conflict: %v", err)
		}
	})

	t.Run("a foreign namespace", func(t *testing.T) {
		other := realPlane()
		create(t, c, namespaces, "", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": other.Namespace}})
		var foreign *Foreign
		if err := c.Prepare(ctx, other); !errors.As(err, &foreign) {
			t.Errorf("prepare: %v", err)
		}
		if _, err := c.Delete(ctx, other); !errors.As(err, &foreign) {
			t.Errorf("delete: %v", err)
		}
	})

	t.Run("a webhook that refuses", func(t *testing.T) { refusingWebhook(t, cluster, c) })

	t.Run("the server is away", func(t *testing.T) {
		cluster.Kill()
		_, err := c.Look(ctx, p)
		var none *Unanswered
		if !errors.As(err, &none) || !Heals(err) {
			t.Errorf("away: %v", err)
		}
		cluster.Start()
		eventually(t, "the control plane again", func() error {
			found, err := c.Look(ctx, p)
			if err == nil && !found.Exists {
				err = errors.New("it is gone")
			}
			return err
		})
	})
}

// refusingWebhook has the API server ask a webhook that refuses every control plane.
func refusingWebhook(t *testing.T, cluster *realkube.Cluster, c *Client) {
	t.Helper()
	certificate, key := cluster.Issue("webhook", pkix.Name{CommonName: "webhook"})
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{
			"uid": review.Request.UID, "allowed": false, "status": map[string]any{"message": "no more than one of them"},
		}})
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	create(t, c, schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}, "", map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "refuses"},
		"webhooks": []any{map[string]any{
			"name": "refuses.kloigos.io", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
			"clientConfig": map[string]any{"url": server.URL, "caBundle": base64.StdEncoding.EncodeToString(cluster.CA)},
			"rules": []any{map[string]any{
				"apiGroups": []any{group.Group}, "apiVersions": []any{group.Version}, "operations": []any{"CREATE"}, "resources": []any{"tenantcontrolplanes"},
			}},
		}},
	})
	eventually(t, "the webhook to count", func() error {
		p := realPlane()
		if err := c.Prepare(t.Context(), p); err != nil {
			return err
		}
		err := c.Apply(t.Context(), p)
		if err == nil {
			return errors.New("it is not asked yet")
		}
		if Heals(err) || !strings.Contains(err.Error(), "no more than one of them") {
			t.Errorf("refused with %v", err)
		}
		return nil
	})
}
