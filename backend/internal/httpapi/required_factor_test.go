package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/idp"
)

// barred tells whether an answer is that of an organization that asks for a second factor.
func barred(t testing.TB, a answer) bool {
	t.Helper()
	return a.status == http.StatusForbidden && a.problem(t).Code == "second_factor_required"
}

// proved makes a session of the administrator that a passkey opened.
func (b *backend) proved() []string {
	b.t.Helper()
	token := b.granted("proved", "owner", scope.Organization, domain.DefaultOrganization)
	b.sql("UPDATE tokens SET second_factor = 'passkey' WHERE account_id = (SELECT id FROM accounts WHERE name = 'proved')")
	return []string{"Authorization", "Bearer " + token}
}

// requireSecondFactor switches the setting of the default organization on, and waits until a session without a factor notices.
func (b *backend) requireSecondFactor(t *testing.T, as, unproved []string) {
	t.Helper()
	b.mustDo(http.MethodPost, "/organizations/default/require-second-factor", nil, 200, as...)
	within(t, time.Second, func() bool { return barred(t, b.do(http.MethodGet, "/hosts", nil, unproved...)) })
}

// While an organization asks for a second factor, an owner's session without one reaches nothing of it by any route, and all of
// another organization. The organization itself stays in lists, so that somebody learns why.
func TestARequiredSecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	token := b.granted("bob", "owner", scope.Organization, domain.DefaultOrganization)
	b.tx(func(tx *store.Tx) error {
		var bob uuid.UUID
		b.row(&bob, "SELECT id FROM accounts WHERE name = 'bob'")
		return scope.Give(t.Context(), tx.Tx, bob, "owner", scope.Organization, tree.organizations[1], "test")
	})
	bob, as := []string{"Authorization", "Bearer " + token}, b.proved()
	old := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "ci", Days: 1}, 201, bob...))
	if a := b.do(http.MethodPost, "/organizations/default/require-second-factor", nil, bob...); !barred(t, a) {
		t.Errorf("somebody without a second factor asks others for one: %d %s", a.status, a.body)
	}
	b.requireSecondFactor(t, as, append(bob, api.WorkspaceHeader, "default/default/default"))
	b.mustDo(http.MethodPost, "/organizations/default/require-second-factor", nil, 409, as...)

	asked := 0
	for _, r := range api.Routes {
		if r.Permission == "" || r.Permission == api.Own || scope.LevelOf(r.Permission) != scope.Workspace {
			continue
		}
		for o := range 2 {
			asked++
			a := b.do(r.Method, pathOf(r), goodBody(r.ID), append(bob, api.WorkspaceHeader, tree.workspaces[o][1][1].String())...)
			if barred(t, a) != (o == 0) || a.status >= 500 {
				t.Errorf("%s in organization %d: %d %s", r.ID, o, a.status, a.body)
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d requests", asked)
	}
	for path, want := range map[string]string{
		"/projects/" + tree.projects[0][0].String():                  "barred",
		"/workspaces/default%2Fdefault%2Fdefault":                    "barred",
		"/grants?scope=default":                                      "barred",
		"/grants?scope=default%2Fdefault":                            "barred",
		"/roles?organization=default":                                "barred",
		"/members?organization=default":                              "barred",
		"/service-accounts?organization=default":                     "barred",
		"/identity-providers?organization=default":                   "barred",
		"/quotas?scope=default":                                      "barred",
		"/invitations?scope=default":                                 "barred",
		"/access?permission=project:update&object=default%2Fdefault": "barred",
		"/grants?scope=other":                                        "open",
		"/organizations/default":                                     "open",
	} {
		a := b.do(http.MethodGet, path, nil, bob...)
		if want == "barred" && !barred(t, a) || want == "open" && a.status != 200 {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.body, want)
		}
	}
	b.mustDo(http.MethodGet, "/organization-events", nil, 404, append(bob, api.WorkspaceHeader, "default/default/default")...)
	for path, n := range map[string]int{"/organizations": 2, "/projects": 2, "/workspaces": 4} {
		if all := decode[api.Page[api.Scope]](t, b.mustDo(http.MethodGet, path, nil, 200, bob...)).Items; len(all) != n || slices.ContainsFunc(all, func(s api.Scope) bool { return s.Kind != "organization" && s.Organization == "default" }) {
			t.Errorf("%s: %+v", path, all)
		}
	}
	one := decode[api.Scope](t, b.mustDo(http.MethodGet, "/organizations/default", nil, 200, bob...))
	if i := slices.IndexFunc(one.Operations, func(o api.Operation) bool { return o.Allowed }); !one.SecondFactorRequired || i >= 0 {
		t.Errorf("%+v", one)
	}

	// A token is as proved as the session that made it; a program has no second factor.
	if a := b.do(http.MethodGet, "/hosts", nil, "Authorization", "Bearer "+old.Token, api.WorkspaceHeader, "default/default/default"); !barred(t, a) {
		t.Errorf("a token of a session without: %d", a.status)
	}
	made := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "ci", Days: 1}, 201, as...))
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+made.Token)
	ci := decode[api.Account](t, b.mustDo(http.MethodPost, "/service-accounts", api.CreateServiceAccount{Name: "ci"}, 201, as...))
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: ci.ID, Role: "viewer", Scope: "default"}, 201, as...)
	key := decode[api.Key](t, b.mustDo(http.MethodPost, "/service-accounts/"+ci.ID+"/keys", api.CreateKey{Name: "all", Days: 1}, 201, as...))
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+key.Secret)

	if got := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/organization-events?action=organization.require_second_factor", nil, 200, as...)).Items; len(got) != 1 || !strings.Contains(string(got[0].After), `"second_factor_required":true`) {
		t.Errorf("%+v", got)
	}
	b.mustDo(http.MethodPost, "/organizations/default/waive-second-factor", nil, 200, as...)
	b.mustDo(http.MethodGet, "/hosts", nil, 200, append(bob, api.WorkspaceHeader, "default/default/default")...)
}

