package realkube

import (
	"bytes"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"kloigos/rig/kube"
)

// Etcd is an etcd as kubeadm makes it: with TLS, and for clients that show a certificate.
type Etcd struct {
	Endpoint string // URL
	PKI      string // directory with ca.crt and the certificates of server and client, under kubeadm's names
	Data     string // directory
	Peer     string // URL
	Builder  kube.Builder

	c       *Cluster
	process *process
}

// NewEtcd starts an etcd on an empty directory until the test ends. It is skipped where New is.
func NewEtcd(t *testing.T) *Etcd {
	t.Helper()
	dir, err := kube.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("KLOIGOS_TEST_KUBE") == "" {
		t.Skip("runs in ./task test:kube, which sets KLOIGOS_TEST_KUBE")
	}
	e := &Etcd{Builder: kube.Builder{Dir: dir, Log: io.Discard}}
	if missing := e.Builder.Missing("etcd", "etcdutl"); len(missing) > 0 {
		t.Skipf("not built: %s; run ./task kube:binaries", strings.Join(missing, ", "))
	}
	e.c = &Cluster{t: t, Builder: e.Builder, dir: t.TempDir()}
	e.PKI = e.c.dir + "/"
	e.c.authority()
	e.c.Issue("server", pkix.Name{CommonName: "k1"})
	e.c.Issue("peer", pkix.Name{CommonName: "k1"})
	e.c.Issue("healthcheck-client", pkix.Name{CommonName: "kube-etcd-healthcheck-client"})
	e.Endpoint, e.Peer = "https://127.0.0.1:"+FreePort(t), "https://127.0.0.1:"+FreePort(t)
	e.Data = t.TempDir() + "/etcd"
	e.Start()
	return e
}

// args are the flags of the static pod that kubeadm makes.
func (e *Etcd) args() []string {
	return []string{
		"--name=k1", "--data-dir=" + e.Data, "--listen-client-urls=" + e.Endpoint, "--advertise-client-urls=" + e.Endpoint, "--listen-peer-urls=" + e.Peer,
		"--initial-advertise-peer-urls=" + e.Peer, "--initial-cluster=k1=" + e.Peer, "--cert-file=" + e.PKI + "server.crt", "--key-file=" + e.PKI + "server.key",
		"--trusted-ca-file=" + e.PKI + "ca.crt", "--client-cert-auth=true", "--peer-cert-file=" + e.PKI + "peer.crt", "--peer-key-file=" + e.PKI + "peer.key",
		"--peer-trusted-ca-file=" + e.PKI + "ca.crt", "--peer-client-cert-auth=true", "--snapshot-count=10000", "--unsafe-no-fsync",
	}
}

// Start starts etcd, again after Kill, and waits until it answers.
func (e *Etcd) Start() {
	e.c.t.Helper()
	e.process = e.c.start("etcd", e.args()...)
	ended := time.After(time.Minute)
	for {
		if _, err := e.Ask("/v3/maintenance/status", map[string]any{}); err == nil {
			return
		}
		select {
		case <-e.process.done:
			e.c.t.Fatal("etcd ended while it started")
		case <-ended:
			e.c.t.Fatal("etcd did not answer within a minute")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Kill ends etcd at once.
func (e *Etcd) Kill() {
	_ = e.process.cmd.Process.Kill()
	<-e.process.done
}

// Ask asks the JSON gateway of etcd.
func (e *Etcd) Ask(path string, body map[string]any) (answer map[string]any, err error) {
	pair, err := tls.LoadX509KeyPair(e.PKI+"healthcheck-client.crt", e.PKI+"healthcheck-client.key")
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: e.c.pool(), Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}}
	defer client.CloseIdleConnections()
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	said, err := client.Post(e.Endpoint+path, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer said.Body.Close()
	if said.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("etcd answers %s", said.Status)
	}
	return answer, json.NewDecoder(said.Body).Decode(&answer)
}
