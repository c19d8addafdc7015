package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// tree is two organizations with two projects and two workspaces each. The first
// workspace is the default one.
type tree struct {
	organizations [2]uuid.UUID
	projects      [2][2]uuid.UUID
	workspaces    [2][2][2]uuid.UUID
}

func (b *backend) tree() tree {
	b.t.Helper()
	t := tree{}
	name := func(n int, first string) string { return []string{first, "second"}[n] }
	for o := range 2 {
		t.organizations[o] = uuid.New()
		if o == 0 {
			t.organizations[o] = domain.DefaultOrganization
		} else {
			b.sql("INSERT INTO organizations (id, name) VALUES ($1, 'other')", t.organizations[o])
			b.sql("INSERT INTO organization_keys (organization_id, public_key, private_sealed) VALUES ($1, 'ssh-ed25519 AAAA', 'x')", t.organizations[o])
		}
		for p := range 2 {
			t.projects[o][p] = uuid.New()
			if o+p == 0 {
				t.projects[o][p] = domain.DefaultProject
			} else {
				b.sql("INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, $3)", t.projects[o][p], t.organizations[o], name(p, "default"))
			}
			for w := range 2 {
				t.workspaces[o][p][w] = uuid.New()
				if o+p+w == 0 {
					t.workspaces[o][p][w] = domain.DefaultWorkspace
					continue
				}
				b.sql("INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, $3)", t.workspaces[o][p][w], t.projects[o][p], name(w, "default"))
			}
		}
	}
	return t
}

// granted makes an account with one role at one scope, and gives its token.
func (b *backend) granted(name, role string, level scope.Level, id uuid.UUID) string {
	b.t.Helper()
	account, token := b.newAccount(name, "account")
	b.tx(func(tx *store.Tx) error { return scope.Give(b.t.Context(), tx.Tx, account, role, level, id, "test") })
	return token
}

// TestMatrix asks every route about every workspace, as every role at every level:
// without the permission it is 403 wherever the workspace is, and where the
// workspace is not seen the answer is the one for a workspace that is not there.
func TestMatrix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	roles := iam.Permissions(api.Permissions())
	levels := []struct {
		level  scope.Level
		id     uuid.UUID
		within func(o, p, w int) bool
	}{
		{scope.Workspace, tree.workspaces[0][0][1], func(o, p, w int) bool { return o == 0 && p == 0 && w == 1 }},
		{scope.Project, tree.projects[0][1], func(o, p, _ int) bool { return o == 0 && p == 1 }},
		{scope.Organization, tree.organizations[1], func(o, _, _ int) bool { return o == 1 }},
	}
	asked := 0
	for n, role := range iam.Roles {
		if role.Installation {
			continue
		}
		for _, l := range levels {
			token := b.granted(fmt.Sprintf("r%d%s", n, l.level[:1]), role.Name, l.level, l.id)
			for _, r := range api.Routes {
				if r.Permission == "" || r.Permission == api.Own || scope.LevelOf(r.Permission) != scope.Workspace {
					continue
				}
				missing := ""
				for _, o := range []int{0, 1} {
					for _, p := range []int{0, 1} {
						asked++
						w := 1
						at := tree.workspaces[o][p][w].String()
						a := b.do(r.Method, pathOf(r), goodBody(r.ID), "Authorization", "Bearer "+token, api.WorkspaceHeader, at)
						code := ""
						if a.status >= 400 {
							code = a.problem(t).Code
						}
						what := fmt.Sprintf("%s as %s of %s at %d/%d/%d: %d %s", r.ID, role.Name, l.level, o, p, w, a.status, code)
						switch {
						case !roles[role.Name][r.Permission]:
							if a.status != http.StatusForbidden || code != "forbidden" {
								t.Error(what)
							}
						case l.within(o, p, w):
							if a.status == http.StatusForbidden || a.status == http.StatusUnauthorized || code == "workspace_not_found" || a.status >= 500 {
								t.Error(what)
							}
						case a.status != http.StatusNotFound || code != "workspace_not_found":
							t.Error(what)
						default:
							if missing == "" {
								missing = b.answerWithout(r, token, uuid.NewString())
							}
							if got := b.answerWithout(r, token, at); got != missing {
								t.Errorf("%s: %s, but for a workspace that is not there %s", what, got, missing)
							}
						}
					}
				}
			}
		}
	}
	if asked < 4000 {
		t.Errorf("%d requests", asked)
	}
}

// answerWithout is an answer without what names the request.
func (b *backend) answerWithout(r api.Route, token, workspace string) string {
	a := b.do(r.Method, pathOf(r), goodBody(r.ID), "Authorization", "Bearer "+token, api.WorkspaceHeader, workspace)
	p := a.problem(b.t)
	return strings.ReplaceAll(fmt.Sprintf("%d %s %s %s", a.status, p.Code, p.Title, p.Detail), workspace, "")
}

