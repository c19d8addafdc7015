package kubeapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kloigos/rig/kube"
)

// authority signs what the parts of a cluster know each other by.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	dir  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.key = a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	a.must(err)
	a.cert, err = x509.ParseCertificate(der)
	a.must(err)
	a.write("ca.crt", "CERTIFICATE", der)
	a.writeKey("ca.key", a.key)
	return a
}

func (a *authority) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	return key
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) read(name string) []byte {
	text, err := os.ReadFile(a.path(name))
	a.must(err)
	return text
}

func (a *authority) write(name, kind string, der []byte) {
	a.must(os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func (a *authority) writeKey(name string, key *ecdsa.PrivateKey) {
	der, err := x509.MarshalECPrivateKey(key)
	a.must(err)
	a.write(name, "EC PRIVATE KEY", der)
}

// issue writes a certificate and its key.
func (a *authority) issue(name string, subject pkix.Name) {
	key := a.newKey()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	a.must(err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}, a.cert, &key.PublicKey, a.key)
	a.must(err)
	a.write(name+".crt", "CERTIFICATE", der)
	a.writeKey(name+".key", key)
}

// freePort is one that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// start runs a program until the test ends. What it said is told where the test fails.
func start(t *testing.T, b kube.Builder, program string, args ...string) {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), program+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(b.Path(program), args...)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = said.Close()
		if text, err := os.ReadFile(said.Name()); err == nil && t.Failed() {
			t.Logf("%s: %s", program, text[max(0, len(text)-3000):])
		}
	})
}

// realCluster is etcd, an API server and a controller manager; it returns what reaches it as an administrator.
func realCluster(t *testing.T) Config {
	t.Helper()
	dir, err := kube.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	b := kube.Builder{Dir: dir, Log: io.Discard}
	if missing := b.Missing("etcd", "kube-apiserver", "kube-controller-manager"); len(missing) > 0 {
		t.Skipf("not built: %s; run ./task kube:binaries", strings.Join(missing, ", "))
	}
	a := newAuthority(t)
	a.issue("apiserver", pkix.Name{CommonName: "kube-apiserver"})
	a.issue("admin", pkix.Name{CommonName: "kloigos", Organization: []string{"system:masters"}})
	etcd, peer, port := freePort(t), freePort(t), freePort(t)
	start(t, b, "etcd", "--data-dir", t.TempDir(), "--listen-client-urls", "http://127.0.0.1:"+etcd, "--advertise-client-urls", "http://127.0.0.1:"+etcd,
		"--listen-peer-urls", "http://127.0.0.1:"+peer, "--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster", "default=http://127.0.0.1:"+peer, "--unsafe-no-fsync")
	start(t, b, "kube-apiserver", "--etcd-servers", "http://127.0.0.1:"+etcd, "--bind-address", "127.0.0.1", "--secure-port", port, "--advertise-address", "192.0.2.10",
		"--endpoint-reconciler-type", "none", "--tls-cert-file", a.path("apiserver.crt"), "--tls-private-key-file", a.path("apiserver.key"), "--client-ca-file", a.path("ca.crt"),
		"--authorization-mode", "Node,RBAC", "--enable-bootstrap-token-auth", "--service-cluster-ip-range", "10.96.0.0/16", "--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", a.path("ca.key"), "--service-account-signing-key-file", a.path("ca.key"), "--cert-dir", t.TempDir())
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:%s', certificate-authority: %s}}]\n"+
		"users: [{name: u, user: {client-certificate: %s, client-key: %s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", port, a.path("ca.crt"), a.path("admin.crt"), a.path("admin.key"))
	a.must(os.WriteFile(a.path("kubeconfig"), []byte(config), 0o600))
	start(t, b, "kube-controller-manager", "--kubeconfig", a.path("kubeconfig"), "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", freePort(t),
		"--cluster-signing-cert-file", a.path("ca.crt"), "--cluster-signing-key-file", a.path("ca.key"), "--cert-dir", t.TempDir(), "--controllers", "csrsigning,tokencleaner,clusterrole-aggregation")
	return Config{Endpoint: "127.0.0.1:" + port, CA: a.read("ca.crt"), Certificate: a.read("admin.crt"), Key: a.read("admin.key")}
}

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

