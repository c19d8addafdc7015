package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const driftID = "6a1e0000-0000-4000-8000-000000000061"

var _ = addPages(map[string]string{
	"/drift":            "max=900&lt;b&gt;",
	"/drift?state=open": `href="/drift">Clear<`,
}, func(a *apitest.API) { a.Answer("list-drifts", 200, apitest.Page(sampleDrift())) })

func sampleDrift() api.Drift {
	return api.Drift{
		ID: driftID, HostID: apitest.HostID, Host: "h1", Name: "h1", Promise: "memory", Promised: "max=1000", Found: "max=900<b>", State: "open",
		StateMeans: "the host is not as promised", Since: apitest.Now, Operations: allowed("accept", "repair"), Version: 1,
	}
}

// TestAcceptedDriftNamesWhoAndUntilWhen: the list says who accepted a drift, and when that ends.
func TestAcceptedDriftNamesWhoAndUntilWhen(t *testing.T) {
	t.Parallel()
	s := setup(t)
	d, until := sampleDrift(), time.Now().Add(47*time.Hour+30*time.Minute)
	d.State, d.AcceptedBy, d.AcceptUntil = "accepted", "grace", &until
	s.api.Answer("list-drifts", 200, apitest.Page(d))
	if got := s.get("/drift").body; !strings.Contains(got, "By grace, ends") || !strings.Contains(got, until.UTC().Format(time.RFC3339)) {
		t.Error("the list does not say who accepted the drift until when")
	}
}

// TestDriftIsRepairedByAJob: the button leads to the job, and the page of the host tells of the drift.
func TestDriftIsRepairedByAJob(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("list-drifts", 200, apitest.Page(sampleDrift()))
	s.api.Answer("repair-drift", 202, sampleDrift(), apitest.JobID)
	if a := s.post("/drift/"+driftID+"/repair", url.Values{}); !strings.HasPrefix(a.Header.Get("Location"), "/jobs/"+apitest.JobID) {
		t.Errorf("a repair leads to %q", a.Header.Get("Location"))
	}
	for _, page := range []string{"/hosts/h1", "/compute-units/" + apitest.UnitID} {
		if got := s.get(page); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "is not as promised: memory") {
			t.Errorf("%s answers %d without the drift", page, got.StatusCode)
		}
	}
}