// The session that confirms a second factor is proved by it, until the factor is removed.
func TestWhatASessionIsProvedWith(t *testing.T) {
	t.Parallel()
	b, password := login(t)
	with := func() string {
		return decode[api.Whoami](t, b.mustDo(http.MethodGet, "/whoami", nil, 200)).SecondFactor
	}
	secret, recovery, at := enrolled(t, b, password)
	if with() != "code" {
		t.Errorf("the session that confirmed is proved with %q", with())
	}
	b.mustDo(http.MethodPost, "/organizations/default/require-second-factor", nil, 200)
	for want, code := range map[string]string{"code": codeAt(t, secret, at.Add(step)), "recovery code": recovery[0]} {
		b.token = decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions/confirm", api.ConfirmSession{Pending: pending(t, b, password), Code: code}, 201, "Authorization", "")).Token
		if with() != want {
			t.Errorf("proved with %q, want %q", with(), want)
		}
		b.mustDo(http.MethodGet, "/hosts", nil, 200)
	}
	b.mustDo(http.MethodPost, "/second-factor/remove", api.ProvePassword{Password: password}, 204)
	if with() != "" {
		t.Errorf("after the removal: proved with %q", with())
	}
	// The backend may have read before that the organization asks for none, half a second ago.
	within(t, time.Second, func() bool { return barred(t, b.do(http.MethodGet, "/hosts", nil)) })
}

// A provider proves a second factor by the claims amr or acr of its ID token, and by nothing else.
func TestAProviderProvesASecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	outside := idp.New(t)
	p := b.provider(outside, "default")
	b.mapGroup(p, "team", "viewer", "default")
	in := func(more map[string]any, about map[string]any) []string {
		claims := map[string]any{"groups": []string{"team"}}
		for name, value := range more {
			claims[name] = value
		}
		outside.Behave(idp.Behavior{Claims: claims, UserInfo: about})
		return []string{"Authorization", "Bearer " + b.loggedIn(p).Token}
	}
	b.requireSecondFactor(t, b.proved(), in(nil, nil))
	for what, c := range map[string]struct {
		claims, about map[string]any
		proves        bool
	}{
		"amr mfa":          {claims: map[string]any{"amr": []string{"pwd", "mfa"}}, proves: true},
		"acr phr":          {claims: map[string]any{"acr": "phr"}, proves: true},
		"REFEDS":           {claims: map[string]any{"acr": "https://refeds.org/profile/mfa"}, proves: true},
		"a password":       {claims: map[string]any{"amr": []string{"pwd"}, "acr": "1"}},
		"no list":          {claims: map[string]any{"amr": "mfa"}},
		"a list of others": {claims: map[string]any{"amr": []any{map[string]any{"mfa": true}, 7}}},
		"a list as acr":    {claims: map[string]any{"acr": []string{"phr"}}},
		"about the person": {about: map[string]any{"sub": "ada", "amr": []string{"mfa"}, "acr": "phr"}},
	} {
		a := b.do(http.MethodGet, "/hosts", nil, in(c.claims, c.about)...)
		if c.proves && a.status != 200 || !c.proves && !barred(t, a) {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
}
