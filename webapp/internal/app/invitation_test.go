package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const invitationID = "6a1e0000-0000-4000-8000-000000000039"

var _ = addPages(map[string]string{
	"/invitations?scope=acme":     `action="/invitations/` + invitationID + `/withdraw"`,
	"/invitations/new?scope=acme": "To acme and everything below it.",
}, func(a *apitest.API) {
	a.Answer("list-invitations", 200, apitest.Page(invitationOf()))
})

func invitationOf() api.Invitation {
	return api.Invitation{
		ID: invitationID, Person: "carl@example.org", Role: "viewer", ScopeKind: "organization", ScopeID: organizationID, Scope: "acme",
		CreatedBy: "ada", CreatedAt: apitest.Now, ExpiresAt: apitest.Now.AddDate(0, 0, 7),
	}
}

// The page shows the link of an invitation once, and is not cached. A refused form comes back with its values.
func TestInvitations(t *testing.T) {
	t.Parallel()
	s := setup(t)
	made := invitationOf()
	made.Link = "kli_shown-once"
	s.api.Answer("create-invitation", 201, made)
	form := url.Values{"scope": {"acme"}, "person": {"carl@example.org"}, "role": {"viewer"}, "days": {"7"}}
	a := s.post("/invitations/new", form)
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "https://kloigos.example/accept-invitation#kli_shown-once")
	if a.Header.Get("Cache-Control") != "no-store" || strings.Contains(s.get("/invitations?scope=acme").body, "kli_") {
		t.Error("the link may be kept, or is shown again")
	}
	var sent api.CreateInvitation
	s.only("create-invitation").Into(t, &sent)
	if sent != (api.CreateInvitation{Person: "carl@example.org", Role: "viewer", Scope: "acme", Days: 7}) {
		t.Errorf("%+v", sent)
	}
	form.Set("days", "soon")
	s.wantText(s.post("/invitations/new", form), "Enter a whole number", `value="carl@example.org"`)
	s.api.Answer("delete-invitation", 204, nil)
	s.wantRedirect(s.post("/invitations/"+invitationID+"/withdraw", url.Values{"scope": {"acme"}}), "/invitations?scope=acme&said=invitation-withdrawn")
	s.api.Answer("get-access", 200, api.Access{})
	if a := s.get("/invitations?scope=acme"); strings.Contains(a.body, "/withdraw") || strings.Contains(a.body, "/invitations/new") {
		t.Error("offers to who may not")
	}
}

// Whoever has a link sees what it gives, and accepts it with the session's account or a new one.
func TestAcceptInvitation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	out := header("Cookie", "")
	s.wantText(s.get("/accept-invitation", out), "Accept an invitation", `name="link_secret"`)
	s.api.Answer("show-offered-role", 200, api.OfferedRole{Role: "viewer", Scope: "ac<me", CreatedBy: "ada", ExpiresAt: apitest.Now})
	pasted := url.Values{"link_secret": {"https://kloigos.example/accept-invitation#kli_x"}}
	a := s.post("/accept-invitation", pasted, out)
	s.wantText(a, "ac&lt;me", `value="kli_x"`, "/accept-invitation/join")
	if a.Header.Get("Cache-Control") != "no-store" || strings.Contains(a.body, "/accept-invitation/accept") {
		t.Error("may be kept, or offers to accept without a session")
	}
	s.wantText(s.post("/accept-invitation", pasted), "/accept-invitation/accept")
	s.api.Answer("accept-invitation", 200, api.Grant{ID: grantID, Scope: "acme"})
	s.wantRedirect(s.post("/accept-invitation/accept", pasted), "/organizations?said=invitation-accepted")
	pasted.Set("name", "carl")
	pasted.Set("password", " long enough word ")
	pasted.Set("again", "other")
	s.wantText(s.post("/accept-invitation/join", pasted, out), "The two passwords differ.", `value="carl"`)
	pasted.Set("again", " long enough word ")
	s.api.Refuse("join-by-invitation", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.name", Message: "This name can't be used."}}})
	a = s.post("/accept-invitation/join", pasted, out)
	s.wantText(a, "be used.", `value="carl"`)
	if strings.Contains(a.body, "long enough") {
		t.Error("a password is drawn again")
	}
	s.api.Answer("join-by-invitation", 201, api.Joined{Account: "carl", Role: "viewer", Scope: "acme"})
	s.wantText(s.post("/accept-invitation/join", pasted, out), "Log in as <b>carl</b>")
	calls := s.api.Calls("join-by-invitation")
	var sent api.JoinByInvitation
	calls[len(calls)-1].Into(t, &sent)
	if sent != (api.JoinByInvitation{Link: "kli_x", Name: "carl", Password: " long enough word "}) {
		t.Errorf("%+v", sent)
	}
	s.api.Refuse("show-offered-role", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.link", Message: "This link was used."}}})
	s.wantText(s.post("/accept-invitation", pasted, out), "This link was used.")
}
