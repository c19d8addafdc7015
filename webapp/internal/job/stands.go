package job

import (
	"context"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// waits is what a queued job waits for; nothing is a worker.
type waits struct {
	Paused     bool
	By, Reason string   // who paused the queue, and why
	For        *api.Job // that holds its host
}

// waitsFor finds what a queued job waits for.
func waitsFor(ctx context.Context, speaker *client.Client, j api.Job) (w waits, err error) {
	if j.State != "queued" {
		return w, nil
	}
	q, err := speaker.GetQueue(ctx)
	if err := page.Optional(err); err != nil {
		return w, err
	}
	if q.Paused {
		return waits{Paused: true, By: q.PausedBy, Reason: q.Reason}, nil
	}
	if j.HostID == "" || !j.HoldsHost {
		return w, nil
	}
	others, err := speaker.ListJobs(ctx, api.JobFilter{State: "active", Host: j.HostID, PageQuery: api.PageQuery{Limit: 20}})
	for _, o := range others.Items {
		if o.ID != j.ID && o.State != "queued" && o.HoldsHost {
			w.For = &o
		}
	}
	return w, page.Optional(err)
}

// sentence says how a job stands.
func sentence(j api.Job, w waits, now time.Time) string {
	switch j.State {
	case "queued":
		return waiting(j, w, now)
	case "running":
		if j.Worker == "" {
			return "Its backend has stopped. Another one continues at the same step."
		}
		for i, s := range j.Steps {
			if s.State == "running" && len(j.Steps) > 1 {
				return "Running step " + itoa(i+1) + " of " + itoa(len(j.Steps)) + ", " + ui.Word(s.Name) + "."
			}
		}
		return "A worker runs it."
	case "cancelling":
		return "Stopping: Ansible and its tasks on the host end."
	case "succeeded":
		return whole(first(j.Outcome, "done"))
	case "cancelled":
		return whole(first(j.Outcome, "cancelled")) + stopped(j)
	case "failed":
		return whole(errorTitle(j.Error)) + stopped(j)
	default:
		return whole(j.StateMeans)
	}
}

func waiting(j api.Job, w waits, now time.Time) string {
	switch {
	case w.Paused:
		return "Waiting: " + w.By + " paused the queue."
	case j.RunAfter.After(now):
		return "The next attempt starts " + ui.Ago(j.RunAfter, now) + "."
	case j.WaitsFor != "":
		return "Waiting for a quota: " + j.WaitsFor
	case w.For != nil:
		return "Waiting for another job of the host:"
	case j.Attempt > 0:
		return "Waiting for a worker to continue it."
	default:
		return "Waiting for a worker."
	}
}

// stopped names the step at which a job ended that did not succeed.
func stopped(j api.Job) string {
	if len(j.Steps) < 2 || j.StartedAt == nil {
		return ""
	}
	for i, s := range j.Steps {
		if s.State != "succeeded" {
			return " It stopped at step " + itoa(i+1) + " of " + itoa(len(j.Steps)) + ", " + ui.Word(s.Name) + "."
		}
	}
	return ""
}

func errorTitle(e *api.JobError) string {
	switch {
	case e == nil:
		return "it failed"
	case e.Host != "":
		return ui.Sentence(e.Code) + " on " + e.Host
	default:
		return ui.Sentence(e.Code)
	}
}

// whole makes a sentence of what may lack its beginning and its end. Names in
// it stay as they are.
func whole(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}
