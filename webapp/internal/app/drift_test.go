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
	"/drift":                              "max=900&lt;b&gt;",
	"/drift?state=open":                   `href="/drift">Clear<`,
	"/drift/" + driftID + "/accept":       "Accept the drift of h1: memory",
	"/drift-modes":                        "sun from 2:00, 3 h",
	"/drift-modes?scope=host":             `href="/drift-modes">Clear<`,
	"/drift-modes/set":                    "maintenance window",
	"/drift-modes/set?scope=host&name=h1": `value="h1"`,
}, func(a *apitest.API) {
	a.Answer("list-drifts", 200, apitest.Page(sampleDrift()))
	a.Answer("get-drift", 200, sampleDrift())
	a.Answer("list-drift-modes", 200, apitest.Page(sampleMode()))
})

func sampleMode() api.DriftMode {
	return api.DriftMode{Scope: "host", ScopeID: apitest.HostID, Name: "h1", Mode: "window", WindowDay: "sun", WindowFrom: 2, WindowHours: 3, UpdatedBy: "grace", UpdatedAt: apitest.Now}
}

// TestDriftIsAcceptedAndItsModeSet: both forms send what was typed, and draw it again if it is refused.
func TestDriftIsAcceptedAndItsModeSet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("accept-drift", 200, sampleDrift())
	s.wantRedirect(s.post("/drift/"+driftID+"/accept", url.Values{"version": {"1"}, "reason": {"It is moved."}, "hours": {"48"}}), "/drift?said=drift-accepted")
	var accepted api.AcceptDrift
	s.only("accept-drift").Into(t, &accepted)
	if accepted.Reason != "It is moved." || accepted.Hours != 48 {
		t.Errorf("%+v", accepted)
	}
	s.api.Answer("set-drift-mode", 200, sampleMode())
	form := url.Values{"scope": {"host"}, "name": {"h1"}, "mode": {"window"}, "window_day": {"sun"}, "window_from": {"2"}, "window_hours": {"3"}}
	s.wantRedirect(s.post("/drift-modes/set", form), "/drift-modes?said=drift-mode")
	var set api.SetDriftMode
	s.only("set-drift-mode").Into(t, &set)
	if set != (api.SetDriftMode{Scope: "host", Name: "h1", Mode: "window", WindowDay: "sun", WindowFrom: 2, WindowHours: 3}) {
		t.Errorf("%+v", set)
	}
	s.api.Answer("set-drift-mode", 422, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.name", Message: "There is no <such> host."}}})
	a := s.post("/drift-modes/set", form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "no &lt;such&gt; host", `value="h1"`)
	for page, link := range map[string]string{"/hosts/h1": "/drift-modes/set?name=", "/compute-units/" + apitest.UnitID: "/drift-modes/set?name="} {
		s.wantText(s.get(page), link)
	}
}

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
