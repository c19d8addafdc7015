package iamoidc_test

import (
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamoidc"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/testkit/idp"
)

const (
	discoveryPath = "/.well-known/openid-configuration"
	longestWait   = 12 * time.Second // for a provider that never ends its answer; each request has five
)

// setup starts a provider on loopback, and a client that may ask it but not 127.0.0.2.
func setup(t *testing.T) (*idp.Provider, *iamoidc.Client, iamoidc.Settings) {
	t.Helper()
	p := idp.New(t)
	c := &iamoidc.Client{Rule: egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Denied: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}}}
	return p, c, settingsOf(p.URL)
}

func settingsOf(issuer string) iamoidc.Settings {
	return iamoidc.Settings{
		Provider: iam.Provider{ID: uuid.New(), Name: "login", Issuer: issuer, ClientID: idp.Client, Scopes: iam.DefaultScopes(), GroupsClaim: iam.DefaultGroupsClaim, Version: 1},
		Secret:   idp.Secret, RedirectURI: "https://kloigos.example.org/login/x/callback",
	}
}

// logIn takes a browser to the provider and back, and proves who came.
func logIn(t *testing.T, c *iamoidc.Client, s iamoidc.Settings) (iam.Claims, error) {
	t.Helper()
	where, proof, err := c.Begin(t.Context(), s, "state")
	if err != nil {
		return iam.Claims{}, err
	}
	back := idp.Browser(t, where)
	return c.Finish(t.Context(), s, proof, iamoidc.Answer{Code: back.Get("code"), Issuer: back.Get("iss")})
}

// wantFailed fails unless a login failed because of the provider, with these words.
func wantFailed(t *testing.T, err error, words string) {
	t.Helper()
	var failed *iamoidc.Failed
	if !errors.As(err, &failed) || !strings.Contains(failed.Why, words) {
		t.Errorf("%v, want a failure of the provider with %q", err, words)
	}
}

func keyOf(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// published are the keys that a provider publishes.
func published(t *testing.T, p *idp.Provider) jose.JSONWebKeySet {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(answer.Body).Decode(&set); err != nil {
		t.Fatal(err)
	}
	return set
}

// secretsOf are the forms in which a public key is mistaken for a shared secret.
func secretsOf(t *testing.T, key jose.JSONWebKey) map[string][]byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "DER": der, "JWK": text}
}

func symmetric(secret []byte, kid string) func(map[string]any) string {
	return func(claims map[string]any) string {
		return idp.Sign(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: kid}}, claims)
	}
}

// A correct provider proves a person, so that what follows fails for its own reason.
func TestACorrectProvider(t *testing.T) {
	t.Parallel()
	p, c, s := setup(t)
	p.Behave(idp.Behavior{Claims: map[string]any{"groups": []string{"team"}, "email_verified": true}})
	got, err := logIn(t, c, s)
	if err != nil || got.Issuer != p.URL || got.Subject != "ada" || got.Name != "ada" || got.Email != "ada@example.org" || !slices.Equal(got.Groups, []string{"team"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	p.Rotate()
	if _, err := logIn(t, c, s); err != nil {
		t.Errorf("after the provider changed its key: %v", err)
	}
}

// The keys of a provider are read once in five minutes, and when a token names one that is not among them. A key that is gone
// proves nothing once they were read anew.
func TestKeysAreKept(t *testing.T) {
	t.Parallel()
	p, c, s := setup(t)
	var later atomic.Int64
	c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	want := func(what string, discoveries, keys int) {
		t.Helper()
		if _, err := logIn(t, c, s); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if d, k := p.Asked(discoveryPath), p.Asked("/keys"); d != discoveries || k != keys {
			t.Errorf("%s: asked for the description %d times and for the keys %d times, want %d and %d", what, d, k, discoveries, keys)
		}
	}
	want("first", 1, 1)
	want("again", 1, 1)
	p.Rotate()
	want("with another key", 1, 2)
	want("again with it", 1, 2)
	p.Behave(idp.Behavior{Claims: map[string]any{"exp": time.Now().Add(time.Hour).Unix()}})
	later.Store(int64(301 * time.Second))
	want("five minutes later", 2, 3)

	// Whoever may not sign makes the keys be read once a login, and not once more.
	own := keyOf(t)
	p.Behave(idp.Behavior{Sign: func(claims map[string]any) string {
		return idp.Sign(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: own, KeyID: "unknown"}}, claims)
	}})
	_, err := logIn(t, c, s)
	wantFailed(t, err, "no key of the provider")
	if n := p.Asked("/keys"); n != 4 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

// A provider that publishes thousands of keys, or no set of keys, proves nobody. A key of an unknown kind beside others is left out.
func TestStrangeKeys(t *testing.T) {
	t.Parallel()
	p, c, s := setup(t)
	known, err := published(t, p).Keys[0].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for text, words := range map[string]string{
		`{"keys": [` + strings.Repeat(string(known)+",", 100) + string(known) + `]}`: "more than 100 keys",
		`[]`:            "no JSON Web Key Set",
		`{"keys": [7]}`: "no key of the provider",
		`{"keys": [{"kty": "OTHER", "kid": "x"}, ` + string(known) + `]}`: "",
	} {
		p.Behave(idp.Behavior{Serve: func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/keys" {
				_, _ = w.Write([]byte(text))
			}
			return r.URL.Path == "/keys"
		}})
		s.Version++ // nothing is remembered
		_, err := logIn(t, c, s)
		if words != "" {
			wantFailed(t, err, words)
		} else if err != nil {
			t.Errorf("with a key of an unknown kind: %v", err)
		}
	}
}

