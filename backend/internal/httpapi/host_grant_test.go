package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// sharing is an owner with a host, and a tenant in another organization that sees nothing of it.
type sharing struct {
	*backend
	tree      tree
	host      api.Host
	tenant    string
	at, their []string // headers of the tenant in its workspace, and in one of its other project
}

func (b *backend) sharing() sharing {
	b.t.Helper()
	s := sharing{backend: b, tree: b.tree(), host: b.ready("h1")}
	b.mustDo(http.MethodPost, "/address-pool", `{"addresses":[{"range":"10.0.0.8-10.0.0.13"}]}`, 201)
	s.tenant = b.granted("tenant", iam.RoleOwner, scope.Organization, s.tree.organizations[1])
	s.at = []string{"Authorization", "Bearer " + s.tenant, api.WorkspaceHeader, s.tree.workspaces[1][0][0].String()}
	s.their = []string{"Authorization", "Bearer " + s.tenant, api.WorkspaceHeader, s.tree.workspaces[1][1][0].String()}
	return s
}

func (s sharing) grantTo(scope string, units *int64) api.HostGrant {
	s.t.Helper()
	return decode[api.HostGrant](s.t, s.mustDo(http.MethodPost, "/host-grants", api.CreateHostGrant{Host: "h1", Scope: scope, Units: units}, 201))
}

// toProject grants the host to the first project of the tenant, by a person who has a say in both.
func (s sharing) toProject(units *int64) api.HostGrant {
	s.t.Helper()
	var account uuid.UUID
	s.row(&account, "SELECT id FROM accounts WHERE name = 'admin'")
	s.sql("INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) VALUES ($1, $2, 'admin', 'project', $3, 'test') ON CONFLICT DO NOTHING", uuid.New(), account, s.tree.projects[1][0])
	return s.grantTo("other/default", units)
}

func (s sharing) allocate(status int, as []string, body ...api.CreateAllocation) answer {
	s.t.Helper()
	r := api.CreateAllocation{CPUs: 1, SSHKeys: []string{sshKey}}
	if len(body) > 0 {
		r = body[0]
		r.SSHKeys = []string{sshKey}
	}
	return s.mustDo(http.MethodPost, "/allocations", r, status, as...)
}

func (s sharing) shared(as []string) []api.SharedHost {
	s.t.Helper()
	return decode[api.Page[api.SharedHost]](s.t, s.mustDo(http.MethodGet, "/shared-hosts", nil, 200, as...)).Items
}

