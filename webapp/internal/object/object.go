// Package object owns what the pages of all objects show alike: the conditions that
// policies found, the pauses of policies for this object, and a timeline that joins its
// events, its jobs and its conditions.
//
// It refuses to know any noun: the noun is a word, and its page comes from the areas.
package object

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

// maxEach is how many events and jobs a timeline reads; older ones are behind its links.
const maxEach = 15

// Area is the actions that are the same for all objects.
var Area = page.Area{
	Mount: func(r fiber.Router, a *page.App) {
		r.Post("/objects/:noun/:id/pause", a.Page(pause))
		r.Post("/objects/:noun/:id/resume", a.Page(resume))
		r.Post("/objects/:noun/:id/run", a.Page(run))
	},
	Notices: map[string]string{
		"object-paused":  "Policies are paused for this object. A run that has begun continues.",
		"object-resumed": "Policies look at this object again.",
		"object-due":     "The policy is due for this object. A reconciler runs it within a second, if one is alive.",
	},
}

// View is what is shown of an object beside its own facts.
type View struct {
	Noun, ID   string
	Conditions []api.Condition
	Policies   []api.Policy      // that look at objects of its noun
	Pauses     []api.PolicyPause // that count for this object alone
	Jobs       []api.Job         // newest first
	Timeline   []Entry
	AllJobs    string // the list of its jobs
	Key        string // of the form
}

// Load reads it; jobs says which jobs are about the object. What an account may not see is left out.
func Load(ctx context.Context, r *page.Request, noun, id string, jobs api.JobFilter) (View, error) {
	v := View{Noun: noun, ID: id, Key: page.NewKey(), AllJobs: allJobs(jobs)}
	var events []api.Event
	g, ctx := errgroup.WithContext(ctx)
	part := func(ask func() error) { g.Go(func() error { return page.Optional(ask()) }) }
	g.Go(func() error {
		jobs.Limit = maxEach
		found, err := r.API.ListJobs(ctx, jobs)
		v.Jobs = found.Items
		return err
	})
	part(func() error {
		found, err := r.API.ListEvents(ctx, api.EventFilter{Object: id, PageQuery: api.PageQuery{Limit: maxEach}})
		events = found.Items
		return err
	})
	part(func() (err error) {
		v.Conditions, err = r.API.ListObjectConditions(ctx, api.ObjectConditionFilter{Noun: noun, Object: id})
		return err
	})
	part(func() error {
		all, err := r.API.ListPolicies(ctx)
		for _, p := range all.Items {
			if p.Noun == noun {
				v.Policies = append(v.Policies, p)
			}
		}
		for _, p := range all.Pauses {
			if p.ObjectID == id {
				v.Pauses = append(v.Pauses, p)
			}
		}
		return err
	})
	err := g.Wait()
	v.Timeline = timeline(events, v.Jobs, v.Conditions)
	return v, err
}

func allJobs(f api.JobFilter) string {
	q := url.Values{}
	for name, value := range map[string]string{"host": f.Host, "object": f.Object} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 { // the page of jobs can't be narrowed to it
		return ""
	}
	return "/jobs?" + q.Encode()
}

// Entry is one line of a timeline: one of the three.
type Entry struct {
	At        time.Time
	Event     *api.Event
	Job       *api.Job
	Condition *conditionChange
}

type conditionChange struct {
	Type, Policy string
	api.ConditionChange
	Flapping bool
}

// timeline joins them, newest first. It ends where events or jobs were not read any more, so that none is missing in between.
func timeline(events []api.Event, jobs []api.Job, conditions []api.Condition) []Entry {
	var all []Entry
	asked := map[string]time.Time{}
	for _, j := range jobs {
		asked[j.ID] = j.CreatedAt
		all = append(all, Entry{At: j.CreatedAt, Job: &j})
	}
	for _, e := range events {
		// The job says the same as the event of its request.
		if at, ok := asked[e.JobID]; ok && e.At.Sub(at).Abs() < time.Second && e.ActorKind == "account" {
			continue
		}
		all = append(all, Entry{At: e.At, Event: &e})
	}
	for _, c := range conditions {
		now := api.ConditionChange{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.Since}
		for i, change := range append([]api.ConditionChange{now}, c.History...) {
			all = append(all, Entry{At: change.Since, Condition: &conditionChange{c.Type, c.Policy, change, i == 0 && c.Flapping}})
		}
	}
	var since time.Time
	if len(events) == maxEach {
		since = events[maxEach-1].At
	}
	if len(jobs) == maxEach && jobs[maxEach-1].CreatedAt.After(since) {
		since = jobs[maxEach-1].CreatedAt
	}
	all = slices.DeleteFunc(all, func(e Entry) bool { return e.At.Before(since) })
	slices.SortStableFunc(all, func(a, b Entry) int { return b.At.Compare(a.At) })
	return all
}

