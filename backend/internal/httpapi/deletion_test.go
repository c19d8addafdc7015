package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/scope"
)

// cascading is a backend that enqueues deletions of scopes.
func cascading(t *testing.T) *backend {
	t.Helper()
	return setup(t, func(c *httpapi.Config) {
		c.Intents = intent.New(c.DB, intent.Config{Targets: domain.TargetPolicy{AllowLoopback: true}, Kinds: c.Kinds})
	})
}

func (b *backend) cascadePlan(at, token string) api.Plan {
	b.t.Helper()
	return decode[api.Plan](b.t, b.mustDo(http.MethodPost, at+"/cascade?plan=true", api.Cascade{}, http.StatusAccepted, bearer(token)...))
}

// TestCascade: who may delete all of a scope, by a plan that is shown, and what is refused from then on.
func TestCascade(t *testing.T) {
	t.Parallel()
	b := cascading(t)
	tree := b.tree()
	other := tree.organizations[1]
	project, in := tree.projects[1][1], tree.workspaces[1][1]
	at := "/projects/" + project.String()
	owner, admin := b.granted("olga", iam.RoleOwner, scope.Organization, other), b.granted("ann", "admin", scope.Organization, other)
	member, stranger := b.granted("mel", "member", scope.Organization, other), b.granted("sam", iam.RoleOwner, scope.Organization, domain.DefaultOrganization)

	for token, want := range map[string]int{stranger: http.StatusNotFound, member: http.StatusForbidden} {
		if a := b.do(http.MethodPost, at+"/cascade?plan=true", api.Cascade{}, bearer(token)...); a.status != want {
			t.Errorf("%d %s, want %d", a.status, a.body, want)
		}
	}
	if a := b.do(http.MethodPost, "/organizations/"+other.String()+"/cascade?plan=true", api.Cascade{}, bearer(admin)...); a.status != http.StatusForbidden {
		t.Errorf("an admin deletes the organization: %d %s", a.status, a.body)
	}
	b.coded(b.do(http.MethodPost, at+"/cascade", api.Cascade{Confirm: "second"}, bearer(admin)...), "plan_required", "by a plan only")

	p := b.cascadePlan(at, admin)
	if p.State != "ready" || p.ScopePath != "other/second" || p.HostID != "" || p.JobID != "" || p.Counts == nil || p.Counts.Stops != 0 || p.Counts.Remove != 3 {
		t.Fatalf("%+v %+v", p, p.Counts)
	}
	with := func(token string) []string {
		return append(bearer(token), api.WorkspaceHeader, p.Workspace)
	}
	if got := decode[api.Plan](t, b.mustDo(http.MethodGet, "/plans/"+p.ID, nil, 200, with(member)...)); len(got.Changes) != 3 {
		t.Errorf("%+v", got.Changes)
	}
	for _, body := range []api.Cascade{{}, {Confirm: "other"}} {
		if a := b.do(http.MethodPost, at+"/cascade?plan_id="+p.ID, body, bearer(admin)...); a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), "second") {
			t.Errorf("confirmed by %q: %d %s", body.Confirm, a.status, a.body)
		}
	}
	if a := b.do(http.MethodPost, "/workspaces/"+in[0].String()+"/cascade?plan_id="+p.ID, api.Cascade{Confirm: "default"}, bearer(admin)...); a.status != http.StatusNotFound {
		t.Errorf("by the plan of another scope: %d %s", a.status, a.body)
	}
	s := decode[api.Scope](t, b.mustDo(http.MethodPost, at+"/cascade?plan_id="+p.ID, api.Cascade{Confirm: "second"}, http.StatusAccepted, bearer(admin)...))
	if s.State != "deleting" || s.Deletion == nil || s.Deletion.State != "queued" || s.Deletion.Workspace != p.Workspace {
		t.Fatalf("%+v %+v", s, s.Deletion)
	}
	if got := decode[api.Job](t, b.mustDo(http.MethodGet, "/jobs/"+s.Deletion.JobID, nil, 200, with(owner)...)); got.Kind != "scope_delete" {
		t.Errorf("%+v", got)
	}
	b.nothingNew(owner, project, in[1])

	// The operator of the job cancels it: what is left is in use again.
	b.mustDo(http.MethodPost, "/jobs/"+s.Deletion.JobID+"/cancel", nil, http.StatusAccepted, with(owner)...)
	s = decode[api.Scope](t, b.mustDo(http.MethodGet, at, nil, 200, bearer(owner)...))
	if s.State != "active" || s.Deletion != nil {
		t.Errorf("%+v %+v", s, s.Deletion)
	}
	b.mustDo(http.MethodPost, "/networks", api.CreateNetwork{Name: "late"}, 201, append(bearer(owner), api.WorkspaceHeader, in[1].String())...)
}

