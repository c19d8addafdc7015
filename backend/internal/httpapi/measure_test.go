package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

func TestMeasureHost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	if p := b.mustDo(http.MethodPost, "/hosts/h1/measure", nil, http.StatusConflict).problem(t); p.Code != "nothing_to_measure" {
		t.Errorf("without a tenant: %+v", p)
	}
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.0.2.101"}}}, http.StatusCreated)
	a := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{CPUs: 2, LoginUser: "alice", SSHKeys: []string{sshKey}}, http.StatusAccepted))
	if j := decode[api.Job](t, b.mustDo(http.MethodGet, "/jobs/"+a.ActiveJob, nil, http.StatusOK)); !j.HoldsHost {
		t.Errorf("job %+v", j)
	}
	b.finishJob(a.ID, a.ActiveJob, nil)
	shown := b.mustDo(http.MethodGet, "/allocations/"+a.ID, nil, http.StatusOK)
	if a = decode[api.Allocation](t, shown); a.Use != nil || a.TasksMax == 0 || strings.Contains(string(shown.body), `"use"`) {
		t.Errorf("before it was measured: %s", shown.body)
	}

	for _, bad := range []string{"0", "31", "-1", "x", "1e1", "99999999999999999999"} {
		b.mustDo(http.MethodPost, "/hosts/h1/measure?samples="+bad, nil, http.StatusUnprocessableEntity)
	}
	b.mustDo(http.MethodPost, "/hosts/h2/measure", nil, http.StatusNotFound)

	first := b.mustDo(http.MethodPost, "/hosts/h1/measure?samples=20", nil, http.StatusAccepted, "Idempotency-Key", "k1")
	second := b.mustDo(http.MethodPost, "/hosts/h1/measure", nil, http.StatusAccepted, "Idempotency-Key", "k2")
	job := first.header.Get("Location")
	if job == "" || second.header.Get("Location") != job {
		t.Errorf("the first job is %q, the second %q", job, second.header.Get("Location"))
	}
	j := decode[api.Job](t, b.mustDo(http.MethodGet, strings.TrimPrefix(job, api.Prefix), nil, http.StatusOK))
	if j.Kind != "host_measure" || j.State != "queued" || j.Playbook != "host_measure" || j.HoldsHost || len(j.Steps) != 1 {
		t.Errorf("job %+v", j)
	}
	var asked int
	b.row(&asked, "SELECT count(*) FROM events WHERE action = 'host.measure'")
	if asked != 1 {
		t.Errorf("%d jobs were asked for", asked)
	}

	n := func(v int64) *int64 { return &v }
	b.finishJob(a.HostID, j.ID, func(tx *store.Tx) error {
		return tx.SetUse(t.Context(), []store.UnitUse{{
			UnitID: uuid.MustParse(a.UnitID), AllocationID: uuid.MustParse(a.ID),
			Use: domain.Use{CPUMillis: n(1250), MemoryBytes: n(3), CacheBytes: n(1), Processes: n(0)},
		}})
	})
	again := b.mustDo(http.MethodPost, "/hosts/h1/measure?samples=20", nil, http.StatusAccepted, "Idempotency-Key", "k1")
	if again.header.Get("Location") != job {
		t.Error("a repeated request made another job")
	}
	used := func(use *api.Use) bool {
		return use != nil && *use.CPUMillis == 1250 && *use.MemoryBytes == 3 && *use.CacheBytes == 1 && *use.Processes == 0 &&
			use.DiskBytes == nil && use.DiskUsedBytes == nil && !use.MeasuredAt.IsZero()
	}
	if a = decode[api.Allocation](t, b.mustDo(http.MethodGet, "/allocations/"+a.ID, nil, http.StatusOK)); !used(a.Use) {
		t.Errorf("allocation: %+v", a.Use)
	}
	if u := decode[api.ComputeUnit](t, b.mustDo(http.MethodGet, "/compute-units/"+a.UnitID, nil, http.StatusOK)); !used(u.Use) {
		t.Errorf("unit: %+v", u.Use)
	}
	for _, u := range decode[api.Page[api.ComputeUnit]](t, b.mustDo(http.MethodGet, "/compute-units?host=h1", nil, http.StatusOK)).Items {
		if (u.Use != nil) != (u.ID == a.UnitID) {
			t.Errorf("%s: %+v", u.Name, u.Use)
		}
	}
}
