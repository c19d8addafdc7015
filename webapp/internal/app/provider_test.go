package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const mappingID = "6a1e0000-0000-4000-8000-00000000003a"

var _ = addPages(map[string]string{
	"/identity-providers?organization=acme":               "login.example.org",
	"/identity-providers/new?organization=acme":           "The next page shows what you register there.",
	"/identity-providers/" + idpID:                        `action="/identity-providers/` + idpID + `/mappings/` + mappingID + `/delete"`,
	"/identity-providers/" + idpID + "/edit":              "Empty keeps the one that is stored.",
	"/installation-identity-providers":                    "login.example.org",
	"/installation-identity-providers/new":                "OpenID Connect",
	"/installation-identity-providers/" + idpID:           "Register there as redirect URI",
	"/installation-identity-providers/" + idpID + "/edit": "Edit login",
	"/usage?scope=acme":                                   "h1-u0 ada",
	"/statements?organization=acme":                       "Hours of CPUs",
}, func(a *apitest.API) {
	for _, route := range []string{"list-identity-providers", "list-installation-providers"} {
		a.Answer(route, 200, apitest.Page(providerOf()))
	}
	for _, route := range []string{"get-identity-provider", "get-installation-provider"} {
		a.Answer(route, 200, providerOf())
	}
	a.Answer("list-identities", 200, apitest.Page(api.Identity{ID: grantID, ProviderID: idpID, Provider: "login", Organization: "acme", Label: "ada@example.org", LastLoginAt: apitest.Now}))
	a.Answer("list-linkable-providers", 200, apitest.Page(api.LoginProvider{ID: idpID, Name: "corp"}))
	a.Answer("list-usage", 200, apitest.Page(api.UsageLine{Day: "2026-11-02", Project: "web", Workspace: "live", Name: "h1-u0 ada", CPUCount: 4, MemoryBytes: 8 << 30, Seconds: 5400}))
	a.Answer("get-statement", 200, statementOf())
})

func statementOf() api.Statement {
	return api.Statement{
		Organization: "acme", Month: "2026-10", Over: true, Lines: []api.StatementLine{{Project: "web", Workspace: "=live", Resource: "cpu_hour", Quantity: "12", Price: "0.5", Currency: "EUR", Cost: "6.00"}},
		Totals: []api.StatementTotal{{Currency: "EUR", Cost: "6.00"}}, Missing: []string{"unit_hour"},
	}
}

