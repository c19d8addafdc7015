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

const (
	organizationID = "6a1e0000-0000-4000-8000-000000000031"
	projectID      = "6a1e0000-0000-4000-8000-000000000032"
	workspaceID    = "6a1e0000-0000-4000-8000-000000000033"
	accountID      = "6a1e0000-0000-4000-8000-000000000034"
	serviceID      = "6a1e0000-0000-4000-8000-000000000035"
	roleID         = "6a1e0000-0000-4000-8000-000000000036"
	grantID        = "6a1e0000-0000-4000-8000-000000000037"
	keyID          = "6a1e0000-0000-4000-8000-000000000038"
)

var _ = addPages(map[string]string{
	"/organizations":                                `>acme</a>`,
	"/organizations/new":                            "Name of the account that owns it first",
	"/organizations/" + organizationID:              "Projects and workspaces",
	"/organizations/" + organizationID + "/edit":    "Rename acme",
	"/organizations/" + organizationID + "/ssh-key": "2 of 4, 1 left behind",
	"/projects/new?organization=acme":               "In the organization acme.",
	"/projects/" + projectID:                        "A project holds workspaces.",
	"/projects/" + projectID + "/edit":              "Rename acme/web",
	"/workspaces/new?project=acme%2Fweb":            "Kubernetes",
	"/workspaces/" + workspaceID:                    `href="/members?scope=acme%2Fweb%2Flive"`,
	"/workspaces/" + workspaceID + "/edit":          "Rename acme/web/live",
	"/workspaces/" + workspaceID + "/move":          `<option value="acme/web" selected`,
	"/members?scope=acme":                           "inherited",
	"/members/new?scope=acme":                       "Sees everything in its scope",
	"/roles?organization=acme":                      "of this organization",
	"/roles/new?organization=acme":                  `value="project.workspace.host:read"`,
	"/roles/" + roleID + "?organization=acme":       "A change counts at once",
	"/service-accounts?organization=acme":           "ci@00000000",
	"/service-accounts/new?organization=acme":       "In the organization acme.",
	"/service-accounts/" + serviceID:                "the former secret works until",
	"/quotas?scope=acme":                            "nearly used up",
	"/accounts":                                     "bob@example.org",
	"/accounts/new":                                 "The next page shows a link once.",
	"/accounts/" + accountID:                        "Reset the password",
	"/accounts/" + accountID + "/edit":              "Edit bob",
	"/password":                                     "Your other sessions end.",
	"/events?of=organization":                       `name="of" value="organization"`,
	"/events?of=installation":                       "belongs to no organization",
}, func(a *apitest.API) {
	a.Answer("list-organizations", 200, apitest.Page(organizationOf()))
	a.Answer("get-organization", 200, organizationOf())
	a.Answer("get-ssh-key", 200, sshKeyOf())
	a.Answer("list-projects", 200, apitest.Page(projectOf()))
	a.Answer("get-project", 200, projectOf())
	a.Answer("get-workspace", 200, workspaceOf())
	a.Answer("list-workspaces", 200, apitest.Page(workspaceOf()))
	a.Answer("list-grants", 200, apitest.Page(
		api.Grant{ID: grantID, AccountID: accountID, Account: "bob", AccountKind: "person", AccountState: "active", Role: "operator", ScopeKind: "organization", Scope: "acme", Inherited: true, Source: "manual", CreatedBy: "ada", CreatedAt: apitest.Now}))
	a.Answer("list-roles", 200, apitest.Page(
		api.Role{Name: "viewer", Description: "Sees everything in its scope.", BuiltIn: true, Permissions: []string{"project.workspace.host:read"}},
		api.Role{Name: "owner", Description: "May do everything.", BuiltIn: true, Permissions: []string{api.Own, "project.workspace.host:create", "project.workspace.host:read", "project:create"}},
		roleOf()))
	a.Answer("get-role", 200, roleOf())
	a.Answer("list-members", 200, apitest.Page(accountOf()))
	a.Answer("list-accounts", 200, apitest.Page(accountOf()))
	a.Answer("get-account", 200, accountOf())
	a.Answer("list-service-accounts", 200, apitest.Page(serviceOf()))
	a.Answer("get-service-account", 200, serviceOf())
	until := apitest.Now.AddDate(0, 0, 1)
	a.Answer("list-keys", 200, apitest.Page(api.Key{ID: keyID, Account: "ci@00000000", Name: "pipeline", Prefix: "kl_ab12", CreatedAt: apitest.Now, ExpiresAt: until, OldUntil: &until}))
	a.Answer("list-quotas", 200, apitest.Page(
		api.Quota{Scope: "acme", ScopeKind: "organization", Resource: "units", Amount: 10, Used: 8, UpdatedBy: "ada", UpdatedAt: apitest.Now},
		api.Quota{Scope: "acme/web", ScopeKind: "project", Resource: "memory_bytes", Amount: 64 << 30, Used: 65 << 30, UpdatedBy: "ada", UpdatedAt: apitest.Now}))
	a.Answer("get-access", 200, api.Access{Allowed: true})
	a.Answer("list-organization-events", 200, apitest.Page(api.Event{ID: "e1", At: apitest.Now, Actor: "ada", ActorKind: "account", Action: "host.register", ObjectKind: "host", ObjectID: "h9", Object: "other-host", Workspace: projectID, JobID: apitest.JobID}))
	a.Answer("list-installation-events", 200, apitest.Page(api.Event{ID: "e1", At: apitest.Now, Actor: "ada", ActorKind: "account", Action: "account.create", ObjectKind: "account", ObjectID: accountID, Object: "bob"}))
})

