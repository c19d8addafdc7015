package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
)

// scopes are all scopes of a tree, with where each stands.
func (t tree) scopes() map[uuid.UUID]scope.Place {
	all := map[uuid.UUID]scope.Place{}
	for o, organization := range t.organizations {
		all[organization] = scope.Place{Organization: organization}
		for p, project := range t.projects[o] {
			all[project] = scope.Place{Organization: organization, Project: project}
			for _, workspace := range t.workspaces[o][p] {
				all[workspace] = scope.Place{Organization: organization, Project: project, Workspace: workspace}
			}
		}
	}
	return all
}

// levelOfPlace is the level of a scope, and the path of its routes.
func levelOfPlace(p scope.Place) (scope.Level, string) {
	switch {
	case p.Workspace != uuid.Nil:
		return scope.Workspace, "/workspaces/"
	case p.Project != uuid.Nil:
		return scope.Project, "/projects/"
	}
	return scope.Organization, "/organizations/"
}

// TestMatrixOfScopes asks for every scope of two organizations as every role at every level: what is not seen is 404, like
// one that is not there; what is seen and may not be changed is 403; lists show what is seen and nothing else.
func TestMatrixOfScopes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	roles := iam.Permissions(api.Permissions())
	scopes, asked := tree.scopes(), 0
	for n, role := range iam.Roles {
		if role.Installation {
			continue
		}
		for _, given := range []uuid.UUID{tree.workspaces[0][0][1], tree.projects[0][1], tree.organizations[1]} {
			at := scopes[given]
			level, _ := levelOfPlace(at)
			token := b.granted(fmt.Sprintf("s%d%s", n, level[:1]), role.Name, level, given)
			as := []string{"Authorization", "Bearer " + token}
			for id, place := range scopes {
				kind, path := levelOfPlace(place)
				inside := at.Organization == place.Organization && (at.Project == uuid.Nil || at.Project == place.Project) && (at.Workspace == uuid.Nil || at.Workspace == place.Workspace)
				above := id == at.Organization || id == at.Project
				want := func(permission string, good int) int {
					switch {
					case !roles[role.Name][permission]:
						return http.StatusForbidden // before any look at the scope
					case inside:
						return good
					case above:
						return http.StatusForbidden
					}
					return http.StatusNotFound
				}
				rename := map[scope.Level]string{scope.Organization: "organization:update", scope.Project: "project:update", scope.Workspace: "project.workspace:update"}[kind]
				// The name is refused, so that nothing changes.
				if a := b.do(http.MethodPatch, path+id.String(), api.ChangeScope{Name: "No_Name"}, as...); a.status != want(rename, 422) {
					t.Errorf("%s of %s renames a %s, inside %t, above %t: %d, want %d", role.Name, level, kind, inside, above, a.status, want(rename, 422))
				}
				get, none := b.do(http.MethodGet, path+id.String(), nil, as...), b.do(http.MethodGet, path+uuid.NewString(), nil, as...)
				if inside || above {
					if get.status != http.StatusOK {
						t.Errorf("%s of %s gets a %s: %d", role.Name, level, kind, get.status)
					}
				} else if get.status != none.status || get.problem(t).Detail != none.problem(t).Detail {
					t.Errorf("%s of %s gets a hidden %s: %s, and one that is not there: %s", role.Name, level, kind, get.body, none.body)
				}
				members := b.do(http.MethodGet, "/grants?scope="+id.String(), nil, as...)
				if status := want("organization.member:read", 200); members.status != status && (status != http.StatusNotFound || members.status != 422) {
					t.Errorf("%s of %s lists grants at a %s: %d, want %d", role.Name, level, kind, members.status, status)
				}
				give := b.do(http.MethodPost, "/grants", api.CreateGrant{Account: "nobody", Role: "viewer", Scope: id.String()}, as...)
				if status := want("organization.member:grant", 422); give.status != status && (status != http.StatusNotFound || give.status != 422) {
					t.Errorf("%s of %s gives a role at a %s: %d, want %d", role.Name, level, kind, give.status, status)
				}
				asked += 5
			}
			for _, path := range []string{"/organizations", "/projects", "/workspaces"} {
				page := decode[api.Page[api.Scope]](t, b.mustDo(http.MethodGet, path, nil, 200, as...))
				var got, want []string
				for _, s := range page.Items {
					got = append(got, s.ID)
				}
				for id, place := range scopes {
					if _, of := levelOfPlace(place); of != path+"/" {
						continue
					}
					if id == at.Organization || id == at.Project || scope.NewAccess([]scope.Grant{{Level: level, ID: given}}, scope.Limit{}).Sees(place) {
						want = append(want, id.String())
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s of %s lists %s: %v, want %v", role.Name, level, path, got, want)
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("%d requests", asked)
	}
}

// Operations of an answer are those that state and permissions allow.
func TestOperationsOfScopes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tree()
	viewer := b.granted("view", "viewer", scope.Organization, domain.DefaultOrganization)
	for token, may := range map[string]string{b.token: "change move suspend delete", viewer: ""} {
		got := decode[api.Scope](t, b.mustDo(http.MethodGet, "/workspaces/"+domain.DefaultWorkspace.String(), nil, 200, "Authorization", "Bearer "+token))
		var allowed []string
		for _, o := range got.Operations {
			if o.Allowed {
				allowed = append(allowed, o.Name)
			}
		}
		if strings.Join(allowed, " ") != may {
			t.Errorf("allowed %v, want %s", allowed, may)
		}
	}
}

// An organization knows the accounts that have a role in it; only the installation's operator knows the others. Who gives
// a role has it at once, and who leaves has lost it.
func TestMembers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	_, stranger := b.newAccount("stranger", "account")
	admin := b.granted("adm", "admin", scope.Organization, tree.organizations[1])
	give := func(token, account, role, at string, status int) answer {
		t.Helper()
		return b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: account, Role: role, Scope: at}, status, "Authorization", "Bearer "+token)
	}
	give(admin, "stranger", "viewer", "other", 422)
	give(admin, "no-such-account", "viewer", "other", 422)
	give(stranger, "stranger", "owner", "other", 403)
	give(admin, "adm", "owner", "other", 409)
	operator := b.granted("oper2", "installation_operator", scope.Installation, uuid.Nil)
	b.mustDo(http.MethodGet, "/grants?scope=other", nil, 403, "Authorization", "Bearer "+operator)
	given := decode[api.Grant](t, give(b.token, "stranger", "viewer", "default/default", 201))
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+stranger)
	b.mustDo(http.MethodGet, "/grants/"+given.ID, nil, 404, "Authorization", "Bearer "+admin)
	b.mustDo(http.MethodDelete, "/grants/"+given.ID, nil, 404, "Authorization", "Bearer "+admin)
	b.mustDo(http.MethodDelete, "/grants/"+given.ID, nil, 204, "Authorization", "Bearer "+stranger)
	b.mustDo(http.MethodDelete, "/grants/"+given.ID, nil, 404, "Authorization", "Bearer "+stranger)
	if page := decode[api.Page[api.Scope]](t, b.mustDo(http.MethodGet, "/workspaces", nil, 200, "Authorization", "Bearer "+stranger)); len(page.Items) != 0 {
		t.Errorf("who left still sees %+v", page.Items)
	}
}