// A host that is granted to a project is used by its workspaces and by no others, and shows them nothing of its owner.
func TestSharedHost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	s.allocate(409, s.at)
	grant := s.toProject(nil)
	if grant.Scope != "other/default" || grant.Host != "h1" || grant.Units != nil || grant.State != "granted" {
		t.Errorf("the grant is %+v", grant)
	}
	got := s.shared(s.at)
	if len(got) != 1 || got[0].Name != "h1" || got[0].Free != 3 || !got[0].Available || len(s.shared(s.their)) != 0 {
		t.Errorf("shared with the project %+v, with the other one %+v", got, s.shared(s.their))
	}
	s.allocate(409, s.their)
	own := decode[api.Allocation](t, s.allocate(202, nil, api.CreateAllocation{CPUs: 1, LoginUser: "ours"}))
	a := decode[api.Allocation](t, s.allocate(202, s.at, api.CreateAllocation{CPUs: 1, LoginUser: "theirs", Host: "h1"}))
	if !a.SharedHost || a.Host != "h1" || own.SharedHost || !strings.HasPrefix(a.Address, "10.0.0.") {
		t.Errorf("allocated %+v", a)
	}
	if c := decode[api.Capacity](t, s.mustDo(http.MethodGet, "/capacity", nil, 200, s.at...)); c.Shared != (api.CapacityShared{Hosts: 1, Free: 1, InUse: 1}) || len(c.Hosts) != 0 {
		t.Errorf("the tenant's capacity is %+v", c)
	}
	if c := decode[api.Capacity](t, s.mustDo(http.MethodGet, "/capacity", nil, 200)); c.Shared != (api.CapacityShared{}) || len(c.Hosts) != 1 {
		t.Errorf("the owner's capacity is %+v", c)
	}
	s.seesNoOther(a, own)
	in := decode[api.HostGrant](t, s.mustDo(http.MethodGet, "/host-grants/"+grant.ID, nil, 200))
	if in.InUse != 1 {
		t.Errorf("in use: %+v", in)
	}
	for _, as := range [][]string{nil, s.at} {
		events := string(s.mustDo(http.MethodGet, "/events", nil, 200, as...).body)
		if as != nil { // the event of a grant to a project is in no workspace of it
			events = string(s.mustDo(http.MethodGet, "/organization-events", nil, 200, as...).body)
		}
		if !strings.Contains(events, `"host_grant.create"`) {
			t.Errorf("%v: no event of the grant in %.500s", as, events)
		}
	}
	// It works, and comes back clean.
	s.finishJob("the owner's", own.ActiveJob, nil)
	s.finishJob("the tenant's", a.ActiveJob, nil)
	gone := decode[api.Allocation](t, s.mustDo(http.MethodPost, "/allocations/"+a.ID+"/deallocate", api.Deallocate{Confirm: "theirs"}, 202, s.at...))
	s.finishJob("the end", gone.ActiveJob, nil)
	if got := s.shared(s.at); got[0].Free != 2 || got[0].InUse != 0 {
		t.Errorf("after the end %+v", got)
	}
	s.aligned()
}

// seesNoOther compares what each side can read with the objects of the other.
func (s sharing) seesNoOther(theirs, ours api.Allocation) {
	s.t.Helper()
	at := map[string]string{s.token: domain.DefaultWorkspace.String(), s.tenant: s.tree.workspaces[1][0][0].String()}
	for token, hidden := range map[string][]string{
		s.token:  {theirs.ID, theirs.ActiveJob, `"theirs"`},
		s.tenant: {ours.ID, ours.ActiveJob, ours.UnitID, `"ours"`, ours.Address},
	} {
		for path, text := range s.everything(at, token) {
			for _, h := range hidden {
				if strings.Contains(text, h) {
					s.t.Errorf("%s shows %s of the other: %.400s", path, h, text)
				}
			}
		}
	}
	for _, r := range api.Routes {
		if !strings.Contains(r.Path, "{id}") || scope.LevelOf(r.Permission) != scope.Workspace || r.Permission == api.Own {
			continue
		}
		for _, id := range []string{s.host.ID, theirs.UnitID, ours.ID, ours.ActiveJob} {
			a := s.do(r.Method, strings.Replace(r.Path, "{id}", id, 1), goodBody(r.ID), s.at...)
			none := s.do(r.Method, strings.Replace(r.Path, "{id}", uuid.NewString(), 1), goodBody(r.ID), s.at...)
			if a.status != none.status || a.status < 400 || a.problem(s.t).Detail != none.problem(s.t).Detail {
				s.t.Errorf("%s of the owner is %d %.200s; of nothing %d %.200s", r.ID, a.status, a.body, none.status, none.body)
			}
		}
	}
	if job := decode[api.Job](s.t, s.mustDo(http.MethodGet, "/jobs/"+theirs.ActiveJob, nil, 200, s.at...)); !job.SharedHost || job.HostID != "" || job.UnitID != "" {
		s.t.Errorf("the tenant's job is %+v", job)
	}
}

