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
)

// lending is an owner with a network and a receiver in another organization that has a host.
type lending struct {
	*backend
	tree  tree
	lan   api.Network
	host  uuid.UUID
	owner []string // headers of the owner of the other organization, in its first workspace
}

// lending makes the other organization own the network: the host, of the default workspace, is the receiver's.
func (b *backend) lending() lending {
	b.t.Helper()
	l := lending{backend: b, tree: b.tree()}
	l.host = uuid.MustParse(b.ready("h1").ID)
	token := b.granted("lender", iam.RoleOwner, scope.Organization, l.tree.organizations[1])
	l.owner = []string{"Authorization", "Bearer " + token, api.WorkspaceHeader, l.tree.workspaces[1][0][0].String()}
	l.lan = decode[api.Network](b.t, b.mustDo(http.MethodPost, "/networks", api.CreateNetwork{Name: "lan", CIDR: "10.9.0.0/24"}, 201, l.owner...))
	b.mustDo(http.MethodPost, "/address-pool", `{"network":"lan","addresses":[{"range":"10.9.0.8-10.9.0.13"}]}`, 201, l.owner...)
	return l
}

// grant grants the network to a scope, by somebody who operates the installation as well.
func (l lending) grant(status int, scope string, addresses *int64) answer {
	l.t.Helper()
	as := []string{api.WorkspaceHeader, l.owner[3]}
	l.sql("INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) SELECT gen_random_uuid(), a.id, 'admin', 'organization', $1, 'test' FROM accounts a WHERE a.name = 'admin' ON CONFLICT DO NOTHING", l.tree.organizations[1])
	return l.mustDo(http.MethodPost, "/network-grants", api.CreateNetworkGrant{Network: "lan", Scope: scope, Addresses: addresses}, status, as...)
}

func (l lending) lend(addresses *int64) api.NetworkGrant {
	l.t.Helper()
	return decode[api.NetworkGrant](l.t, l.grant(201, "default", addresses))
}

func (l lending) carries(status int, networks ...string) answer {
	l.t.Helper()
	return l.mustDo(http.MethodPatch, "/hosts/"+l.host.String(), map[string]any{"networks": networks}, status)
}

func (l lending) allocate(status int, body api.CreateAllocation) answer {
	l.t.Helper()
	body.CPUs, body.SSHKeys = 1, []string{sshKey}
	return l.mustDo(http.MethodPost, "/allocations", body, status)
}

func (l lending) shared(as ...string) []api.SharedNetwork {
	l.t.Helper()
	return decode[api.Page[api.SharedNetwork]](l.t, l.mustDo(http.MethodGet, "/shared-networks", nil, 200, as...)).Items
}

func (l lending) grantIs(id string, status int) api.NetworkGrant {
	l.t.Helper()
	a := l.mustDo(http.MethodGet, "/network-grants/"+id, nil, status, l.owner...)
	if status != 200 {
		return api.NetworkGrant{}
	}
	return decode[api.NetworkGrant](l.t, a)
}

// A host carries a network of another organization that was granted to its own, and its allocation has an address of that pool.
func TestSharedNetwork(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	hidden := l.carries(422, l.lan.ID).problem(t)
	if none := l.carries(422, uuid.NewString()).problem(t); none.Detail != hidden.Detail || fmt.Sprint(none.Errors) != fmt.Sprint(hidden.Errors) {
		t.Errorf("a network that is not granted: %+v; none at all: %+v", hidden, none)
	}
	grant := l.lend(nil)
	if grant.Network != "lan" || grant.Scope != "default" || grant.Addresses != nil || grant.State != "granted" {
		t.Errorf("the grant is %+v", grant)
	}
	l.carries(200, l.lan.ID)
	got := l.shared()
	if len(got) != 1 || got[0].Name != "lan" || got[0].CIDR != "10.9.0.0/24" || got[0].Organization != "other" || got[0].Free != 6 || got[0].Hosts != 1 || got[0].InUse != 0 {
		t.Errorf("shared %+v", got)
	}
	if theirs := l.shared(l.owner...); len(theirs) != 0 {
		t.Errorf("shared with its owner: %+v", theirs)
	}
	a := decode[api.Allocation](t, l.allocate(202, api.CreateAllocation{LoginUser: "ours"}))
	if !strings.HasPrefix(a.Address, "10.9.0.") || a.Network != l.lan.ID {
		t.Errorf("allocated %+v", a)
	}
	named := decode[api.Allocation](t, l.allocate(202, api.CreateAllocation{Network: l.lan.ID}))
	if g := l.grantIs(grant.ID, 200); g.InUse != 2 {
		t.Errorf("in use: %+v", g)
	}
	if got := l.shared(); got[0].InUse != 2 || got[0].Free != 4 {
		t.Errorf("shared %+v", got)
	}
	// The owner sees that an address is in use, and not by whom.
	pool := string(l.mustDo(http.MethodGet, "/address-pool", nil, 200, l.owner...).body)
	if !strings.Contains(pool, a.Address) || strings.Contains(pool, "ours") || strings.Contains(pool, a.ID) {
		t.Errorf("the owner sees %s", pool)
	}
	if events := string(l.mustDo(http.MethodGet, "/organization-events", nil, 200).body); !strings.Contains(events, `"network_grant.create"`) {
		t.Errorf("no event of the grant in %.500s", events)
	}
	l.carriesNoOther(a)
	l.finishJob("the first", a.ActiveJob, nil)
	l.finishJob("the second", named.ActiveJob, nil)
	gone := decode[api.Allocation](t, l.mustDo(http.MethodPost, "/allocations/"+a.ID+"/deallocate", api.Deallocate{Confirm: "ours"}, 202))
	l.finishJob("the end", gone.ActiveJob, nil)
	if got := l.shared(); got[0].InUse != 1 || got[0].Free != 5 {
		t.Errorf("after the end %+v", got)
	}
	l.aligned()
}