// Tone is that of a condition's status.
func Tone(status string) ui.Tone {
	switch status {
	case "true":
		return ui.Good
	case "false":
		return ui.Bad
	case "progressing":
		return ui.Busy
	}
	return ui.None
}

// Faults says who can do something about a condition.
var Faults = map[string]string{
	"user": "whoever asked for it", "capacity": "capacity", "provider": "the provider", "dependency": "something that it depends on", "ours": "Kloigos",
}

func policyNames(all []api.Policy) []ui.Choice {
	choices := []ui.Choice{{Value: "", Label: "All policies"}}
	for _, p := range all {
		choices = append(choices, ui.Choice{Value: p.Name, Label: ui.Word(p.Name)})
	}
	return choices
}

// paused tells whether a policy, or all of them, is paused for the object.
func (v View) paused(policy string) bool {
	return slices.ContainsFunc(v.Pauses, func(p api.PolicyPause) bool { return p.Policy == policy || p.Policy == "" })
}

func (v View) path(verb string) string {
	return "/objects/" + url.PathEscape(v.Noun) + "/" + url.PathEscape(v.ID) + "/" + verb
}

func jobTone(j api.Job) ui.Tone { return states.Job(j.State) }

// place is the page of the object that a form is about.
func place(r *page.Request) (string, error) {
	to := r.App().Place(r.Param("noun"), url.PathEscape(r.Param("id")))
	if to == "" {
		return "", fiber.ErrNotFound
	}
	return to, nil
}

func pause(r *page.Request) error {
	to, err := place(r)
	if err != nil {
		return err
	}
	policy, reason, key := r.Form("policy"), r.Form("reason"), client.IdempotencyKey(page.KeyOr(r.Form("key")))
	if policy != "" {
		_, err = r.API.PausePolicy(r.Ctx, policy, api.PausePolicy{ObjectID: r.Param("id"), Reason: reason}, key)
	} else {
		_, err = r.API.PauseObject(r.Ctx, api.PauseObject{ObjectID: r.Param("id"), Reason: reason}, key)
	}
	if err == nil {
		return r.Go(to, "object-paused")
	}
	problems, ok := page.Problems(err)
	if !ok {
		return err
	}
	f := pauseForm{View: View{Noun: r.Param("noun"), ID: r.Param("id"), Key: page.NewKey()}, Policy: policy, Reason: reason, Back: to, Wrong: problems}
	return r.Show(page.View{Title: "Pause policies", Nav: "/policies", Status: fiber.StatusUnprocessableEntity, Body: pausePage(f)})
}

// pauseForm is what was typed, as it was typed.
type pauseForm struct {
	View
	Policy, Reason, Back string
	Wrong                ui.Problems
}

func resume(r *page.Request) error {
	to, err := place(r)
	if err != nil {
		return err
	}
	if policy := r.Form("policy"); policy != "" {
		_, err = r.API.ResumePolicy(r.Ctx, policy, api.OfObject{ObjectID: r.Param("id")})
	} else {
		err = r.API.ResumeObject(r.Ctx, api.ThisObject{ObjectID: r.Param("id")})
	}
	if err != nil {
		return err
	}
	return r.Go(to, "object-resumed")
}

func run(r *page.Request) error {
	to, err := place(r)
	if err != nil {
		return err
	}
	if _, err := r.API.RunPolicy(r.Ctx, r.Form("policy"), api.OfObject{ObjectID: r.Param("id")}); err != nil {
		return err
	}
	return r.Go(to, "object-due")
}
