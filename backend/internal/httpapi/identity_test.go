package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/testkit/idp"
)

// webURL and identityNetworks are what every backend of these tests is configured with.
var (
	webURL           = &url.URL{Scheme: "https", Host: "kloigos.example.org"}
	identityNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
)

// provider makes an identity provider of an organization, or of the installation, that a provider on loopback stands behind.
func (b *backend) provider(p *idp.Provider, organization string) api.IdentityProvider {
	b.t.Helper()
	return b.providerNamed("login", p, organization)
}

func (b *backend) providerNamed(name string, p *idp.Provider, organization string) api.IdentityProvider {
	b.t.Helper()
	body := map[string]any{"name": name, "issuer": p.URL, "client_id": idp.Client, "client_secret": idp.Secret}
	path := "/installation/identity-providers"
	if organization != "" {
		path, body["organization"] = "/identity-providers", organization
	}
	return decode[api.IdentityProvider](b.t, b.mustDo(http.MethodPost, path, body, 201))
}

func (b *backend) mapGroup(p api.IdentityProvider, group, role, at string) api.GroupMapping {
	b.t.Helper()
	path := "/group-mappings"
	if p.OrganizationID == "" {
		path = "/installation" + path
	}
	return decode[api.GroupMapping](b.t, b.mustDo(http.MethodPost, path, map[string]any{"provider": p.ID, "group": group, "role": role, "scope": at}, 201))
}

// begun is a login whose browser is back from the provider.
type begun struct {
	finish api.FinishLogin
	start  api.StartedLogin
}

func (b *backend) begin(p api.IdentityProvider) begun {
	b.t.Helper()
	started := decode[api.StartedLogin](b.t, b.mustDo(http.MethodPost, "/logins", api.StartLogin{Provider: p.ID, ReturnTo: "/hosts"}, 200, "Authorization", ""))
	back := idp.Browser(b.t, started.URL)
	return begun{api.FinishLogin{Provider: p.ID, Browser: started.Browser, State: back.Get("state"), Code: back.Get("code"), Issuer: back.Get("iss")}, started}
}

func (b *backend) finish(in api.FinishLogin) answer {
	b.t.Helper()
	return b.do(http.MethodPost, "/logins/finish", in, "Authorization", "")
}

func (b *backend) loggedIn(p api.IdentityProvider) api.FinishedLogin {
	b.t.Helper()
	a := b.finish(b.begin(p).finish)
	if a.status != http.StatusOK {
		b.t.Fatalf("login: %d %s", a.status, a.body)
	}
	return decode[api.FinishedLogin](b.t, a)
}

func (b *backend) refused(a answer, code string) {
	b.t.Helper()
	if a.status != http.StatusConflict || a.problem(b.t).Code != code {
		b.t.Errorf("got %d %s, want %s", a.status, a.body, code)
	}
}

// roles are the roles that an account has by a provider, with where.
func (b *backend) roles(p api.IdentityProvider, account, at string) []string {
	b.t.Helper()
	all := []string{}
	for _, g := range decode[api.Page[api.Grant]](b.t, b.mustDo(http.MethodGet, "/grants?scope="+url.QueryEscape(at), nil, 200)).Items {
		if g.Account == account {
			all = append(all, g.Role+" "+g.Scope+" "+strings.ReplaceAll(g.Source, p.ID, "it"))
		}
	}
	slices.Sort(all)
	return all
}

