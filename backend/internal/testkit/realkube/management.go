package realkube

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"kloigos/rig/kube"
)

// TenantAddress is where control planes of a management cluster are reached, in the network of Alone.
const TenantAddress = "192.0.2.80"

const alone = "KLOIGOS_TEST_ALONE"

// Alone runs the test once more, in a network that has loopback and TenantAddress only, and with a file of its own as /etc/hosts:
// Kamaji listens on all addresses, and asks control planes by names of their cluster. Inside it returns the file. Outside it returns
// "" once that run ended, and the caller has nothing more to do.
func Alone(t *testing.T) (hosts string) {
	t.Helper()
	if file := os.Getenv(alone); file != "" {
		return file
	}
	dir, err := kube.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	switch missing := (kube.Builder{Dir: dir}).Missing("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kamaji", "kwok"); {
	case os.Getenv("KLOIGOS_TEST_KUBE") == "":
		t.Skip("runs in ./task test:kube, which sets KLOIGOS_TEST_KUBE")
	case len(missing) > 0:
		t.Skipf("not built: %s; run ./task kube:binaries -- %s", strings.Join(missing, ", "), strings.Join(missing, " "))
	case os.Geteuid() != 0:
		t.Skip("needs root, for a network of its own")
	}
	hosts = filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `ip link set lo up; ip address add "$4/32" dev lo; mount --bind "$1" /etc/hosts; exec "$2" -test.run "^$3\$" -test.v -test.timeout 15m`
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", "--", "sh", "-ec", script, "sh", hosts, os.Args[0], t.Name(), TenantAddress)
	cmd.Env = append(os.Environ(), alone+"="+hosts)
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "--- PASS: "+t.Name()) {
		t.Fatalf("in a network of its own: %v\n%s\n%s", err, strings.Join(regexp.MustCompile(`(?m)^ +\w+_test\.go:.*$`).FindAllString(text, -1), "\n"), text[max(0, len(text)-20_000):])
	}
	t.Logf("in a network of its own:\n%s", out)
	return ""
}

// Management is a management cluster: its controllers, a scheduler, and a node that kwok plays are there, and Kamaji runs beside it. Its
// data store is an etcd of its own.
type Management struct {
	*Cluster
	hosts string
	etcd  string // host:port of the data store
}

// NewManagement starts a management cluster until the test ends, in the network of Alone, whose file hosts is.
func NewManagement(t *testing.T, hosts string) *Management {
	t.Helper()
	m := &Management{Cluster: New(t, "deployment", "replicaset", "namespace", "garbagecollector", "serviceaccount", "endpoint", "endpointslice"), hosts: hosts}
	for _, text := range m.definitions() {
		m.Must(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text, nil)
	}
	m.start("kube-scheduler", "--kubeconfig", m.path("kubeconfig"), "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", FreePort(t), "--cert-dir", t.TempDir())
	m.node()
	m.store()
	m.kamaji()
	return m
}

func (m *Management) definitions() (all []map[string]any) {
	found, err := m.Builder.KamajiDefinitions(m.t.Context())
	m.must(err)
	for _, text := range found {
		var object map[string]any
		m.must(yaml.Unmarshal(text, &object))
		all = append(all, object)
	}
	return all
}

// node makes a node that kwok keeps ready, with whatever is placed on it.
func (m *Management) node() {
	m.t.Helper()
	stages, err := m.Builder.KwokStages(m.t.Context())
	m.must(err)
	m.must(os.WriteFile(m.path("stages.yaml"), stages, 0o600))
	m.start("kwok", "--kubeconfig", m.path("kubeconfig"), "--manage-all-nodes=true", "--config", m.path("stages.yaml"), "--node-ip", "192.0.2.20")
	room := map[string]any{"cpu": "8", "memory": "16Gi", "pods": "50"}
	m.Must(http.MethodPost, "/api/v1/nodes", map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "node-1", "labels": map[string]any{"kubernetes.io/os": "linux"}},
		"status": map[string]any{"allocatable": room, "capacity": room},
	}, nil)
	// A new node is tainted until the controller of nodes has seen that it is ready. That one would want heartbeats, too.
	m.Must(http.MethodPatch, "/api/v1/nodes/node-1", map[string]any{"spec": map[string]any{"taints": nil}}, nil)
}

