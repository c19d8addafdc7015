package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
)

// A stranger joins with a link, logs in, and has the role where it was offered and nowhere else; its end counts within a second.
func TestInvitationByLink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	project := tree.projects[1][1].String()
	owner := b.granted("theirs", iam.RoleOwner, scope.Organization, tree.organizations[1])
	as := []string{"Authorization", "Bearer " + owner}
	made := decode[api.Invitation](t, b.mustDo(http.MethodPost, "/invitations", api.CreateInvitation{Person: "new@example.org", Role: "viewer", Scope: project}, 201, as...))
	if made.Scope != "other/second" || !strings.HasPrefix(made.Link, "kli_") || time.Until(made.ExpiresAt) < 6*24*time.Hour {
		t.Errorf("made %+v", made)
	}
	if a := b.mustDo(http.MethodGet, "/invitations/"+made.ID, nil, 200, as...); strings.Contains(string(a.body), made.Link) {
		t.Error("the link is shown again")
	}
	link := api.InvitationLink{Link: made.Link}
	out := []string{"Authorization", ""}
	offered := decode[api.OfferedRole](t, b.mustDo(http.MethodPost, "/invitations/show", link, 200, out...))
	if offered.Role != "viewer" || offered.Scope != "other/second" {
		t.Errorf("offered %+v", offered)
	}
	word := "a long new sentence"
	join := func(name string) answer {
		return b.do(http.MethodPost, "/invitations/join", api.JoinByInvitation{Link: made.Link, Name: name, Password: word}, out...)
	}
	if a := join("theirs"); a.status != 422 || a.problem(t).Errors[0].Field != "name" {
		t.Errorf("a taken name: %d %s", a.status, a.body)
	}
	if a := join("newcomer"); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	used, none := join("another"), b.do(http.MethodPost, "/invitations/join", api.JoinByInvitation{Link: iam.NewInvitationLink(), Name: "another", Password: word}, out...)
	if used.status != 422 || used.problem(t).Detail != none.problem(t).Detail || used.problem(t).Errors[0].Message != none.problem(t).Errors[0].Message {
		t.Errorf("a used link: %d %s; none: %s", used.status, used.body, none.body)
	}
	session := decode[api.Session](t, b.mustDo(http.MethodPost, "/sessions", api.Login{Account: "newcomer", Password: word}, 201, out...))
	hosts := func(workspace uuid.UUID) int {
		return b.do(http.MethodGet, "/hosts", nil, "Authorization", "Bearer "+session.Token, api.WorkspaceHeader, workspace.String()).status
	}
	if in, beside, elsewhere := hosts(tree.workspaces[1][1][0]), hosts(tree.workspaces[1][0][0]), hosts(domain.DefaultWorkspace); in != 200 || beside != 404 || elsewhere != 404 {
		t.Errorf("sees hosts: %d, beside %d, elsewhere %d", in, beside, elsewhere)
	}
	grants := decode[api.Page[api.Grant]](t, b.mustDo(http.MethodGet, "/grants?account=newcomer&scope="+project, nil, 200, as...))
	if len(grants.Items) != 1 || grants.Items[0].CreatedBy != "theirs" {
		t.Fatalf("grants %+v", grants.Items)
	}
	b.mustDo(http.MethodDelete, "/grants/"+grants.Items[0].ID, nil, 204, as...)
	within(t, time.Second, func() bool { return hosts(tree.workspaces[1][1][0]) == http.StatusForbidden })
}

// Every role at every level invites, sees and withdraws where it may, and finds nothing elsewhere.
func TestMatrixOfInvitations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	roles := iam.Permissions(api.Permissions())
	scopes := tree.scopes()
	ids := map[uuid.UUID]string{}
	owners := map[uuid.UUID]string{}
	for n, id := range tree.organizations {
		owners[id] = b.granted(fmt.Sprintf("owner%d", n), iam.RoleOwner, scope.Organization, id)
	}
	for id := range scopes {
		owner := owners[scopes[id].Organization]
		made := decode[api.Invitation](t, b.mustDo(http.MethodPost, "/invitations", api.CreateInvitation{Person: "x@example.org", Role: "viewer", Scope: id.String()}, 201, "Authorization", "Bearer "+owner))
		ids[id] = made.ID
	}
	for n, role := range iam.Roles {
		if role.Installation {
			continue
		}
		given := tree.projects[1][0]
		token := b.granted("i"+string(rune('a'+n)), role.Name, scope.Project, given)
		as := []string{"Authorization", "Bearer " + token}
		for id, place := range scopes {
			inside, above := place.Project == given, id == place.Organization && place.Organization == tree.organizations[1]
			want := func(permission string, good int) int {
				switch {
				case !roles[role.Name][permission]:
					return http.StatusForbidden
				case inside:
					return good
				case above:
					return http.StatusForbidden
				}
				return http.StatusNotFound
			}
			if a := b.do(http.MethodGet, "/invitations/"+ids[id], nil, as...); a.status != want("organization.invitation:read", 200) {
				t.Errorf("%s gets one, inside %t: %d", role.Name, inside, a.status)
			}
			invite := b.do(http.MethodPost, "/invitations", api.CreateInvitation{Person: "y@example.org", Role: "nothing", Scope: id.String()}, as...)
			if status := want("organization.invitation:create", 422); invite.status != status && (status != http.StatusNotFound || invite.status != 422) {
				t.Errorf("%s invites, inside %t: %d %s", role.Name, inside, invite.status, invite.body)
			}
			if !inside || !roles[role.Name]["organization.invitation:delete"] {
				if a := b.do(http.MethodDelete, "/invitations/"+ids[id], nil, as...); a.status != want("organization.invitation:delete", 204) {
					t.Errorf("%s withdraws, inside %t: %d", role.Name, inside, a.status)
				}
			}
		}
		if !roles[role.Name]["organization.invitation:read"] {
			continue
		}
		list := decode[api.Page[api.Invitation]](t, b.mustDo(http.MethodGet, "/invitations?scope="+given.String(), nil, 200, as...))
		if len(list.Items) != 3 {
			t.Errorf("%s lists %d", role.Name, len(list.Items))
		}
		if a := b.do(http.MethodGet, "/invitations?scope="+tree.organizations[1].String(), nil, as...); a.status != http.StatusForbidden {
			t.Errorf("%s lists those of the organization: %d", role.Name, a.status)
		}
	}
}

// A token that may do less than its account accepts nothing.
func TestNarrowTokensAcceptNoInvitation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := decode[api.Invitation](t, b.mustDo(http.MethodPost, "/invitations", api.CreateInvitation{Person: "late", Role: "viewer", Scope: "default"}, 201))
	account, token := b.newAccount("late", "account")
	accept := func() int {
		return b.do(http.MethodPost, "/invitations/accept", api.InvitationLink{Link: made.Link}, "Authorization", "Bearer "+token).status
	}
	b.sql("UPDATE tokens SET permissions = '{project.workspace.job:read}' WHERE account_id = $1", account)
	if got := accept(); got != http.StatusForbidden {
		t.Errorf("a token for jobs: %d", got)
	}
	b.sql("UPDATE tokens SET permissions = NULL, scope = 'organization', scope_id = $2 WHERE account_id = $1", account, uuid.New())
	if got := accept(); got != http.StatusConflict {
		t.Errorf("a token for another organization: %d", got)
	}
	b.sql("UPDATE tokens SET scope = NULL, scope_id = NULL WHERE account_id = $1", account)
	if got := accept(); got != http.StatusOK {
		t.Errorf("the account: %d", got)
	}
	if got := accept(); got != 422 {
		t.Errorf("again: %d", got)
	}
}