func organizationOf() api.Scope {
	return api.Scope{ID: organizationID, Kind: "organization", Name: "acme", Path: "acme", OrganizationID: organizationID, Organization: "acme", State: "active", Operations: allowed("change", "suspend", "delete"), Version: 2, CreatedAt: apitest.Now}
}

func projectOf() api.Scope {
	s := organizationOf()
	s.ID, s.Kind, s.Name, s.Path, s.ProjectID, s.Project = projectID, "project", "web", "acme/web", projectID, "web"
	return s
}

func workspaceOf() api.Scope {
	s := projectOf()
	s.ID, s.Kind, s.Name, s.Path, s.Type, s.Operations = workspaceID, "workspace", "live", "acme/web/live", "bare_metal", allowed("change", "move", "suspend", "delete")
	return s
}

func accountOf() api.Account {
	return api.Account{ID: accountID, Name: "bob", Kind: "person", Email: "bob@example.org", State: "active", Operations: allowed("change", "disable", "reset_password"), Version: 3, CreatedAt: apitest.Now}
}

func serviceOf() api.Account {
	return api.Account{ID: serviceID, Name: "ci@00000000", Kind: "service", OrganizationID: organizationID, State: "active", Operations: allowed("create_key", "disable"), Version: 1, CreatedAt: apitest.Now}
}

func roleOf() api.Role {
	return api.Role{ID: roleID, Name: "watcher", Description: "Watches.", Permissions: []string{"project.workspace.host:read"}, Version: 5}
}