// addsNothing are verbs of workspaces that change what is there, end it, read it or give it away.
var addsNothing = []string{
	"read", "update", "delete", "measure", "decommission", "declare_lost", "confirm", "approve", "repair", "break_glass", "connect", "revoke", "test", "suspend", "grant", "stop", "restore",
}

// TestRoutesThatAdd: a route of a workspace by a verb that is none of those either adds something, and says so, or is looked at here.
func TestRoutesThatAdd(t *testing.T) {
	t.Parallel()
	for _, r := range api.Routes {
		_, verb, _ := strings.Cut(r.Permission, ":")
		if scope.LevelOf(r.Permission) == scope.Workspace && r.Method != http.MethodGet && !r.Adds() && !slices.Contains(addsNothing, verb) {
			t.Errorf("%s (%s) adds nothing, as it seems: name its verb here, or the route in adding", r.ID, r.Permission)
		}
	}
	for _, id := range []string{"register-host", "initialize-host", "adopt-dns-record", "add-cluster-nodes"} {
		if r, ok := api.RouteOf(id); !ok || !r.Adds() {
			t.Errorf("%s adds nothing", id)
		}
	}
}

// TestCascadeNeedsThePermissionOfEachKind: whoever may delete workspaces and allocations, and no hosts, deletes no hosts this way.
func TestCascadeNeedsThePermissionOfEachKind(t *testing.T) {
	t.Parallel()
	b := cascading(t)
	tree := b.tree()
	other := tree.organizations[1]
	owner, cleaner := b.granted("olga", iam.RoleOwner, scope.Organization, other), b.granted("carl", "viewer", scope.Organization, other)
	b.mustDo(http.MethodPost, "/roles", api.CreateRole{Name: "cleaner", Organization: "other", Permissions: []string{
		"project:delete", "project.workspace:delete", "project.workspace.allocation:delete",
	}}, 201, bearer(owner)...)
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: "carl", Role: "cleaner", Scope: "other"}, 201, bearer(owner)...)
	at := "/projects/" + tree.projects[1][1].String() + "/cascade?plan=true"
	if a := b.do(http.MethodPost, at, api.Cascade{}, bearer(cleaner)...); a.status != http.StatusForbidden || !strings.Contains(string(a.body), ":delete") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := b.do(http.MethodPost, at, api.Cascade{}, bearer(owner)...); a.status >= 300 {
		t.Errorf("an owner: %d %s", a.status, a.body)
	}
}

