// Package managementserver stands in for a management cluster with Kamaji, where a test is about jobs and not about Kubernetes: it
// keeps what is applied, and does to a control plane at once what Kamaji does in seconds. What server-side apply, webhooks and Kamaji
// really do is tested against the real ones (area/kube/kubework/kamaji).
package managementserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// Server is a management cluster.
type Server struct {
	URL string
	CA  string // PEM

	t        *testing.T
	mu       sync.Mutex
	objects  map[string]map[string]any
	requests []string
	refuse   func(method, path string) (status int, message string)
	after    func(method, path string)
	admin    func() string
	asleep   bool // Kamaji does nothing
}

// Token reaches the server.
const Token = "management-token"

// New starts a server until the test ends. admin is the kubeconfig that Kamaji makes for a control plane.
func New(t *testing.T, admin func() string) *Server {
	t.Helper()
	s := &Server{t: t, objects: map[string]map[string]any{}, admin: admin}
	s.objects[kamaji+"/datastores/default"] = map[string]any{"metadata": map[string]any{"name": "default"}}
	server := httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	s.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return s
}

// Kubeconfig reaches the server.
func (s *Server) Kubeconfig() string { return Kubeconfig(s.URL, s.CA, "token: "+Token) }

// Kubeconfig is a kubeconfig for a server; user are its credentials.
func Kubeconfig(url, ca, user string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '%s', certificate-authority-data: %s}}]\n"+
		"users: [{name: u, user: {%s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", url, base64.StdEncoding.EncodeToString([]byte(ca)), user)
}