// A scope that can't be deleted stays, and its page says what is still in it.
func TestScopesAreChanged(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sees([]string{"acme/web/live", "acme/web/test"})
	at := "/w/acme/web/live/projects/" + projectID
	renamed := projectOf()
	renamed.Name, renamed.Path = "shop", "acme/shop"
	s.api.Answer("change-project", 200, renamed)
	s.wantRedirectTo(s.post(at+"/edit", url.Values{"name": {"shop"}, "version": {"2"}}), "/w/acme/shop/live/projects/"+projectID+"?said=scope-renamed")
	if tag := s.only("change-project").Header.Get("If-Match"); tag != `"2"` {
		t.Errorf("changed with %s", tag)
	}
	s.api.Refuse("delete-project", api.Problem{Status: http.StatusConflict, Code: "scope_in_use", Detail: "The project acme/web still has 2 workspaces. Remove them first."})
	a := s.post(at+"/delete", url.Values{"confirm": {"web"}, "version": {"2"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "still has 2 workspaces", "A project holds workspaces.")
	a = s.post(at+"/delete", url.Values{"confirm": {"shop"}, "version": {"2"}})
	s.wantText(a, "The typed text is not web")
	if n := len(s.api.Calls("delete-project")); n != 1 {
		t.Errorf("deleted %d times", n)
	}
	s.api.Answer("delete-workspace", 204, nil)
	s.wantRedirectTo(s.post("/w/acme/web/live/workspaces/"+workspaceID+"/delete", url.Values{"confirm": {"live"}, "version": {"2"}}), "/projects/"+projectID+"?said=scope-deleted")
	s.deletesAll()
	s.deletesHollow()
	moved := workspaceOf()
	moved.Path = "acme/shop/live"
	s.api.Answer("move-workspace", 200, moved)
	s.wantRedirectTo(s.post("/w/acme/web/live/workspaces/"+workspaceID+"/move", url.Values{"project": {"acme/shop"}, "version": {"2"}}), "/w/acme/shop/live/workspaces/"+workspaceID+"?said=scope-moved")
	s.wantRedirectTo(s.post("/w/acme/web/test/workspaces/"+workspaceID+"/move", url.Values{"project": {"acme/shop"}, "version": {"2"}}), "/w/acme/web/test/workspaces/"+workspaceID+"?said=scope-moved")
	s.api.Answer("suspend-workspace", 200, workspaceOf())
	s.wantStatus(s.post("/workspaces/"+workspaceID+"/suspend", url.Values{"confirm": {"other"}}), http.StatusUnprocessableEntity)
	s.wantStatus(s.post("/workspaces/"+workspaceID+"/suspend", url.Values{"confirm": {"live"}, "version": {"2"}}), http.StatusSeeOther)
}

// deletesAll plans the deletion of a workspace with all that is in it, and confirms it on the plan's page.
func (s *site) deletesAll() {
	s.t.Helper()
	const planID = "6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c77"
	now := time.Now()
	plan := api.Plan{
		ID: planID, Workspace: workspaceID, Action: "cascade-workspace", Kind: "scope_delete", KindMeans: "deletes a scope", ScopeKind: "workspace", ScopeID: workspaceID,
		ScopePath: "acme/web/live", State: "ready", Counts: &api.PlanCounts{Remove: 2}, CheckedAt: &now, ExpiresAt: now.Add(time.Hour),
		Changes:    []api.PlanChange{{Task: "acme/web/live", Kind: "allocation", Name: "ada", Action: "remove"}, {Kind: "workspace", Name: "acme/web/live", Action: "remove"}},
		Operations: []api.Operation{{Name: "apply", Allowed: true}},
	}
	s.api.Answer("cascade-workspace", 202, plan)
	at := "/w/acme/web/live/plans/" + planID
	s.wantRedirectTo(s.post("/workspaces/"+workspaceID+"/cascade", nil), at)
	s.api.Answer("get-plan", 200, plan)
	s.wantText(s.get(at), "delete acme/web/live with all that is in it", "ada", "allocation")
	s.wantText(s.post(at+"/apply", url.Values{"confirm": {"other"}}), "he typed text is not live")
	deleting := workspaceOf()
	deleting.State, deleting.Deletion = "deleting", &api.ScopeDeletion{JobID: planID, Workspace: workspaceID, State: "running"}
	s.api.Answer("cascade-workspace", 202, deleting)
	s.wantRedirectTo(s.post(at+"/apply", url.Values{"confirm": {"live"}}), "/workspaces/"+workspaceID+"?said=scope-deleting")
	s.api.Answer("get-workspace", 200, deleting)
	s.wantText(s.get("/w/acme/web/live/workspaces/"+workspaceID), "/w/acme/web/live/jobs/"+planID, "deleting")
	s.api.Answer("get-workspace", 200, workspaceOf())
}

// deletesHollow deletes a project without workspaces at once, after its name was typed: no plan shows what goes.
func (s *site) deletesHollow() {
	s.t.Helper()
	hollow, at := projectOf(), "/projects/"+projectID
	hollow.Operations = []api.Operation{{Name: "cascade", Allowed: true}}
	s.api.Answer("get-project", 200, hollow)
	s.api.Answer("list-workspaces", 200, apitest.Page[api.Scope]())
	s.wantText(s.get("/w/acme/web/live"+at), "It goes at once", `name="confirm"`)
	s.api.Answer("cascade-project", 202, hollow)
	s.wantText(s.post(at+"/cascade", url.Values{"confirm": {"other"}}), "he typed text is not web")
	s.wantRedirectTo(s.post(at+"/cascade", url.Values{"confirm": {"web"}}), "/organizations/"+organizationID+"?said=scope-deleted")
	s.api.Answer("get-project", 200, projectOf())
	s.api.Answer("list-workspaces", 200, apitest.Page(workspaceOf()))
}

// What may not be done has no button: one question for each scope.
func TestMembers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/members?scope=acme%2Fweb")
	s.wantText(a, `action="/members/`+grantID+`/remove"`, "/members/new?scope=acme%2Fweb")
	s.api.Answer("get-access", 200, api.Access{})
	a = s.get("/members?scope=acme%2Fweb")
	for _, not := range []string{"/remove", "/members/new"} {
		if strings.Contains(a.body, not) {
			t.Errorf("%s is offered to who may not", not)
		}
	}
	s.api.Answer("create-grant", 201, api.Grant{ID: grantID, Scope: "acme/web"})
	s.wantRedirectTo(s.post("/members/new", url.Values{"scope": {"acme/web"}, "account": {"bob"}, "role": {"viewer"}}), "/members?scope=acme%2Fweb&said=role-given")
	s.wantText(s.get("/members?scope=acme%2Fweb&said=role-given"), "The role is given.", `hx-get="/members?scope=acme%2Fweb"`)
	s.api.Refuse("create-grant", api.Problem{Status: 409, Code: "role_too_wide", Detail: "The role owner has a permission that you lack."})
	a = s.post("/members/new", url.Values{"scope": {"acme/web"}, "account": {"bob"}, "role": {"owner"}})
	s.wantText(a, "a permission that you lack", `value="owner" checked`, `value="bob"`)
	s.api.Refuse("delete-grant", api.Problem{Status: 409, Code: "last_owner", Detail: "This is the last owner of acme who can log in."})
	s.wantText(s.post("/members/"+grantID+"/remove", url.Values{"scope": {"acme"}}), "This is the last owner", "Members of acme")
}

func TestSecretsAreShownOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	made := accountOf()
	made.Link = "link-shown-once"
	s.api.Answer("create-account", 201, made)
	s.api.Answer("reset-password", 200, made)
	key := api.Key{ID: keyID, Name: "pipeline", Secret: "kl_shown-once"}
	s.api.Answer("create-key", 201, key)
	s.api.Answer("rotate-key", 200, key)
	for path, want := range map[string]string{
		"/accounts/new": "https://kloigos.example/set-password#link-shown-once", "/accounts/" + accountID + "/reset-password": "set-password#link-shown-once",
		"/service-accounts/" + serviceID + "/keys": "kl_shown-once", "/service-accounts/" + serviceID + "/keys/" + keyID + "/rotate": "kl_shown-once",
	} {
		a := s.post(path, url.Values{"name": {"bob"}, "days": {"90"}, "hours": {"24"}})
		s.wantStatus(a, http.StatusOK)
		s.wantText(a, want)
		if c := a.Header.Get("Cache-Control"); c != "no-store" {
			t.Errorf("%s may be stored: %q", path, c)
		}
	}
	if a := s.get("/accounts/" + accountID); strings.Contains(a.body, "/set-password#") {
		t.Error("the link is shown again")
	}
	var sent api.CreateKey
	s.only("create-key").Into(t, &sent)
	if sent.Permissions != nil || sent.Days != 90 {
		t.Errorf("%+v", sent)
	}
	s.wantText(s.post("/service-accounts/"+serviceID+"/keys", url.Values{"name": {"x"}, "days": {"soon"}}), "Enter a whole number", `value="soon"`)
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	s := setup(t)
	out := header("Cookie", "")
	s.wantText(s.get("/set-password", out), "Set a password", `name="link_secret"`)
	words := url.Values{"link_secret": {"https://kloigos.example/set-password#abc"}, "password": {" long enough word "}, "again": {" long enough word "}}
	s.api.Answer("set-password", 200, api.PasswordSet{Account: "bob"})
	s.wantText(s.post("/set-password", words, out), "Log in as <b>bob</b>")
	var sent api.SetPassword
	s.only("set-password").Into(t, &sent)
	if sent != (api.SetPassword{Link: "abc", Password: " long enough word "}) {
		t.Errorf("%+v", sent)
	}
	s.api.Refuse("set-password", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.link", Message: "This link was used."}}})
	a := s.post("/set-password", words, out)
	s.wantText(a, "This link was used.")
	if strings.Contains(a.body, "long enough") || strings.Contains(a.body, "#abc") {
		t.Error("a secret is drawn again")
	}
	words.Set("again", "other")
	s.wantText(s.post("/set-password", words, out), "The two passwords differ.")
	s.wantText(s.post("/password", words), "The two passwords differ.")
	words.Set("again", words.Get("password"))
	words.Set("old_password", "old")
	s.api.Answer("change-password", 204, nil)
	s.wantRedirectTo(s.post("/password", words), "/tokens?said=password-changed")
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/quotas?scope=acme")
	s.wantText(a, "8 of 10", "80 %", "nearly used up", "65 GiB of 64 GiB", "101 %", "used up: nothing more begins", `action="/quotas/clear"`)
	s.api.Answer("set-quota", 200, api.Quota{})
	s.wantRedirectTo(s.post("/quotas", url.Values{"scope": {"acme"}, "resource": {"memory_bytes"}, "amount": {"64 GiB"}}), "/quotas?scope=acme&said=quota-set")
	var sent api.SetQuota
	s.only("set-quota").Into(t, &sent)
	if sent != (api.SetQuota{Scope: "acme", Resource: "memory_bytes", Amount: 64 << 30}) {
		t.Errorf("%+v", sent)
	}
	s.wantText(s.post("/quotas", url.Values{"scope": {"acme"}, "resource": {"units"}, "amount": {"many"}}), "nter a whole number", `value="many"`)
	s.api.Answer("get-access", 200, api.Access{})
	if a := s.get("/quotas?scope=acme"); strings.Contains(a.body, "/quotas/clear") || strings.Contains(a.body, "Set a quota") {
		t.Error("offers to who may not")
	}
}

// Objects of other workspaces have no link: there is no page for them in this one.
func TestEventsOfAnOrganization(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/events?of=organization&actor=ada")
	s.wantText(a, "other-host", `href="/events/export?actor=ada&amp;format=csv&amp;of=organization"`, `href="/events?of=organization">Clear<`)
	if strings.Contains(a.body, "/hosts/h9") || strings.Contains(a.body, "/jobs/"+apitest.JobID) {
		t.Error("leads to another workspace")
	}
	s.wantText(s.get("/events?of=installation"), `href="/accounts/`+accountID+`"`)
	s.wantText(s.get("/events/export?of=installation&format=jsonl"), "account.create")
	s.sees([]string{"acme/web/live"}, slices.DeleteFunc(api.Permissions(), func(p string) bool { return strings.HasSuffix(p, ".event:read") && !strings.HasPrefix(p, "project.") })...)
	if a := s.get("/events"); strings.Contains(a.body, "of=installation") {
		t.Error("offers the events of the installation to a tenant")
	}
}
