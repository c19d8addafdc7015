package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"kloigos/backend/api"
	"kloigos/backend/internal/testkit/idp"
)

// realProvider is a provider that others wrote, as a process of its own on loopback. rig/oidc has the programs.
type realProvider struct {
	t       *testing.T
	command []string
	at      api.IdentityProvider
	people  string // file of those who can log in there
	process *exec.Cmd
	said    *lockedBuffer
}

// realProviders are the commands of those that ./task test:oidc makes.
func realProviders(t *testing.T) map[string][]string {
	t.Helper()
	if os.Getenv("KLOIGOS_TEST_OIDC") == "" {
		t.Skip("./task test:oidc fetches two providers of OpenID Connect from Go's proxy and from npm's registry, and runs this test")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"zitadel":       {filepath.Join(root, "bin/oidc-zitadel")},
		"oidc-provider": {"node", filepath.Join(root, "rig/oidc/provider.js")},
	}
}

// start runs the provider, with keys that are new, until it answers.
func (p *realProvider) start() {
	p.t.Helper()
	p.process = exec.CommandContext(context.WithoutCancel(p.t.Context()), p.command[0], p.command[1:]...)
	p.process.Env = append(os.Environ(), "ISSUER="+p.at.Issuer, "CLIENT_ID="+idp.Client, "CLIENT_SECRET="+idp.Secret, "REDIRECT_URI="+p.at.RedirectURI, "PEOPLE="+p.people)
	p.process.Stdout, p.process.Stderr = p.said, p.said
	if err := p.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	within(p.t, 2*time.Minute, func() bool {
		a, err := (&http.Client{Timeout: 5 * time.Second}).Get(p.at.Issuer + "/.well-known/openid-configuration") //nolint:noctx // bounded above
		if err != nil {
			return false
		}
		defer func() { _ = a.Body.Close() }()
		return a.StatusCode == http.StatusOK
	})
}

func (p *realProvider) stop() {
	p.t.Helper()
	if p.process == nil {
		return
	}
	_ = p.process.Process.Kill()
	_ = p.process.Wait() // killed
	p.process = nil
}

// writeClaims writes the claims of a person. Without groups the provider tells none.
func (p *realProvider) writeClaims(name string, claims map[string]any) {
	p.t.Helper()
	text, err := json.Marshal(map[string]any{name: claims})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.people+".new", text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(p.people+".new", p.people); err != nil {
		p.t.Fatal(err)
	}
}

