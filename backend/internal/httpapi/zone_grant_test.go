package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
)

// zoneSharing is an owner with a zone, and a tenant in another organization that sees nothing of it.
type zoneSharing struct {
	*backend
	tree      tree
	zone      api.DNSZone
	tenant    string
	at, their []string // headers of the tenant in its workspace, and in one of its other project
}

func (b *backend) zoneSharing() zoneSharing {
	b.t.Helper()
	s := zoneSharing{backend: b, tree: b.tree()}
	s.zone = b.addZone(nil, "example.org")
	s.tenant = b.granted("tenant", iam.RoleOwner, scope.Organization, s.tree.organizations[1])
	s.at = []string{"Authorization", "Bearer " + s.tenant, api.WorkspaceHeader, s.tree.workspaces[1][0][0].String()}
	s.their = []string{"Authorization", "Bearer " + s.tenant, api.WorkspaceHeader, s.tree.workspaces[1][1][0].String()}
	return s
}

func (b *backend) addZone(as []string, name string) api.DNSZone {
	b.t.Helper()
	return decode[api.DNSZone](b.t, b.mustDo(http.MethodPost, "/dns-zones", api.CreateDNSZone{
		Name: name, Server: "ns1.hidden.example", KeyName: "hidden-key", KeySecret: "c2VjcmV0IG9mIHRoZSBrZXkgaW4gYmFzZTY0",
	}, 201, as...))
}

// toProject grants the zone to the first project of the tenant, by a person who has a say in both.
func (s zoneSharing) toProject(suffix string) api.DNSZoneGrant {
	s.t.Helper()
	var account uuid.UUID
	s.row(&account, "SELECT id FROM accounts WHERE name = 'admin'")
	s.sql("INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) VALUES ($1, $2, 'admin', 'project', $3, 'test') ON CONFLICT DO NOTHING", uuid.New(), account, s.tree.projects[1][0])
	return decode[api.DNSZoneGrant](s.t, s.mustDo(http.MethodPost, "/dns-zone-grants", api.CreateDNSZoneGrant{Zone: "example.org", Scope: "other/default", Suffix: suffix}, 201))
}

func (s zoneSharing) add(status int, as []string, name string, more ...api.CreateDNSRecordSet) answer {
	s.t.Helper()
	set := api.CreateDNSRecordSet{Zone: "example.org", Type: "A", Values: []string{"192.0.2.1"}}
	if len(more) > 0 {
		set = more[0]
	}
	set.Name = name
	return s.mustDo(http.MethodPost, "/dns-record-sets", set, status, as...)
}

func (s zoneSharing) shared(as []string) []api.SharedDNSZone {
	s.t.Helper()
	return decode[api.Page[api.SharedDNSZone]](s.t, s.mustDo(http.MethodGet, "/shared-dns-zones", nil, 200, as...)).Items
}

func (s zoneSharing) grant(id string) api.DNSZoneGrant {
	s.t.Helper()
	return decode[api.DNSZoneGrant](s.t, s.mustDo(http.MethodGet, "/dns-zone-grants/"+id, nil, 200))
}

