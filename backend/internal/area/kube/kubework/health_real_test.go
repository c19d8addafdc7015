package kubework

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/websocket"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/testkit/realkube"
)

// drift is a real API server with one node, whose kubelet stands in, and what the rows say of it.
type drift struct {
	*testing.T
	real   *realkube.Cluster
	health health
}

func newDrift(t *testing.T) *drift {
	t.Helper()
	real := realkube.New(t)
	client, err := kubeapi.New(kubeapi.Config{Endpoint: real.Endpoint, CA: real.CA, Certificate: real.Admin, Key: real.AdminKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	version, err := client.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := &drift{T: t, real: real, health: health{
		cluster: kube.Cluster{ID: uuid.New(), Name: "apps", State: kube.ClusterActive, KubeVersion: version, CA: string(real.CA)},
		nodes:   []kube.Node{{ID: uuid.New(), Name: "k1", Role: kube.ControlPlane, State: kube.NodeReady, PodRange: "10.244.0.0/24"}},
		client:  client,
	}}
	real.Must(http.MethodPost, "/api/v1/nodes", map[string]any{"metadata": map[string]any{"name": "k1"}}, nil)
	d.node(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}, "nodeInfo": map[string]any{"kubeletVersion": version}})
	return d
}

// node says something of the node, as its kubelet would.
func (d *drift) node(status map[string]any) {
	d.Helper()
	d.real.Must(http.MethodPatch, "/api/v1/nodes/k1/status", map[string]any{"status": status}, nil)
}

// expect looks once, and compares one condition: its status, and words of its message.
func (d *drift) expect(t *testing.T, kind string, status reconcile.Status, words string) {
	t.Helper()
	for _, c := range d.health.look(t.Context()) {
		if c.Type == kind {
			if c.Status != status || !strings.Contains(c.Message, words) {
				t.Errorf("%s is %s: %q; want %s with %q", kind, c.Status, c.Message, status, words)
			}
			return
		}
	}
	t.Errorf("no condition %s", kind)
}

// kubelet answers for logs and for programs in pods, as long as up says so.
func (d *drift) kubelet(up *atomic.Bool) {
	d.Helper()
	certificate, key := d.real.Issue("kubelet", pkix.Name{CommonName: "k1"})
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		d.Fatal(err)
	}
	exec := websocket.Server{
		Handshake: func(config *websocket.Config, _ *http.Request) error {
			config.Protocol = []string{"v4.channel.k8s.io"}
			return nil
		},
		Handler: func(socket *websocket.Conn) {
			_ = websocket.Message.Send(socket, append([]byte{3}, `{"status":"Failure","reason":"NonZeroExitCode"}`...))
		},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !up.Load():
			http.Error(w, "the tunnel is stale", http.StatusBadGateway)
		case strings.HasPrefix(r.URL.Path, "/containerLogs/"):
			_, _ = w.Write([]byte("well\n"))
		default:
			exec.ServeHTTP(w, r)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	d.Cleanup(server.Close)
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		d.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		d.Fatal(err)
	}
	d.node(map[string]any{
		"addresses":       []any{map[string]any{"type": "Hostname", "address": "127.0.0.1"}, map[string]any{"type": "InternalIP", "address": "127.0.0.1"}},
		"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]any{"Port": port}},
	})
}

// pod makes one that runs on the node.
func (d *drift) pod(name, address string) {
	d.Helper()
	const in = "/api/v1/namespaces/kube-system"
	d.real.Do(http.MethodPost, in+"/serviceaccounts", map[string]any{"metadata": map[string]any{"name": "default"}}, nil)
	d.real.Must(http.MethodPost, in+"/pods", map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{
		"nodeName": "k1", "automountServiceAccountToken": false, "containers": []any{map[string]any{"name": "c", "image": "none"}},
	}}, nil)
	d.real.Must(http.MethodPatch, in+"/pods/"+name+"/status", map[string]any{"status": map[string]any{
		"phase": "Running", "podIP": address, "podIPs": []any{map[string]any{"ip": address}},
	}}, nil)
}

