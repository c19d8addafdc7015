package httpapi_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// login makes a backend that knows one account with a real password.
func login(t *testing.T) (*backend, string) {
	t.Helper()
	b := setup(t)
	b.sql("DELETE FROM accounts")
	password, made, err := intent.CreateAdministrator(t.Context(), b.db, domain.Actor{Kind: domain.ActorInit, Name: "init"}, "root")
	if err != nil || !made {
		t.Fatalf("made %v, %v", made, err)
	}
	return b, password
}

func TestLogin(t *testing.T) {
	t.Parallel()
	b, password := login(t)
	if _, made, err := intent.CreateAdministrator(t.Context(), b.db, domain.Actor{Kind: domain.ActorInit, Name: "init"}, "second"); made || err != nil {
		t.Errorf("a second first administrator: %v, %v", made, err)
	}
	for _, l := range []api.Login{{Account: "root", Password: "x"}, {Account: "nobody", Password: password}, {Account: "ROOT", Password: password}, {Account: "", Password: ""}} {
		p := b.mustDo(http.MethodPost, "/sessions", l, 401, "Authorization", "").problem(t)
		if p.Code != "bad_login" {
			t.Errorf("%s: %q", l.Account, p.Code)
		}
	}
	a := b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", "")
	s := decode[api.Session](t, a)
	if !strings.HasPrefix(s.Token, "kl_") || len(s.Token) != 46 || time.Until(s.ExpiresAt) < 23*time.Hour {
		t.Errorf("session %+v", s)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer can be cached: %v", a.header)
	}
	b.token = s.Token
	w := decode[api.Whoami](t, b.mustDo(http.MethodGet, "/whoami", nil, 200))
	if w.Account != "root" || w.Role != "administrator" || w.TokenKind != "session" || w.TokenID != s.ID || !slices.Contains(w.Permissions, "project.workspace.host:create") {
		t.Errorf("whoami %+v", w)
	}
	b.mustDo(http.MethodDelete, "/sessions/current", nil, 204)
	b.mustDo(http.MethodGet, "/whoami", nil, 401)
	if strings.Contains(b.log.String(), password) || strings.Contains(b.log.String(), s.Token) {
		t.Error("the log holds a secret")
	}
	for _, table := range []string{"tokens", "events", "accounts"} {
		var n int
		b.row(&n, "SELECT count(*) FROM "+table+" x WHERE x::TEXT LIKE '%'||$1||'%' OR x::TEXT LIKE '%'||$2||'%'", password, s.Token)
		if n != 0 {
			t.Errorf("%s holds a secret", table)
		}
	}
}

func TestTooManyLoginsAtOnce(t *testing.T) {
	t.Parallel()
	b, _ := login(t)
	status := make(chan int, 48)
	for range cap(status) {
		go func() {
			status <- b.do(http.MethodPost, "/sessions", api.Login{Account: "root", Password: "x"}, "Authorization", "").status
		}()
	}
	count := map[int]int{}
	for range cap(status) {
		count[<-status]++
	}
	if count[401]+count[429] != cap(status) || count[401] == 0 {
		t.Errorf("statuses %v", count)
	}
}

// A blocked name is told so in one way, with the time to wait, whether it is an
// account's or not and whatever the password.
func TestBlockedLogins(t *testing.T) {
	t.Parallel()
	b, password := login(t)
	b.token = decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, 201, "Authorization", "")).Token
	for _, account := range []string{"root", "nobody"} {
		for range store.FreeLogins {
			b.mustDo(http.MethodPost, "/sessions", api.Login{Account: account, Password: "x"}, 401, "Authorization", "")
		}
	}
	b.sql("UPDATE login_failures SET blocked_until = now() + INTERVAL '30 seconds'")
	for _, l := range []api.Login{{Account: "root", Password: password}, {Account: "root", Password: "x"}, {Account: "nobody", Password: "x"}} {
		a := b.mustDo(http.MethodPost, "/sessions", l, 429, "Authorization", "")
		wait, err := strconv.Atoi(a.header.Get("Retry-After"))
		if p := a.problem(t); p.Code != "login_blocked" || err != nil || wait < 1 || wait > 30 {
			t.Errorf("%s: %+v, wait %q", l.Account, p, a.header.Get("Retry-After"))
		}
	}
	b.mustDo(http.MethodGet, "/whoami", nil, 200) // who is in stays in
	b.sql("UPDATE login_failures SET blocked_until = now()")
	site.Eventually(t, "the block is over", func() bool { // it is remembered for a second
		return b.do(http.MethodPost, "/sessions", api.Login{Account: "root", Password: password}, "Authorization", "").status == 201
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "ci", Days: 7}, 201))
	if d := time.Until(made.ExpiresAt); made.Kind != "api" || d < 6*24*time.Hour || d > 8*24*time.Hour || !strings.HasPrefix(made.Token, made.Prefix) || len(made.Prefix) != 8 {
		t.Errorf("token %+v", made)
	}
	if made := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", `{"name":"default"}`, 201)); time.Until(made.ExpiresAt) < 89*24*time.Hour {
		t.Errorf("by default valid until %v", made.ExpiresAt)
	}
	use := func(status int) {
		b.mustDo(http.MethodGet, "/whoami", nil, status, "Authorization", "Bearer "+made.Token)
	}
	use(200)
	used := func() *time.Time {
		for _, k := range decode[api.Page[api.Token]](t, b.mustDo(http.MethodGet, "/tokens", nil, 200)).Items {
			if k.ID == made.ID {
				return k.LastUsedAt
			}
		}
		t.Fatal("the token is not listed")
		return nil
	}
	if used() != nil {
		t.Error("a request waited for the write of its token's use")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.server.Run(ctx) // writes what is due, and ends
	if at := used(); at == nil || time.Since(*at) > time.Minute {
		t.Errorf("last used at %v", at)
	}
	_, other := b.newAccount("other", intent.RoleAdministrator)
	b.mustDo(http.MethodDelete, "/tokens/"+made.ID, nil, 404, "Authorization", "Bearer "+other)
	use(200)
	b.mustDo(http.MethodDelete, "/tokens/"+made.ID, nil, 204)
	use(401)
	b.mustDo(http.MethodDelete, "/tokens/"+made.ID, nil, 404)
	b.mustDo(http.MethodDelete, "/tokens/ci", nil, 404)
}

