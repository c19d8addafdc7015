package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

func TestWithoutASessionEveryPageLeadsToTheLoginAndBack(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for path := range pages {
		a := s.get(path, header("Cookie", ""))
		to := "/login?next=" + url.QueryEscape(path)
		if path == "/" {
			to = "/login"
		}
		s.wantRedirect(a, to)
	}
	if n := len(s.api.Calls("list-hosts")); n != 0 {
		t.Errorf("the API was asked %d times", n)
	}
}

func TestASessionThatEndedLeadsToTheLogin(t *testing.T) {
	t.Parallel()
	s := setup(t)
	expired := header("Cookie", "__Host-kloigos=kl_expired")
	a := s.get("/hosts", expired)
	s.wantRedirect(a, "/login?because=expired&next=%2Fhosts")
	if c := a.Header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-kloigos=;") {
		t.Errorf("the cookie stays: %q", c)
	}
	live := s.get("/hosts", expired, header("HX-Request", "true"), header("HX-Current-URL", "https://kloigos.example/hosts?state=ready"))
	s.wantStatus(live, http.StatusUnauthorized)
	if to := live.Header.Get("HX-Redirect"); to != "/login?because=expired&next=%2Fhosts%3Fstate%3Dready" {
		t.Errorf("a live page is led to %q", to)
	}
	s.wantText(s.get("/login?because=expired", header("Cookie", "")), "Your session has ended")
}

func TestLoginStoresTheTokenInAHostCookie(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-session", http.StatusCreated, api.Session{Token: apitest.Token, ExpiresAt: time.Now().Add(time.Hour)})
	a := s.post("/login", url.Values{"account": {"admin"}, "password": {" p w "}, "next": {"/jobs?state=failed"}}, header("Cookie", ""))
	s.wantRedirect(a, "/jobs?state=failed")
	cookie := strings.ToLower(a.Header.Get("Set-Cookie"))
	for _, want := range []string{"__host-kloigos=" + apitest.Token, "; path=/;", "; secure", "; httponly", "; samesite=lax"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %q", cookie, want)
		}
	}
	var sent api.Login
	call := s.only("create-session")
	call.Into(t, &sent)
	if sent != (api.Login{Account: "admin", Password: " p w "}) {
		t.Errorf("sent %+v", sent)
	}
	if call.Header.Get("Authorization") != "" {
		t.Error("a token was shown with the login")
	}
}

func TestLoginThatFails(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for status, want := range map[int]string{
		http.StatusUnauthorized:    "Wrong account or password.",
		http.StatusTooManyRequests: "Too many attempts.",
	} {
		s.api.Refuse("create-session", api.Problem{Status: status, Code: "no"})
		a := s.post("/login", url.Values{"account": {"ada"}, "password": {"secret"}})
		s.wantStatus(a, status)
		s.wantText(a, want, `value="ada"`)
		if strings.Contains(a.body, "secret") || a.Header.Get("Set-Cookie") != "" {
			t.Error("the password came back, or a session began")
		}
	}
}

func TestLoginLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-session", http.StatusCreated, api.Session{Token: apitest.Token, ExpiresAt: time.Now().Add(time.Hour)})
	for _, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "javascript:alert(1)", "hosts", "/login", "/a\r\nb", ""} {
		s.wantRedirect(s.post("/login", url.Values{"account": {"a"}, "password": {"b"}, "next": {next}}), "/")
	}
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("delete-session", http.StatusNoContent, nil)
	a := s.post("/logout", nil)
	s.wantRedirect(a, "/login?because=out")
	if !strings.HasPrefix(a.Header.Get("Set-Cookie"), "__Host-kloigos=;") {
		t.Error("the cookie stays")
	}
	s.only("delete-session")
}

func TestRequestsOfOtherSitesDoNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("drain-host", 200, apitest.Host())
	for name, change := range map[string][]func(*http.Request){
		"another origin":         {header("Origin", "https://evil.example")},
		"another site":           {header("Sec-Fetch-Site", "cross-site")},
		"a sibling":              {header("Sec-Fetch-Site", "same-site"), header("Origin", "")},
		"no origin at all":       {header("Sec-Fetch-Site", ""), header("Origin", "")},
		"the same without TLS":   {header("Origin", "http://kloigos.example"), header("Sec-Fetch-Site", "")},
		"an origin that is null": {header("Origin", "null"), header("Sec-Fetch-Site", "")},
	} {
		if a := s.post("/hosts/h1/drain", nil, change...); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s: status %d", name, a.StatusCode)
		}
	}
	if n := len(s.api.Calls("drain-host")); n != 0 {
		t.Errorf("the API was called %d times", n)
	}
	s.wantRedirect(s.post("/hosts/h1/drain", nil, header("Sec-Fetch-Site", "")), "/hosts/h1?said=drained")
}

func TestTheAddressOfTheClientGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ forwarded, want string }{
		"one proxy":               {`for=198.51.100.7;proto=https`, `for="198.51.100.7"`},
		"IPv6 with port":          {`for="[2001:db8::7]:4711"`, `for="[2001:db8::7]"`},
		"the nearest is believed": {`for=1.2.3.4, for=198.51.100.7`, `for="198.51.100.7"`},
		"nothing":                 {"", `for="0.0.0.0"`},
		"a name":                  {`for=_hidden`, `for="0.0.0.0"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			s.get("/system", header("Forwarded", c.forwarded))
			if got := s.only("get-system").Header.Get("Forwarded"); got != c.want {
				t.Errorf("forwarded %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheThemeIsKept(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.post("/web/theme", url.Values{"theme": {"dark"}, "next": {"/jobs"}})
	s.wantRedirect(a, "/jobs")
	if c := a.Header.Get("Set-Cookie"); !strings.HasPrefix(c, "kloigos-theme=dark;") {
		t.Errorf("cookie %q", c)
	}
	with := header("Cookie", "__Host-kloigos="+apitest.Token+"; kloigos-theme=dark")
	s.wantText(s.get("/jobs", with), `data-theme="dark"`)
	bad := header("Cookie", "__Host-kloigos="+apitest.Token+"; kloigos-theme=\"><script>")
	s.wantText(s.get("/jobs", bad), `data-theme=""`)
}

// TestASessionThatEndedKeepsTheForm: it is carried by the login page and sent by a click, without what is secret.
func TestASessionThatEndedKeepsTheForm(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-session", http.StatusCreated, api.Session{Token: apitest.Token, ExpiresAt: time.Now().Add(time.Hour)})
	form := url.Values{"name": {"h9 <b>"}, "address": {"192.0.2.9"}, "key": {aKey}, "password": {"hidden-1"}, "token_x": {"hidden-2"}}
	from := header("Referer", "https://kloigos.example/hosts/new?a=b")
	const kept = "address=192.0.2.9&amp;key=" + aKey + "&amp;name=h9+%3Cb%3E"
	for _, cookie := range []string{"", "__Host-kloigos=kl_expired"} {
		a := s.post("/hosts/new", form, header("Cookie", cookie), from)
		s.wantStatus(a, http.StatusUnauthorized)
		s.wantText(a, "Your session has ended", `name="kept_path" value="/hosts/new"`, `name="kept_form" value="`+kept+`"`, `name="next" value="/hosts/new?a=b"`, `action="/login"`)
		if strings.Contains(a.body, "hidden-") {
			t.Error("a secret was kept")
		}
	}
	if n := len(s.api.Calls("register-host")); n > 1 { // the API was asked with the session that had ended
		t.Errorf("the host was registered, %d calls", n)
	}
	login := url.Values{"account": {"admin"}, "password": {"p"}, "next": {"/hosts/new?a=b"}, "kept_path": {"/hosts/new"}, "kept_form": {strings.ReplaceAll(kept, "&amp;", "&")}}
	a := s.post("/login", login, header("Cookie", ""))
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "You are logged in again", `action="/hosts/new"`, `name="name" value="h9 &lt;b&gt;"`, `name="key" value="`+aKey+`"`, "Send it now", `href="/hosts/new?a=b"`)
	if !strings.Contains(a.Header.Get("Set-Cookie"), apitest.Token) {
		t.Error("no session began")
	}
	login.Set("restores", "true") // the page's script fills the form in
	s.wantRedirect(s.post("/login", login, header("Cookie", "")), "/hosts/new?a=b")
	login.Del("restores")
	for _, path := range []string{"https://evil.example/", "//evil.example", "javascript:alert(1)", "/login", "/logout", ""} {
		login.Set("kept_path", path)
		s.wantRedirect(s.post("/login", login, header("Cookie", "")), "/hosts/new?a=b")
	}
	// What is too long for someone without a session goes on by the page's script alone.
	long := url.Values{"content": {strings.Repeat("x", 13<<10)}}
	s.wantRedirect(s.post("/hosts/new", long, header("Cookie", ""), from), "/login?because=expired&next=%2Fhosts%2Fnew%3Fa%3Db")
	s.wantStatus(s.post("/hosts/new", form, header("Cookie", ""), header("Origin", "https://evil.example")), http.StatusForbidden)
}