func open(t *testing.T, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRealAPIServer(t *testing.T) {
	config := realCluster(t)
	admin := open(t, config)
	ctx := t.Context()
	eventually(t, "the API server", func() error { return admin.Ready(ctx) })

	t.Run("nodes", func(t *testing.T) {
		if err := admin.call(ctx, http.MethodPost, "/api/v1/nodes", nil, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": meta{Name: "k1"}}, nil); err != nil {
			t.Fatal(err)
		}
		found, err := admin.Nodes(ctx)
		if err != nil || len(found) != 1 || found[0].Name != "k1" || found[0].Ready || found[0].Why == "" {
			t.Errorf("nodes %+v, %v", found, err)
		}
	})

	t.Run("tokens", func(t *testing.T) {
		if err := admin.CreateToken(ctx, "abc123", "0123456789abcdef", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		// A node that joins reads who it is with the token alone.
		who := func() error { return withToken(ctx, t, config, "abc123.0123456789abcdef") }
		eventually(t, "the token to count", who)
		for range 2 {
			if err := admin.DeleteToken(ctx, "abc123"); err != nil {
				t.Error(err)
			}
		}
		eventually(t, "the token to be refused", func() error {
			if err := who(); !Is(err, http.StatusUnauthorized) {
				return fmt.Errorf("it still counts: %w", err)
			}
			return nil
		})
	})

	t.Run("certificates and bindings", func(t *testing.T) {
		const user = "kloigos:6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11"
		person := signedClient(ctx, t, admin, config, user)
		pods := func() error { return person.call(ctx, http.MethodGet, "/api/v1/pods", nil, nil, nil) }
		if err := pods(); !Is(err, http.StatusForbidden) {
			t.Errorf("without a binding: %v", err)
		}
		b := Binding{ID: "6d1f3f6e", User: user, Role: "view"}
		if err := admin.CreateBinding(ctx, b); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the binding to count", pods)
		showNodes(ctx, t, admin, person)
		b.Role = "edit"
		if err := admin.CreateBinding(ctx, b); err != nil { // in place of the other
			t.Fatal(err)
		}
		if found, err := admin.Bindings(ctx); err != nil || len(found) != 1 || found[0] != b {
			t.Errorf("bindings %+v, %v", found, err)
		}
		for range 2 {
			if err := admin.DeleteBinding(ctx, b.ID); err != nil {
				t.Error(err)
			}
		}
		eventually(t, "the binding to count no more", func() error {
			if err := pods(); !Is(err, http.StatusForbidden) {
				return fmt.Errorf("it still counts: %w", err)
			}
			return nil
		})
	})
}

// showNodes: no role of Kubernetes shows nodes to a viewer, ours does, and one that somebody changed is made anew.
func showNodes(ctx context.Context, t *testing.T, admin, person *Client) {
	t.Helper()
	nodes := func() error { return person.call(ctx, http.MethodGet, "/api/v1/nodes", nil, nil, nil) }
	if err := nodes(); !Is(err, http.StatusForbidden) {
		t.Errorf("nodes without our role: %v", err)
	}
	shown := func(want bool) {
		t.Helper()
		if is, err := admin.ShowsNodes(ctx); is != want || err != nil {
			t.Errorf("nodes are shown: %t, %v", is, err)
		}
	}
	shown(false)
	if err := admin.ShowNodes(ctx); err != nil {
		t.Fatal(err)
	}
	shown(true)
	eventually(t, "nodes to be shown", nodes)
	changed := nodesShown()
	changed.Rules[0].Verbs = []string{"get"}
	if err := admin.call(ctx, http.MethodPut, rolesPath+"/"+nodesRole, nil, changed, nil); err != nil {
		t.Fatal(err)
	}
	shown(false)
	if err := admin.ShowNodes(ctx); err != nil {
		t.Fatal(err)
	}
	shown(true)
}

// signedClient has the cluster sign a certificate of a user, and is a client with it.
func signedClient(ctx context.Context, t *testing.T, admin *Client, config Config, user string) *Client {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: user}}, key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := admin.Sign(ctx, "kloigos-test-1", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(signed)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || certificate.Subject.CommonName != user || len(certificate.Subject.Organization) > 0 || time.Until(certificate.NotAfter) > time.Hour+time.Minute {
		t.Fatalf("certificate of %s until %s, %v", certificate.Subject, certificate.NotAfter, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config.Certificate, config.Key = signed, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return open(t, config)
}

// withToken asks who one is, with a bootstrap token and no certificate.
func withToken(ctx context.Context, t *testing.T, config Config, token string) error {
	t.Helper()
	config.Certificate, config.Key = nil, nil
	c := open(t, config)
	c.http.Transport = bearer{c.http.Transport, token}
	return c.call(ctx, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", nil, map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
	}, nil)
}

type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}