// A grant of some units lets in as many at once, whoever asks at the same time; what it refuses counts no other unit.
func TestSharedUnits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	two := int64(2)
	grant := s.toProject(&two)
	var done sync.WaitGroup
	var lock sync.Mutex
	statuses := map[int]int{}
	for range 6 {
		done.Go(func() {
			a := s.do(http.MethodPost, "/allocations", api.CreateAllocation{CPUs: 1, SSHKeys: []string{sshKey}}, s.at...)
			lock.Lock()
			defer lock.Unlock()
			statuses[a.status]++
		})
	}
	done.Wait()
	if statuses[202] != 2 || statuses[409] != 4 {
		t.Errorf("answers %v", statuses)
	}
	p := s.allocate(409, s.at).problem(t)
	if p.Code != "no_capacity" || p.Placement == nil || p.Placement.Units != 0 || !strings.Contains(p.Placement.Nearest, "granted") {
		t.Errorf("the third is refused by %+v", p)
	}
	three := int64(3)
	changed := decode[api.HostGrant](t, s.mustDo(http.MethodPatch, "/host-grants/"+grant.ID, api.ChangeHostGrant{Units: &three}, 200))
	if *changed.Units != 3 || changed.Version != grant.Version+1 {
		t.Errorf("changed %+v", changed)
	}
	s.allocate(409, s.at, api.CreateAllocation{CPUs: 64})
	s.allocate(202, s.at)
	s.aligned()
}

// Who has which login user on a shared host is not told: its unit counts as one that is not free.
func TestSharedHostTellsNoLogin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	s.toProject(nil)
	s.allocate(202, nil, api.CreateAllocation{CPUs: 1, LoginUser: "secret"})
	p := s.allocate(409, s.at, api.CreateAllocation{CPUs: 1, LoginUser: "secret"}).problem(t)
	if p.Placement == nil || p.Placement.Units != 3 || len(p.Placement.Ruled) != 1 || p.Placement.Ruled[0].Filter != "unit_state" {
		t.Errorf("refused by %+v", p.Placement)
	}
}

// What is revoked lets nobody in any more; who is there stays until they go, and then the grant is over.
func TestHostGrantEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	grant := s.toProject(nil)
	a := decode[api.Allocation](t, s.allocate(202, s.at))
	s.finishJob("the tenant's", a.ActiveJob, nil)
	s.mustDo(http.MethodDelete, "/host-grants/"+grant.ID, nil, 204)
	s.allocate(409, s.at)
	if got := decode[api.HostGrant](t, s.mustDo(http.MethodGet, "/host-grants/"+grant.ID, nil, 200)); got.State != "ending" || got.InUse != 1 || got.Operations[1].Allowed {
		t.Errorf("revoked %+v", got)
	}
	s.mustDo(http.MethodDelete, "/host-grants/"+grant.ID, nil, 409)
	a = decode[api.Allocation](t, s.mustDo(http.MethodPost, "/allocations/"+a.ID+"/deallocate", api.Deallocate{Confirm: a.LoginUser}, 202, s.at...))
	s.finishJob("the end", a.ActiveJob, nil)
	s.mustDo(http.MethodGet, "/host-grants/"+grant.ID, nil, 404)
	again := s.grantTo("other/default", nil)
	if again.ID == grant.ID {
		t.Error("the same grant again")
	}
	if p := s.mustDo(http.MethodPost, "/host-grants", api.CreateHostGrant{Host: "h1", Scope: "other/default"}, 409).problem(t); p.Code != "host_grant_exists" {
		t.Errorf("twice: %+v", p)
	}
	b.sql("UPDATE workspaces SET state = 'removed' WHERE project_id = $1", s.tree.projects[1][0])
	s.mustDo(http.MethodDelete, "/projects/"+s.tree.projects[1][0].String(), nil, 204, s.at...)
	var live int
	b.row(&live, "SELECT count(*) FROM host_grants WHERE revoked_at IS NULL")
	if live != 0 {
		t.Errorf("%d grants to a project that is gone", live)
	}
}