// browser walks through the pages of a provider as a person does who logs in and consents, until it is sent back.
func (p *realProvider) browser(address, name string) url.Values {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	client := http.Client{Jar: jar, Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	method, form := http.MethodGet, url.Values{}
	for range 20 {
		request, err := http.NewRequestWithContext(p.t.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			p.t.Fatal(err)
		}
		if method == http.MethodPost {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		answer, err := client.Do(request)
		if err != nil {
			p.t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			p.t.Fatal(err)
		}
		if to, err := answer.Location(); err == nil {
			if strings.HasPrefix(to.String(), p.at.RedirectURI) {
				return to.Query()
			}
			method, address, form = http.MethodGet, to.String(), url.Values{}
			continue
		}
		action, fields := formOf(p.t, body)
		if action == "" {
			p.t.Fatalf("%s %s: %d %s", method, address, answer.StatusCode, body)
		}
		to, err := request.URL.Parse(action)
		if err != nil {
			p.t.Fatal(err)
		}
		for field, value := range map[string]string{"username": name, "login": name, "password": "password of " + name} {
			if fields.Has(field) {
				fields.Set(field, value)
			}
		}
		method, address, form = http.MethodPost, to.String(), fields
	}
	p.t.Fatal("the provider sends nobody back")
	return nil
}

// formOf is the first form of a page: where it is sent, and its fields.
func formOf(t *testing.T, page []byte) (action string, fields url.Values) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	fields = url.Values{}
	for n := range root.Descendants() {
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		switch {
		case n.Type == html.ElementNode && n.Data == "form" && action == "":
			action = attr["action"]
		case n.Type == html.ElementNode && n.Data == "input" && attr["name"] != "":
			fields.Set(attr["name"], attr["value"])
		}
	}
	return action, fields
}

// begin starts a login and takes the browser to the provider and back; change alters the address that the browser is sent to.
func (p *realProvider) begin(b *backend, change func(url.Values)) begun {
	p.t.Helper()
	started := decode[api.StartedLogin](p.t, b.mustDo(http.MethodPost, "/logins", api.StartLogin{Provider: p.at.ID, ReturnTo: "/hosts"}, 200, "Authorization", ""))
	where, err := url.Parse(started.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	if q := where.Query(); q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("nonce") == "" {
		p.t.Errorf("the browser is sent to %s", where)
	}
	if change != nil {
		q := where.Query()
		change(q)
		where.RawQuery = q.Encode()
	}
	back := p.browser(where.String(), "ada")
	return begun{api.FinishLogin{Provider: p.at.ID, Browser: started.Browser, State: back.Get("state"), Code: back.Get("code"), Issuer: back.Get("iss")}, started}
}

func (p *realProvider) logIn(b *backend) api.FinishedLogin {
	p.t.Helper()
	a := b.finish(p.begin(b, nil).finish)
	if a.status != http.StatusOK {
		p.t.Fatalf("login: %d %s; %s; the provider said: %s", a.status, a.body, p.failure(b), p.said)
	}
	return decode[api.FinishedLogin](p.t, a)
}

// failure is why the last login failed, as those read it who run the provider.
func (p *realProvider) failure(b *backend) string {
	p.t.Helper()
	return decode[api.IdentityProvider](p.t, b.mustDo(http.MethodGet, "/identity-providers/"+p.at.ID, nil, 200)).Failure
}

// fails finishes a login, and wants it to fail because of the provider.
func (p *realProvider) fails(b *backend, login begun, what, words string) {
	p.t.Helper()
	b.sql("UPDATE identity_providers SET failed_at = NULL, failure = ''") // a failure is kept for ten seconds before the next one is
	b.refused(b.finish(login.finish), "provider_failed")
	if got := p.failure(b); !strings.Contains(got, words) {
		p.t.Errorf("%s: the page of the provider says %q, want %q", what, got, words)
	}
}

func newRealProvider(t *testing.T, b *backend, command []string) *realProvider {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p := &realProvider{t: t, command: command, people: filepath.Join(t.TempDir(), "people.json"), said: &lockedBuffer{}}
	p.at = decode[api.IdentityProvider](t, b.mustDo(http.MethodPost, "/identity-providers", map[string]any{
		"name": "real", "issuer": "http://" + address, "client_id": idp.Client, "client_secret": idp.Secret, "organization": "default",
		"scopes": []string{"profile", "email", "groups"},
	}, 201))
	t.Cleanup(p.stop)
	return p
}

// Two providers that others wrote, each a process of its own: a person of a group gets its role, keeps it where the provider tells
// no groups, and has lost it with the login after the group is gone there. What answers another login proves nothing. New keys are
// found, and while the provider is down there is another way in.
func TestRealProviders(t *testing.T) {
	t.Parallel()
	for name, command := range realProviders(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, password := login(t)
			b.token = decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", "")).Token
			p := newRealProvider(t, b, command)
			p.writeClaims("ada", map[string]any{"groups": []string{"ops", "everyone"}})
			p.start()
			p.grants(b)
			p.provesNothing(b)
			p.rotates(b)
			p.goesDown(b, password)
		})
	}
}

