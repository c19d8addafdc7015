// Package realkube runs etcd, a kube-apiserver and, if a test wants it, a kube-controller-manager on loopback for tests that need real
// ones. They are built by ./task kube:binaries. A test is skipped without them, and outside of ./task test:kube.
package realkube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kloigos/rig/freeport"
	"kloigos/rig/kube"
)

// Cluster is an API server with its etcd.
type Cluster struct {
	Endpoint string // host:port
	CA       []byte // PEM
	Admin    []byte // client certificate of an administrator (PEM)
	AdminKey []byte // PEM
	Builder  kube.Builder

	t      *testing.T
	dir    string
	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
	server *process
	args   []string
}

// Administrators is who Kloigos is in a cluster of kubeadm: nothing exempts the group from limits, as it does system:masters.
var Administrators = pkix.Name{CommonName: "administrator", Organization: []string{"kubeadm:cluster-admins"}}

// New starts a cluster until the test ends. controllers are those of the controller manager that run; without any it isn't started.
func New(t *testing.T, controllers ...string) *Cluster {
	t.Helper()
	dir, err := kube.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("KLOIGOS_TEST_KUBE") == "" {
		t.Skip("runs in ./task test:kube, which sets KLOIGOS_TEST_KUBE")
	}
	c := &Cluster{t: t, Builder: kube.Builder{Dir: dir, Log: io.Discard}, dir: t.TempDir()}
	programs := []string{"etcd", "kube-apiserver", "kube-controller-manager"}
	if len(controllers) == 0 {
		programs = programs[:2]
	}
	if missing := c.Builder.Missing(programs...); len(missing) > 0 {
		t.Skipf("not built: %s; run ./task kube:binaries", strings.Join(missing, ", "))
	}
	c.authority()
	c.Issue("apiserver", pkix.Name{CommonName: "kube-apiserver"})
	c.Issue("front", pkix.Name{CommonName: frontName})
	c.Admin, c.AdminKey = c.Issue("admin", pkix.Name{CommonName: "kloigos", Organization: []string{"system:masters"}})
	etcd, peer, port := FreePort(t), FreePort(t), FreePort(t)
	c.start("etcd", "--data-dir", t.TempDir(), "--listen-client-urls", "http://127.0.0.1:"+etcd, "--advertise-client-urls", "http://127.0.0.1:"+etcd,
		"--listen-peer-urls", "http://127.0.0.1:"+peer, "--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster", "default=http://127.0.0.1:"+peer, "--unsafe-no-fsync")
	c.args = []string{
		"--etcd-servers", "http://127.0.0.1:" + etcd, "--bind-address", "127.0.0.1", "--secure-port", port, "--advertise-address", "192.0.2.10",
		"--endpoint-reconciler-type", "none", "--tls-cert-file", c.path("apiserver.crt"), "--tls-private-key-file", c.path("apiserver.key"), "--client-ca-file", c.path("ca.crt"),
		"--authorization-mode", "Node,RBAC", "--enable-bootstrap-token-auth", "--requestheader-client-ca-file", c.path("ca.crt"), "--requestheader-allowed-names", frontName,
		"--requestheader-username-headers", userHeader, "--requestheader-group-headers", groupHeader, "--service-cluster-ip-range", "10.96.0.0/16", "--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", c.path("ca.key"), "--service-account-signing-key-file", c.path("ca.key"), "--cert-dir", t.TempDir(),
	}
	c.Endpoint = "127.0.0.1:" + port
	c.Start()
	if len(controllers) > 0 {
		c.control(strings.Join(controllers, ","))
	}
	return c
}

// Start starts the API server, again after Kill, and waits until it is ready. more are flags beside those that it always has.
func (c *Cluster) Start(more ...string) {
	c.t.Helper()
	c.server = c.start("kube-apiserver", append(slices.Clone(c.args), more...)...)
	c.await()
}

// startWithin bounds the start of an API server: it takes 6 seconds on an idle machine.
const startWithin = 4 * time.Minute