// carriesNoOther sees that a network stays on a host while an allocation has its address.
func (l lending) carriesNoOther(a api.Allocation) {
	l.t.Helper()
	if p := l.carries(409, "default").problem(l.t); p.Code != "network_in_use" {
		l.t.Errorf("a network in use by %s is left out: %+v", a.LoginUser, p)
	}
}

// A grant of some addresses gives as many at once, whoever asks at the same time, and a refusal tells the grant from the pool.
func TestLentAddresses(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	two := int64(2)
	grant := l.lend(&two)
	l.carries(200, l.lan.ID)
	var done sync.WaitGroup
	var lock sync.Mutex
	statuses := map[int]int{}
	for range 6 {
		done.Go(func() {
			a := l.do(http.MethodPost, "/allocations", api.CreateAllocation{CPUs: 1, SSHKeys: []string{sshKey}})
			lock.Lock()
			defer lock.Unlock()
			statuses[a.status]++
		})
	}
	done.Wait()
	if statuses[202] != 2 || statuses[409] != 4 {
		t.Errorf("answers %v", statuses)
	}
	p := l.allocate(409, api.CreateAllocation{}).problem(t)
	if p.Code != "no_capacity" || p.Placement == nil || !ruledOut(p.Placement, "network_grant") || ruledOut(p.Placement, "address") || !strings.Contains(p.Placement.Nearest, "shared network") {
		t.Errorf("the third is refused by %+v", p.Placement)
	}
	three := int64(3)
	changed := decode[api.NetworkGrant](t, l.mustDo(http.MethodPatch, "/network-grants/"+grant.ID, api.ChangeNetworkGrant{Addresses: &three}, 200, l.owner...))
	if *changed.Addresses != 3 || changed.Version != grant.Version+1 {
		t.Errorf("changed %+v", changed)
	}
	// A pool without a free address is another matter.
	l.sql("UPDATE addresses SET state = 'unavailable' WHERE network = 'lan' AND state = 'free'")
	if p := l.allocate(409, api.CreateAllocation{}).problem(t); p.Placement == nil || ruledOut(p.Placement, "network_grant") || !ruledOut(p.Placement, "address") {
		t.Errorf("without an address it is refused by %+v", p.Placement)
	}
	l.sql("UPDATE addresses SET state = 'free' WHERE network = 'lan' AND state = 'unavailable'")
	l.allocate(202, api.CreateAllocation{})
	l.aligned()
}

func ruledOut(w *api.WhyNot, filter string) bool {
	for _, r := range w.Ruled {
		if r.Filter == filter {
			return true
		}
	}
	return false
}

// A host takes addresses of its own workspace first.
func TestOwnAddressesFirst(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	l.lend(nil)
	l.mustDo(http.MethodPost, "/address-pool", `{"addresses":[{"range":"10.0.0.8"}]}`, 201)
	l.carries(200, l.lan.ID, "default")
	first := decode[api.Allocation](t, l.allocate(202, api.CreateAllocation{}))
	second := decode[api.Allocation](t, l.allocate(202, api.CreateAllocation{}))
	if first.Network != "default" || second.Network != l.lan.ID {
		t.Errorf("the first is of %s, the second of %s", first.Network, second.Network)
	}
}