// Who makes or rotates a key of a program can do what the program can: nobody gets one for more than they may do.
func TestKeysAreNoWiderThanTheirMaker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := b.granted("adm", "admin", scope.Organization, domain.DefaultOrganization)
	as := []string{"Authorization", "Bearer " + admin}
	ci := decode[api.Account](t, b.mustDo(http.MethodPost, "/service-accounts", api.CreateServiceAccount{Name: "ci"}, 201, as...))
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: ci.ID, Role: "owner", Scope: "default"}, 201)
	keys := "/service-accounts/" + ci.ID + "/keys"
	for _, c := range []struct {
		key    api.CreateKey
		status int
	}{
		{api.CreateKey{Name: "all"}, 409},
		{api.CreateKey{Name: "one", Permissions: []string{"organization:delete"}}, 409},
		{api.CreateKey{Name: "hosts", Permissions: []string{"project.workspace.host:read"}}, 201},
	} {
		c.key.Days = 1
		a := b.mustDo(http.MethodPost, keys, c.key, c.status, as...)
		if c.status == 409 && a.problem(t).Code != "key_too_wide" {
			t.Errorf("%s: %s", c.key.Name, a.body)
		}
	}
	wide := decode[api.Key](t, b.mustDo(http.MethodPost, keys, api.CreateKey{Name: "all", Days: 1}, 201))
	b.mustDo(http.MethodPost, keys+"/"+wide.ID+"/rotate", api.RotateKey{Hours: 1}, 409, as...)
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+wide.Secret)
	narrow := decode[api.Key](t, b.mustDo(http.MethodPost, keys, api.CreateKey{Name: "hosts", Days: 1, Permissions: []string{"project.workspace.host:read"}, Scope: "default/default/default"}, 201))
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+narrow.Secret)
	b.mustDo(http.MethodGet, "/jobs", nil, 403, "Authorization", "Bearer "+narrow.Secret)
	b.mustDo(http.MethodGet, "/service-accounts/"+ci.ID, nil, 403, "Authorization", "Bearer "+narrow.Secret)
}