// A zone that is granted to a project takes names of its workspaces and of no others, and shows them nothing else of it.
func TestSharedZone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	s.add(422, s.at, "www")
	grant := s.toProject("web")
	if grant.Scope != "other/default" || grant.Zone != "example.org" || grant.Suffix != "web.example.org" || grant.WholeZone || grant.State != "granted" {
		t.Errorf("the grant is %+v", grant)
	}
	got := s.shared(s.at)
	if len(got) != 1 || got[0].Name != "example.org" || got[0].Suffix != "web.example.org" || got[0].Organization != "default" || len(s.shared(s.their)) != 0 || len(s.shared(nil)) != 0 {
		t.Errorf("shared with the project %+v, with the other one %+v", got, s.shared(s.their))
	}
	s.add(422, s.their, "www.web")
	for name, set := range map[string]api.CreateDNSRecordSet{
		"www": {Zone: "example.org", Type: "A", Values: []string{"192.0.2.1"}}, "@": {Zone: "example.org", Type: "TXT", Values: []string{"x"}},
		"wweb": {Zone: s.zone.ID, Type: "A", Values: []string{"192.0.2.1"}},
	} {
		if p := s.add(422, s.at, name, set).problem(t); len(p.Errors) != 1 || p.Errors[0].Field != "name" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	ours := decode[api.DNSRecordSet](t, s.add(201, nil, "ours.web"))
	theirs := decode[api.DNSRecordSet](t, s.add(201, s.at, "www.web"))
	if theirs.SharedZoneID != grant.ID || theirs.Workspace != s.tree.workspaces[1][0][0].String() || ours.SharedZoneID != "" {
		t.Errorf("theirs %+v, ours %+v", theirs, ours)
	}
	// One name is one record set, whoever has it.
	s.add(409, s.at, "ours.web")
	s.add(409, nil, "www.web")
	s.add(201, s.at, "deep.www.web", api.CreateDNSRecordSet{Zone: grant.ID, Type: "NS", Values: []string{"ns.example.net"}})
	list := func(as []string) string {
		return string(s.mustDo(http.MethodGet, "/dns-record-sets?zone=example.org", nil, 200, as...).body)
	}
	if text := list(s.at); !strings.Contains(text, theirs.ID) || strings.Contains(text, ours.ID) {
		t.Errorf("the tenant lists %s", text)
	}
	if text := list(nil); strings.Contains(text, theirs.ID) || !strings.Contains(text, ours.ID) {
		t.Errorf("the owner lists %s", text)
	}
	s.hidesTheZone(ours, theirs, grant)
	if g := s.grant(grant.ID); g.InUse != 2 {
		t.Errorf("in use: %+v", g)
	}
	// What the server has is for the owner to decide, and a record set of the tenant for the tenant.
	s.sql("UPDATE dns_record_sets SET outcome = 'adoption_needed', state = 'failed' WHERE id = $1", theirs.ID)
	seen := decode[api.DNSRecordSet](t, s.mustDo(http.MethodGet, "/dns-record-sets/"+theirs.ID, nil, 200, s.at...))
	for _, o := range seen.Operations {
		if o.Name == "adopt" && o.Allowed {
			t.Error("the tenant may adopt")
		}
	}
	if p := s.mustDo(http.MethodPost, "/dns-zones/example.org/adopt", api.AdoptDNSRecord{Name: "www.web", Type: "A"}, 409).problem(t); p.Code != "dns_zone_shared" {
		t.Errorf("the owner adopts: %+v", p)
	}
	if p := s.mustDo(http.MethodDelete, "/dns-zones/example.org", nil, 409).problem(t); !strings.Contains(p.Detail, "Other workspaces have 2 record sets") {
		t.Errorf("the zone is deleted: %+v", p)
	}
	for _, as := range [][]string{nil, s.at} {
		events := string(s.mustDo(http.MethodGet, "/events", nil, 200, as...).body)
		if as != nil {
			events = string(s.mustDo(http.MethodGet, "/organization-events", nil, 200, as...).body)
		}
		if !strings.Contains(events, `"dns_zone_grant.create"`) {
			t.Errorf("%v: no event of the grant in %.500s", as, events)
		}
	}
	b.aligned()
}

// hidesTheZone compares what each side can read with what is the other's, and asks for each object of the owner by each route.
func (s zoneSharing) hidesTheZone(ours, theirs api.DNSRecordSet, grant api.DNSZoneGrant) {
	s.t.Helper()
	at := map[string]string{s.token: domain.DefaultWorkspace.String(), s.tenant: s.tree.workspaces[1][0][0].String()}
	for token, hidden := range map[string][]string{
		s.token:  {theirs.ID},
		s.tenant: {ours.ID, "ns1.hidden.example", "hidden-key", `"ours.web`},
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
		if !strings.Contains(r.Path, "{id}") || scope.LevelOf(r.Permission) != scope.Workspace || r.Permission == api.Own || strings.HasPrefix(r.Path, "/shared-dns-zones/") {
			continue
		}
		for _, id := range []string{s.zone.ID, ours.ID, grant.ID} {
			a := s.do(r.Method, strings.Replace(r.Path, "{id}", id, 1), goodBody(r.ID), s.at...)
			none := s.do(r.Method, strings.Replace(r.Path, "{id}", uuid.NewString(), 1), goodBody(r.ID), s.at...)
			if a.status != none.status || a.status < 400 || a.problem(s.t).Detail != none.problem(s.t).Detail {
				s.t.Errorf("%s of the owner is %d %.200s; of nothing %d %.200s", r.ID, a.status, a.body, none.status, none.body)
			}
		}
	}
}

// Who may use a whole zone hides nothing in it: no part of it is delegated, and no wildcard answers for others.
func TestWholeZoneIsShared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	if grant := s.toProject(""); !grant.WholeZone || grant.Suffix != "example.org" {
		t.Errorf("the grant is %+v", grant)
	}
	s.add(422, s.at, "*")
	s.add(422, s.at, "apps", api.CreateDNSRecordSet{Zone: "example.org", Type: "NS", Values: []string{"ns.example.net"}})
	s.add(201, s.at, "apps")
	b.aligned()
}