// The installation's operator reads nothing inside of organizations, and who owns
// one does nothing for the installation.
func TestOperatorsAreApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	operator := b.granted("oper", iam.RoleInstallationOperator, scope.Installation, uuid.Nil)
	owner := b.granted("own", iam.RoleOwner, scope.Organization, domain.DefaultOrganization)
	seen := map[scope.Level]int{}
	for _, r := range api.Routes {
		if r.Permission == "" || r.Permission == api.Own || r.Permission == "organization.playbook:read" || r.ID == "create-organization" ||
			strings.HasPrefix(r.Permission, "organization.quota:") || r.Permission == "organization.statement:read" {
			continue // an operator would own the organization that they create; quotas are set from above, and sums are billed from there
		}
		level := scope.LevelOf(r.Permission)
		seen[level]++
		for token, may := range map[string]bool{operator: level == scope.Installation, owner: level != scope.Installation} {
			a := b.do(r.Method, pathOf(r), goodBody(r.ID), "Authorization", "Bearer "+token)
			if (a.status != http.StatusForbidden) != may {
				t.Errorf("%s, owner %t: %d", r.ID, token == owner, a.status)
			}
		}
	}
	if seen[scope.Installation] < 10 || seen[scope.Workspace] < 50 {
		t.Errorf("%v", seen)
	}
}

// TestTwoOrganizationsWithTheSameNames: what one has can't be seen, counted, changed
// or told from nothing by the other, by any route.
func TestTwoOrganizationsWithTheSameNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	ours := b.token
	theirs := b.granted("theirs", iam.RoleOwner, scope.Organization, tree.organizations[1])
	at := map[string]string{ours: domain.DefaultWorkspace.String(), theirs: tree.workspaces[1][0][0].String()}
	ids := map[string][]string{}
	for n, token := range []string{theirs, ours} {
		b.token, b.workspace = token, at[token]
		host := b.ready("h1")
		if (host.AuthorizedKey == "ssh-ed25519 AAAA") != (token == theirs) {
			t.Errorf("the key for the host is %q", host.AuthorizedKey)
		}
		b.mustDo(http.MethodPost, "/address-pool", fmt.Sprintf(`{"addresses":[{"range":"10.0.%d.8-10.0.%d.9"}]}`, n, n), 201)
		allocation := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{LoginUser: "ada", SSHKeys: []string{sshKey}, CPUs: 1}, 202))
		plan := b.mustDo(http.MethodPost, "/allocations?plan=true", api.CreateAllocation{LoginUser: "eve", SSHKeys: []string{sshKey}, CPUs: 1}, 202)
		ids[token] = []string{host.ID, allocation.ID, allocation.UnitID, allocation.Address, allocation.ActiveJob, decode[api.Plan](t, plan).ID}
	}
	before := b.everything(at, ours)
	b.token, b.workspace = theirs, at[theirs]
	for _, r := range api.Routes {
		if !strings.Contains(r.Path, "{id}") || scope.LevelOf(r.Permission) != scope.Workspace || r.Permission == api.Own {
			continue
		}
		for _, id := range ids[ours] {
			path := strings.Replace(r.Path, "{id}", id, 1)
			a, none := b.do(r.Method, path, goodBody(r.ID)), b.do(r.Method, strings.Replace(r.Path, "{id}", unknownLike(id), 1), goodBody(r.ID))
			if a.status != none.status || a.status < 400 || a.problem(t).Code != none.problem(t).Code || a.problem(t).Detail != none.problem(t).Detail {
				t.Errorf("%s of theirs is %d %.200s; of nothing %d %.200s", r.ID, a.status, a.body, none.status, none.body)
			}
		}
	}
	for _, id := range []string{ids[ours][0], uuid.NewString()} {
		a := b.mustDo(http.MethodGet, "/object-conditions?noun=host&object="+id, nil, http.StatusNotFound)
		if detail := a.problem(t).Detail; strings.Contains(detail, id) {
			t.Errorf("the conditions of %s: %s", id, detail)
		}
	}
	for path, text := range b.everything(at, theirs) {
		for _, id := range ids[ours] {
			if bytes.Contains([]byte(text), []byte(id)) {
				t.Errorf("%s shows %s of the other: %.300s", path, id, text)
			}
		}
	}
	for path, text := range b.everything(at, ours) {
		if text != before[path] {
			t.Errorf("%s changed from %.300s to %.300s", path, before[path], text)
		}
	}
}

// unknownLike is an id that nothing has, or an address that is in no pool.
func unknownLike(id string) string {
	if _, err := uuid.Parse(id); err != nil {
		return "10.99.99.99"
	}
	return uuid.NewString()
}

