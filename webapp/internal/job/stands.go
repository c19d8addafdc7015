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
			return "The backend that was at it has stopped; the next one goes on where it stood."
		}
		for i, s := range j.Steps {
			if s.State == "running" && len(j.Steps) > 1 {
				return "It is at step " + itoa(i+1) + " of " + itoa(len(j.Steps)) + ", " + ui.Word(s.Name) + "."
			}
		}
		return "A worker is at it."
	case "cancelling":
		return "It is being stopped: Ansible ends, and what it runs on the host."
	case "succeeded":
		return whole(first(j.Outcome, "done"))
	case "cancelled":
		return whole(first(j.Outcome, "stopped by a person")) + stopped(j)
	case "failed":
		return whole(errorTitle(j.Error)) + stopped(j)
	default:
		return whole(j.StateMeans)
	}
}

func waiting(j api.Job, w waits, now time.Time) string {
	switch {
	case w.Paused:
		return "It waits: the queue is paused by " + w.By + "."
	case j.RunAfter.After(now):
		return "It is tried again " + ui.Ago(j.RunAfter, now) + "."
	case w.For != nil:
		return "It waits until another job of the host has ended:"
	case j.Attempt > 0:
		return "It waits for a worker, to go on where it stood."
	default:
		return "It waits for a worker; nothing was begun yet."
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
