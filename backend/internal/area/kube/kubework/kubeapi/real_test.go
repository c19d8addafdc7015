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
	"net/http"
	"testing"
	"time"

	"kloigos/backend/internal/testkit/realkube"
)

// realCluster is etcd, an API server and a controller manager; it returns what reaches it as an administrator.
func realCluster(t *testing.T) Config {
	t.Helper()
	c := realkube.New(t, "csrsigning", "tokencleaner", "clusterrole-aggregation")
	return Config{Endpoint: c.Endpoint, CA: c.CA, Certificate: c.Admin, Key: c.AdminKey}
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
		if err := admin.Bindings().Create(ctx, b); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the binding to count", pods)
		showNodes(ctx, t, admin, person)
		b.Role = "edit"
		if err := admin.Bindings().Create(ctx, b); err != nil { // in place of the other
			t.Fatal(err)
		}
		if found, err := admin.Bindings().List(ctx); err != nil || len(found) != 1 || found[0] != b {
			t.Errorf("bindings %+v, %v", found, err)
		}
		for range 2 {
			if err := admin.Bindings().Delete(ctx, b); err != nil {
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
		if is, err := admin.Bindings().ShowsNodes(ctx); is != want || err != nil {
			t.Errorf("nodes are shown: %t, %v", is, err)
		}
	}
	shown(false)
	if err := admin.Bindings().ShowNodes(ctx); err != nil {
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
	if err := admin.Bindings().ShowNodes(ctx); err != nil {
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