// What is revoked takes no name any more; those that are there stay, until their workspace or the owner of the zone removes them.
func TestZoneGrantEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	grant := s.toProject("web")
	first := decode[api.DNSRecordSet](t, s.add(201, s.at, "one.web"))
	s.add(201, s.at, "two.web")
	confirm := api.RemoveDNSZoneNames{Confirm: "example.org"}
	s.mustDo(http.MethodPost, "/dns-zone-grants/"+grant.ID+"/remove-names", confirm, 409)
	s.mustDo(http.MethodDelete, "/dns-zone-grants/"+grant.ID, nil, 204)
	if p := s.add(409, s.at, "three.web").problem(t); p.Code != "dns_zone_grant_ended" {
		t.Errorf("a new name: %+v", p)
	}
	if p := s.mustDo(http.MethodPatch, "/dns-record-sets/"+first.ID, map[string]any{"ttl": 60}, 409, s.at...).problem(t); p.Code != "dns_zone_grant_ended" {
		t.Errorf("a change: %+v", p)
	}
	if got := s.grant(grant.ID); got.State != "ending" || got.InUse != 2 || got.Operations[1].Allowed || !got.Operations[2].Allowed {
		t.Errorf("revoked %+v", got)
	}
	if got := s.shared(s.at); len(got) != 1 || got[0].RevokedAt == nil || got[0].InUse != 2 {
		t.Errorf("the tenant sees %+v", got)
	}
	s.mustDo(http.MethodDelete, "/dns-zone-grants/"+grant.ID, nil, 409)
	s.mustDo(http.MethodPatch, "/dns-zones/example.org", map[string]any{"mode": "upsert_only"}, 200) // a deleted name is gone at once
	s.mustDo(http.MethodDelete, "/dns-record-sets/"+first.ID, nil, 204, s.at...)
	s.mustDo(http.MethodPost, "/dns-zone-grants/"+grant.ID+"/remove-names", api.RemoveDNSZoneNames{Confirm: "example.net"}, 422)
	s.mustDo(http.MethodPost, "/dns-zone-grants/"+grant.ID+"/remove-names", confirm, 200)
	s.mustDo(http.MethodGet, "/dns-zone-grants/"+grant.ID, nil, 404)
	if len(s.shared(s.at)) != 0 {
		t.Error("the tenant still sees the zone")
	}
	if events := string(s.mustDo(http.MethodGet, "/events", nil, 200, s.at...).body); !strings.Contains(events, `"shared_dns_zone.lose_names"`) {
		t.Errorf("the tenant is not told: %.500s", events)
	}
	if again := s.toProject("web"); again.ID == grant.ID {
		t.Error("the same grant again")
	}
	if p := s.mustDo(http.MethodPost, "/dns-zone-grants", api.CreateDNSZoneGrant{Zone: "example.org", Scope: "other/default"}, 409).problem(t); p.Code != "dns_zone_grant_exists" {
		t.Errorf("twice: %+v", p)
	}
	s.mustDo(http.MethodDelete, "/dns-zones/example.org", nil, 204)
	var live int
	b.row(&live, "SELECT count(*) FROM dns_zone_grants WHERE revoked_at IS NULL")
	if live != 0 {
		t.Errorf("%d grants of a zone that is gone", live)
	}
	b.aligned()
}

// In mode sync the names that the owner removes go when the name server holds them no more.
func TestRemovedNamesWaitForTheServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	grant := s.toProject("")
	set := decode[api.DNSRecordSet](t, s.add(201, s.at, "one"))
	s.mustDo(http.MethodDelete, "/dns-zone-grants/"+grant.ID, nil, 204)
	s.mustDo(http.MethodPost, "/dns-zone-grants/"+grant.ID+"/remove-names", api.RemoveDNSZoneNames{Confirm: "example.org"}, 200)
	if got := decode[api.DNSRecordSet](t, s.mustDo(http.MethodGet, "/dns-record-sets/"+set.ID, nil, 200, s.at...)); got.State != "deleting" {
		t.Errorf("%+v", got)
	}
}

// One zone names the allocations of a workspace: one of its own, or one that is granted to it.
func TestSharedZoneNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	grant := s.toProject("web")
	naming := func(status int, names bool) answer {
		return s.mustDo(http.MethodPost, "/shared-dns-zones/example.org/naming", api.NameInSharedDNSZone{NamesAllocations: names}, status, s.at...)
	}
	own := b.addZone(s.at, "own.example")
	naming(409, false)
	if z := decode[api.SharedDNSZone](t, naming(200, true)); !z.NamesAllocations || z.Operations[0].Allowed || !z.Operations[1].Allowed {
		t.Errorf("%+v", z)
	}
	naming(409, true)
	names := map[string]any{"names_allocations": true}
	if p := s.mustDo(http.MethodPatch, "/dns-zones/"+own.ID, names, 409, s.at...).problem(t); p.Code != "dns_zone_names" {
		t.Errorf("a second one: %+v", p)
	}
	naming(200, false)
	s.mustDo(http.MethodPatch, "/dns-zones/"+own.ID, names, 200, s.at...)
	if p := naming(409, true).problem(t); p.Code != "dns_zone_names" {
		t.Errorf("beside its own: %+v", p)
	}
	s.mustDo(http.MethodPatch, "/dns-zones/"+own.ID, map[string]any{"names_allocations": false}, 200, s.at...)
	naming(200, true)
	s.mustDo(http.MethodDelete, "/dns-zone-grants/"+grant.ID, nil, 204)
	s.mustDo(http.MethodPatch, "/dns-zones/"+own.ID, names, 200, s.at...) // what is revoked gives way
}