// store starts the etcd of the control planes, and makes the data store that names it.
func (m *Management) store() {
	m.t.Helper()
	ca, private, certificate, key := m.storeAuthority()
	client, peer := FreePort(m.t), FreePort(m.t)
	m.etcd = "127.0.0.1:" + client
	m.start("etcd", "--data-dir", m.t.TempDir(), "--listen-client-urls", "https://"+m.etcd, "--advertise-client-urls", "https://"+m.etcd,
		"--listen-peer-urls", "http://127.0.0.1:"+peer, "--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster", "default=http://127.0.0.1:"+peer,
		"--cert-file", m.path("store.crt"), "--key-file", m.path("store.key"), "--client-cert-auth", "--trusted-ca-file", m.path("store-ca.crt"), "--unsafe-no-fsync")
	content := func(text []byte) map[string]any {
		return map[string]any{"content": base64.StdEncoding.EncodeToString(text)}
	}
	object := map[string]any{
		"apiVersion": "kamaji.clastix.io/v1alpha1", "kind": "DataStore", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"driver": "etcd", "endpoints": []any{m.etcd}, "tlsConfig": map[string]any{
			"certificateAuthority": map[string]any{"certificate": content(ca), "privateKey": content(private)},
			"clientCertificate":    map[string]any{"certificate": content(certificate), "privateKey": content(key)},
		}},
	}
	const types = "/apis/kamaji.clastix.io/v1alpha1"
	m.Eventually("Kamaji's types", func() error { // Kamaji ends if one of them is not there when it starts
		var known struct {
			Resources []struct {
				Name string `json:"name"`
			} `json:"resources"`
		}
		if status := m.Do(http.MethodGet, types, nil, &known); status != http.StatusOK || len(known.Resources) < 4 { // each with its status
			return fmt.Errorf("%d: %+v", status, known)
		}
		return nil
	})
	m.Must(http.MethodPost, types+"/datastores", object, nil)
}