// An API token and a key make no key, and rotate no other one: whoever found one could keep what its owner takes away.
func TestOnlyASessionMakesKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ci := decode[api.Account](t, b.mustDo(http.MethodPost, "/service-accounts", api.CreateServiceAccount{Name: "ci"}, 201))
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: ci.ID, Role: "owner", Scope: "default"}, 201)
	keys := "/service-accounts/" + ci.ID + "/keys"
	one := decode[api.Key](t, b.mustDo(http.MethodPost, keys, api.CreateKey{Name: "one", Days: 1}, 201))
	two := decode[api.Key](t, b.mustDo(http.MethodPost, keys, api.CreateKey{Name: "two", Days: 1}, 201))
	token := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "found", Days: 1}, 201))
	for by, secret := range map[string]string{"a token": token.Token, "a key": one.Secret} {
		as := []string{"Authorization", "Bearer " + secret}
		for path, body := range map[string]any{keys: api.CreateKey{Name: "kept", Days: 3650}, keys + "/" + two.ID + "/rotate": api.RotateKey{Hours: 1}} {
			if a := b.do(http.MethodPost, path, body, as...); a.status != 403 || a.problem(t).Code != "session_required" {
				t.Errorf("%s at %s: %d %s", by, path, a.status, a.body)
			}
		}
	}
	if all := decode[api.Page[api.Key]](t, b.mustDo(http.MethodGet, keys, nil, 200)).Items; len(all) != 2 || all[0].OldUntil != nil || all[1].OldUntil != nil {
		t.Errorf("there are %+v", all)
	}
	// A key rotates itself, and keeps its end.
	again := decode[api.Key](t, b.mustDo(http.MethodPost, keys+"/"+one.ID+"/rotate", api.RotateKey{Hours: 1}, 200, "Authorization", "Bearer "+one.Secret))
	if again.ID != one.ID || !again.ExpiresAt.Equal(one.ExpiresAt) || again.Secret == one.Secret {
		t.Errorf("rotated: %+v", again)
	}
	b.mustDo(http.MethodGet, "/hosts", nil, 200, "Authorization", "Bearer "+again.Secret)
}