// A token with claims about another login, client, issuer or time proves nothing.
func TestClaimsThatProveNothing(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		claims map[string]any
		words  string
	}{
		"another nonce":              {map[string]any{"nonce": "other"}, "its nonce is another"},
		"no nonce":                   {map[string]any{"nonce": nil}, "its nonce is another"},
		"another audience":           {map[string]any{"aud": "other"}, "not valid"},
		"audience is a part of ours": {map[string]any{"aud": idp.Client[:3]}, "not valid"},
		"no audience":                {map[string]any{"aud": nil}, "not valid"},
		"several audiences":          {map[string]any{"aud": []string{idp.Client, "other"}}, "issued to another client"},
		"another party":              {map[string]any{"aud": []string{idp.Client, "other"}, "azp": "other"}, "issued to another client"},
		"another issuer":             {map[string]any{"iss": "https://login.example.org"}, "not valid"},
		"no issuer":                  {map[string]any{"iss": nil}, "not valid"},
		"expired":                    {map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}, "has expired"},
		"never expires":              {map[string]any{"exp": nil}, "has expired"},
		"issued in the future":       {map[string]any{"iat": now.Add(3 * time.Minute).Unix()}, "from the future"},
		"not yet valid":              {map[string]any{"nbf": now.Add(3 * time.Minute).Unix()}, "from the future"},
		"no subject":                 {map[string]any{"sub": nil}, "no subject"},
		"a long subject":             {map[string]any{"sub": strings.Repeat("a", 256)}, "no subject"},
		"a subject with a zero":      {map[string]any{"sub": "ada\x00"}, "no subject"},
		"a subject that is a number": {map[string]any{"sub": 7}, "not valid"},
		"another access token":       {map[string]any{"at_hash": base64.RawURLEncoding.EncodeToString(make([]byte, 16))}, "access token is not the one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, client, s := setup(t)
			p.Behave(idp.Behavior{Claims: c.claims})
			_, err := logIn(t, client, s)
			wantFailed(t, err, c.words)
		})
	}
}

