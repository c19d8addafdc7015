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

var _ = addPages(map[string]string{
	"/profile": "3 recovery codes are left",
}, func(a *apitest.API) {
	a.Answer("get-second-factor", 200, api.SecondFactor{State: "confirmed", RecoveryCodes: 3, CreatedAt: &apitest.Now, ConfirmedAt: &apitest.Now})
	a.Answer("list-account-events", 200, apitest.Page(api.Event{ID: "e1", At: apitest.Now, ActorKind: "account", Actor: "<b>boss", Client: "198.51.100.7", Action: "account.reset_second_factor", ObjectKind: "account"}))
})

// The secret of a second factor is shown once, as text and as a QR code; recovery codes too. No password is drawn again.
func TestProfileForms(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("get-second-factor", 200, api.SecondFactor{State: "none"})
	s.wantText(s.get("/profile"), "Your logins ask for the password only.", "&lt;b&gt;boss", "Reset second factor")
	s.api.Answer("enrol-second-factor", 201, api.SecondFactorSecret{Secret: "JBSWY3DPEHPK3PXP", URI: "otpauth://totp/Kloigos:ada?secret=JBSWY3DPEHPK3PXP&issuer=Kloigos"})
	a := s.post("/profile/second-factor", url.Values{"present_password": {" p w "}})
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "JBSWY3DPEHPK3PXP", "<svg viewBox=\"0 0 ", "h7v1h-7z", `action="/profile/second-factor/confirm"`)
	if strings.Contains(a.body, " p w ") || a.Header.Get("Cache-Control") != "no-store" {
		t.Error("the page keeps the password, or may be kept")
	}
	var sent api.ProvePassword
	s.only("enrol-second-factor").Into(t, &sent)
	if sent.Password != " p w " {
		t.Errorf("%+v", sent)
	}
	s.api.Refuse("confirm-second-factor", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "code", Message: "is <wrong>"}}})
	a = s.post("/profile/second-factor/confirm", url.Values{"code": {"1"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Is &lt;wrong&gt;", `action="/profile/second-factor/confirm"`)
	s.api.Answer("confirm-second-factor", 200, api.RecoveryCodes{Codes: []string{"aaaa-bbbb-cccc-dddd"}})
	s.wantText(s.post("/profile/second-factor/confirm", url.Values{"code": {"123456"}}), "aaaa-bbbb-cccc-dddd", "safe place")
	if strings.Contains(s.get("/profile").body, "aaaa-bbbb") {
		t.Error("recovery codes are shown again")
	}
	s.api.Answer("remove-second-factor", 204, nil)
	s.wantRedirect(s.post("/profile/second-factor/remove", url.Values{"remove_password": {"a"}}), "/profile?said=second-factor-removed")
	s.api.Answer("delete-token", 204, nil)
	s.wantRedirect(s.post("/profile/sessions/t1/end", nil), "/profile?said=session-ended")
}

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