// What somebody changes in a cluster by hand is found and named, against a real API server.
func TestRealDrift(t *testing.T) {
	d := newDrift(t)
	for kind, status := range map[string]reconcile.Status{
		"kubelets_fit": reconcile.True, "etcd_healthy": reconcile.True, "replica_sets_steady": reconcile.True, "nodes_remedied": reconcile.True, "health": reconcile.True,
		"network_kept": reconcile.Unknown, "dns_ready": reconcile.Unknown, "pods_reached": reconcile.Unknown, "authority_served": reconcile.Unknown,
	} {
		d.expect(t, kind, status, "")
	}
	t.Run("a log and a program through the API server", func(t *testing.T) {
		var up atomic.Bool
		up.Store(true)
		d.kubelet(&up)
		d.pod("web", "10.244.0.7")
		d.expect(t, "network_kept", reconcile.True, "")
		d.expect(t, "pods_reached", reconcile.True, "")
		up.Store(false)
		d.expect(t, "pods_reached", reconcile.False, "The log of kube-system/web on k1 can't be read")
		d.expect(t, "health", reconcile.False, "Degraded: pods_reached")
		up.Store(true)
	})
	t.Run("a pod with a foreign address", func(t *testing.T) {
		d.pod("strange", "192.168.7.7")
		d.expect(t, "network_kept", reconcile.False, "kube-system/strange on k1 has the address 192.168.7.7")
	})
	t.Run("another CNI", func(t *testing.T) {
		labels := map[string]any{"a": "b"}
		d.real.Must(http.MethodPost, "/apis/apps/v1/namespaces/kube-system/daemonsets", map[string]any{"metadata": map[string]any{"name": "calico-node"}, "spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "none"}}}},
		}}, nil)
		d.expect(t, "network_kept", reconcile.False, "kube-system/calico-node")
	})
	t.Run("another kubelet", func(t *testing.T) {
		d.node(map[string]any{"nodeInfo": map[string]any{"kubeletVersion": "v1.99.0"}})
		d.expect(t, "kubelets_fit", reconcile.False, "its kubelet v1.99.0 is newer than the API server")
	})
	t.Run("another authority for pods", func(t *testing.T) {
		const path = "/api/v1/namespaces/kube-system/configmaps"
		object := func(ca []byte) map[string]any {
			return map[string]any{"metadata": map[string]any{"name": "kube-root-ca.crt"}, "data": map[string]any{"ca.crt": string(ca)}}
		}
		d.real.Must(http.MethodPost, path, object(d.real.CA), nil)
		d.expect(t, "authority_served", reconcile.True, "")
		d.real.Must(http.MethodPatch, path+"/kube-root-ca.crt", object(d.real.Admin), nil)
		d.expect(t, "authority_served", reconcile.False, "Pods get another authority")
	})
	t.Run("a loop of ReplicaSets", func(t *testing.T) {
		for i := range churnMost + 1 {
			labels := map[string]any{"n": strconv.Itoa(i)}
			d.real.Must(http.MethodPost, "/apis/apps/v1/namespaces/default/replicasets", map[string]any{
				"metadata": map[string]any{"name": "web-" + strconv.Itoa(i), "ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u"}}},
				"spec": map[string]any{"replicas": 0, "selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
					"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "none"}}},
				}},
			}, nil)
		}
		d.expect(t, "replica_sets_steady", reconcile.False, "default/web")
	})
	t.Run("nobody answers for DNS", func(t *testing.T) {
		d.real.Must(http.MethodPost, "/api/v1/namespaces/kube-system/services", map[string]any{"metadata": map[string]any{"name": "kube-dns"}, "spec": map[string]any{
			"ports": []any{map[string]any{"port": 53, "protocol": "UDP"}},
		}}, nil)
		d.expect(t, "dns_ready", reconcile.False, "Nobody answers")
	})
	t.Run("a node that is gone for long", func(t *testing.T) {
		d.node(map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339),
		}}})
		d.expect(t, "nodes_remedied", reconcile.False, "TooManyUnhealthy: 1 of 1")
	})
	t.Run("another authority of the server", func(t *testing.T) {
		other := realkube.NewAuthority(t)
		client, err := kubeapi.New(kubeapi.Config{Endpoint: d.real.Endpoint, CA: other, Certificate: d.real.Admin, Key: d.real.AdminKey})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		d.health.client = client
		d.expect(t, "authority_served", reconcile.False, "another authority than the one in kubeconfigs")
	})
}

// A server that is away is no drift: nothing is known then.
func TestRealDriftOfAServerThatIsAway(t *testing.T) {
	d := newDrift(t)
	d.real.Kill()
	d.expect(t, "etcd_healthy", reconcile.Unknown, "")
	d.expect(t, "pods_reached", reconcile.Unknown, "")
	d.real.Start()
	d.expect(t, "etcd_healthy", reconcile.True, "")
}
