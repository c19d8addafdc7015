// Package system owns the page of the installation: backends, database, the key
// for hosts, and the pause of the queue.
package system

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// mostLeases is how many are shown.
const mostLeases = 20

type view struct {
	System api.System
	Queue  *api.Queue // nil: this backend is older than the queue's page
	Pause  pauseForm
	// Leases are the newest jobs that a backend has; nil where they may not be seen.
	Leases     []api.Job
	MoreLeases bool
}

// pauseForm is what was typed, as it was typed.
type pauseForm struct {
	Reason, Key string
	Wrong       ui.Problems
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/system", a.Page(show))
	r.Post("/system/queue/pause", a.Page(pause))
	r.Post("/system/queue/resume", a.Page(resume))
}

func show(r *page.Request) error { return draw(r, fiber.StatusOK, pauseForm{}) }

func draw(r *page.Request, status int, f pauseForm) error {
	s, err := r.API.GetSystem(r.Ctx)
	if err != nil {
		return err
	}
	f.Key = page.NewKey()
	v := view{System: s, Pause: f}
	q, err := r.API.GetQueue(r.Ctx)
	if err == nil {
		v.Queue = &q
	} else if err := page.Optional(err); err != nil {
		return err
	}
	held, err := r.API.ListJobs(r.Ctx, api.JobFilter{State: "running", PageQuery: api.PageQuery{Limit: mostLeases}})
	if err := page.Optional(err); err != nil {
		return err
	}
	v.Leases, v.MoreLeases = held.Items, held.NextCursor != ""
	return r.Show(page.View{Title: "System", Nav: "/system", Status: status, Body: systemPage(v)})
}

func pause(r *page.Request) error {
	f := pauseForm{Reason: r.Form("reason")}
	_, err := r.API.PauseQueue(r.Ctx, api.PauseQueue{Reason: f.Reason}, client.IdempotencyKey(page.KeyOr(r.Form("key"))))
	if err == nil {
		r.ForgetStanding()
		return r.Go("/system", "queue-paused")
	}
	problems, ok := page.Problems(err)
	if !ok {
		return err
	}
	f.Wrong = problems
	return draw(r, fiber.StatusUnprocessableEntity, f)
}

func resume(r *page.Request) error {
	if _, err := r.API.ResumeQueue(r.Ctx); err != nil {
		return err
	}
	r.ForgetStanding()
	return r.Go("/system", "queue-resumed")
}

// slots are the jobs of a backend, of those that it runs at once.
func slots(b api.Backend) string {
	if b.Slots == nil {
		return strconv.Itoa(b.Running)
	}
	return strconv.Itoa(b.Running) + " of " + strconv.Itoa(*b.Slots)
}

func oldest(q api.Queue) string {
	return ui.Span(time.Duration(q.OldestQueuedSeconds * float64(time.Second)))
}
