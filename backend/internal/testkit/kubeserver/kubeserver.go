// Package kubeserver answers the few requests that Kloigos sends to the API server of a cluster, for tests of orchestration:
// order, retries, takeovers. It proves nothing about Kubernetes; the tests behind `./task test:kube` do, with a real one.
package kubeserver

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is one cluster: its authority, and what its API server holds.
type Server struct {
	Endpoint string // host:port
	CA       string // PEM

	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate

	mu       sync.Mutex
	nodes    map[string]bool   // name to ready
	planes   map[string]bool   // names of control planes
	kubelets map[string]string // versions, by node; that of the server if a node is not in it
	cordoned map[string]bool
	pods     map[string][]Pod // by node
	objects  map[string]json.RawMessage
	requests []string
	refuse   func(method, path string) int
	version  string
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, key: key, nodes: map[string]bool{}, planes: map[string]bool{}, kubelets: map[string]string{}, cordoned: map[string]bool{}, pods: map[string][]Pod{}, objects: map[string]json.RawMessage{}, version: "v1.36.3"}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if s.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	s.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{s.serving()}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: s.pool(), MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.Endpoint = server.Listener.Addr().String()
	return s
}

func (s *Server) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.cert)
	return pool
}

func (s *Server) serving() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, s.cert, &key.PublicKey, s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Sign signs a request for a client certificate (PEM), as the authority on a control plane does.
func (s *Server) Sign(request string, valid time.Duration) string {
	block, _ := pem.Decode([]byte(request))
	if block == nil {
		s.t.Errorf("no request: %q", request)
		return ""
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		s.t.Error(err)
		return ""
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		s.t.Error(err)
		return ""
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: asked.Subject, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(valid),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, s.cert, asked.PublicKey, s.key)
	if err != nil {
		s.t.Error(err)
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// SetNode adds a node, or says whether it is ready.
func (s *Server) SetNode(name string, ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[name] = ready
}

// SetControlPlane says that a node is a control plane.
func (s *Server) SetControlPlane(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planes[name] = true
}

// SetKubelet says which version the kubelet of a node has.
func (s *Server) SetKubelet(name, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kubelets[name] = version
}

// Pod runs on a node until it is evicted.
type Pod struct {
	Name    string
	Refused int // evictions that its disruption budget refuses before one goes
}

// SetPods says what runs on a node.
func (s *Server) SetPods(node string, pods ...Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[node] = pods
}

// Knows tells whether the cluster has a node, and whether new pods are kept off it.
func (s *Server) Knows(node string) (known, cordoned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known = s.nodes[node]
	return known, s.cordoned[node]
}

// Put keeps an object as somebody else would make it.
func (s *Server) Put(path string, body map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(path, body)
}

// SetVersion says which version the API server has.
func (s *Server) SetVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// Refuse answers requests with a status; 0 lets one through.
func (s *Server) Refuse(f func(method, path string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = f
}

// Names are the names of the objects whose path begins so, in order.
func (s *Server) Names(prefix string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.objects {
		if name, is := strings.CutPrefix(path, prefix+"/"); is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Requests are what was asked, in order: method and path.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Delete deletes an object as somebody else would.
func (s *Server) Delete(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, path)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if s.refuse != nil {
		if status := s.refuse(r.Method, r.URL.Path); status != 0 {
			s.answer(w, status, map[string]any{"reason": http.StatusText(status), "message": "refused by the test"})
			return
		}
	}
	var body map[string]any
	if r.Body != nil && (r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			s.answer(w, http.StatusBadRequest, map[string]any{"message": err.Error()})
			return
		}
	}
	switch {
	case r.URL.Path == "/version":
		s.answer(w, http.StatusOK, map[string]any{"gitVersion": s.version})
	case r.URL.Path == "/readyz":
		_, _ = w.Write([]byte("ok"))
	case r.URL.Path == "/api/v1/nodes":
		s.answer(w, http.StatusOK, map[string]any{"items": s.nodeList()})
	case strings.HasPrefix(r.URL.Path, "/api/v1/nodes/"):
		s.node(w, r.Method, strings.TrimPrefix(r.URL.Path, "/api/v1/nodes/"), body)
	case r.URL.Path == "/api/v1/pods":
		s.answer(w, http.StatusOK, map[string]any{"items": s.podList(strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "spec.nodeName="))})
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/eviction"):
		s.evict(w, body)
	case r.Method == http.MethodPost:
		s.create(w, r.URL.Path, body)
	case r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/approval"):
		s.approve(w, strings.TrimSuffix(r.URL.Path, "/approval"), body)
	case r.Method == http.MethodDelete:
		if _, ok := s.objects[r.URL.Path]; !ok {
			s.answer(w, http.StatusNotFound, map[string]any{"reason": "NotFound"})
			return
		}
		delete(s.objects, r.URL.Path)
		s.answer(w, http.StatusOK, map[string]any{})
	case r.Method == http.MethodGet:
		s.read(w, r.URL.Path)
	default:
		s.answer(w, http.StatusMethodNotAllowed, map[string]any{})
	}
}

func (s *Server) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *Server) nodeList() (items []any) {
	for name, ready := range s.nodes {
		status := map[bool]string{true: "True", false: "False"}[ready]
		labels := map[string]any{}
		if s.planes[name] {
			labels["node-role.kubernetes.io/control-plane"] = ""
		}
		items = append(items, map[string]any{"metadata": map[string]any{"name": name, "labels": labels}, "spec": map[string]any{"unschedulable": s.cordoned[name]}, "status": map[string]any{
			"nodeInfo":   map[string]any{"kubeletVersion": cmp.Or(s.kubelets[name], s.version)},
			"conditions": []any{map[string]any{"type": "Ready", "status": status, "reason": "KubeletNotReady", "message": "no network"}},
		}})
	}
	return items
}

func (s *Server) node(w http.ResponseWriter, method, name string, body map[string]any) {
	if _, known := s.nodes[name]; !known {
		s.answer(w, http.StatusNotFound, map[string]any{"reason": "NotFound"})
		return
	}
	switch method {
	case http.MethodPatch:
		spec, _ := body["spec"].(map[string]any)
		s.cordoned[name], _ = spec["unschedulable"].(bool)
	case http.MethodDelete:
		delete(s.nodes, name)
	}
	s.answer(w, http.StatusOK, map[string]any{})
}

func (s *Server) podList(node string) []any {
	items := []any{}
	for on, pods := range s.pods {
		for _, p := range pods {
			if node == "" || on == node {
				items = append(items, map[string]any{"metadata": map[string]any{"name": p.Name, "namespace": "default"}})
			}
		}
	}
	return items
}

// evict lets a pod go at once, or refuses as a disruption budget does.
func (s *Server) evict(w http.ResponseWriter, body map[string]any) {
	metadata, _ := body["metadata"].(map[string]any)
	for node, pods := range s.pods {
		at := slices.IndexFunc(pods, func(p Pod) bool { return p.Name == metadata["name"] })
		if at < 0 {
			continue
		}
		if pods[at].Refused > 0 {
			pods[at].Refused--
			s.answer(w, http.StatusTooManyRequests, map[string]any{"reason": "TooManyRequests", "message": "Cannot evict pod as it would violate the pod's disruption budget."})
			return
		}
		s.pods[node] = slices.Delete(pods, at, at+1)
		s.answer(w, http.StatusCreated, map[string]any{})
		return
	}
	s.answer(w, http.StatusNotFound, map[string]any{"reason": "NotFound"})
}

func (s *Server) create(w http.ResponseWriter, path string, body map[string]any) {
	metadata, _ := body["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if _, taken := s.objects[path+"/"+name]; taken || name == "" {
		s.answer(w, http.StatusConflict, map[string]any{"reason": "AlreadyExists", "message": name})
		return
	}
	s.keep(path+"/"+name, body)
	s.answer(w, http.StatusCreated, body)
}

func (s *Server) keep(path string, body map[string]any) {
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Error(err)
	}
	s.objects[path] = text
}

func (s *Server) read(w http.ResponseWriter, path string) {
	if one, ok := s.objects[path]; ok {
		s.answer(w, http.StatusOK, one)
		return
	}
	items := []json.RawMessage{}
	for at, one := range s.objects {
		if rest, is := strings.CutPrefix(at, path+"/"); is && !strings.Contains(rest, "/") {
			items = append(items, one)
		}
	}
	s.answer(w, http.StatusOK, map[string]any{"items": items})
}

func (s *Server) approve(w http.ResponseWriter, path string, body map[string]any) {
	spec, _ := body["spec"].(map[string]any)
	var request []byte
	text, err := json.Marshal(spec["request"])
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	seconds, _ := spec["expirationSeconds"].(float64)
	if err != nil || s.objects[path] == nil {
		s.answer(w, http.StatusNotFound, map[string]any{"reason": "NotFound"})
		return
	}
	status, _ := body["status"].(map[string]any)
	status["certificate"] = []byte(s.Sign(string(request), time.Duration(seconds)*time.Second))
	s.keep(path, body)
	s.answer(w, http.StatusOK, body)
}