// What is revoked gives no more addresses; those in use stay, and with the last one the grant is over.
func TestNetworkGrantEnds(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	grant := l.lend(nil)
	l.carries(200, l.lan.ID)
	a := decode[api.Allocation](t, l.allocate(202, api.CreateAllocation{}))
	l.finishJob("the receiver's", a.ActiveJob, nil)
	l.mustDo(http.MethodDelete, "/network-grants/"+grant.ID, nil, 204, l.owner...)
	if p := l.allocate(409, api.CreateAllocation{}).problem(t); p.Placement == nil || !ruledOut(p.Placement, "network_grant") {
		t.Errorf("after the end it is refused by %+v", p.Placement)
	}
	if got := l.grantIs(grant.ID, 200); got.State != "ending" || got.InUse != 1 || got.Operations[1].Allowed {
		t.Errorf("revoked %+v", got)
	}
	l.mustDo(http.MethodDelete, "/network-grants/"+grant.ID, nil, 409, l.owner...)
	l.mustDo(http.MethodDelete, "/networks/lan", nil, 409, l.owner...)
	a = decode[api.Allocation](t, l.mustDo(http.MethodPost, "/allocations/"+a.ID+"/deallocate", api.Deallocate{Confirm: a.LoginUser}, 202))
	l.finishJob("the end", a.ActiveJob, nil)
	l.grantIs(grant.ID, 404)
	again := l.lend(nil)
	if p := l.grant(409, "default", nil).problem(t); p.Code != "network_grant_exists" {
		t.Errorf("twice: %+v", p)
	}
	l.sql("DELETE FROM addresses WHERE network = 'lan'")
	l.mustDo(http.MethodDelete, "/networks/lan", nil, 204, l.owner...)
	l.grantIs(again.ID, 404)
	l.carries(200, l.lan.ID, "default") // it stays on a host until it is left out
	l.carries(200, "default")
	l.carries(422, l.lan.ID)
}

// An address in quarantine counts for the grant until its owner releases it.
func TestLentAddressInQuarantine(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	one := int64(1)
	grant := l.lend(&one)
	l.carries(200, l.lan.ID)
	a := decode[api.Allocation](t, l.allocate(202, api.CreateAllocation{}))
	l.finishJob("the receiver's", a.ActiveJob, nil)
	l.mustDo(http.MethodPost, "/hosts/"+l.host.String()+"/declare-lost", map[string]any{"confirm": "h1"}, 200)
	if got := l.grantIs(grant.ID, 200); got.InUse != 1 {
		t.Errorf("in quarantine %+v", got)
	}
	var id uuid.UUID
	l.row(&id, "SELECT id FROM addresses WHERE state = 'quarantined'")
	l.mustDo(http.MethodPost, "/address-pool/"+id.String()+"/release", map[string]any{}, 404)
	l.mustDo(http.MethodPost, "/address-pool/"+id.String()+"/release", map[string]any{}, 200, l.owner...)
	if got := l.grantIs(grant.ID, 200); got.InUse != 0 {
		t.Errorf("released %+v", got)
	}
	l.aligned()
}

// A workspace does not leave the project whose grant its addresses need.
func TestWorkspaceStaysWhereItsNetworkIs(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	l.grant(201, "default/default", nil)
	l.carries(200, l.lan.ID)
	l.allocate(202, api.CreateAllocation{})
	// The workspace that came with the installation moves never: another one has all that is in it.
	made := decode[api.Scope](t, l.mustDo(http.MethodPost, "/workspaces", api.CreateWorkspace{Name: "movable", Project: "default/default"}, 201))
	for _, table := range []string{"hosts", "compute_units", "allocations"} {
		l.sql("UPDATE "+table+" SET workspace_id = $1 WHERE workspace_id = $2", made.ID, domain.DefaultWorkspace)
	}
	p := l.mustDo(http.MethodPost, "/workspaces/"+made.ID+"/move", api.MoveWorkspace{Project: l.tree.projects[0][1].String()}, 409).problem(t)
	if p.Code != "network_grant_in_use" {
		t.Errorf("moved: %+v", p)
	}
}

// While a backend of another release is there, no network is granted.
func TestNoNetworkGrantBesideOlderBackends(t *testing.T) {
	t.Parallel()
	l := setup(t).lending()
	l.sql("INSERT INTO backends (id, name, version, roles) VALUES ($1, 'old-1', 'v1.2.2', 'api')", uuid.New())
	if p := l.grant(409, "default", nil).problem(t); p.Code != "older_backend" {
		t.Errorf("%+v", p)
	}
	l.sql("UPDATE backends SET seen_at = now() - INTERVAL '2 minutes' WHERE name = 'old-1'")
	l.lend(nil)
	var oldest string
	l.row(&oldest, "SELECT convert_from(value, 'UTF8') FROM settings WHERE name = 'oldest_backend_allowed'")
	if oldest != fmt.Sprint(iam.SharedGeneration) {
		t.Errorf("the oldest backend allowed is %s", oldest)
	}
}