// A token that another key signed than those that the provider publishes proves nothing, whatever its head says.
func TestSignaturesThatProveNothing(t *testing.T) {
	t.Parallel()
	p, client, s := setup(t)
	known := published(t, p).Keys[0]
	own := keyOf(t)
	es256 := func(kid string) jose.SigningKey {
		return jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: own, KeyID: kid}}
	}
	cases := map[string]func(map[string]any) string{
		"none":                  idp.Unsigned,
		"an unknown kid":        func(claims map[string]any) string { return idp.Sign(es256("unknown"), claims) },
		"the kid of another":    func(claims map[string]any) string { return idp.Sign(es256(known.KeyID), claims) },
		"no kid":                func(claims map[string]any) string { return idp.Sign(es256(""), claims) },
		"HS256 with our secret": symmetric([]byte(idp.Secret+strings.Repeat(" ", 32)), known.KeyID),
		"a key of its own":      func(claims map[string]any) string { return embedded(t, own, claims) },
		"no signature": func(claims map[string]any) string {
			return unsignedAs(`{"alg":"ES256","kid":"`+known.KeyID+`"}`, claims)
		},
		"no token": func(map[string]any) string { return "a.b" },
	}
	for _, alg := range []string{"None", "nOnE", "NONE", ""} {
		cases["algorithm "+alg] = func(claims map[string]any) string { return unsignedAs(`{"alg":"`+alg+`"}`, claims) }
	}
	for form, secret := range secretsOf(t, known) {
		cases["HS256 with the public key as "+form] = symmetric(secret, known.KeyID)
	}
	for name, sign := range cases {
		p.Behave(idp.Behavior{Sign: sign})
		_, err := logIn(t, client, s)
		t.Run(name, func(t *testing.T) { wantFailed(t, err, "The ID token is not valid") })
	}
	p.Behave(idp.Behavior{})
	if _, err := logIn(t, client, s); err != nil {
		t.Errorf("after all of them: %v", err)
	}
}

// HS256 with an RSA key that is published without an algorithm, as many libraries once took it.
func TestAPublicKeyIsNoSecret(t *testing.T) {
	t.Parallel()
	p, client, s := setup(t)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private.Public(), KeyID: "rsa"}
	serve := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/keys" {
			return false
		}
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}})
		return true
	}
	rs256 := func(claims map[string]any) string {
		return idp.Sign(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: "rsa"}}, claims)
	}
	p.Behave(idp.Behavior{Serve: serve, Sign: rs256})
	if _, err := logIn(t, client, s); err != nil {
		t.Fatalf("signed with the private key: %v", err)
	}
	for form, secret := range secretsOf(t, key) {
		p.Behave(idp.Behavior{Serve: serve, Sign: symmetric(secret, "rsa")})
		_, err := logIn(t, client, s)
		t.Run(form, func(t *testing.T) { wantFailed(t, err, "The ID token is not valid") })
	}
}

func unsignedAs(head string, claims map[string]any) string {
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + base64.RawURLEncoding.EncodeToString(text) + "."
}

// embedded signs with a key that the head of the token brings along.
func embedded(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// attack answers one path of a provider. elsewhere is a server that nothing may be asked of.
type attack struct {
	answer func(w http.ResponseWriter, r *http.Request, elsewhere string)
	words  string
}

func attacks() map[string]attack {
	filler := []byte(strings.Repeat(" ", 32<<10))
	return map[string]attack{
		"without end": {func(w http.ResponseWriter, r *http.Request, _ string) {
			for r.Context().Err() == nil {
				if _, err := w.Write(filler); err != nil {
					return
				}
			}
		}, "larger than 524288 bytes"},
		"compressed without end": {func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Content-Encoding", "gzip")
			to := gzip.NewWriter(w)
			for r.Context().Err() == nil {
				if _, err := to.Write(filler); err != nil {
					return
				}
			}
		}, "larger than 524288 bytes"},
		"large headers": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("X-Large", strings.Repeat("a", 64<<10))
		}, "exceeded"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request, elsewhere string) {
			http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
		}, "redirects are not followed"},
		"a redirect to itself": {func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "redirects are not followed"},
		"slow": {func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Content-Type", "application/json")
			tick := time.NewTicker(200 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-r.Context().Done():
					return
				case <-tick.C:
					if _, err := w.Write([]byte(" ")); err != nil {
						return
					}
					_ = http.NewResponseController(w).Flush()
				}
			}
		}, "no answer within 5s"},
		"silent": {func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, "no answer within 5s"},
	}
}

