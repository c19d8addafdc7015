// Package policy owns the page of the reconciler's policies: how each stands, what
// is not as it should be, and pausing, resuming and running one.
package policy

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Policies   api.Policies
	Conditions []api.Condition // of policies, those that are not true
	Form       form
}

// form is what was typed to pause a policy, as it was typed.
type form struct {
	Policy, Reason, Key string
	Wrong               ui.Problems
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/policies", a.Page(list))
	r.Post("/policies/:name/pause", a.Page(pause))
	r.Post("/policies/:name/resume", a.Page(resume))
	r.Post("/policies/:name/run", a.Page(run))
}

func list(r *page.Request) error { return draw(r, fiber.StatusOK, form{}) }

func draw(r *page.Request, status int, f form) error {
	all, err := r.API.ListPolicies(r.Ctx)
	if err != nil {
		return err
	}
	conditions, err := r.API.ListConditions(r.Ctx, api.ConditionFilter{Noun: "policy"})
	if err != nil {
		return err
	}
	f.Key = page.NewKey()
	v := listView{Policies: all, Form: f}
	for _, c := range conditions {
		if c.Reason != "paused" { // the table says so
			v.Conditions = append(v.Conditions, c)
		}
	}
	return r.Show(page.View{Title: "Policies", Nav: "/policies", Status: status, Body: listPage(v)})
}

func pause(r *page.Request) error {
	f := form{Policy: r.Param("name"), Reason: r.Form("reason")}
	_, err := r.API.PausePolicy(r.Ctx, f.Policy, api.PausePolicy{Reason: f.Reason}, client.IdempotencyKey(page.KeyOr(r.Form("key"))))
	if err == nil {
		return r.Go("/policies", "policy-paused")
	}
	problems, ok := page.Problems(err)
	if !ok {
		return err
	}
	f.Wrong = problems
	return draw(r, fiber.StatusUnprocessableEntity, f)
}

func resume(r *page.Request) error {
	if _, err := r.API.ResumePolicy(r.Ctx, r.Param("name"), api.OfObject{}); err != nil {
		return err
	}
	return r.Go("/policies", "policy-resumed")
}

func run(r *page.Request) error {
	if _, err := r.API.RunPolicy(r.Ctx, r.Param("name"), api.OfObject{}); err != nil {
		return err
	}
	return r.Go("/policies", "policy-due")
}

// stands is the state of a policy in one word, with its tone and its meaning.
func stands(p api.Policy) (ui.Tone, string, string) {
	switch {
	case p.Pause != nil && p.Pause.Mode == "observe":
		return ui.Wait, "observes", "it looks and changes nothing"
	case p.Pause != nil:
		return ui.Wait, "paused", "nothing is run until it is resumed"
	case p.LastOutcome == "failed" || p.Failing > 0:
		return ui.Bad, "failing", "a run failed; it is tried again with growing pauses"
	case p.Running:
		return ui.Busy, "running", "a run is under way"
	case p.LastOutcome == "":
		return ui.Line, "not run yet", "the first run is still to come"
	}
	return ui.Good, "ok", "the last run succeeded"
}

func seconds(n int64) string { return ui.Span(time.Duration(n) * time.Second) }

func lag(p api.Policy) string { return ui.Span(time.Duration(p.LagSeconds * float64(time.Second))) }

// about is the name of the policy that a condition is about: some of them are
// written by a policy about others.
func about(c api.Condition, all []api.Policy) string {
	for _, p := range all {
		if p.ID == c.ObjectID {
			return p.Name
		}
	}
	return c.Policy
}
