package app

import (
	"net/http"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// TestEveryPageSaysWhyNoJobBegins: a pause and missing workers stand on all pages, with the way out, and are asked for
// once in some seconds.
func TestEveryPageSaysWhyNoJobBegins(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("get-queue", http.StatusOK, paused())
	s.api.Answer("get-system", http.StatusOK, api.System{Backends: []api.Backend{{Name: "b1", Roles: "api,worker"}, {Name: "b2", Roles: "api", Alive: true}}})
	for _, path := range []string{"/hosts", "/jobs", "/allocations/new", "/compute-units", "/events", "/tokens", "/playbooks", "/hosts/h1"} {
		s.wantText(s.get(path), "The queue is paused by ada", "new &lt;b&gt;switches&lt;/b&gt;", `<a href="/system">Resume the queue</a>`, "No worker is alive", `<a href="/system">See the backends</a>`)
	}
	if n := len(s.api.Calls("get-queue")); n != 1 {
		t.Errorf("the queue was asked for %d times", n)
	}
	s.api.Answer("get-queue", http.StatusOK, api.Queue{})
	s.api.Answer("get-system", http.StatusOK, api.System{Backends: []api.Backend{{Name: "b1", Roles: "api,worker", Alive: true}}})
	s.api.Answer("resume-queue", http.StatusOK, api.Queue{})
	s.wantRedirect(s.post("/system/queue/resume", nil), "/system?said=queue-resumed")
	if a := s.get("/hosts"); strings.Contains(a.body, "is paused") || strings.Contains(a.body, "No worker") {
		t.Error("the page says so still after it was changed")
	}
	s = setup(t)
	s.api.Refuse("get-queue", api.Problem{Status: http.StatusServiceUnavailable, Code: "unavailable"})
	s.wantStatus(s.get("/hosts"), http.StatusOK)
}

// TestAnUnreachableHostPromisesNothing: what is free there can't be allocated, and the host's page says why.
func TestAnUnreachableHostPromisesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	h := apitest.Host()
	h.Health, h.HealthMessage = "unreachable", "connect: <b>no route</b>"
	s.api.Answer("get-host", http.StatusOK, h)
	a := s.get("/hosts/h1")
	s.wantText(a, "The host is unreachable.", "connect: &lt;b&gt;no route&lt;/b&gt;", "so its free units can&#39;t be allocated", "then probe it")
	if strings.Contains(a.body, `<p class="means">Its free units`) {
		t.Error("it promises its free units")
	}
	free := apitest.Unit(3, "free")
	s.api.Answer("get-compute-unit", http.StatusOK, free)
	s.wantText(s.get("/compute-units/h1-cu03"), "unreachable</a>, so it can't be allocated now", "Its host is unreachable.")
	s.api.Answer("list-compute-units", http.StatusOK, apitest.Page(free))
	s.wantText(s.get("/allocations/new"), "1 free unit fits")
	s.api.Answer("get-capacity", http.StatusOK, api.Capacity{Hosts: []api.CapacityHost{{ID: free.HostID, Name: "h1", State: "ready", Health: "unreachable", Units: map[string]int{"free": 1}}}})
	a = s.get("/allocations/new")
	s.wantText(a, "1 free unit on unreachable hosts can't be allocated.", "no unit is free")
	s.wantText(s.get("/allocations/new?unit=h1-cu03"), "its host is unreachable")
	s.wantText(s.get("/"), "1 free unit can't be allocated now: the host is unreachable.")
}

// TestAFailedObjectHasTheRetryThatItsPageNames.
func TestAFailedObjectHasTheRetryThatItsPageNames(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const retry = `action="/jobs/` + apitest.JobID + `/retry"`
	j := apitest.Job("unit_allocate", "failed")
	s.api.Answer("list-jobs", http.StatusOK, apitest.Page(apitest.Job("plan", "failed"), j))
	s.api.Answer("get-compute-unit", http.StatusOK, apitest.Unit(2, "allocation_failed"))
	a := apitest.Allocation()
	a.State = "allocation_failed"
	s.api.Answer("get-allocation", http.StatusOK, a)
	s.wantText(s.get("/compute-units/h1-cu02"), retry)
	s.wantText(s.get("/allocations/"+a.ID), retry)
	a.State = "allocated"
	s.api.Answer("get-allocation", http.StatusOK, a)
	if strings.Contains(s.get("/allocations/"+a.ID).body, retry) {
		t.Error("an allocation that is well offers a retry")
	}
	s.api.On("get-plan", func(w http.ResponseWriter, _ *http.Request) {
		p := apitest.Plan()
		p.State, p.Counts, p.Changes = "failed", nil, nil
		apitest.JSON(w, p)
	})
	s.api.Answer("get-job", http.StatusOK, apitest.Job("plan", "failed"))
	s.wantText(s.get("/plans/"+apitest.PlanID), retry)
}

// TestAnAllocationThatWasCancelledBeforeItBegan is no failure, and nothing of a tenant is wiped.
func TestAnAllocationThatWasCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := apitest.Allocation()
	a.State, a.EndedAt = "deallocated", &apitest.Now
	a.Operations = []api.Operation{{Name: "deallocate"}}
	s.api.Answer("get-allocation", http.StatusOK, a)
	j := apitest.Job("unit_allocate", "cancelled")
	j.Attempt, j.Failures, j.StartedAt, j.Error = 0, 0, nil, nil
	j.Operations = []api.Operation{{Name: "retry"}, {Name: "give-up"}}
	s.api.Answer("list-jobs", http.StatusOK, apitest.Page(j))
	page := s.get("/allocations/" + a.ID)
	s.wantText(page, `tone-gone`, "cancelled before it began: nothing was set up", "its unit is free again")
	if strings.Count(page.body, "note-bad") > 1 || // the hidden one says that the web app is not reached
		strings.Contains(page.body, "wipe") {
		t.Error("it is shown as failed, or says that something is wiped")
	}
	// One that was begun, failed and was given up was wiped.
	j.Attempt = 1
	s.api.Answer("list-jobs", http.StatusOK, apitest.Page(j))
	if page := s.get("/allocations/" + a.ID); strings.Contains(page.body, "nothing was set up") {
		t.Error("it is told as one that never began")
	}
}