// Each answer of a provider may be without end, slow, or a redirect: it ends in time, with a reason, and nothing else is asked.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, hostile := range attacks() {
		for _, path := range []string{discoveryPath, "/token", "/keys", "/userinfo"} {
			if name == "silent" && path != discoveryPath {
				continue // as slow, and each takes five seconds
			}
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				var reached atomic.Int64
				elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
				defer elsewhere.Close()
				p, client, s := setup(t)
				p.Behave(idp.Behavior{Serve: func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != path {
						return false
					}
					// The server knows that the client left once it has read all that it was asked.
					_, _ = io.Copy(io.Discard, r.Body)
					hostile.answer(w, r, elsewhere.URL)
					return true
				}})
				ctx, cancel := context.WithTimeout(t.Context(), longestWait)
				defer cancel()
				done := make(chan error, 1)
				go func() {
					claims, err := logIn(t, client, s)
					if path == "/userinfo" && err == nil { // the ID token has proved the person
						err = &iamoidc.Failed{Why: claims.NoGroups}
					}
					done <- err
				}()
				select {
				case err := <-done:
					wantFailed(t, err, hostile.words)
				case <-ctx.Done():
					t.Fatal("the login waits for the provider for ever")
				}
				if n := reached.Load(); n > 0 {
					t.Errorf("%d requests to another host", n)
				}
			})
		}
	}
}

// What a discovery document names is judged before it is asked: another issuer, other schemes, addresses of the control plane.
func TestHostileDiscovery(t *testing.T) {
	t.Parallel()
	inside := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the control plane's own network was asked") }))
	_ = inside.Listener.Close()
	var err error
	if inside.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0"); err != nil {
		t.Fatal(err)
	}
	inside.Start()
	defer inside.Close()
	p, client, s := setup(t)
	for name, doc := range map[string]map[string]any{
		"another issuer":           {"issuer": "https://login.example.org"},
		"the issuer with a slash":  {"issuer": p.URL + "/"},
		"no issuer":                {"issuer": ""},
		"no keys":                  {"jwks_uri": ""},
		"keys of the inside":       {"jwks_uri": inside.URL + "/keys"},
		"a token of the inside":    {"token_endpoint": inside.URL + "/token"},
		"a person of the inside":   {"userinfo_endpoint": inside.URL + "/userinfo"},
		"browsers to the inside":   {"authorization_endpoint": inside.URL + "/authorize"},
		"a private address":        {"token_endpoint": "https://10.0.0.1/token"},
		"metadata of a cloud":      {"jwks_uri": "https://169.254.169.254/latest"},
		"a file":                   {"jwks_uri": "file:///etc/passwd"},
		"script for browsers":      {"authorization_endpoint": "javascript:alert(1)"},
		"without TLS":              {"token_endpoint": "http://login.example.org/token"},
		"with a user":              {"token_endpoint": "https://ada:secret@login.example.org/token"},
		"a list in place of a URL": {"token_endpoint": []string{p.URL}},
		"a long URL":               {"jwks_uri": p.URL + "/" + strings.Repeat("a", 3000)},
	} {
		s.Version++ // what is remembered belongs to other settings
		p.Behave(idp.Behavior{Discovery: doc})
		_, _, err := client.Begin(t.Context(), s, "state")
		t.Run(name, func(t *testing.T) { wantFailed(t, err, "discovery document") })
	}
	for text, words := range map[string]string{"null": "names the issuer", "[]": "not what OpenID", "<html>": "not what OpenID", "": "not what OpenID"} {
		s.Version++
		p.Behave(idp.Behavior{Serve: func(w http.ResponseWriter, _ *http.Request) bool { _, _ = w.Write([]byte(text)); return true }})
		_, _, err := client.Begin(t.Context(), s, "state")
		wantFailed(t, err, words)
	}
}

// The certificate of a provider is verified.
func TestACertificateOfNobody(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }))
	defer server.Close()
	_, client, _ := setup(t)
	_, _, err := client.Begin(t.Context(), settingsOf(server.URL), "state")
	wantFailed(t, err, "certificate")
}