// readAt is when an answer was read.
var readAt = regexp.MustCompile(`^\{"at":"[^"]*",`)

// everything is what every list shows to a bearer in its workspace.
func (b *backend) everything(at map[string]string, token string) map[string]string {
	b.t.Helper()
	all := map[string]string{}
	for _, r := range api.Routes {
		if r.ID == "list-object-conditions" { // of one object, which has to be named
			continue
		}
		if r.Method == http.MethodGet && !strings.Contains(r.Path, "{") && scope.LevelOf(r.Permission) == scope.Workspace {
			a := b.mustDo(http.MethodGet, r.Path, nil, 200, "Authorization", "Bearer "+token, api.WorkspaceHeader, at[token])
			all[r.Path] = readAt.ReplaceAllString(string(a.body), "")
		}
	}
	return all
}

// What is given counts at once; what is taken away, within a second, on every
// backend; a token reaches no further than it says.
func TestRevocation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, second := b.serve(b.cfg)
	account, token := b.newAccount("late", "account")
	status := func(base, token string, headers ...string) int {
		return b.do(http.MethodGet, base+api.Prefix+"/hosts", nil, append(headers, "Authorization", "Bearer "+token)...).status
	}
	if got := status(b.url, token); got != http.StatusForbidden {
		t.Fatal(got)
	}
	b.tx(func(tx *store.Tx) error {
		return scope.Give(t.Context(), tx.Tx, account, "viewer", scope.Project, domain.DefaultProject, "test")
	})
	for _, base := range []string{b.url, second} {
		if got := status(base, token); got != http.StatusOK {
			t.Errorf("after the grant: %d", got)
		}
	}
	b.sql("UPDATE tokens SET permissions = '{project.workspace.job:read}' WHERE account_id = $1", account)
	if got := status(b.url, token); got != http.StatusForbidden {
		t.Errorf("a token for jobs alone lists hosts: %d", got)
	}
	b.sql("UPDATE tokens SET permissions = NULL, scope = 'workspace', scope_id = $2 WHERE account_id = $1", account, uuid.New())
	if got := status(b.url, token); got != http.StatusNotFound {
		t.Errorf("a token for another workspace lists hosts: %d", got)
	}
	b.sql("UPDATE tokens SET scope_id = $2 WHERE account_id = $1", account, domain.DefaultWorkspace)
	if got := status(b.url, token); got != http.StatusOK {
		t.Errorf("a token for this workspace: %d", got)
	}
	b.sql("DELETE FROM grants WHERE account_id = $1", account)
	for _, base := range []string{b.url, second} {
		within(t, time.Second, func() bool { return status(base, token) == http.StatusForbidden })
	}
	b.sql("UPDATE accounts SET state = 'disabled' WHERE id = $1", account)
	if got := status(b.url, token); got != http.StatusUnauthorized {
		t.Errorf("a disabled account: %d", got)
	}
}

func within(t *testing.T, d time.Duration, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s", d)
		}
	}
}

// Where a bearer sees several workspaces and none is the default, it must name one.
func TestWhichWorkspace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	several := b.granted("several", "viewer", scope.Organization, tree.organizations[1])
	one := b.granted("one", "viewer", scope.Workspace, tree.workspaces[1][1][1])
	for _, c := range []struct {
		token, workspace string
		status           int
	}{
		{b.token, "", 200},
		{b.token, "default/default/default", 200},
		{b.token, "default/default/second", 200},
		{b.token, "other/default/default", 404},
		{several, "", 422},
		{several, "other/second/default", 200},
		{several, tree.workspaces[1][0][1].String(), 200},
		{several, "default/default/default", 404},
		{one, "", 200},
		{one, "other/second/second", 200},
		{one, "other/second/default", 404},
		{one, "other", 422},
		{one, "../../..", 404},
		{one, strings.Repeat("x", 5000), 422},
	} {
		a := b.do(http.MethodGet, "/hosts", nil, "Authorization", "Bearer "+c.token, api.WorkspaceHeader, c.workspace)
		if a.status != c.status {
			t.Errorf("%.30q: %d, want %d: %.200s", c.workspace, a.status, c.status, a.body)
		}
	}
	who := decode[api.Whoami](t, b.mustDo(http.MethodGet, "/whoami", nil, 200, "Authorization", "Bearer "+one))
	if who.Workspace != "other/second/second" || len(who.Permissions) < 10 {
		t.Errorf("%+v", who)
	}
	b.sql("UPDATE projects SET state = 'suspended' WHERE id = $1", tree.projects[0][0])
	within(t, time.Second, func() bool {
		a := b.do(http.MethodPost, "/hosts", `{}`)
		return a.status == http.StatusConflict && a.problem(t).Code == "scope_suspended"
	})
	b.mustDo(http.MethodGet, "/hosts", nil, 200)
}
