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

// Etcd is a member of etcd as kubeadm makes it: with TLS, and for clients that show a certificate.
type Etcd struct {
	Name     string // k1, k2 or k3
	Address  string // of loopback, each member its own
	Endpoint string // URL
	PKI      string // directory with ca.crt and the certificates of server and client, under kubeadm's names
	Data     string // directory
	PeerPort string // the same for all members
	Builder  kube.Builder

	c       *Cluster
	cluster string // the members, as a flag names them
	state   string // "new", or "existing" of one that joined
	process *process
}

// NewEtcd starts an etcd of one member on an empty directory until the test ends. It is skipped where New is.
func NewEtcd(t *testing.T) *Etcd {
	t.Helper()
	return NewEtcds(t, 1)[0]
}

// NewEtcds starts the members, at most three, of an etcd.
func NewEtcds(t *testing.T, members int) (all []*Etcd) {
	t.Helper()
	dir, err := kube.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("KLOIGOS_TEST_KUBE") == "" {
		t.Skip("runs in ./task test:kube, which sets KLOIGOS_TEST_KUBE")
	}
	builder := kube.Builder{Dir: dir, Log: io.Discard}
	if missing := builder.Missing("etcd", "etcdutl"); len(missing) > 0 {
		t.Skipf("not built: %s; run ./task kube:binaries", strings.Join(missing, ", "))
	}
	c := &Cluster{t: t, Builder: builder, dir: t.TempDir()}
	c.authority()
	c.Issue("server", pkix.Name{CommonName: "etcd"})
	c.Issue("peer", pkix.Name{CommonName: "etcd"})
	c.Issue("healthcheck-client", pkix.Name{CommonName: "kube-etcd-healthcheck-client"})
	port, peer := FreePort(t), FreePort(t)
	var named []string
	for n := 1; n <= members; n++ {
		e := &Etcd{Name: fmt.Sprintf("k%d", n), Address: fmt.Sprintf("127.0.0.%d", n), PKI: c.dir + "/", Data: t.TempDir() + "/etcd", PeerPort: peer, Builder: builder, c: c}
		e.Endpoint = "https://" + e.Address + ":" + port
		named = append(named, e.Name+"="+e.Peer())
		all = append(all, e)
	}
	for _, e := range all {
		e.cluster, e.state = strings.Join(named, ","), "new"
		e.Launch()
	}
	for _, e := range all {
		e.await()
	}
	return all
}

// Peer is the URL at which other members reach it.
func (e *Etcd) Peer() string { return "https://" + e.Address + ":" + e.PeerPort }

// Args are the flags of the static pod that kubeadm makes.
func (e *Etcd) Args() []string {
	return []string{
		"--name=" + e.Name, "--data-dir=" + e.Data, "--listen-client-urls=" + e.Endpoint, "--advertise-client-urls=" + e.Endpoint, "--listen-peer-urls=" + e.Peer(),
		"--initial-advertise-peer-urls=" + e.Peer(), "--initial-cluster=" + e.cluster, "--initial-cluster-state=" + e.state, "--cert-file=" + e.PKI + "server.crt", "--key-file=" + e.PKI + "server.key",
		"--trusted-ca-file=" + e.PKI + "ca.crt", "--client-cert-auth=true", "--peer-cert-file=" + e.PKI + "peer.crt", "--peer-key-file=" + e.PKI + "peer.key",
		"--peer-trusted-ca-file=" + e.PKI + "ca.crt", "--peer-client-cert-auth=true", "--snapshot-count=10000", "--unsafe-no-fsync",
	}
}

// Launch starts the member, again after Kill, and waits for nothing: it answers once a majority runs.
func (e *Etcd) Launch() { e.process = e.c.start("etcd", e.Args()...) }

// Join has a member that was killed begin anew: on an empty directory it joins the one member of another etcd, first as a learner, as kubeadm does.
func (e *Etcd) Join(other *Etcd) error {
	if err := os.RemoveAll(e.Data); err != nil {
		return err
	}
	said, err := other.Ask("/v3/cluster/member/add", map[string]any{"peerURLs": []string{e.Peer()}, "isLearner": true})
	if err != nil {
		return fmt.Errorf("add a member: %w", err)
	}
	e.cluster, e.state = other.Name+"="+other.Peer()+","+e.Name+"="+e.Peer(), "existing"
	e.Launch()
	id := said["member"].(map[string]any)["ID"]
	for ended := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // etcd promotes only one that is in sync
		_, err := other.Ask("/v3/cluster/member/promote", map[string]any{"ID": id})
		if err == nil || time.Now().After(ended) {
			return err
		}
	}
}

// Start starts the member and waits until it answers.
func (e *Etcd) Start() {
	e.c.t.Helper()
	e.Launch()
	e.await()
}

func (e *Etcd) await() {
	e.c.t.Helper()
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
