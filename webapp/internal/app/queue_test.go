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

func paused() api.Queue {
	since := apitest.Now.Add(-time.Hour)
	return api.Queue{Paused: true, PausedAt: &since, PausedBy: "ada", Reason: "new <b>switches</b>", Queued: 3}
}

func TestPauseAndResumeTheQueue(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/system"), "the oldest for 1 min", `action="/system/queue/pause"`, "Running")
	s.api.Answer("pause-queue", http.StatusOK, paused())
	s.wantRedirect(s.post("/system/queue/pause", url.Values{"reason": {" new switches "}, "key": {aKey}}), "/system?said=queue-paused")
	var got api.PauseQueue
	call := s.only("pause-queue")
	if call.Into(t, &got); got.Reason != "new switches" || call.Header.Get("Idempotency-Key") != aKey {
		t.Errorf("%+v with key %q", got, call.Header.Get("Idempotency-Key"))
	}
	s.api.Answer("get-queue", http.StatusOK, paused())
	for _, path := range []string{"/system?said=queue-paused", "/jobs"} {
		s.wantText(s.get(path), "The queue is paused by ada", "since <time", "new &lt;b&gt;switches&lt;/b&gt;", "Jobs that run go on")
	}
	s.wantText(s.get("/"), "The queue is paused by ada", "new &lt;b&gt;switches&lt;/b&gt;", `href="/system"`)
	if a := s.get("/system"); !strings.Contains(a.body, `action="/system/queue/resume"`) || strings.Contains(a.body, `action="/system/queue/pause"`) {
		t.Error("a queue that is paused can't be resumed, or can be paused again")
	}
	s.api.Answer("resume-queue", http.StatusOK, api.Queue{})
	s.wantRedirect(s.post("/system/queue/resume", nil), "/system?said=queue-resumed")
	s.only("resume-queue")
}

func TestAPauseThatIsNotTakenKeepsTheReason(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("pause-queue", api.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.reason", Message: "must say in a line why"}}})
	a := s.post("/system/queue/pause", url.Values{"reason": {"hm"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Must say in a line why", `value="hm"`)
}

// In the middle of an upgrade an older backend may answer, that knows no pause.
func TestAnOlderBackendKnowsNoQueue(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("get-queue", api.Problem{Status: http.StatusNotFound, Code: "not_found"})
	s.wantText(s.get("/system"), "PostgreSQL 15.9")
	s.wantText(s.get("/jobs"), "Initialize host h1")
	s.wantText(s.get("/"), "Needs attention")
}

func TestAJobWhoseLogWasRemoved(t *testing.T) {
	t.Parallel()
	s := setup(t)
	j := apitest.Job("host_initialize", "failed")
	removed := apitest.Now.Add(-3 * time.Hour)
	j.LogExpiredAt = &removed
	s.api.Answer("get-job", http.StatusOK, j)
	s.api.Answer("get-job-log", http.StatusOK, api.JobLog{Items: []api.LogEntry{}, Complete: true})
	s.wantText(s.get("/jobs/"+apitest.JobID), "this one was removed <time datetime=\"2026-03-14T12:09:26Z\"", "What to do:")
}