// nothingNew asks for everything that can be made in a workspace, or in its project, while that is being deleted.
func (b *backend) nothingNew(token string, project, workspace uuid.UUID) {
	b.t.Helper()
	time.Sleep(time.Second) // the backend knows where a workspace stands, and in which state, for half a second
	asked := 0
	for _, r := range api.Routes {
		if !r.Adds() || scope.LevelOf(r.Permission) != scope.Workspace {
			continue
		}
		// Whatever the body and the object are: nothing has to be looked up.
		path := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(r.Path, uuid.NewString())
		a := b.do(r.Method, path, goodBody(r.ID), append(bearer(token), api.WorkspaceHeader, workspace.String())...)
		if a.status != http.StatusConflict || a.problem(b.t).Code != "scope_deleting" {
			b.t.Errorf("%s: %d %s", r.ID, a.status, a.body)
		}
		asked++
	}
	if asked < 18 {
		b.t.Errorf("%d routes refuse because of the deletion", asked)
	}
	b.coded(b.do(http.MethodPost, "/workspaces", api.CreateWorkspace{Name: "new", Project: project.String()}, bearer(token)...), "scope_deleting", "being deleted")
	b.coded(b.do(http.MethodDelete, "/workspaces/"+workspace.String(), nil, bearer(token)...), "scope_deleting", "being deleted")
}

// TestCascadeStops: what does not go by itself is named, and the plan can't be applied. What came with the installation stays.
func TestCascadeStops(t *testing.T) {
	t.Parallel()
	b := cascading(t)
	b.ready("h1")
	p := b.cascadePlan("/workspaces/"+domain.DefaultWorkspace.String(), b.token)
	var stops []string
	for _, c := range p.Changes {
		if c.Action == "stops" {
			stops = append(stops, c.Kind+": "+c.Note)
		}
	}
	if len(stops) != 2 || !strings.Contains(stops[0], "came with the installation") || !strings.Contains(stops[1], "host: The host is ") {
		t.Errorf("%q", stops)
	}
	b.coded(b.do(http.MethodPost, "/workspaces/"+domain.DefaultWorkspace.String()+"/cascade?plan_id="+p.ID, api.Cascade{Confirm: "default"}), "plan_stops", "stop")
}

// TestCascadeNeedsApprovals: a rule anywhere in what goes asks for approvals, also one about giving units back. Who may approve in a part
// of it only does not decide.
func TestCascadeNeedsApprovals(t *testing.T) {
	t.Parallel()
	b := cascading(t)
	tree := b.tree()
	other, in := tree.organizations[1], tree.workspaces[1][1]
	at := "/projects/" + tree.projects[1][1].String()
	owner, second := b.granted("olga", iam.RoleOwner, scope.Organization, other), b.granted("otto", "operator", scope.Organization, other)
	narrow := map[uuid.UUID]string{}
	for i, workspace := range in {
		narrow[workspace] = b.granted([]string{"nils", "nora"}[i], "operator", scope.Workspace, workspace)
	}
	b.mustDo(http.MethodPost, "/approval-rules", api.CreateApprovalRule{Name: "one", Scope: "other/second/second", Kinds: []string{"unit_deallocate"}, Approvals: 1, Hours: 2}, 201, bearer(owner)...)
	p := b.cascadePlan(at, owner)
	anchor, err := uuid.Parse(p.Workspace)
	if err != nil || p.Approvals == nil || p.Approvals.Needed != 1 || !slices.Contains(in[:], anchor) {
		t.Fatalf("%+v in %s", p.Approvals, p.Workspace)
	}
	here := func(token string) []string { return append(bearer(token), api.WorkspaceHeader, p.Workspace) }
	apply := func() answer {
		return b.do(http.MethodPost, at+"/cascade?plan_id="+p.ID, api.Cascade{Confirm: "second"}, bearer(owner)...)
	}
	b.coded(apply(), "approval_required", "1 more")
	b.coded(b.do(http.MethodPost, "/plans/"+p.ID+"/approve", api.DecidePlan{}, here(owner)...), "own_plan", "others")
	b.coded(b.do(http.MethodPost, "/plans/"+p.ID+"/approve", api.DecidePlan{}, here(narrow[anchor])...), "not_an_approver", "more than the workspace")
	b.mustDo(http.MethodPost, "/plans/"+p.ID+"/approve", api.DecidePlan{}, 200, here(second)...)
	if a := apply(); a.status != http.StatusAccepted {
		t.Errorf("%d %s", a.status, a.body)
	}
}
