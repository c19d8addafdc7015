package app

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

var _ = addPages(map[string]string{}, func(a *apitest.API) {
	a.Answer("list-passkeys", 200, apitest.Page(api.Passkey{ID: keyID, Name: "lap<top", CreatedAt: apitest.Now}))
})

// The script of the page gets challenges, and what a device answers is sent as it came.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/profile"), "lap&lt;top", `data-passkey="create"`, `action="/profile/passkeys/`+keyID+`/remove"`)
	s.api.Answer("begin-passkey", 200, api.PasskeyChallenge{Challenge: "sealed", Options: []byte(`{"publicKey":{"challenge":"YQ"}}`)})
	a := s.post("/profile/passkeys/challenge", url.Values{"passkey_password": {" p w "}})
	s.wantText(a, `{"challenge":"sealed","options":{"publicKey":{"challenge":"YQ"}}}`)
	var proof api.ProvePassword
	s.only("begin-passkey").Into(t, &proof)
	if proof.Password != " p w " || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v %v", proof, a.Header)
	}
	s.api.Refuse("begin-passkey", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "password", Message: "This is not your password."}}})
	a = s.post("/profile/passkeys/challenge", url.Values{"passkey_password": {"x"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "This is not your password.")
	s.api.Answer("create-passkey", 201, api.Passkey{ID: keyID})
	answer := url.Values{"passkey_name": {"phone"}, "challenge": {"sealed"}, "credential": {`{"id":"x"}`}}
	s.wantRedirect(s.post("/profile/passkeys", answer), "/profile?said=passkey-added")
	var sent api.CreatePasskey
	s.only("create-passkey").Into(t, &sent)
	if sent.Name != "phone" || sent.Challenge != "sealed" || string(sent.Credential) != `{"id":"x"}` {
		t.Errorf("%+v", sent)
	}
	s.api.Answer("delete-passkey", 204, nil)
	s.wantRedirect(s.post("/profile/passkeys/"+keyID+"/remove", nil), "/profile?said=passkey-removed")
}

// A passkey takes the place of password and code, and leads to this site only.
func TestLoginByPasskey(t *testing.T) {
	t.Parallel()
	s := setup(t)
	out := header("Cookie", "")
	s.wantText(s.get("/login?next=/hosts", out), `data-challenge="/login/passkey/challenge"`, `value="/hosts"`)
	s.api.Answer("begin-passkey-login", 200, api.PasskeyChallenge{Challenge: "sealed", Options: []byte(`{}`)})
	s.wantText(s.post("/login/passkey/challenge", nil, out), `"challenge":"sealed"`)
	form := url.Values{"challenge": {"sealed"}, "credential": {"no JSON"}, "next": {"//evil.example"}}
	s.api.Refuse("create-passkey-session", api.Problem{Status: 401, Code: "bad_passkey", Detail: "This passkey is none."})
	a := s.post("/login/passkey", form, out)
	s.wantStatus(a, http.StatusUnauthorized)
	s.wantText(a, "This passkey is none.")
	s.api.Answer("create-passkey-session", 201, api.Session{Token: apitest.Token, ExpiresAt: time.Now().Add(time.Hour)})
	s.wantRedirect(s.post("/login/passkey", form, out), "/")
}