// An API token makes no other one: whoever found it could keep what its owner
// takes away. Revoking a session takes with it the tokens that it made, and
// logging out does not.
func TestOnlyASessionMakesTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	make := func(name, by string) api.Token {
		return decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: name, Days: 1}, 201, as(by)...))
	}
	valid := func(token string, want int) {
		t.Helper()
		b.mustDo(http.MethodGet, "/whoami", nil, want, as(token)...)
	}
	first := make("first", b.token)
	session := decode[api.Whoami](t, b.mustDo(http.MethodGet, "/whoami", nil, 200)).TokenID
	if first.SessionID != session {
		t.Errorf("made by %q, want %q", first.SessionID, session)
	}
	if p := b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "child", Days: 3650}, 403, as(first.Token)...).problem(t); p.Code != "session_required" {
		t.Errorf("an API token that makes one: %+v", p)
	}
	// Another session of the account, two of its tokens, and one of before the upgrade.
	var other string
	b.row(&other, `INSERT INTO tokens (id, kind, account_id, name, prefix, hash, expires_at) SELECT gen_random_uuid(), 'session', account_id, 'second', 'kl_BBBBB', $1, expires_at
		FROM tokens WHERE id = $2 RETURNING id::TEXT`, intent.HashToken("kl_"+strings.Repeat("B", 43)), session)
	second := "kl_" + strings.Repeat("B", 43)
	one, two, before := make("one", second), make("two", second), make("before", second)
	b.sql("UPDATE tokens SET session_id = NULL WHERE id = $1", before.ID)
	b.mustDo(http.MethodDelete, "/tokens/"+other, nil, 204)
	valid(second, 401)
	valid(one.Token, 401)
	valid(two.Token, 401)
	valid(before.Token, 200) // of a session that nobody knows
	valid(first.Token, 200)  // of another session
	var n int
	if b.row(&n, "SELECT count(*) FROM events WHERE action = 'token.delete'"); n != 3 {
		t.Errorf("%d events tell of what was revoked, want 3", n)
	}
	b.mustDo(http.MethodDelete, "/sessions/current", nil, 204)
	valid(b.token, 401)
	valid(first.Token, 200)
	b.mustDo(http.MethodDelete, "/tokens/"+first.ID, nil, 204, as(first.Token)...)
	valid(first.Token, 401)
}

// The audit trail names the client, not the proxies in front, and no client
// can name another.
func TestClientBehindProxies(t *testing.T) {
	t.Parallel()
	b := setup(t, trusted("127.0.0.0/8", "10.0.0.0/8"))
	for name, c := range map[string]struct{ header, value, want string }{
		"h1": {"Forwarded", "for=192.0.2.66, for=198.51.100.7;proto=https, for=10.1.2.3", "198.51.100.7"},
		"h2": {"X-Forwarded-For", "192.0.2.66, 198.51.100.8", "198.51.100.8"},
	} {
		b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: name, Address: "127.0.0.1"}, 202, c.header, c.value)
		var client string
		b.row(&client, "SELECT client FROM events WHERE object_name = $1", name)
		if client != c.want {
			t.Errorf("%s: client %q, want %q", c.header, client, c.want)
		}
	}
	direct := setup(t)
	direct.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h3", Address: "127.0.0.1"}, 202, "Forwarded", "for=198.51.100.7")
	var client string
	direct.row(&client, "SELECT client FROM events WHERE object_name = 'h3'")
	if client != "127.0.0.1" {
		t.Errorf("a stranger's word was taken: %q", client)
	}
}

// A request costs one look at its token; only one with a large body, which must
// be known before it is read, costs two.
func TestLooksAtTheToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	url, looks := b.counting("t.hash = $1")
	for _, c := range []struct {
		method string
		body   []byte
		want   int64
	}{
		{http.MethodGet, nil, 1},
		{http.MethodPost, []byte(`{"name": "x"}`), 1},
		{http.MethodPost, []byte(`{"name": "x"` + strings.Repeat(" ", 10_000) + `}`), 2},
	} {
		before := looks.n.Load()
		r, err := http.NewRequestWithContext(t.Context(), c.method, url+api.Prefix+"/tokens", bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+b.token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if n := looks.n.Load() - before; answer.StatusCode == http.StatusUnauthorized || n != c.want {
			t.Errorf("%s with %d bytes: status %d, %d looks", c.method, len(c.body), answer.StatusCode, n)
		}
	}
}