func providerOf() api.IdentityProvider {
	return api.IdentityProvider{
		ID: idpID, OrganizationID: organizationID, Organization: "acme", Name: "login", Issuer: "https://login.example.org", ClientID: "kloigos", HasSecret: true, Scopes: []string{"profile"},
		GroupsClaim: "groups", State: "enabled", LoginPath: "/login/" + idpID, RedirectURI: "https://kloigos.example/login/x/callback", FailedAt: &apitest.Now, Failure: "It did <not> answer.",
		Mappings:   []api.GroupMapping{{ID: mappingID, ProviderID: idpID, Group: "platform", Role: "operator", ScopeKind: "organization", Scope: "acme", CreatedBy: "ada"}},
		Operations: allowed("change", "map", "delete"), Version: 4, CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

// A provider is added, changed, turned off and deleted by forms. Its secret is sent once and drawn never.
func TestIdentityProviders(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{"organization": {"acme"}, "name": {"login"}, "issuer": {"https://login.example.org"}, "client_id": {"k"}, "client_secret": {" s3cret "}, "scopes": {"profile groups"}, "groups_claim": {"groups"}}
	s.api.Refuse("create-identity-provider", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.issuer", Message: "must be <https>"}}})
	a := s.post("/identity-providers/new", form)
	s.wantText(a, "Must be &lt;https&gt;", `value="profile groups"`)
	if strings.Contains(a.body, "s3cret") {
		t.Error("the secret is drawn again")
	}
	s.api.Answer("create-identity-provider", 201, providerOf())
	s.wantRedirect(s.post("/identity-providers/new", form), "/identity-providers/"+idpID+"?said=provider-created")
	var sent api.CreateIdentityProvider
	calls := s.api.Calls("create-identity-provider")
	calls[len(calls)-1].Into(t, &sent)
	if sent.ClientSecret != " s3cret " || len(sent.Scopes) != 2 || sent.Organization != "acme" {
		t.Errorf("%+v", sent)
	}
	s.wantText(s.get("/identity-providers/"+idpID), "It did &lt;not&gt; answer.", "https://kloigos.example/login/"+idpID)
	s.api.Answer("change-identity-provider", 200, providerOf())
	s.wantStatus(s.post("/identity-providers/"+idpID+"/disable", url.Values{"confirm": {"other"}, "version": {"4"}}), http.StatusUnprocessableEntity)
	s.wantRedirect(s.post("/identity-providers/"+idpID+"/disable", url.Values{"confirm": {"login"}, "version": {"4"}}), "/identity-providers/"+idpID+"?said=provider-disabled")
	var changed api.ChangeIdentityProvider
	s.only("change-identity-provider").Into(t, &changed)
	if changed.State == nil || *changed.State != "disabled" || changed.ClientSecret != nil || s.only("change-identity-provider").Header.Get("If-Match") != `"4"` {
		t.Errorf("%+v", changed)
	}
	s.api.Answer("delete-identity-provider", 204, nil)
	s.wantRedirect(s.post("/identity-providers/"+idpID+"/delete", url.Values{"confirm": {"login"}, "version": {"4"}}), "/identity-providers?organization=acme&said=provider-deleted")
}

// Groups are mapped where the session may, at the installation too; what may not be done is not offered.
func TestGroupMappings(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{"group": {"sre"}, "role": {"installation_operator"}, "scope": {""}}
	s.api.Answer("create-installation-mapping", 201, api.GroupMapping{ID: mappingID})
	s.wantRedirect(s.post("/installation-identity-providers/"+idpID+"/mappings", form), "/installation-identity-providers/"+idpID+"?said=group-mapped")
	s.api.Refuse("create-group-mapping", api.Problem{Status: 409, Code: "role_too_wide", Detail: "The role owner has a permission that you lack."})
	s.wantText(s.post("/identity-providers/"+idpID+"/mappings", url.Values{"group": {"sre"}, "role": {"owner"}, "scope": {"acme"}}), "a permission that you lack", `value="sre"`)
	s.api.Answer("delete-group-mapping", 204, nil)
	s.wantRedirect(s.post("/identity-providers/"+idpID+"/mappings/"+mappingID+"/delete", nil), "/identity-providers/"+idpID+"?said=group-unmapped")
	p := providerOf()
	p.Operations = []api.Operation{}
	s.api.Answer("get-identity-provider", 200, p)
	if a := s.get("/identity-providers/" + idpID); strings.Contains(a.body, "/mappings") || strings.Contains(a.body, "/delete") {
		t.Error("offers to who may not")
	}
}

// An identity is linked by a POST of this site, which keeps a secret in the browser and goes on to the provider.
func TestLinkedIdentities(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/profile"), "ada@example.org", `action="/profile/identities/`+grantID+`/unlink"`, `>corp</option>`)
	s.api.Answer("start-link", 200, api.StartedLogin{URL: "https://idp.example.org/authorize?state=kls_x", Browser: "klb_secret", ExpiresAt: apitest.Now})
	a := s.post("/profile/identities", url.Values{"provider": {idpID}})
	s.wantText(a, `href="https://idp.example.org/authorize?state=kls_x"`)
	if !strings.Contains(a.Header.Get("Set-Cookie"), "__Host-kloigos-login=link.klb_secret") || a.Header.Get("Refresh") != "0; url=https://idp.example.org/authorize?state=kls_x" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", a.Header)
	}
	s.wantStatus(s.post("/profile/identities", url.Values{"provider": {idpID}}, header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")), http.StatusForbidden)
	s.api.Refuse("delete-identity", api.Problem{Status: 409, Code: "last_way_in", Detail: "This is the only way into your account."})
	s.wantText(s.post("/profile/identities/"+grantID+"/unlink", nil), "the only way into your account")
	s.api.Answer("delete-identity", 204, nil)
	s.wantRedirect(s.post("/profile/identities/"+grantID+"/unlink", nil), "/profile?said=identity-unlinked")
}

// Usage and statements are shown as pages and as CSV, in which a spreadsheet finds no formula.
func TestUsageAndStatement(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/usage?scope=acme&first=2026-11-01&last=2026-11-30"), "8 GiB", "1.50", `/usage/export?first=2026-11-01&amp;last=2026-11-30&amp;scope=acme`)
	a := s.get("/usage/export?scope=acme")
	s.wantText(a, "day,project", "2026-11-02,web,live")
	if a.Header.Get("Content-Disposition") != `attachment; filename="usage.csv"` {
		t.Errorf("%v", a.Header)
	}
	s.wantText(s.get("/statements?organization=acme&month=2026-10"), "6.00 EUR", "Not everything has a price.", "month=2026-09", "month=2026-11", "/statements/export?month=2026-10")
	s.wantText(s.get("/statements/export?organization=acme&month=2026-10"), "'=live,cpu_hour,12,0.5,EUR,6.00")
	s.api.Refuse("list-usage", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "first", Message: "is no day"}}})
	s.wantText(s.get("/usage?scope=acme&first=x"), "s no day")
}