// The answer of one provider is not taken for that of another (RFC 9207), nor is one without an issuer where the provider tells it.
func TestAnswersOfAnotherProvider(t *testing.T) {
	t.Parallel()
	p, client, s := setup(t)
	for _, issuer := range []string{"https://login.example.org", ""} {
		where, proof, err := client.Begin(t.Context(), s, "state")
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Finish(t.Context(), s, proof, iamoidc.Answer{Code: idp.Browser(t, where).Get("code"), Issuer: issuer})
		wantFailed(t, err, "The answer came from the issuer")
	}
	if n := p.Asked("/token"); n != 0 {
		t.Errorf("%d codes were sent to a provider that they may not be of", n)
	}
	// Nor is a code that another login was begun with.
	_, proof, err := client.Begin(t.Context(), s, "state")
	if err != nil {
		t.Fatal(err)
	}
	where, _, err := client.Begin(t.Context(), s, "state")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Finish(t.Context(), s, proof, iamoidc.Answer{Code: idp.Browser(t, where).Get("code"), Issuer: p.URL})
	wantFailed(t, err, "refused it with status 400 (invalid_grant)")
}

// Eight logins wait for a provider that does not answer, the ninth does not, and none of another provider does.
func TestASilentProviderHoldsUpFewLogins(t *testing.T) {
	t.Parallel()
	p, client, s := setup(t)
	release := make(chan struct{})
	p.Behave(idp.Behavior{Serve: func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return false
	}})
	results := make(chan error, 9)
	for range cap(results) {
		go func() {
			_, _, err := client.Begin(t.Context(), s, "state")
			results <- err
		}()
	}
	if err := <-results; !errors.Is(err, iamoidc.ErrBusy) {
		t.Errorf("%v, want that too many wait", err)
	}
	if _, err := logIn(t, client, settingsOf(idp.New(t).URL)); err != nil {
		t.Errorf("a login by another provider: %v", err)
	}
	close(release)
	for range cap(results) - 1 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := p.Asked(discoveryPath); n != 1 {
		t.Errorf("the provider was asked %d times", n)
	}
}

// A mail address counts if the same document says that it is verified; what is said about somebody else ends the login.
func TestAddressesThatNobodyVerified(t *testing.T) {
	t.Parallel()
	p, client, s := setup(t)
	claims := func(more map[string]any) map[string]any {
		all := map[string]any{"preferred_username": nil, "groups": []string{}, "email": "boss@example.org"}
		maps.Copy(all, more)
		return all
	}
	for name, c := range map[string]struct {
		claims, info map[string]any
		want         string
	}{
		"verified":                    {claims: claims(map[string]any{"email_verified": true}), want: "boss@example.org"},
		"verified, as text":           {claims: claims(map[string]any{"email_verified": "true"}), want: "boss@example.org"},
		"not verified":                {claims: claims(map[string]any{"email_verified": false})},
		"not verified, as text":       {claims: claims(map[string]any{"email_verified": "false"})},
		"not said":                    {claims: claims(nil)},
		"null":                        {claims: claims(map[string]any{"email_verified": json.RawMessage("null")})},
		"a number":                    {claims: claims(map[string]any{"email_verified": 1})},
		"verified in the other":       {claims: claims(nil), info: map[string]any{"sub": "ada", "email_verified": true}},
		"another address is verified": {claims: claims(nil), info: map[string]any{"sub": "ada", "email": "ada@example.org", "email_verified": true}, want: "ada@example.org"},
	} {
		p.Behave(idp.Behavior{Claims: c.claims, UserInfo: c.info})
		got, err := logIn(t, client, s)
		if err != nil || got.Email != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got.Email, err, c.want)
		}
	}
	p.Behave(idp.Behavior{UserInfo: map[string]any{"sub": "eve", "groups": []string{"team"}}})
	_, err := logIn(t, client, s)
	wantFailed(t, err, "about somebody else")
}

// What a provider says of an error is shown if it has the form of a code, and not at all otherwise.
func TestErrorsOfAProvider(t *testing.T) {
	t.Parallel()
	p, client, s := setup(t)
	for code, words := range map[string]string{"invalid_grant": "status 400 (invalid_grant)", "<script>": "(an error without a known code)", strings.Repeat("a", 5000): "(an error without a known code)"} {
		p.Behave(idp.Behavior{Serve: func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "\x1b[2J<b>call 555</b>"})
			return true
		}})
		_, err := logIn(t, client, s)
		wantFailed(t, err, words)
		if strings.Contains(err.Error(), "call 555") {
			t.Errorf("the description is shown: %v", err)
		}
	}
}