// A group is a role from the login on, and no longer with the login at which it is gone. What somebody gave stays; a claim that
// is missing keeps everything and is told.
func TestGroupsAreRoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside := idp.New(t)
	p := b.provider(outside, "default")
	b.refused(b.finish(b.begin(p).finish), "no_role")
	b.mapGroup(p, "team", "viewer", "default")
	b.mapGroup(p, "ops", "operator", "default/default")
	b.refused(b.finish(b.begin(p).finish), "no_role")

	outside.Behave(idp.Behavior{Claims: map[string]any{"groups": []string{"team", "ops", "unknown"}}})
	done := b.loggedIn(p)
	const name = "ada@00000000"
	if done.Account != name || done.ReturnTo != "/hosts" {
		t.Fatalf("%+v", done)
	}
	as := []string{"Authorization", "Bearer " + done.Token}
	b.mustDo(http.MethodGet, "/hosts", nil, 200, as...)
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: name, Role: "auditor", Scope: "default"}, 201)
	want := func(what string, roles ...string) {
		t.Helper()
		if got := b.roles(p, name, "default/default"); !slices.Equal(got, roles) {
			t.Errorf("%s: %q, want %q", what, got, roles)
		}
	}
	want("both groups", "auditor default manual", "operator default/default idp:it", "viewer default idp:it")

	for what, claims := range map[string]map[string]any{"missing": {}, "null": {"groups": json.RawMessage("null")}, "a number": {"groups": 7}, "a list of numbers": {"groups": []int{1}}} {
		outside.Behave(idp.Behavior{Claims: claims})
		b.loggedIn(p)
		want(what, "auditor default manual", "operator default/default idp:it", "viewer default idp:it")
	}
	events := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/organization-events?action=identity.groups_missing", nil, 200))
	if len(events.Items) != 4 || !strings.Contains(string(events.Items[0].After), `"kept"`) {
		t.Errorf("%+v", events.Items)
	}
	outside.Behave(idp.Behavior{Claims: map[string]any{"groups": []string{"ops"}}})
	b.loggedIn(p)
	want("one group", "auditor default manual", "operator default/default idp:it")
	outside.Behave(idp.Behavior{UserInfo: map[string]any{"sub": "ada", "groups": []string{"team"}}})
	b.loggedIn(p)
	want("told about the person", "auditor default manual", "viewer default idp:it")
	outside.Behave(idp.Behavior{Claims: map[string]any{"groups": []string{}}})
	b.loggedIn(p)
	want("an empty list", "auditor default manual")
}

// An organization's provider proves a person for that organization only: its session reaches no other one, whatever the account
// may do, and makes no token that does. Accounts are found by issuer and subject alone.
func TestAProviderProvesForItsOrganizationOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	outside := idp.New(t)
	outside.Behave(idp.Behavior{Subject: "admin", Claims: map[string]any{"groups": []string{"team"}, "email": "admin@example.org"}})
	theirs := b.granted("theirs", "owner", scope.Organization, tree.organizations[1])
	b.sql("UPDATE accounts SET email = 'admin@example.org' WHERE name = 'theirs'")
	p := b.provider(outside, "default")
	b.mapGroup(p, "team", "viewer", "default")
	done := b.loggedIn(p)
	if done.Account != "admin@00000000" {
		t.Fatalf("logged in as %s", done.Account)
	}
	at := []string{"Authorization", "Bearer " + done.Token, api.WorkspaceHeader, tree.workspaces[1][0][0].String()}
	// The same person is given everything in the other organization.
	b.sql("INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) SELECT gen_random_uuid(), id, 'owner', 'organization', $1, 'test' FROM accounts WHERE name = 'admin@00000000'", tree.organizations[1])
	b.mustDo(http.MethodGet, "/hosts", nil, 404, at...)
	b.mustDo(http.MethodGet, "/organizations/other", nil, 404, at...)
	made := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "ci", Days: 1}, 201, "Authorization", "Bearer "+done.Token))
	b.mustDo(http.MethodGet, "/hosts", nil, 404, "Authorization", "Bearer "+made.Token, api.WorkspaceHeader, tree.workspaces[1][0][0].String())
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+made.Token, api.WorkspaceHeader, domain.DefaultWorkspace.String())
	b.refused(b.do(http.MethodPost, "/identities", api.StartLogin{Provider: p.ID}, "Authorization", "Bearer "+done.Token), "narrowed")

	// What is of another organization is not seen, and no group is mapped to it.
	as := []string{"Authorization", "Bearer " + theirs}
	b.mustDo(http.MethodGet, "/identity-providers/"+p.ID, nil, 404, as...)
	b.mustDo(http.MethodPatch, "/identity-providers/"+p.ID, map[string]any{"state": "disabled"}, 404, as...)
	b.mustDo(http.MethodDelete, "/identity-providers/"+p.ID, nil, 404, as...)
	b.mustDo(http.MethodDelete, "/group-mappings/"+uuid.NewString(), nil, 404, as...)
	b.mustDo(http.MethodPost, "/group-mappings", map[string]any{"provider": p.ID, "group": "team", "role": "viewer", "scope": "other"}, 422, as...)

	// A provider that is disabled lets nobody in, and ends what it opened.
	b.mustDo(http.MethodPatch, "/identity-providers/"+p.ID, map[string]any{"state": "disabled"}, 200)
	b.mustDo(http.MethodGet, "/whoami", nil, 401, "Authorization", "Bearer "+done.Token)
	b.mustDo(http.MethodGet, "/whoami", nil, 401, "Authorization", "Bearer "+made.Token)
	b.mustDo(http.MethodPost, "/logins", api.StartLogin{Provider: p.ID}, 422, "Authorization", "")
}

