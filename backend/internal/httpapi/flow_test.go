package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"kloigos/backend/api"
)

// The way of a host and an allocation through every layer but the worker.
func TestFromHostToAllocation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	if h.State != "ready" || h.Units["free"] != 3 || h.Facts == nil || h.Layout == nil || h.AuthorizedKey != sshKey {
		t.Fatalf("host %+v", h)
	}
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{
		{Range: "10.0.2.101", Endpoint: "127.0.0.1:40101"}, {Range: "10.0.2.102-10.0.2.103"},
	}}, http.StatusCreated)

	a := b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{CPUs: 2, Host: "h1", LoginUser: "alice", SSHKeys: []string{sshKey}}, http.StatusAccepted)
	got := decode[api.Allocation](t, a)
	if got.State != "allocating" || got.LoginUser != "alice" || got.UID < 65536 || got.Host != "h1" || len(got.SSHKeys) != 1 {
		t.Errorf("allocation %+v", got)
	}
	location := a.header.Get("Location")
	if location != "/api/v1/jobs/"+got.ActiveJob {
		t.Errorf("Location %q, active job %q", location, got.ActiveJob)
	}
	j := decode[api.Job](t, b.mustDo(http.MethodGet, strings.TrimPrefix(location, api.Prefix), nil, http.StatusOK))
	if j.Kind != "unit_allocate" || j.State != "queued" || j.LoginUser != "alice" || j.RequestedBy != "admin" || len(j.Steps) != 1 {
		t.Errorf("job %+v", j)
	}
	b.finishJob(got.ID, got.ActiveJob, nil)
	shown := b.mustDo(http.MethodGet, "/allocations/"+got.ID, nil, http.StatusOK)
	got = decode[api.Allocation](t, shown)
	if got.State != "allocated" || shown.header.Get("ETag") == "" {
		t.Errorf("allocation %+v, ETag %q", got, shown.header.Get("ETag"))
	}
	if got.Address == "10.0.2.101" && got.SSHCommand != "ssh -p 40101 alice@127.0.0.1" ||
		got.Address != "10.0.2.101" && got.SSHCommand != "ssh alice@"+got.Address {
		t.Errorf("command %q for %s", got.SSHCommand, got.Address)
	}

	p := b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{CPUs: 64, SSHKeys: []string{sshKey}}, http.StatusConflict).problem(t)
	if p.Code != "no_capacity" || p.Placement == nil || p.Placement.Units != 3 || len(p.Placement.Ruled) == 0 || p.Placement.Nearest == "" {
		t.Errorf("problem %+v, placement %+v", p, p.Placement)
	}

	b.mustDo(http.MethodPost, "/allocations/"+got.ID+"/deallocate", api.Deallocate{Confirm: "bob"}, http.StatusUnprocessableEntity)
	gone := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations/"+got.ID+"/deallocate", api.Deallocate{Confirm: "alice"}, http.StatusAccepted))
	b.finishJob(gone.ID, gone.ActiveJob, nil)
	gone = decode[api.Allocation](t, b.mustDo(http.MethodGet, "/allocations/"+got.ID, nil, http.StatusOK))
	if gone.State != "deallocated" || gone.EndedAt == nil {
		t.Errorf("allocation %+v", gone)
	}

	events := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/events?object="+got.ID, nil, http.StatusOK))
	var actions []string
	for _, e := range events.Items {
		actions = append(actions, e.Action)
		if e.Actor != "admin" || e.Client != "127.0.0.1" || e.RequestID == "" {
			t.Errorf("event %+v", e)
		}
	}
	if len(actions) < 2 {
		t.Errorf("events %v", actions)
	}
}

func TestVersionsGuardChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.probed("h1")
	layout := api.SetLayout{Count: 3, CPUsEach: 2, Devices: []string{"/dev/disk/by-id/virtio-kloigos0"}}
	p := b.mustDo(http.MethodPut, "/hosts/h1/layout", layout, http.StatusPreconditionFailed, "If-Match", `"1000"`).problem(t)
	if p.Code != "version_mismatch" {
		t.Errorf("code %q", p.Code)
	}
	b.mustDo(http.MethodPut, "/hosts/h1/layout", layout, http.StatusUnprocessableEntity, "If-Match", "yesterday")
	first := b.mustDo(http.MethodGet, "/hosts/"+h.ID, nil, http.StatusOK).header.Get("ETag")
	second := b.mustDo(http.MethodPut, "/hosts/h1/layout", layout, http.StatusOK, "If-Match", first).header.Get("ETag")
	if first == second {
		t.Errorf("ETag stayed %s", first)
	}
	b.mustDo(http.MethodPut, "/hosts/h1/layout", layout, http.StatusPreconditionFailed, "If-Match", first)
	b.mustDo(http.MethodPost, "/hosts/h1/probe", nil, http.StatusPreconditionFailed, "If-Match", first)
	b.mustDo(http.MethodPost, "/hosts/h1/probe", nil, http.StatusAccepted, "If-Match", second)
}