func (p *realProvider) grants(b *backend) {
	p.t.Helper()
	b.mapGroup(p.at, "ops", "operator", "default/default")
	b.mapGroup(p.at, "everyone", "viewer", "default/default")
	as := func(in api.FinishedLogin) []string { return []string{"Authorization", "Bearer " + in.Token} }
	holds := func(account, what string, roles ...string) {
		p.t.Helper()
		if got := b.roles(p.at, account, "default/default"); !slices.Equal(got, roles) {
			p.t.Errorf("%s: %q, want %q", what, got, roles)
		}
	}
	may := func(in api.FinishedLogin, what string, status int) {
		p.t.Helper()
		b.mustDo(http.MethodGet, "/hosts", nil, 200, as(in)...)
		if a := b.do(http.MethodPost, "/hosts/"+missing+"/probe", nil, as(in)...); a.status != status {
			p.t.Errorf("%s: %d %s, want %d", what, a.status, a.body, status)
		}
	}
	const operator, viewer = "operator default/default idp:it", "viewer default/default idp:it"
	in := p.logIn(b)
	holds(in.Account, "both groups", operator, viewer)
	may(in, "an operator probes a host that is not there", http.StatusNotFound)
	var email string
	b.row(&email, "SELECT email FROM accounts WHERE name = $1", in.Account)
	if !strings.HasPrefix(in.Account, "ada@") || email != "ada@example.org" {
		p.t.Errorf("%s has the address %q", in.Account, email)
	}

	p.writeClaims("ada", map[string]any{})
	again := p.logIn(b)
	holds(again.Account, "no claim", operator, viewer)
	events := decode[api.Page[api.Event]](p.t, b.mustDo(http.MethodGet, "/organization-events?action=identity.groups_missing", nil, 200)).Items
	if again.Account != in.Account || len(events) != 1 || !strings.Contains(string(events[0].After), "kept") {
		p.t.Errorf("%s came back as %s, with the events %+v", in.Account, again.Account, events)
	}

	p.writeClaims("ada", map[string]any{"groups": []string{"everyone"}})
	third := p.logIn(b)
	holds(third.Account, "a group less", viewer)
	for what, session := range map[string]api.FinishedLogin{"the new session": third, "the session of before": in} {
		within(p.t, 2*time.Second, func() bool {
			return b.do(http.MethodPost, "/hosts/"+missing+"/probe", nil, as(session)...).status == http.StatusForbidden
		})
		may(session, what, http.StatusForbidden)
	}
}

// missing is the id of nothing.
const missing = "11111111-2222-4333-8444-555555555555"

func (p *realProvider) provesNothing(b *backend) {
	p.t.Helper()
	p.fails(b, p.begin(b, func(q url.Values) { q.Set("nonce", "another") }), "another nonce", "its nonce is another")
	first, second := p.begin(b, nil), p.begin(b, nil)
	first.finish.Code = second.finish.Code
	p.fails(b, first, "the code of another login", "invalid_grant")
	p.fails(b, p.begin(b, func(q url.Values) { q.Set("client_id", "other") }), "the code of another client", "invalid_grant")
	done := p.begin(b, nil)
	if a := b.finish(done.finish); a.status != http.StatusOK {
		p.t.Errorf("a login afterwards: %d %s", a.status, a.body)
	}
	if a := b.finish(done.finish); a.status == http.StatusOK {
		p.t.Error("a login was finished twice")
	}
}

// rotates starts the provider with other keys: those that are kept here prove nothing any longer.
func (p *realProvider) rotates(b *backend) {
	p.t.Helper()
	before := p.keys()
	p.stop()
	p.start()
	if after := p.keys(); after == before {
		p.t.Fatalf("the keys are the same: %s", after)
	}
	p.logIn(b)
}

func (p *realProvider) keys() string {
	p.t.Helper()
	read := func(address string) []byte {
		request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address, nil)
		if err != nil {
			p.t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			p.t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			p.t.Fatal(err)
		}
		return text
	}
	var described struct {
		Keys string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(read(p.at.Issuer+"/.well-known/openid-configuration"), &described); err != nil {
		p.t.Fatal(err)
	}
	return string(read(described.Keys))
}

func (p *realProvider) goesDown(b *backend, password string) {
	p.t.Helper()
	login := p.begin(b, nil)
	p.stop()
	p.fails(b, login, "down", "connection refused")
	// One whose description was not read yet does not even begin.
	unread := decode[api.IdentityProvider](p.t, b.mustDo(http.MethodPost, "/identity-providers", map[string]any{
		"name": "unread", "issuer": p.at.Issuer, "client_id": idp.Client, "client_secret": idp.Secret, "organization": "default",
	}, 201))
	b.refused(b.do(http.MethodPost, "/logins", api.StartLogin{Provider: unread.ID}, "Authorization", ""), "provider_failed")
	// The other way in: a password.
	session := decode[api.Session](p.t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", ""))
	b.mustDo(http.MethodGet, "/whoami", nil, 200, "Authorization", "Bearer "+session.Token)
	p.start()
	p.logIn(b)
}
