package kubeapi

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kloigos/backend/internal/testkit/realkube"
)

// A provider's token lets its user in under a name that begins with oidc:, so that it names nobody of Kloigos and no group of the
// cluster. The flags are those that kloigos_kubeadm gives; the provider is one of this test.
func TestRealOIDC(t *testing.T) {
	c := realkube.New(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	issuer := provider(t, c, &key.PublicKey)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, c.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Kill()
	c.Start("--oidc-issuer-url="+issuer, "--oidc-client-id=kubernetes", "--oidc-username-claim=email", "--oidc-username-prefix=oidc:",
		"--oidc-groups-claim=groups", "--oidc-groups-prefix=oidc:", "--oidc-ca-file="+authority)
	ask := func(client string) (int, string) { return asBearer(t, c, token(t, key, issuer, client)) }
	eventually(t, "the provider to be known", func() error {
		if status, said := ask("kubernetes"); status != http.StatusForbidden {
			return &Error{Status: status, Message: said}
		}
		return nil
	})
	if _, said := ask("kubernetes"); !strings.Contains(said, `User \"oidc:kloigos:ada@example.org\" cannot list`) {
		t.Errorf("it says %s", said)
	}
	if status, said := ask("somebody"); status != http.StatusUnauthorized {
		t.Errorf("a token for another client: %d %s", status, said)
	}
}

// provider answers discovery and keys, over TLS.
func provider(t *testing.T, c *realkube.Cluster, key *rsa.PublicKey) string {
	t.Helper()
	certificate, secret := c.Issue("provider", pkix.Name{CommonName: "provider"})
	pair, err := tls.X509KeyPair(certificate, secret)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	var server *httptest.Server
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{
				"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
			}}})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": server.URL, "jwks_uri": server.URL + "/keys", "authorization_endpoint": server.URL + "/authorize", "response_types_supported": []any{"code"},
			"subject_types_supported": []any{"public"}, "id_token_signing_alg_values_supported": []any{"RS256"},
		})
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// token is one of a user who calls itself like a user of Kloigos, in a group of administrators.
func token(t *testing.T, key *rsa.PrivateKey, issuer, client string) string {
	t.Helper()
	part := func(fields map[string]any) string {
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]any{"alg": "RS256", "kid": "one"}) + "." + part(map[string]any{
		"iss": issuer, "aud": client, "sub": "7", "email": "kloigos:ada@example.org", "groups": []any{"system:masters", "kubeadm:cluster-admins"},
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
	})
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// asBearer lists secrets with a token alone.
func asBearer(t *testing.T, c *realkube.Cluster, bearer string) (status int, said string) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.CA)
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+c.Endpoint+"/api/v1/secrets", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