// Two providers that prove the same subject, even by the same issuer, prove two people: none comes to the account of the other.
// A mail address that the provider has not verified is not kept.
func TestTheSameSubjectOfTwoProviders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside, other := idp.New(t), idp.New(t)
	in := map[string]any{"groups": []string{"team"}, "email": "admin@example.org", "email_verified": false}
	outside.Behave(idp.Behavior{Claims: in})
	other.Behave(idp.Behavior{Claims: map[string]any{"groups": []string{"team"}, "email_verified": true}})
	accounts := map[string]bool{}
	for _, at := range []struct {
		from         *idp.Provider
		organization string
	}{{outside, "default"}, {outside, ""}, {other, "default"}} {
		name := map[bool]string{true: "login", false: "second"}[at.from == outside]
		p := b.providerNamed(name, at.from, at.organization)
		b.mapGroup(p, "team", "viewer", "default")
		done := b.loggedIn(p)
		if again := b.loggedIn(p); again.Account != done.Account {
			t.Errorf("%s is %s at the next login", done.Account, again.Account)
		}
		accounts[done.Account] = true
		var email string
		b.row(&email, "SELECT email FROM accounts WHERE name = $1", done.Account)
		if want := map[bool]string{true: "", false: "ada@example.org"}[at.from == outside]; email != want {
			t.Errorf("%s has the address %q, not %q", done.Account, email, want)
		}
	}
	if len(accounts) != 3 {
		t.Errorf("%v", accounts)
	}
	// A provider that calls itself another one is not asked for anybody, and strangers are not told why.
	third := idp.New(t)
	third.Behave(idp.Behavior{Discovery: map[string]any{"issuer": outside.URL}})
	p := b.providerNamed("third", third, "default")
	a := b.do(http.MethodPost, "/logins", api.StartLogin{Provider: p.ID}, "Authorization", "")
	b.refused(a, "provider_failed")
	if strings.Contains(string(a.body), outside.URL) {
		t.Errorf("a stranger reads %s", a.body)
	}
	shown := decode[api.IdentityProvider](t, b.mustDo(http.MethodGet, "/identity-providers/"+p.ID, nil, 200))
	if !strings.Contains(shown.Failure, "names the issuer") {
		t.Errorf("%q", shown.Failure)
	}
}

// A login whose token proves nothing opens no session, makes no account, and can't be finished again.
func TestAFalseTokenLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside := idp.New(t)
	p := b.provider(outside, "default")
	b.mapGroup(p, "team", "viewer", "default")
	count := func() (accounts, sessions int) {
		b.row(&accounts, "SELECT count(*) FROM accounts")
		b.row(&sessions, "SELECT count(*) FROM tokens WHERE kind = 'session'")
		return accounts, sessions
	}
	accounts, sessions := count()
	groups := map[string]any{"groups": []string{"team"}}
	for name, behavior := range map[string]idp.Behavior{
		"none": {Claims: groups, Sign: idp.Unsigned}, "another nonce": {Claims: map[string]any{"groups": []string{"team"}, "nonce": "x"}},
		"another audience": {Claims: map[string]any{"groups": []string{"team"}, "aud": "x"}},
	} {
		outside.Behave(behavior)
		login := b.begin(p)
		b.refused(b.finish(login.finish), "provider_failed")
		outside.Behave(idp.Behavior{Claims: groups})
		if a := b.finish(login.finish); a.status == http.StatusOK {
			t.Errorf("%s: finished at the second try", name)
		}
	}
	if a, s := count(); a != accounts || s != sessions {
		t.Errorf("%d accounts and %d sessions, not %d and %d", a, s, accounts, sessions)
	}
	b.loggedIn(p)
}
