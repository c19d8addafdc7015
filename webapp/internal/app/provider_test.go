package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

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
	"/prices":                                             "0.0125 EUR",
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
	a.Answer("list-prices", 200, apitest.Page(pricesOf()...))
})

func statementOf() api.Statement {
	return api.Statement{
		Organization: "acme", Month: "2026-10", Over: true, Lines: []api.StatementLine{{Project: "web", Workspace: "=live", Resource: "cpu_hour", Quantity: "12", Price: "0.5", Currency: "EUR", Cost: "6.00"}},
		Totals: []api.StatementTotal{{Currency: "EUR", Cost: "6.00"}}, Missing: []string{"unit_hour"},
	}
}

const priceID = "6a1e0000-0000-4000-8000-00000000003b"

// pricesOf are prices of CPUs, one of them to come, and no others.
func pricesOf() []api.Price {
	price := api.Price{ID: grantID, Resource: "cpu_hour", Price: "0.01250000", Currency: "EUR", BeginsAt: apitest.Now, State: "in_force", CreatedBy: "ada", CreatedAt: apitest.Now, Operations: []api.Operation{}}
	later, past := price, price
	later.ID, later.Price, later.State, later.BeginsAt, later.Operations = priceID, "0.02000000", "later", apitest.Now.AddDate(0, 1, 0).Truncate(24*time.Hour), allowed("delete")
	past.Price, past.State, past.BeginsAt = "7.00000000", "past", apitest.Now.AddDate(-1, 0, 0)
	return []api.Price{later, price, past}
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
	s.wantText(s.get("/statements?organization=acme&month=2026-10"), "6.00 EUR", "Not everything has a price.", "month=2026-09", "month=2026-11", "/statements/export?format=csv&amp;month=2026-10")
	s.wantText(s.get("/statements?organization=acme&month=2026-10"), `type="month" name="month" value="2026-10"`, `href="/prices"`, "format=json")
	s.wantText(s.get("/statements/export?organization=acme&month=2026-10&format=csv"), "'=live,cpu_hour,12,0.5,EUR,6.00")
	file := s.get("/statements/export?organization=acme&month=2026-10&format=json")
	s.wantText(file, `"workspace":"=live"`, `"totals":[{"currency":"EUR","cost":"6.00"}]`)
	if file.Header.Get("Content-Disposition") != `attachment; filename="statement-2026-10.json"` || !strings.HasPrefix(file.Header.Get("Content-Type"), "application/json") {
		t.Errorf("%v", file.Header)
	}
	s.api.Answer("get-statement", 200, api.Statement{Organization: "acme", Month: "2026-11", Lines: []api.StatementLine{}, Totals: []api.StatementTotal{}, Missing: []string{}})
	s.wantText(s.get("/statements?organization=acme"), "Nothing was in use", "The month is not over")
	s.api.Refuse("get-statement", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "month", Message: "Write it like 2026-11."}}})
	a = s.get("/statements?organization=acme&month=soon")
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Write it like 2026-11.", `value="soon"`)
	s.api.Refuse("list-usage", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "first", Message: "is no day"}}})
	s.wantText(s.get("/usage?scope=acme&first=x"), "s no day")
}

// Prices are set and deleted by forms of who may; the others read them.
func TestPrices(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/prices")
	s.wantText(a, "0.0125 EUR", "no price", "0.02 EUR", "7.00 EUR", `action="/prices/`+priceID+`/delete"`, "was used since then gets the new one", `value="EUR"`)
	if strings.Count(a.body, "/delete") != 1 {
		t.Error("offers to delete a price that has begun")
	}
	form := url.Values{"resource": {"memory_gib_hour"}, "price": {"0.004"}, "currency": {"eur"}, "begins_at": {"2026-12-01"}}
	s.api.Answer("create-price", 201, pricesOf()[0])
	s.wantRedirect(s.post("/prices", form), "/prices?said=price-added")
	var sent api.CreatePrice
	s.only("create-price").Into(t, &sent)
	if sent.Resource != "memory_gib_hour" || sent.Price != "0.004" || sent.Currency != "EUR" || !sent.BeginsAt.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", sent)
	}
	form.Set("begins_at", "soon")
	s.wantText(s.post("/prices", form), "Enter a day", `value="0.004"`)
	form.Set("begins_at", "2020-01-01")
	s.api.Refuse("create-price", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.begins_at", Message: "A price begins <this> month"}}})
	a = s.post("/prices", form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "A price begins &lt;this&gt; month", `value="2020-01-01"`, `<option value="memory_gib_hour" selected`)
	s.api.Refuse("delete-price", api.Problem{Status: 409, Code: "price_begun", Detail: "The price counts since 2026-11-01."})
	s.wantText(s.post("/prices/"+priceID+"/delete", nil), "The price counts since 2026-11-01.")
	s.api.Answer("delete-price", 204, nil)
	s.wantRedirect(s.post("/prices/"+priceID+"/delete", nil), "/prices?said=price-deleted")

	s.api.Answer("list-prices", 200, apitest.Page[api.Price]())
	s.wantText(s.get("/prices"), "Statements then tell what was used, and no costs.")
	s.sees([]string{"acme/web/live"}, slices.DeleteFunc(api.Permissions(), func(p string) bool { return p == "installation.price:set" })...)
	if a := s.get("/prices"); a.StatusCode != http.StatusOK || strings.Contains(a.body, "Set a price") {
		t.Errorf("%d: offers to who may not", a.StatusCode)
	}
}
