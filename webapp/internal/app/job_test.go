package app

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

var standing = regexp.MustCompile(`(?s)<div class="note note-\w+" role="status">(.*?)<dl class="facts">`)

// TestHowAJobStands: each state says in one sentence how it stands, once, and what comes next.
func TestHowAJobStands(t *testing.T) {
	t.Parallel()
	with := func(kind, state string, change func(*api.Job)) api.Job {
		j := apitest.Job(kind, state)
		j.StartedAt, j.Attempt = nil, 0
		if state != "queued" {
			begun := apitest.Now.Add(-9 * time.Minute)
			j.StartedAt, j.Attempt = &begun, 1
		}
		if change != nil {
			change(&j)
		}
		return j
	}
	holder := apitest.Job("host_relayout", "running")
	holder.ID = apitest.PlanID
	for name, c := range map[string]struct {
		job    api.Job
		queue  api.Queue
		others []api.Job
		says   []string
		not    string
	}{
		"for a worker":              {job: with("host_initialize", "queued", nil), others: []api.Job{apitest.Job("host_probe", "running")}, says: []string{"Waiting for a worker."}, not: apitest.PlanID},
		"not for one that measures": {job: with("host_initialize", "queued", nil), others: []api.Job{apitest.Job("host_measure", "running")}, says: []string{"Waiting for a worker."}, not: apitest.PlanID},
		"for a worker again": {
			job:  with("host_initialize", "queued", func(j *api.Job) { j.Attempt = 2 }),
			says: []string{"Waiting for a worker to continue it."},
		},
		"for another job": {
			job: with("host_initialize", "queued", nil), others: []api.Job{holder},
			says: []string{"Waiting for another job of the host:", `href="/jobs/` + apitest.PlanID + `">Change layout of h1</a>`},
		},
		"for no other, as it only reads":    {job: with("host_probe", "queued", nil), others: []api.Job{holder}, says: []string{"Waiting for a worker"}, not: apitest.PlanID},
		"for no other, as it only measures": {job: with("host_measure", "queued", nil), others: []api.Job{holder}, says: []string{"Waiting for a worker"}, not: apitest.PlanID},
		"for the queue":                     {job: with("host_initialize", "queued", nil), queue: paused(), says: []string{"Waiting: ada paused the queue.", "new &lt;b&gt;switches&lt;/b&gt;", `href="/system">Resume the queue<`}},
		"for a quota": {
			job:  with("host_initialize", "queued", func(j *api.Job) { j.WaitsFor = "The project default/web may run 2 jobs at once, and 2 run." }),
			says: []string{"Waiting for a quota: The project default/web may run 2 jobs at once, and 2 run."},
		},
		"for its next try": {
			job: with("host_initialize", "queued", func(j *api.Job) {
				j.Attempt, j.RunAfter = 1, time.Now().Add(50*time.Hour)
				j.Error = &api.JobError{Code: "host_unreachable", Host: "h1", Message: "no route to host", NextStep: "Bring it back."}
			}),
			says: []string{"The next attempt starts in 2 days.", "The last attempt failed:</b> Host unreachable on h1", "no route to host", "What to do:</b> Bring it back."},
		},
		"running":     {job: with("host_initialize", "running", nil), says: []string{"Running step 2 of 2, initialize."}},
		"begun":       {job: with("host_initialize", "running", func(j *api.Job) { j.Steps[0].State, j.Steps[1].State = "pending", "pending" }), says: []string{"A worker runs it."}},
		"handed over": {job: with("host_initialize", "running", func(j *api.Job) { j.Worker = "" }), says: []string{"Its backend has stopped. Another one continues at the same step."}},
		"cancelling":  {job: with("host_initialize", "cancelling", nil), says: []string{"Stopping: Ansible and its tasks on the host end."}},
		"succeeded": {
			job:  with("unit_allocate", "succeeded", func(j *api.Job) { j.Outcome, j.AllocationID = "ada_b can log in at 10.0.2.101.", apitest.AllocationID }),
			says: []string{"Ada_b can log in at 10.0.2.101.", `href="/allocations/` + apitest.AllocationID + `">How to log in</a>`},
		},
		"succeeded, and told nothing": {job: with("host_probe", "succeeded", func(j *api.Job) { j.Outcome = "" }), says: []string{"Done.", "Continue with the host"}},
		"failed":                      {job: with("host_initialize", "failed", nil), says: []string{"Task failed on h1. It stopped at step 2 of 2, initialize.", "Task: Make the volumes", "What to do:"}, not: "The last attempt failed"},
		"cancelled while it waited":   {job: with("host_initialize", "cancelled", func(j *api.Job) { j.StartedAt, j.Outcome = nil, "cancelled by ada before it began" }), says: []string{"Cancelled by ada before it began."}, not: "It stopped"},
		"cancelled at work":           {job: with("host_initialize", "cancelled", func(j *api.Job) { j.Steps[1].State = "failed" }), says: []string{"Cancelled. It stopped at step 2 of 2, initialize."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			if c.job.FinishedAt == nil && (c.job.State == "succeeded" || c.job.State == "failed" || c.job.State == "cancelled") {
				ended := apitest.Now
				c.job.FinishedAt = &ended
			}
			s.api.Answer("get-job", http.StatusOK, c.job)
			s.api.Answer("get-queue", http.StatusOK, c.queue)
			s.api.Answer("list-jobs", http.StatusOK, apitest.Page(c.others...))
			a := s.get("/jobs/" + apitest.JobID)
			found := standing.FindStringSubmatch(a.body)
			if found == nil {
				t.Fatalf("the page does not say how the job stands:\n%s", a.body)
			}
			for _, says := range c.says {
				if strings.Count(found[1], says) != 1 || strings.Count(a.body, says) != 1 {
					t.Errorf("%q is not said once:\n%s", says, found[1])
				}
			}
			if c.not != "" && strings.Contains(found[1], c.not) {
				t.Errorf("%q is said:\n%s", c.not, found[1])
			}
			// What the stream draws stands in the place of it, and moves nothing.
			s.api.On("stream-job-log", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				apitest.Event(w, 0, "state", c.job)
				apitest.Event(w, 0, "end", struct{}{})
			})
			live := strings.ReplaceAll(s.get("/jobs/"+apitest.JobID+"/stream", header("Accept", "text/event-stream")).body, "\ndata: ", "\n")
			if drawn := standing.FindString(live); drawn != found[0] {
				t.Errorf("the stream draws\n%s\nand the page\n%s", drawn, found[0])
			}
			if strings.Contains(a.body, "<h2>Actions</h2>") != strings.Contains(a.body, `action="/jobs/`+apitest.JobID+`/`) {
				t.Error("a panel without anything in it")
			}
		})
	}
}
