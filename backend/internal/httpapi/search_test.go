package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
)

// Units and allocations are found by a part of a name.
func TestUnitsAndAllocationsAreSearched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	b.ready("h2")
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.9.9.7"}}}, http.StatusCreated)
	b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{Unit: "h2-cu03", LoginUser: "ada", SSHKeys: []string{sshKey}}, http.StatusAccepted)
	units := func(search string) int {
		return len(decode[api.Page[api.ComputeUnit]](t, b.mustDo(http.MethodGet, "/compute-units?search="+search, nil, http.StatusOK)).Items)
	}
	for search, want := range map[string]int{"h1": 3, "cu03": 2, "h2-cu03": 1, "nothing": 0, "%25": 0, "_": 0} {
		if n := units(search); n != want {
			t.Errorf("%d units are called like %s, want %d", n, search, want)
		}
	}
	for search, want := range map[string]int{"ad": 1, "h2-cu0": 1, "9.9.7": 1, "h1": 0} {
		if n := len(decode[api.Page[api.Allocation]](t, b.mustDo(http.MethodGet, "/allocations?search="+search, nil, http.StatusOK)).Items); n != want {
			t.Errorf("%d allocations are found by %s, want %d", n, search, want)
		}
	}
}

// TestFiltersOfEveryNoun: search does not regard case; hosts, units and allocations are found by region, zone and labels; a
// host, a unit, an allocation and the object of an event are given by name or id wherever one is asked for.
func TestFiltersOfEveryNoun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	b.ready("h2")
	b.sql("UPDATE hosts SET region = 'eu', zone = 'eu1', labels = '{\"rack\": \"r1\", \"disk\": \"nvme\"}', address = 'H1.Example' WHERE name = 'h1'")
	b.sql("UPDATE hosts SET region = 'us', zone = 'us1', labels = '{\"rack\": \"r2\"}' WHERE name = 'h2'")
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.9.9.7"}}}, http.StatusCreated)
	a := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{Unit: "h1-cu03", LoginUser: "ada", SSHKeys: []string{sshKey}, Labels: map[string]string{"team": "web"}}, http.StatusAccepted))
	for path, want := range map[string]int{
		"/hosts?search=H1": 1, "/hosts?search=h1.EXAMPLE": 1, "/hosts?region=eu": 1, "/hosts?zone=us1": 1, "/hosts?labels=rack=r1": 1, "/hosts?labels=rack=r1,disk=nvme": 1,
		"/hosts?labels=rack=r2,disk=nvme": 0, "/hosts?labels=team=web": 0,
		"/compute-units?search=H1-CU03": 1, "/compute-units?labels=rack=r2": 3, "/compute-units?region=eu": 3, "/compute-units?zone=eu1&labels=disk=nvme": 3,
		"/allocations?search=ADA": 1, "/allocations?search=H1-CU": 1, "/allocations?region=eu": 1, "/allocations?region=us": 0, "/allocations?zone=eu1": 1, "/allocations?labels=team=web": 1,
		"/allocations?labels=team=db": 0, "/allocations?host=h1": 1, "/allocations?host=" + h.ID: 1, "/compute-units?host=h1": 3, "/compute-units?host=" + h.ID: 3,
		"/jobs?kind=unit_allocate&host=h1": 1, "/jobs?kind=unit_allocate&host=" + h.ID: 1, "/jobs?kind=unit_allocate&host=h2": 0, "/jobs?host=nowhere": 0,
		"/jobs?unit=h1-cu03": 1, "/jobs?unit=" + a.UnitID: 1, "/plans?host=h1": 0, "/plans?host=" + h.ID: 0,
		"/jobs?allocation=ada": 1, "/jobs?allocation=" + a.ID: 1, "/jobs?allocation=ada&host=h1&state=active": 1, "/jobs?allocation=ada&host=h2": 0, "/jobs?allocation=bob": 0,
		"/plans?allocation=ada": 0, "/plans?allocation=" + a.ID: 0, "/events?object=ada&action=allocation.create": 1, "/events?object=" + a.ID + "&action=allocation.create": 1,
		"/events?object=bob": 0, "/events?object=ADA": 0,
	} {
		if n := len(decode[api.Page[any]](t, b.mustDo(http.MethodGet, path, nil, http.StatusOK)).Items); n != want {
			t.Errorf("%s: %d, want %d", path, n, want)
		}
	}
	for _, list := range []string{"/hosts", "/compute-units", "/allocations"} {
		for _, bad := range []string{"rack", "rack=r1,rack=r2", "Rack=r1", "=x", ","} {
			p := b.mustDo(http.MethodGet, list+"?labels="+bad, nil, http.StatusUnprocessableEntity).problem(t)
			if len(p.Errors) != 1 || p.Errors[0].Field != "labels" {
				t.Errorf("%s?labels=%s: %+v", list, bad, p.Errors)
			}
		}
	}
}

// TestListsAgreeWithTheirObjects: a list tells of each object what asking for the object tells, but for what is left out of
// lists because it is large.
func TestListsAgreeWithTheirObjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.9.9.7-10.9.9.9"}}}, http.StatusCreated)
	b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{Unit: "h1-cu03", LoginUser: "ada", SSHKeys: []string{sshKey}}, http.StatusAccepted)
	body := api.CreateAllocation{CPUs: 1, LoginUser: "bob", SSHKeys: []string{sshKey}}
	for range 2 {
		b.checked(decode[api.Plan](t, b.mustDo(http.MethodPost, "/allocations?plan=true", body, http.StatusAccepted)), domain.PlanChange{Kind: "user", Name: "bob", Action: domain.ActionCreate})
	}
	b.mustDo(http.MethodPost, "/hosts/"+h.ID+"/initialize?plan=true", nil, http.StatusAccepted)
	// One plan has expired, and what the others stand on moves.
	b.sql("UPDATE plans SET expires_at = now() - INTERVAL '1 second' WHERE id = (SELECT min(id::TEXT)::UUID FROM plans WHERE state = 'ready')")
	b.sql("UPDATE hosts SET profile = 'build' WHERE id = $1", h.ID)
	large := map[string][]string{"plans": {"changes", "tasks"}, "jobs": {"hosts"}, "playbooks/host_probe/versions": {"lint"}}
	key := map[string]string{"playbooks": "name", "playbooks/host_probe/versions": "version"}
	moved := 0
	for _, noun := range []string{"hosts", "compute-units", "allocations", "jobs", "plans", "playbooks", "playbooks/host_probe/versions"} {
		items := decode[api.Page[map[string]any]](t, b.mustDo(http.MethodGet, "/"+noun, nil, http.StatusOK)).Items
		if len(items) == 0 {
			t.Errorf("no %s: the test would show nothing", noun)
		}
		for _, listed := range items {
			name := "id"
			if k := key[noun]; k != "" {
				name = k
			}
			alone := decode[map[string]any](t, b.mustDo(http.MethodGet, fmt.Sprintf("/%s/%v", noun, listed[name]), nil, http.StatusOK))
			if noun == "plans" && listed["moved"] != nil {
				moved++
			}
			for _, field := range large[noun] {
				delete(alone, field)
				delete(listed, field)
			}
			if d := cmp.Diff(alone, listed); d != "" {
				t.Errorf("%s %v differs in the list (-alone +listed):\n%s", noun, listed[name], d)
			}
		}
	}
	if moved == 0 {
		t.Error("no plan has moved: the test would not show that a list says so")
	}
}
