package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const hostileText = "</pre><script>alert(1)</script>\" onmouseover=\"alert(2)"

func TestWhatAPlanShows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := apitest.Plan()
	p.Changes = append(p.Changes, api.PlanChange{Kind: hostileText, Name: hostileText, Action: "change", Before: "a\n" + hostileText, After: hostileText, Note: hostileText, Task: hostileText})
	s.api.Answer("get-plan", http.StatusOK, p)
	a := s.get("/plans/" + p.ID)
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "/etc/kloigos/keys/ada", `<span class="del">- old key</span>`, `<span class="add">+ new key</span>`, "Apply this plan", "+ create 1", "~ change 2",
		"/jobs/"+p.JobID, "+ create", "Not checked", "profile kloigos-h1-cu01", "&lt;script&gt;")
	if strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, `" onmouseover="`) {
		t.Error("text of the host became markup")
	}

	for name, c := range map[string]struct {
		change func(*api.Plan)
		want   string
		not    string
	}{
		"no change": {func(p *api.Plan) { p.Counts, p.Changes, p.Tasks = &api.PlanCounts{}, nil, 12 }, "No changes", "Planned changes"},
		"expired": {func(p *api.Plan) {
			p.Expired = true
			p.Operations[0] = api.Operation{Name: "apply", Prevents: "It expired."}
		}, "This plan has expired", `action="/plans/`},
		"stale": {func(p *api.Plan) {
			p.Moved = []string{"playbook", "observed_state"}
			p.Operations[0] = api.Operation{Name: "apply", Prevents: "Something moved."}
		}, "Another version of the playbook is the default now", `action="/plans/`},
		"moved":    {func(p *api.Plan) { p.Moved = []string{"variables"} }, "outdated</span>", "Valid until"},
		"checking": {func(p *api.Plan) { p.State, p.Counts, p.Changes = "checking", nil, nil }, "The check is running", "Planned changes"},
		"failed":   {func(p *api.Plan) { p.State, p.Counts, p.Changes = "failed", nil, nil }, "The check failed", "Planned changes"},
		"applied":  {func(p *api.Plan) { p.State, p.AppliedJobID = "applied", apitest.JobID }, "Planned changes", "Nothing of it has been done"},
		"stops": {func(p *api.Plan) {
			p.Changes = []api.PlanChange{{Task: "t", Action: "stops", Note: "the disk is in use"}}
		}, "the disk is in use", "Not checked"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup(t)
			p := apitest.Plan()
			c.change(&p)
			s.api.Answer("get-plan", http.StatusOK, p)
			a := s.get("/plans/" + p.ID)
			s.wantText(a, c.want)
			if strings.Contains(a.body, c.not) {
				t.Errorf("the page has %q", c.not)
			}
		})
	}
}

func TestPlansAreMadeAndApplied(t *testing.T) {
	t.Parallel()
	p := apitest.Plan()
	plan := url.Values{"plan": {"true"}}
	for route, path := range map[string]string{
		"initialize-host": "/hosts/h1/initialize", "refence-host": "/hosts/h1/refence", "decommission-host": "/hosts/h1/decommission",
		"deallocate": "/allocations/" + apitest.AllocationID + "/deallocate",
	} {
		s := setup(t)
		s.api.Answer(route, http.StatusAccepted, p, p.JobID)
		s.wantRedirect(s.post(path, plan), "/plans/"+p.ID)
		if call := s.only(route); call.Query != "plan=true" {
			t.Errorf("%s was asked with %q", route, call.Query)
		}
	}
	s := setup(t)
	s.api.Answer("relayout-host", http.StatusAccepted, p, p.JobID)
	s.wantRedirect(s.post("/hosts/h1/relayout", url.Values{"mode": {"sets"}, "units": {"4"}, "version": {"7"}, "plan": {"true"}}), "/plans/"+p.ID)
	if call := s.only("relayout-host"); call.Query != "plan=true" || call.Header.Get("If-Match") != `"7"` {
		t.Errorf("%+v", call)
	}
	s = setup(t)
	s.api.Answer("create-allocation", http.StatusAccepted, p, p.JobID)
	s.wantRedirect(s.post("/allocations/new", url.Values{"cpu_count": {"2"}, "ssh_keys": {apitest.Key}, "plan": {"true"}, "key": {aKey}}), "/plans/"+p.ID)
	if call := s.only("create-allocation"); call.Query != "plan=true" || call.Header.Get("Idempotency-Key") != aKey {
		t.Errorf("asked with %q", call.Query)
	}
	s = setup(t)
	s.api.Answer("replace-allocation-keys", http.StatusAccepted, p, p.JobID)
	s.wantRedirect(s.post("/allocations/"+apitest.AllocationID+"/ssh-keys", url.Values{"ssh_keys": {apitest.Key}, "plan": {"true"}}), "/plans/"+p.ID)

	// Applied with its own request, and bound.
	s = setup(t)
	s.api.Answer("get-plan", http.StatusOK, p)
	s.api.Answer("replace-allocation-keys", http.StatusAccepted, api.Allocation{ID: apitest.AllocationID}, apitest.JobID)
	s.wantRedirect(s.post("/plans/"+p.ID+"/apply", url.Values{}), "/jobs/"+apitest.JobID)
	var keys api.ReplaceKeys
	call := s.only("replace-allocation-keys")
	call.Into(t, &keys)
	if diff := cmp.Diff([]string{apitest.Key}, keys.SSHKeys); diff != "" || call.Query != "plan_id="+p.ID {
		t.Errorf("%q %s", call.Query, diff)
	}

	// What ends something is typed once more.
	p.Action, p.Request = "deallocate", []byte(`{"confirm":"ada"}`)
	s = setup(t)
	s.api.Answer("get-plan", http.StatusOK, p)
	s.api.Answer("deallocate", http.StatusAccepted, api.Allocation{ID: apitest.AllocationID}, apitest.JobID)
	s.wantStatus(s.post("/plans/"+p.ID+"/apply", url.Values{"confirm": {"bob"}}), http.StatusConflict)
	s.wantRedirect(s.post("/plans/"+p.ID+"/apply", url.Values{"confirm": {"ada"}}), "/jobs/"+apitest.JobID)

	s = setup(t)
	s.api.Answer("get-plan", http.StatusOK, apitest.Plan())
	s.api.Refuse("replace-allocation-keys", api.Problem{Status: 409, Code: "plan_stale", Detail: "A job has begun there.", Moved: []string{"observed_state"}})
	a := s.post("/plans/"+p.ID+"/apply", url.Values{})
	s.wantStatus(a, http.StatusConflict)
	s.wantText(a, "A job has begun there")
}

func TestJobsLeadToTheirPlans(t *testing.T) {
	t.Parallel()
	s := setup(t)
	j := api.Job{ID: apitest.JobID, Kind: "plan", State: "succeeded", PlanID: apitest.PlanID, CreatedAt: apitest.Now, DeadlineAt: apitest.Now.Add(time.Hour)}
	s.api.Answer("get-job", http.StatusOK, j)
	s.wantText(s.get("/jobs/"+j.ID), "/plans/"+apitest.PlanID, "Open the plan")
}
