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

// A login of an account with a second factor asks for the code on a page of its own, and keeps where to go.
func TestLoginWithACode(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-session", http.StatusCreated, api.Session{Pending: "klp_<b>", ExpiresAt: time.Now().Add(time.Minute)})
	a := s.post("/login", url.Values{"account": {"ada"}, "password": {"p w"}, "next": {"/jobs?state=failed"}}, header("Cookie", ""))
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "Enter your code", `value="klp_&lt;b&gt;"`, `value="/jobs?state=failed"`, "one-time-code")
	if a.Header.Get("Set-Cookie") != "" || strings.Contains(a.body, "p w") || a.Header.Get("Cache-Control") != "no-store" {
		t.Error("the password alone opened a session, or the page keeps a secret")
	}
	form := url.Values{"account": {"ada"}, "pending": {"klp_x"}, "code": {" 123 456 "}, "next": {"/jobs?state=failed"}}
	for code, want := range map[string]string{"bad_code": "Wrong code.", "login_expired": "Log in again."} {
		s.api.Refuse("confirm-session", api.Problem{Status: http.StatusUnauthorized, Code: code, Detail: "no"})
		a = s.post("/login/code", form, header("Cookie", ""))
		s.wantStatus(a, http.StatusUnauthorized)
		s.wantText(a, want)
	}
	s.api.Answer("confirm-session", http.StatusCreated, api.Session{Token: apitest.Token, ExpiresAt: time.Now().Add(time.Hour)})
	s.wantRedirect(s.post("/login/code", form, header("Cookie", "")), "/jobs?state=failed")
	var sent api.ConfirmSession
	calls := s.api.Calls("confirm-session")
	calls[len(calls)-1].Into(t, &sent)
	if sent.Pending != "klp_x" || sent.Code != "123 456" {
		t.Errorf("sent %+v", sent)
	}
}