// await waits until the API server is ready.
func (c *Cluster) await() {
	c.t.Helper()
	client, err := c.HTTP(c.Admin, c.AdminKey)
	c.must(err)
	defer client.CloseIdleConnections()
	ended := time.After(startWithin)
	for {
		if answer, err := client.Get("https://" + c.Endpoint + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-c.server.done:
			c.t.Fatal("the API server ended while it started")
		case <-ended:
			c.t.Fatalf("the API server was not ready within %s", startWithin)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// HTTP is a client with a certificate, and with the authority of the cluster.
func (c *Cluster) HTTP(certificate, key []byte) (*http.Client, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: c.pool(), Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}, nil
}

func (c *Cluster) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.cert)
	return pool
}

// control starts a controller manager that signs certificates with the authority of the cluster.
func (c *Cluster) control(controllers string) {
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: 'https://%s', certificate-authority: %s}}]\n"+
		"users: [{name: u, user: {client-certificate: %s, client-key: %s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n",
		c.Endpoint, c.path("ca.crt"), c.path("admin.crt"), c.path("admin.key"))
	c.must(os.WriteFile(c.path("kubeconfig"), []byte(config), 0o600))
	c.start("kube-controller-manager", "--kubeconfig", c.path("kubeconfig"), "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", FreePort(c.t),
		"--cluster-signing-cert-file", c.path("ca.crt"), "--cluster-signing-key-file", c.path("ca.key"), "--cert-dir", c.t.TempDir(), "--controllers", controllers)
}

// Kill ends the API server at once. What it kept stays.
func (c *Cluster) Kill() {
	_ = c.server.cmd.Process.Kill()
	<-c.server.done
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) authority() {
	var err error
	c.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	c.must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &c.key.PublicKey, c.key)
	c.must(err)
	c.cert, err = x509.ParseCertificate(der)
	c.must(err)
	c.CA = c.write("ca.crt", "CERTIFICATE", der)
	private, err := x509.MarshalECPrivateKey(c.key)
	c.must(err)
	c.write("ca.key", "EC PRIVATE KEY", private)
}

// NewAuthority is the authority (PEM) of no cluster.
func NewAuthority(t *testing.T) []byte {
	t.Helper()
	other := &Cluster{t: t, dir: t.TempDir()}
	other.authority()
	return other.CA
}

// Sign signs a request for a client certificate (PEM), as the authority on a control plane does.
func (c *Cluster) Sign(request string, valid time.Duration) (string, error) {
	block, _ := pem.Decode([]byte(request))
	if block == nil {
		return "", errors.New("it is no request")
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return "", err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: asked.Subject, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(valid),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, c.cert, asked.PublicKey, c.key)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), err
}

// Issue makes a certificate for loopback, signed by the authority of the cluster, and its key.
func (c *Cluster) Issue(name string, subject pkix.Name) (certificate, key []byte) {
	c.t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	c.must(err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	c.must(err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2), net.IPv4(127, 0, 0, 3)}, DNSNames: []string{"localhost"},
	}, c.cert, &made.PublicKey, c.key)
	c.must(err)
	private, err := x509.MarshalPKCS8PrivateKey(made)
	c.must(err)
	return c.write(name+".crt", "CERTIFICATE", der), c.write(name+".key", "PRIVATE KEY", private)
}

func (c *Cluster) write(name, kind string, der []byte) []byte {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	c.must(os.WriteFile(c.path(name), text, 0o600))
	return text
}

// Eventually waits for what a cluster does by itself.
func (c *Cluster) Eventually(what string, holds func() error) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = holds(); err == nil {
			return
		}
	}
	c.t.Fatalf("in vain: waited for %s: %v", what, err)
}

// FreePort is one that nothing listens on.
func FreePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start runs a program until the test ends. What it said is told where the test fails.
func (c *Cluster) start(program string, args ...string) *process {
	c.t.Helper()
	return c.startWith(nil, program, args...)
}

// startWith is start with more variables in its environment.
func (c *Cluster) startWith(environment []string, program string, args ...string) *process {
	c.t.Helper()
	said, err := os.Create(filepath.Join(c.t.TempDir(), program+".log"))
	c.must(err)
	p := &process{exec.Command(c.Builder.Path(program), args...), make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = said, said
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.must(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	c.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		_ = said.Close()
		if text, err := os.ReadFile(said.Name()); err == nil && c.t.Failed() {
			c.t.Logf("%s: %s", program, text[max(0, len(text)-3000):])
		}
	})
	return p
}
