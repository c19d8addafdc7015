// Package idp is an identity provider on loopback that a test makes as hostile as it likes: what it answers to discovery, to a
// code, about its keys and about a person can each be changed. Left alone it is a correct one, which checks what it is asked.
package idp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Secret is that of the client, which has the id Client.
const (
	Client = "kloigos"
	Secret = "a secret of the client"
)

// Provider is an identity provider. Its fields are changed between requests, under Change.
type Provider struct {
	URL string

	mu       sync.Mutex
	key      *ecdsa.PrivateKey
	kid      string
	codes    map[string]request
	asked    map[string]int
	behavior Behavior
}

// Behavior is what the provider does otherwise than a correct one. Its zero value changes nothing.
type Behavior struct {
	Subject   string                                        // who logs in; "" is 'ada'
	Claims    map[string]any                                // besides those that a token has; nil as value leaves one out
	UserInfo  map[string]any                                // the whole answer about the person; nil: sub only
	Discovery map[string]any                                // in place of fields of the discovery document
	Sign      func(claims map[string]any) string            // makes the ID token
	Serve     func(http.ResponseWriter, *http.Request) bool // answers itself and returns true
}

type request struct{ nonce, challenge, redirect, subject string }

// New starts a provider, which ends with the test.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{codes: map[string]request{}, asked: map[string]int{}}
	p.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("/authorize", p.authorize)
	mux.HandleFunc("/token", p.token)
	mux.HandleFunc("/keys", p.keys)
	mux.HandleFunc("/userinfo", p.userInfo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked[r.URL.Path]++
		serve := p.behavior.Serve
		p.mu.Unlock()
		if serve == nil || !serve(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Behave makes the provider behave in another way from now on.
func (p *Provider) Behave(b Behavior) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.behavior = b
}

// Rotate gives the provider another key; the one before proves nothing from then on.
func (p *Provider) Rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.kid = key, random()
}

// Asked is how often a path was asked for.
func (p *Provider) Asked(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

func random() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	doc := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys", "userinfo_endpoint": p.URL + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
		"authorization_response_iss_parameter_supported": true,
	}
	for name, value := range p.behavior.Discovery {
		doc[name] = value
	}
	answer(w, http.StatusOK, doc)
}

// authorize lets whoever comes in as the subject at once.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	if q.Get("client_id") != Client || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" {
		http.Error(w, "not a request of this client", http.StatusBadRequest)
		return
	}
	code, subject := random(), p.behavior.Subject
	if subject == "" {
		subject = "ada"
	}
	p.codes[code] = request{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri"), subject}
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, "no redirect URI", http.StatusBadRequest)
		return
	}
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	asked, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	unescaped, _ := url.QueryUnescape(secret)
	switch {
	case id != Client || unescaped != Secret:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	case !known || asked.redirect != r.PostFormValue("redirect_uri") || asked.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{
		"iss": p.URL, "sub": asked.subject, "aud": Client, "nonce": asked.nonce, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"preferred_username": asked.subject, "email": asked.subject + "@example.org",
	}
	for name, value := range p.behavior.Claims {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	sign := p.sign
	if p.behavior.Sign != nil {
		sign = p.behavior.Sign
	}
	answer(w, http.StatusOK, map[string]any{"access_token": "access " + asked.subject, "token_type": "Bearer", "expires_in": 300, "id_token": sign(claims)})
}

func (p *Provider) sign(claims map[string]any) string {
	return Sign(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.kid}}, claims)
}

// Sign makes a token of claims with a key.
func Sign(key jose.SigningKey, claims map[string]any) string {
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		panic(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return out
}

// Unsigned makes a token with the algorithm none.
func Unsigned(claims map[string]any) string {
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	part := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf("%s.%s.", part([]byte(`{"alg":"none","typ":"JWT"}`)), part(text))
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: p.kid, Algorithm: "ES256", Use: "sig"}}})
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info := p.behavior.UserInfo
	if info == nil {
		subject := p.behavior.Subject
		if subject == "" {
			subject = "ada"
		}
		info = map[string]any{"sub": subject}
	}
	answer(w, http.StatusOK, info)
}

// Browser asks for an address of the provider and returns what it sends the browser back with.
func Browser(t testing.TB, address string) url.Values {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	back, err := got.Location()
	if err != nil {
		t.Fatalf("the provider answered %d and sends nobody back", got.StatusCode)
	}
	return back.Query()
}