// storeAuthority makes the authority of the data store with RSA keys in PKCS #1, the only ones that Kamaji reads, and one certificate
// that serves both for etcd and for Kamaji.
func (m *Management) storeAuthority() (ca, caKey, certificate, key []byte) {
	m.t.Helper()
	issue := func(name string, template, parent *x509.Certificate, signer *rsa.PrivateKey) (*x509.Certificate, *rsa.PrivateKey, []byte, []byte) {
		made, err := rsa.GenerateKey(rand.Reader, 2048)
		m.must(err)
		if signer == nil {
			parent, signer = template, made
		}
		template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &made.PublicKey, signer)
		m.must(err)
		parsed, err := x509.ParseCertificate(der)
		m.must(err)
		return parsed, made, m.write(name+".crt", "CERTIFICATE", der), m.write(name+".key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(made))
	}
	authority, signer, ca, caKey := issue("store-ca", &x509.Certificate{
		Subject: pkix.Name{CommonName: "store"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil, nil)
	_, _, certificate, key = issue("store", &x509.Certificate{
		Subject: pkix.Name{CommonName: "root"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, signer)
	return ca, caKey, certificate, key
}

// Stored is how many keys the data store has.
func (m *Management) Stored() int {
	m.t.Helper()
	pair, err := tls.LoadX509KeyPair(m.path("store.crt"), m.path("store.key"))
	m.must(err)
	authority, err := os.ReadFile(m.path("store-ca.crt"))
	m.must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	// From the first key on: "AA==" is a zero byte, for both ends of the range.
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, "https://"+m.etcd+"/v3/kv/range", strings.NewReader(`{"key": "AA==", "range_end": "AA==", "count_only": true}`))
	m.must(err)
	answer, err := (&http.Client{Transport: transport}).Do(request)
	m.must(err)
	defer func() { _ = answer.Body.Close() }()
	var said struct {
		Count int `json:"count,string"`
	}
	m.must(json.NewDecoder(answer.Body).Decode(&said))
	if answer.StatusCode != http.StatusOK {
		m.t.Fatalf("the data store answers %s", answer.Status)
	}
	return said.Count
}

// kamaji starts Kamaji, and has the API server ask its webhooks as its chart does.
func (m *Management) kamaji() {
	m.t.Helper()
	m.Must(http.MethodPost, "/api/v1/namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kamaji-system"}}, nil)
	certificate, key := m.Issue("webhooks", pkix.Name{CommonName: "kamaji"})
	serving := m.path("k8s-webhook-server/serving-certs")
	m.must(os.MkdirAll(serving, 0o700))
	for name, text := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": m.CA} {
		m.must(os.WriteFile(filepath.Join(serving, name), text, 0o600))
	}
	m.startWith([]string{"KUBECONFIG=" + m.path("kubeconfig"), "TMPDIR=" + m.dir}, "kamaji", "manager", "--datastore", "default", "--disable-telemetry", "--leader-elect=false",
		"--pod-namespace", "kamaji-system", "--serviceaccount-name", "kamaji", "--migrate-image", "kamaji:test", "--webhook-ca-path", filepath.Join(serving, "ca.crt"),
		"--tmp-directory", m.path("kamaji"), "--metrics-bind-address", "127.0.0.1:"+FreePort(m.t), "--health-probe-bind-address", "127.0.0.1:"+FreePort(m.t))
	hook := func(name, path, resource, group, version string, operations ...any) map[string]any {
		return map[string]any{
			"name": name, "sideEffects": "None", "admissionReviewVersions": []any{"v1"}, "failurePolicy": "Fail",
			"clientConfig": map[string]any{"url": "https://127.0.0.1:9443" + path, "caBundle": base64.StdEncoding.EncodeToString(m.CA)},
			"rules":        []any{map[string]any{"apiGroups": []any{group}, "apiVersions": []any{version}, "operations": operations, "resources": []any{resource}}},
		}
	}
	const planes, ours, version = "tenantcontrolplanes", "kamaji.clastix.io", "v1alpha1"
	for kind, hooks := range map[string][]any{
		"Mutating": {hook("mtenantcontrolplane.kb.io", "/mutate-kamaji-clastix-io-v1alpha1-tenantcontrolplane", planes, ours, version, "CREATE", "UPDATE")},
		"Validating": {
			hook("vtenantcontrolplane.kb.io", "/validate-kamaji-clastix-io-v1alpha1-tenantcontrolplane", planes, ours, version, "CREATE", "UPDATE"),
			hook("vdatastore.kb.io", "/validate-kamaji-clastix-io-v1alpha1-datastore", "datastores", ours, version, "CREATE", "UPDATE", "DELETE"),
		},
	} {
		m.Must(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/"+strings.ToLower(kind)+"webhookconfigurations", map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "WebhookConfiguration", "metadata": map[string]any{"name": "kamaji"}, "webhooks": hooks,
		}, nil)
	}
	m.Eventually("Kamaji's webhooks", func() error {
		conn, err := net.Dial("tcp", "127.0.0.1:9443")
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

// deployment is what of a Deployment says how its containers run, and which files they see.
type deployment struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []container `json:"containers"`
				Volumes    []volume    `json:"volumes"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type container struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
}

type volume struct {
	Projected struct {
		Sources []struct {
			Secret struct {
				Name  string `json:"name"`
				Items []struct {
					Key  string `json:"key"`
					Path string `json:"path"`
				} `json:"items"`
			} `json:"secret"`
		} `json:"sources"`
	} `json:"projected"`
}

// Tenant runs the API server of a control plane as its Deployment says, with the certificates that Kamaji made: kwok only says that
// its pods are ready. It is reached by the name that Kamaji asks for, and at TenantAddress. It runs until stop is called.
func (m *Management) Tenant(namespace, name string) (stop func()) {
	m.t.Helper()
	var all deployment
	m.Must(http.MethodGet, "/apis/apps/v1/namespaces/"+namespace+"/deployments/"+name, nil, &all)
	pod := all.Spec.Template.Spec
	at := slices.IndexFunc(pod.Containers, func(c container) bool { return c.Name == "kube-apiserver" })
	if at < 0 {
		m.t.Fatalf("the control plane has no API server: %+v", pod)
	}
	files := m.t.TempDir()
	for _, v := range pod.Volumes {
		for _, from := range v.Projected.Sources {
			var secret struct {
				Data map[string][]byte `json:"data"`
			}
			m.Must(http.MethodGet, "/api/v1/namespaces/"+namespace+"/secrets/"+from.Secret.Name, nil, &secret)
			for _, item := range from.Secret.Items {
				file := filepath.Join(files, item.Path)
				m.must(os.MkdirAll(filepath.Dir(file), 0o700))
				m.must(os.WriteFile(file, secret.Data[item.Key], 0o600))
			}
		}
	}
	const mounted = "/etc/kubernetes/pki"
	args := make([]string, len(pod.Containers[at].Args))
	for i, arg := range pod.Containers[at].Args {
		args[i] = strings.Replace(arg, "="+mounted, "="+files, 1)
	}
	m.must(os.WriteFile(m.hosts, []byte("127.0.0.1 localhost\n"+TenantAddress+" "+name+"."+namespace+".svc\n"), 0o600))
	running := m.start("kube-apiserver", append(args, "--cert-dir", m.t.TempDir())...)
	return func() {
		_ = running.cmd.Process.Kill()
		<-running.done
	}
}