// Client is a kubeconfig with a client certificate that sign makes of a request (PEM).
func Client(t *testing.T, url, ca string, sign func(request string) string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := sign(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})))
	encode := func(text []byte) string { return base64.StdEncoding.EncodeToString(text) }
	return Kubeconfig(url, ca, "client-certificate-data: "+encode([]byte(certificate))+", client-key-data: "+
		encode(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

const kamaji = "/apis/kamaji.clastix.io/v1alpha1"

// collections are the last parts of paths that lead to lists.
var collections = []string{"tenantcontrolplanes", "deployments", "services", "secrets", "configmaps", "ingresses", "replicasets", "namespaces"}

// Refuse answers requests with a status and a text; 0 lets one through.
func (s *Server) Refuse(f func(method, path string) (status int, message string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = f
}

// After is called after a request was carried out and before it is answered: a panic in it loses the answer.
func (s *Server) After(f func(method, path string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = f
}

// Pause has Kamaji do nothing, or go on.
func (s *Server) Pause(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asleep = paused
}

// Paths are the paths of all objects, but for the data store, in order.
func (s *Server) Paths() (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.objects {
		if !strings.Contains(path, "/datastores/") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Put makes an object as somebody else would.
func (s *Server) Put(path string, object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = object
}

// Plane is a control plane as it was applied last; nil for none.
func (s *Server) Plane(namespace, name string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[kamaji+"/namespaces/"+namespace+"/tenantcontrolplanes/"+name]
}

// Count is how often something was asked: method and path.
func (s *Server) Count(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.requests {
		if each == request {
			n++
		}
	}
	return n
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	after := s.carryOut(w, r)
	if after != nil {
		after(r.Method, r.URL.Path)
	}
}

func (s *Server) carryOut(w http.ResponseWriter, r *http.Request) func(method, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if r.Header.Get("Authorization") != "Bearer "+Token {
		s.refused(w, http.StatusUnauthorized, "who are you?")
		return nil
	}
	if s.refuse != nil {
		if status, message := s.refuse(r.Method, r.URL.Path); status != 0 {
			s.refused(w, status, message)
			return nil
		}
	}
	path := r.URL.Path
	for _, object := range s.objects {
		if object["kind"] == nil { // of somebody else
			object["apiVersion"], object["kind"] = "v1", "Something"
		}
	}
	switch object, there := s.objects[path]; {
	case path == "/version":
		s.answer(w, map[string]any{"gitVersion": "v1.36.3"})
	case r.Method == http.MethodPatch:
		s.applied(w, r, path)
		return s.after
	case r.Method == http.MethodDelete && there:
		s.deleted(path)
		s.answer(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		return s.after
	case r.Method == http.MethodGet && there:
		s.answer(w, object)
	case r.Method == http.MethodGet && slices.Contains(collections, path[strings.LastIndexByte(path, '/')+1:]):
		s.list(w, path)
	default:
		s.refused(w, http.StatusNotFound, "there is no "+path)
	}
	return nil
}

func (s *Server) answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

func (s *Server) refused(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	reason := strings.ReplaceAll(http.StatusText(status), " ", "")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason, "message": message})
}

func (s *Server) list(w http.ResponseWriter, path string) {
	kind := path[strings.LastIndexByte(path, '/')+1:]
	items := []any{}
	for at, object := range s.objects {
		parent, _, _ := strings.Cut(at[strings.LastIndex(at, "/"+kind+"/")+1:], "/")
		if strings.Contains(at, "/"+kind+"/") && parent == kind && (strings.HasPrefix(at, path+"/") || !strings.Contains(path, "/namespaces/")) {
			items = append(items, object)
		}
	}
	s.answer(w, map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": items})
}

func (s *Server) applied(w http.ResponseWriter, r *http.Request, path string) {
	var object map[string]any
	if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
		s.refused(w, http.StatusBadRequest, err.Error())
		return
	}
	metadata := object["metadata"].(map[string]any)
	if before, there := s.objects[path]; there {
		uid := before["metadata"].(map[string]any)["uid"]
		if metadata["uid"] != nil && metadata["uid"] != uid {
			s.refused(w, http.StatusConflict, "another uid")
			return
		}
		metadata["uid"] = uid
		object["status"] = before["status"]
	} else {
		metadata["uid"] = uuid.NewString()
	}
	s.objects[path] = object
	if strings.Contains(path, "/tenantcontrolplanes/") && !s.asleep {
		s.reconcile(path, object)
	}
	s.answer(w, object)
}

// reconcile does what Kamaji does: the secret with the kubeconfig, a Deployment, and the status.
func (s *Server) reconcile(path string, object map[string]any) {
	_, rest, _ := strings.Cut(path, "/namespaces/")
	namespace, _, _ := strings.Cut(rest, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	spec := object["spec"].(map[string]any)
	version := spec["kubernetes"].(map[string]any)["version"]
	count := spec["controlPlane"].(map[string]any)["deployment"].(map[string]any)["replicas"]
	labels := map[string]any{"kamaji.clastix.io/name": name}
	s.objects["/api/v1/namespaces/"+namespace+"/secrets/"+name+"-admin-kubeconfig"] = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name + "-admin-kubeconfig", "namespace": namespace, "labels": labels},
		"data": map[string]any{"super-admin.conf": base64.StdEncoding.EncodeToString([]byte(s.admin()))},
	}
	s.objects["/apis/apps/v1/namespaces/"+namespace+"/deployments/"+name] = map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": namespace, "labels": labels},
	}
	object["status"] = map[string]any{
		"controlPlaneEndpoint": "127.0.0.1:6443",
		"kubeconfig":           map[string]any{"admin": map[string]any{"secretName": name + "-admin-kubeconfig"}},
		"addons":               map[string]any{"konnectivity": map[string]any{"enabled": true}},
		"kubernetesResources": map[string]any{
			"version":    map[string]any{"status": "Ready", "version": version},
			"deployment": map[string]any{"replicas": count, "readyReplicas": count},
		},
	}
}

// deleted deletes an object. Nobody collects what it owned: no controller manager runs here.
func (s *Server) deleted(path string) { delete(s.objects, path) }

// Requests are what was asked, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}
