package httpapi_test

import (
	"net/http"
	"testing"

	"kloigos/backend/api"
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