// GET /access says why: by which grant, which roles would do, and nothing of what is not seen.
func TestAccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	viewer := b.granted("view", "viewer", scope.Project, domain.DefaultProject)
	as := []string{"Authorization", "Bearer " + viewer}
	ask := func(permission, object string) api.Access {
		t.Helper()
		return decode[api.Access](t, b.mustDo(http.MethodGet, "/access?permission="+permission+"&object="+object, nil, 200, as...))
	}
	host := b.ready("h1")
	if got := ask("project.workspace.host:read", host.ID); !got.Allowed || got.At != "default/default/default" || len(got.By) != 1 || got.By[0].Role != "viewer" || got.By[0].ScopeKind != "project" {
		t.Errorf("read: %+v", got)
	}
	if got := ask("project.workspace.host:create", "default/default"); got.Allowed || len(got.By) != 0 || !slices.Contains(got.Roles, "operator") || slices.Contains(got.Roles, "viewer") {
		t.Errorf("create: %+v", got)
	}
	b.mustDo(http.MethodGet, "/access?permission=project.workspace.host:read&object="+tree.organizations[1].String(), nil, 404, as...)
	b.mustDo(http.MethodGet, "/access?permission=no.such:thing", nil, 422, as...)
}

// Answers offer a viewer nothing that would be refused, and name the permission that is missing.
func TestOperationsFollowPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := decode[api.Host](t, b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, http.StatusAccepted)).ID
	viewer := []string{"Authorization", "Bearer " + b.granted("looks", "viewer", scope.Workspace, domain.DefaultWorkspace)}
	operator := []string{"Authorization", "Bearer " + b.granted("runs", "operator", scope.Workspace, domain.DefaultWorkspace)}
	for _, path := range []string{"/hosts/" + h, "/hosts"} {
		list := func(as []string) (all []api.Operation) {
			if path == "/hosts" {
				return decode[api.Page[api.Host]](t, b.mustDo(http.MethodGet, path, nil, http.StatusOK, as...)).Items[0].Operations
			}
			return decode[api.Host](t, b.mustDo(http.MethodGet, path, nil, http.StatusOK, as...)).Operations
		}
		for _, o := range list(viewer) {
			if o.Allowed || !strings.Contains(o.Prevents, "permission project.workspace.host:") {
				t.Errorf("%s offers a viewer %+v", path, o)
			}
		}
		if !slices.ContainsFunc(list(operator), func(o api.Operation) bool { return o.Allowed }) {
			t.Errorf("%s offers an operator nothing", path)
		}
	}
}

// The conditions of an object are read in its workspace: elsewhere it is not there.
func TestConditionsOfAnObject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	h := decode[api.Host](t, b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, http.StatusAccepted)).ID
	path := "/object-conditions?noun=host&object=" + h
	viewer := []string{"Authorization", "Bearer " + b.granted("looks", "viewer", scope.Workspace, domain.DefaultWorkspace)}
	b.sql(`INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
		VALUES ('host', $1, 'reachable', 'false', 'silent', 'It is silent.', '', false, 1, 'f', false, now(), now(), 'hosts', '[]')`, h)
	found := decode[api.Page[api.Condition]](t, b.mustDo(http.MethodGet, path, nil, http.StatusOK, viewer...))
	if len(found.Items) != 1 || found.Items[0].Message != "It is silent." {
		t.Errorf("%+v", found)
	}
	elsewhere := append(viewer, api.WorkspaceHeader, tree.workspaces[1][0][0].String())
	b.mustDo(http.MethodGet, path, nil, http.StatusNotFound, elsewhere...)
	other := []string{"Authorization", "Bearer " + b.granted("other", "owner", scope.Organization, tree.organizations[1]), api.WorkspaceHeader, tree.workspaces[1][0][0].String()}
	b.mustDo(http.MethodGet, path, nil, http.StatusNotFound, other...)
	b.mustDo(http.MethodGet, "/conditions?noun=host&object="+h, nil, http.StatusForbidden, viewer...)
	b.mustDo(http.MethodGet, "/object-conditions?noun=host", nil, http.StatusUnprocessableEntity, viewer...)
}