// A zone is granted by who has a say on both sides, and to scopes that they see; others learn nothing of what there is.
func TestWhoGrantsZones(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	grant := func(token string, in api.CreateDNSZoneGrant) string {
		a := s.do(http.MethodPost, "/dns-zone-grants", in, "Authorization", "Bearer "+token)
		if a.status < 300 {
			return fmt.Sprint(a.status)
		}
		return fmt.Sprintf("%d %s", a.status, a.problem(t).Detail)
	}
	owner := b.granted("owner1", iam.RoleOwner, scope.Organization, domain.DefaultOrganization)
	hidden, none := grant(owner, api.CreateDNSZoneGrant{Zone: "example.org", Scope: "other"}), grant(owner, api.CreateDNSZoneGrant{Zone: "example.org", Scope: "nobody"})
	if hidden != none || !strings.HasPrefix(hidden, "422") {
		t.Errorf("a scope that is hidden: %s; one that is not there: %s", hidden, none)
	}
	for _, zone := range []string{s.zone.ID, "example.org", "example.net", uuid.NewString()} {
		if a := s.do(http.MethodPost, "/dns-zone-grants", api.CreateDNSZoneGrant{Zone: zone, Scope: "other"}, s.at...); a.status != 422 {
			t.Errorf("the tenant grants %s: %d", zone, a.status)
		}
	}
	for _, role := range []string{"operator", "member", "viewer"} {
		if got := grant(b.granted("r-"+role, role, scope.Organization, domain.DefaultOrganization), api.CreateDNSZoneGrant{Zone: "example.org", Scope: "default/second"}); !strings.HasPrefix(got, "403") {
			t.Errorf("%s grants: %s", role, got)
		}
	}
	if got := grant(owner, api.CreateDNSZoneGrant{Zone: "example.org", Scope: "default/second"}); got != "201" {
		t.Errorf("within the organization: %s", got)
	}
	if got := grant(s.token, api.CreateDNSZoneGrant{Zone: "example.org", Scope: "other"}); got != "201" {
		t.Errorf("the operator: %s", got)
	}
	s.add(201, s.their, "www")
}

// A workspace stays in the project whose grant its names need, and goes with its grants.
func TestZoneGrantsOfScopes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	s.toProject("")
	set := decode[api.DNSRecordSet](t, s.add(201, s.at, "www"))
	move := "/workspaces/" + s.tree.workspaces[1][0][0].String() + "/move"
	if p := s.mustDo(http.MethodPost, move, api.MoveWorkspace{Project: s.tree.projects[1][1].String()}, 409, s.at...).problem(t); p.Code != "dns_zone_grant_in_use" {
		t.Errorf("moved: %+v", p)
	}
	if p := s.mustDo(http.MethodDelete, "/workspaces/"+s.tree.workspaces[1][0][0].String(), nil, 409, s.at...).problem(t); !strings.Contains(p.Detail, "1 names in shared zones") {
		t.Errorf("deleted: %+v", p)
	}
	b.sql("DELETE FROM dns_record_sets WHERE id = $1", set.ID)
	b.sql("UPDATE workspaces SET state = 'removed' WHERE project_id = $1", s.tree.projects[1][0])
	s.mustDo(http.MethodDelete, "/projects/"+s.tree.projects[1][0].String(), nil, 204, s.at...)
	var live int
	b.row(&live, "SELECT count(*) FROM dns_zone_grants WHERE revoked_at IS NULL")
	if live != 0 {
		t.Errorf("%d grants to a project that is gone", live)
	}
}

// While a backend of another release is there, no zone is granted: it would take the names of allocations away.
func TestNoZoneGrantBesideOlderBackends(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.zoneSharing()
	b.sql("INSERT INTO backends (id, name, version, roles) VALUES ($1, 'old-1', 'v1.2.2', 'api')", uuid.New())
	if p := s.mustDo(http.MethodPost, "/dns-zone-grants", api.CreateDNSZoneGrant{Zone: "example.org", Scope: "other"}, 409).problem(t); p.Code != "older_backend" {
		t.Errorf("%+v", p)
	}
}
