package realkube

import (
	"bytes"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
)

// Do asks the API server as an administrator. in and out may be nil; the type of a patch is that of a merge.
func (c *Cluster) Do(method, path string, in, out any) int {
	c.t.Helper()
	client, err := c.HTTP(c.Admin, c.AdminKey)
	c.must(err)
	defer client.CloseIdleConnections()
	text, err := json.Marshal(in)
	c.must(err)
	request, err := http.NewRequestWithContext(c.t.Context(), method, "https://"+c.Endpoint+path, bytes.NewReader(text))
	c.must(err)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := client.Do(request)
	c.must(err)
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	c.must(err)
	return answer.StatusCode
}

// Must is Do for what has to succeed.
func (c *Cluster) Must(method, path string, in, out any) {
	c.t.Helper()
	var answer any
	if out == nil {
		out = &answer
	}
	if status := c.Do(method, path, in, out); status < 200 || status > 299 {
		c.t.Fatalf("%s %s: %d %v", method, path, status, out)
	}
}

// Webhook has the API server ask somebody before it makes objects of a kind, until the function that it returns is called. judge says
// why one is refused, "" for none; it may take its time.
func (c *Cluster) Webhook(group, version, resource string, judge func() string) (remove func()) {
	c.t.Helper()
	certificate, key := c.Issue("webhook", pkix.Name{CommonName: "webhook"})
	pair, err := tls.X509KeyPair(certificate, key)
	c.must(err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		why := judge()
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{
			"uid": review.Request.UID, "allowed": why == "", "status": map[string]any{"message": why},
		}})
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	c.t.Cleanup(server.Close)
	const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	c.Must(http.MethodPost, path, map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "judge-" + resource},
		"webhooks": []any{map[string]any{
			"name": "judge.kloigos.io", "sideEffects": "None", "admissionReviewVersions": []any{"v1"}, "timeoutSeconds": 30,
			"clientConfig": map[string]any{"url": server.URL, "caBundle": c.CA},
			"rules":        []any{map[string]any{"apiGroups": []any{group}, "apiVersions": []any{version}, "operations": []any{"CREATE"}, "resources": []any{resource}}},
		}},
	}, nil)
	return func() { c.Must(http.MethodDelete, path+"/judge-"+resource, nil, nil) }
}
