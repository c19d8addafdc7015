package app

import (
	"net/http"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const idpID = "6a1e0000-0000-4000-8000-000000000031"

// The browser goes to the provider with a secret in a cookie, and comes back with a session; where it goes then is of this site.
func TestLoginByAProvider(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("list-login-providers", 200, apitest.Page(api.LoginProvider{ID: idpID, Name: "cor<p"}))
	s.wantText(s.get("/login?next=/hosts", header("Cookie", "")), "Continue with cor&lt;p", "/login/"+idpID+"/start?next=%2Fhosts", `name="password"`)
	if a := s.get("/login/"+idpID, header("Cookie", "")); strings.Contains(a.body, `name="password"`) || !strings.Contains(a.body, "Continue with") {
		t.Errorf("the address of a provider: %s", a.body)
	}
	s.api.Answer("start-login", 200, api.StartedLogin{URL: "https://idp.example.org/authorize?state=kls_x", Browser: "klb_secret", ExpiresAt: apitest.Now})
	a := s.get("/login/"+idpID+"/start?next=https://evil.example.org/", header("Cookie", ""))
	cookie := a.Header.Get("Set-Cookie")
	if a.Header.Get("Location") != "https://idp.example.org/authorize?state=kls_x" || !strings.Contains(cookie, "__Host-kloigos-login=login.klb_secret") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("started with %v", a.Header)
	}
	var started api.StartLogin
	s.only("start-login").Into(t, &started)
	if started.ReturnTo != "/" {
		t.Errorf("returns to %q", started.ReturnTo)
	}
	back := "/login/" + idpID + "/callback?state=kls_x&code=c&iss=https%3A%2F%2Fidp.example.org"
	s.wantText(s.get(back, header("Cookie", "")), "This browser has begun no login")
	s.api.Answer("finish-login", 200, api.FinishedLogin{Session: api.Session{ID: idpID, Account: "ada", Token: "kl_new", ExpiresAt: apitest.Now}, ReturnTo: "//evil.example.org"})
	a = s.get(back, header("Cookie", "__Host-kloigos-login=login.klb_secret"))
	if a.Header.Get("Location") != "/" || !strings.Contains(strings.Join(a.Header.Values("Set-Cookie"), " "), "__Host-kloigos=kl_new") {
		t.Errorf("came back with %v", a.Header)
	}
	var finished api.FinishLogin
	s.only("finish-login").Into(t, &finished)
	if finished.Browser != "klb_secret" || finished.Provider != idpID || finished.Issuer != "https://idp.example.org" || finished.Code != "c" {
		t.Errorf("finished with %+v", finished)
	}
}

// What goes wrong at a provider is a page with its reason; and without an answer about providers the password is a way in.
func TestLoginByAProviderFails(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("list-login-providers", 503, api.Problem{Status: 503, Code: "unavailable"})
	s.wantStatus(s.get("/login", header("Cookie", "")), http.StatusOK)
	s.api.Answer("list-login-providers", 200, apitest.Page[api.LoginProvider]())
	s.wantStatus(s.get("/login/acme", header("Cookie", "")), http.StatusNotFound)
	s.api.Answer("finish-login", 409, api.Problem{Status: 409, Code: "provider_failed", Detail: "The identity provider <x> does not answer."})
	a := s.get("/login/"+idpID+"/callback?state=s&code=c", header("Cookie", "__Host-kloigos-login=login.klb_secret"))
	s.wantStatus(a, http.StatusConflict)
	s.wantText(a, "The identity provider &lt;x&gt; does not answer.", "You are not logged in.")
	// A link is ended by its session only.
	if a := s.get("/login/"+idpID+"/callback?state=s&code=c", header("Cookie", "__Host-kloigos-login=link.klb_secret")); a.Header.Get("Location") != "/login?because=expired" {
		t.Errorf("a link without a session leads to %q", a.Header.Get("Location"))
	}
}
