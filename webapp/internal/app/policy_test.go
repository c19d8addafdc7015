package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
)

// The page tells how each policy stands, and its forms work without a script.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/policies")
	s.wantText(a, "7 changes", "Paused by ada: new &lt;b&gt;disks&lt;/b&gt;", "The run took longer than its timeout.", "1 min", "flapping", "Not reconciled by a policy of its own",
		`action="/policies/old_plans/run"`, `action="/policies/old_plans/pause"`, `action="/policies/old_job_logs/resume"`)
	if strings.Contains(a.body, `action="/policies/old_job_logs/pause"`) || strings.Contains(a.body, `action="/policies/old_plans/resume"`) {
		t.Error("an action is offered that makes no sense now")
	}
	a = s.post("/policies/old_plans/pause", url.Values{"reason": {"new switches"}})
	s.wantStatus(a, http.StatusSeeOther)
	var sent api.PausePolicy
	call := s.only("pause-policy")
	call.Into(t, &sent)
	if sent.Reason != "new switches" || sent.ObjectID != "" || !strings.HasSuffix(call.Path, "/policies/old_plans/pause") {
		t.Errorf("%s: %+v", call.Path, sent)
	}
	s.wantStatus(s.post("/policies/old_job_logs/resume", nil), http.StatusSeeOther)
	s.only("resume-policy")
	s.wantStatus(s.post("/policies/old_plans/run", nil), http.StatusSeeOther)
	s.only("run-policy")
}

// A reason that is refused is shown again, as it was typed.
func TestPauseOfAPolicyThatIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("pause-policy", 422, api.Problem{Status: 422, Code: "invalid", Title: "Unprocessable", Errors: []api.FieldProblem{{Field: "reason", Message: "give the reason in one line"}}})
	a := s.post("/policies/old_plans/pause", url.Values{"reason": {"a<b"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Pause old_plans", `value="a&lt;b"`, "Give the reason in one line")
}