// A workspace does not leave the project whose grant its allocations need.
func TestWorkspaceStaysWhereItsGrantIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	s.toProject(nil)
	s.allocate(202, s.at)
	p := s.mustDo(http.MethodPost, "/workspaces/"+s.tree.workspaces[1][0][0].String()+"/move", api.MoveWorkspace{Project: s.tree.projects[1][1].String()}, 409, s.at...).problem(t)
	if p.Code != "host_grant_in_use" {
		t.Errorf("moved: %+v", p)
	}
}

// A host is granted by who has a say on both sides, and to scopes that they see; others learn nothing of what there is.
func TestWhoGrantsHosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	grant := func(token string, in api.CreateHostGrant) string {
		a := s.do(http.MethodPost, "/host-grants", in, "Authorization", "Bearer "+token)
		if a.status < 300 {
			return fmt.Sprint(a.status)
		}
		return fmt.Sprintf("%d %s", a.status, a.problem(t).Detail)
	}
	owner := b.granted("owner1", iam.RoleOwner, scope.Organization, domain.DefaultOrganization)
	hidden, none := grant(owner, api.CreateHostGrant{Host: "h1", Scope: "other"}), grant(owner, api.CreateHostGrant{Host: "h1", Scope: "nobody"})
	if hidden != none || !strings.HasPrefix(hidden, "422") {
		t.Errorf("a scope that is hidden: %s; one that is not there: %s", hidden, none)
	}
	for _, host := range []string{s.host.ID, "h1", "h2", uuid.NewString()} {
		a := s.do(http.MethodPost, "/host-grants", api.CreateHostGrant{Host: host, Scope: "other"}, s.at...)
		if a.status != 422 {
			t.Errorf("the tenant grants %s: %d", host, a.status)
		}
	}
	var account uuid.UUID
	b.row(&account, "SELECT id FROM accounts WHERE name = 'owner1'")
	b.tx(func(tx *store.Tx) error {
		return scope.Give(t.Context(), tx.Tx, account, "viewer", scope.Organization, s.tree.organizations[1], "test")
	})
	if got := grant(owner, api.CreateHostGrant{Host: "h1", Scope: "other"}); !strings.HasPrefix(got, "403") {
		t.Errorf("who only looks there grants: %s", got)
	}
	for _, role := range []string{"operator", "member", "viewer"} {
		if got := grant(b.granted("r-"+role, role, scope.Organization, domain.DefaultOrganization), api.CreateHostGrant{Host: "h1", Scope: "default/second"}); !strings.HasPrefix(got, "403") {
			t.Errorf("%s grants: %s", role, got)
		}
	}
	if got := grant(owner, api.CreateHostGrant{Host: "h1", Scope: "default/second"}); got != "201" {
		t.Errorf("within the organization: %s", got)
	}
	// Who operates the installation sees its organizations, and grants to them.
	if got := grant(s.token, api.CreateHostGrant{Host: "h1", Scope: "other"}); got != "201" {
		t.Errorf("the operator: %s", got)
	}
	s.allocate(202, s.their)
}

// While a backend of another release is there, no host is granted: it would place nothing there, and count what is not its own.
func TestNoHostGrantBesideOlderBackends(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.sharing()
	b.sql("INSERT INTO backends (id, name, version, roles) VALUES ($1, 'old-1', 'v1.2.2', 'api')", uuid.New())
	p := s.mustDo(http.MethodPost, "/host-grants", api.CreateHostGrant{Host: "h1", Scope: "other"}, 409).problem(t)
	if p.Code != "older_backend" || !strings.Contains(p.Detail, "old-1 (v1.2.2)") {
		t.Errorf("%+v", p)
	}
	b.sql("UPDATE backends SET seen_at = now() - INTERVAL '2 minutes' WHERE name = 'old-1'")
	s.grantTo("other", nil)
	var oldest string
	b.row(&oldest, "SELECT convert_from(value, 'UTF8') FROM settings WHERE name = 'oldest_backend_allowed'")
	if oldest != fmt.Sprint(iam.SharedGeneration) {
		t.Errorf("the oldest backend allowed is %s", oldest)
	}
}
