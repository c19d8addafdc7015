// Package job owns the pages of jobs: the list, a job with its steps, its error
// with the next step, its log as it grows, and what can be done with it.
package job

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
)

func mount(r fiber.Router, a *page.App) {
	r.Get("/jobs", a.Page(list))
	r.Get("/jobs/:id", a.Page(detail))
	r.Get("/jobs/:id/stream", stream(a))
	r.Get("/jobs/:id/lines", a.Page(lineParts))
	r.Get("/jobs/:id/outline", a.Page(outline))
	r.Get("/jobs/:id/log.txt", text(a))
	r.Post("/jobs/:id/retry", a.Page(retry))
	r.Post("/jobs/:id/cancel", a.Page(cancel))
	r.Post("/jobs/:id/give-up", a.Page(giveUp))
}

// maxObjects of a job are named where it is mentioned.
const maxObjects = 8

func itoa(n int) string { return strconv.Itoa(n) }

func list(r *page.Request) error {
	f := api.JobFilter{State: r.Query("state"), Kind: r.Query("kind"), Host: r.Query("host"), Playbook: r.Query("playbook"), Object: r.Query("object")}
	f.Version, _ = strconv.Atoi(r.Query("version")) // the API says what is wrong with it
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	jobs, err := r.API.ListJobs(r.Ctx, f)
	if err != nil {
		return err
	}
	v := listView{Jobs: jobs.Items, State: f.State, Kind: f.Kind, Host: f.Host, Object: f.Object, Filtered: f.State+f.Kind+f.Host+f.Playbook+f.Object != ""}
	v.Playbook, v.Version = f.Playbook, f.Version
	v.Pages = r.Pages(jobs.PreviousCursor, jobs.NextCursor)
	v.Sort = r.Sorter("-created_at")
	return r.Show(page.View{Title: "Jobs", Nav: "/jobs", Body: listPage(v, r.Here())})
}

func detail(r *page.Request) error {
	id := r.Param("id")
	j, err := r.API.GetJob(r.Ctx, id)
	if err != nil {
		return err
	}
	v := detailView{Job: j, Chosen: choiceOf(r)}
	if v.Waits, err = waitsFor(r.Ctx, r.API, j); err != nil {
		return err
	}
	log, err := read(r, id, v.Chosen, window)
	if err != nil {
		return err
	}
	v.Log, v.Newest, v.Complete = lines(log.Items, v.Chosen.narrows()), log.Newest, log.Complete
	if log.Last < log.Newest {
		v.Next = v.Chosen.logURL(j.ID, log.Last)
	}
	if v.Chosen.After > 0 {
		v.Previous = v.Chosen.logURL(j.ID, max(v.Chosen.After-window, 0))
		if v.Chosen.narrows() { // what was found before is not known
			v.Previous = v.Chosen.logURL(j.ID, 0)
		}
	}
	if r.Query("view") == "tasks" {
		o, err := r.API.GetJobOutline(r.Ctx, id)
		if err := page.Optional(err); err != nil { // a backend that is older than outlines has none
			return err
		}
		g := matrixOf(o)
		v.Outline = &g
	}
	return r.Show(page.View{Title: j.Title(), Nav: "/jobs", Script: "job.js", SaysPaused: v.Waits.Paused, Body: detailPage(v)})
}

func retry(r *page.Request) error {
	in := api.RetryJob{}
	if r.Query("playbook") == "default" {
		in.Playbook = "default"
	}
	in.FromStep = r.Query("from")
	_, job, err := r.API.RetryJob(r.Ctx, r.Param("id"), in)
	return after(r, job, "retried", err)
}

func cancel(r *page.Request) error {
	_, job, err := r.API.CancelJob(r.Ctx, r.Param("id"))
	return after(r, job, "cancel-asked", err)
}

func giveUp(r *page.Request) error {
	_, job, err := r.API.GiveUpJob(r.Ctx, r.Param("id"))
	return after(r, job, "", err)
}

func after(r *page.Request, job, said string, err error) error {
	if err != nil {
		return err
	}
	if job == "" {
		job = r.Param("id")
	}
	return r.GoJob(job, "/jobs", said)
}
