// Package remedy owns the pages of remedies: the list, a remedy with what it did, and the forms.
package remedy

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 2v12M2 8h12M4 4h8v8H4z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/remedies", Label: "Remedies", Icon: icon, Needs: "project.workspace.remedy:read"}},
	Pages: []ui.Target{{Href: "/remedies/new", Label: "Add a remedy", Icon: icon, Needs: "project.workspace.remedy:create"}},
	Finds: []page.Find{{Noun: "Remedies", Do: find}},
	Nouns: []page.Noun{{Name: "remedy", Path: "/remedies/"}},
	Notices: map[string]string{
		"remedy-created": "The remedy is added. It looks at conditions every 15 seconds.",
		"remedy-changed": "The remedy is changed.",
		"remedy-deleted": "The remedy is deleted. Its jobs go on.",
	},
}

var outcomes = states.Tones{"asking": ui.Busy, "asked": ui.Good, "refused": ui.Bad}

func mount(r fiber.Router, a *page.App) {
	r.Get("/remedies", a.Page(list))
	r.Get("/remedies/new", a.Page(showNew))
	r.Post("/remedies/new", a.Page(create))
	r.Get("/remedies/:id", a.Page(show))
	r.Get("/remedies/:id/edit", a.Page(showEdit))
	r.Post("/remedies/:id/edit", a.Page(change))
	r.Post("/remedies/:id/delete", a.Page(page.Delete((*client.Client).GetRemedy, (*client.Client).DeleteRemedy, func(one api.Remedy) (name, to string) { return one.Name, "/remedies" }, "remedy-deleted")))
}

var remediesTarget = ui.Target{Href: "/remedies", Label: "Remedies"}

func find(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListRemedies(ctx, api.RemedyFilter{PageQuery: api.PageQuery{Limit: 200}})
	all := make([]ui.Target, 0, len(found.Items))
	for _, one := range found.Items {
		all = append(all, ui.Target{Href: "/remedies/" + one.ID, Label: one.Name, Note: about(one), Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}

func about(r api.Remedy) string { return ui.Word(r.Noun) + ": " + ui.Word(r.Condition) }

// stands is how a remedy stands in a word.
func stands(r api.Remedy) (ui.Tone, string, string) {
	if r.Enabled {
		return ui.Good, "enabled", "it asks for jobs"
	}
	return ui.Shut, "disabled", "it asks for no jobs"
}

var heads = []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Condition"}, {Label: "Job"}, {Label: "Within a day", Class: "num"}}

func list(r *page.Request) error {
	f := api.RemedyFilter{Noun: r.Query("noun")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListRemedies(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Remedies", Path: "/remedies", Here: r.Here(), Means: "A remedy asks for a job by itself where a condition is false, and stops at its limit.",
		New: ui.Target{Href: "/remedies/new", Label: "Add a remedy"}, Filters: filters(f), Filtered: f.Noun != "", Empty: len(found.Items) == 0,
		None: "No remedies yet", NoneText: "Without one, conditions wait for a person.", NoMatch: "No remedy matches",
		Heads: heads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/remedies", Body: listPage(l, found.Items)})
}

type view struct {
	object.Detail
	Remedy api.Remedy
	Runs   []api.RemedyRun
}

func show(r *page.Request) error {
	one, err := r.API.GetRemedy(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Remedy: one}
	if v.View, err = object.Load(r.Ctx, r, "remedy", one.ID, api.JobFilter{Object: one.ID}); err != nil {
		return err
	}
	found, err := r.API.ListRemedyRuns(r.Ctx, api.RemedyRunFilter{Remedy: one.ID, PageQuery: api.PageQuery{Limit: 50}})
	if err != nil {
		return err
	}
	v.Runs = found.Items
	v.Up, v.Name, v.Here = []ui.Target{remediesTarget}, one.Name, "/remedies/"+one.ID
	v.Tone, v.State, v.Means = stands(one)
	v.Operations = page.Operations(one.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes its settings.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Delete", What: "It asks for no jobs any more.", Action: v.Here + "/delete", Danger: true, Confirm: one.Name, Typed: "the name", Version: one.Version},
	})
	return r.Show(page.View{Title: one.Name, Nav: "/remedies", Body: showPage(v)})
}

// form is what was typed, as it was typed.
type form struct {
	ui.Form
	Name, Noun, Condition, Job, Seconds, PerDay, AtOnce string
	Enabled                                             bool
}

var fields = []string{"name", "noun", "condition", "job", "wait_seconds", "per_day", "at_once"}

func read(r *page.Request) form {
	return form{
		Name: r.Form("name"), Noun: r.Form("noun"), Condition: r.Form("condition"), Job: r.Form("job"), Seconds: r.Form("wait_seconds"), PerDay: r.Form("per_day"),
		AtOnce: r.Form("at_once"), Enabled: r.Form("enabled") != "",
	}
}

// number is 0 for what is no number: the API says what is possible.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0
	}
	return n
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, form{Noun: "host", Condition: r.Query("condition"), Job: "host_probe", Seconds: "300", PerDay: "3", AtOnce: "2", Enabled: true})
}

func drawNew(r *page.Request, status int, f form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{remediesTarget}, "Add a remedy", "/remedies/new", "Add", "/remedies"
	f.Key, f.Fields = page.NewKey(), fields
	return r.Show(page.View{Title: f.Title, Nav: "/remedies", Status: status, Body: formPage(f)})
}

func create(r *page.Request) error {
	f := read(r)
	made, err := r.API.CreateRemedy(r.Ctx, api.CreateRemedy{
		Name: f.Name, Noun: f.Noun, Condition: f.Condition, Job: f.Job, WaitSeconds: number(f.Seconds), PerDay: number(f.PerDay), AtOnce: number(f.AtOnce), Enabled: &f.Enabled,
	}, r.Once())
	if err == nil {
		return r.Go("/remedies/"+made.ID, "remedy-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

func showEdit(r *page.Request) error {
	one, err := r.API.GetRemedy(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	f := form{
		Name: one.Name, Noun: one.Noun, Condition: one.Condition, Job: one.Job, Seconds: text(one.WaitSeconds), PerDay: text(one.PerDay), AtOnce: text(one.AtOnce), Enabled: one.Enabled,
	}
	f.Version = text(one.Version)
	return drawEdit(r, fiber.StatusOK, one, f)
}

func drawEdit(r *page.Request, status int, one api.Remedy, f form) error {
	at := "/remedies/" + one.ID
	f.Noun, f.Up = one.Noun, []ui.Target{remediesTarget, {Href: at, Label: one.Name}}
	f.Title, f.Action, f.Submit, f.Cancel, f.Fields = "Edit "+one.Name, at+"/edit", "Save", at, fields
	return r.Show(page.View{Title: f.Title, Nav: "/remedies", Status: status, Body: formPage(f)})
}

func change(r *page.Request) error {
	one, err := r.API.GetRemedy(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := read(r)
	f.Version = r.Form("version")
	wait, perDay, atOnce := number(f.Seconds), number(f.PerDay), number(f.AtOnce)
	_, err = r.API.ChangeRemedy(r.Ctx, one.ID, api.ChangeRemedy{
		Name: &f.Name, Condition: &f.Condition, Job: &f.Job, WaitSeconds: &wait, PerDay: &perDay, AtOnce: &atOnce, Enabled: &f.Enabled,
	}, r.IfSeen())
	if err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error {
			f.Wrong = wrong
			return drawEdit(r, status, one, f)
		})
	}
	return r.Go("/remedies/"+one.ID, "remedy-changed")
}
