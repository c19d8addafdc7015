package drift

import (
	"fmt"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const modesPath = "/drift-modes"

var (
	driftTarget = ui.Target{Href: "/drift", Label: "Drift"}
	modesTarget = ui.Target{Href: modesPath, Label: "What is done about drift"}
)

var modeMeans = map[string]string{
	"observe": "it is shown, and nothing else", "repair": "the job that made it runs again, at once", "window": "the job runs in a maintenance window",
}

var days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func listModes(r *page.Request) error {
	f := api.DriftModeFilter{Scope: r.Query("scope")}
	found, err := r.API.ListDriftModes(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "What is done about drift", Path: modesPath, Here: r.Here(), Links: []ui.Target{driftTarget},
		Means:   "The mode of a unit goes before that of its host, and this before that of the workspace. Without any, drift is observed.",
		New:     ui.Target{Href: setAt("workspace", ""), Label: "Set a mode"},
		Filters: modeFilters(f), Filtered: f.Scope != "", Empty: len(found.Items) == 0,
		None: "No mode is set", NoneText: "Drift is shown, and nothing is done about it.", NoMatch: "No mode matches",
		Heads: []ui.Head{{Label: "Of"}, {Label: "Mode"}, {Label: "Window (UTC)"}, {Label: "Set by"}, {Label: "Set"}, {Label: "Change"}},
	}
	return r.Show(page.View{Title: l.Title, Nav: "/drift", Body: modesPage(l, found.Items)})
}

// setAt is the form that sets the mode of something.
func setAt(scope, name string) string {
	q := url.Values{"scope": {scope}}
	if name != "" {
		q.Set("name", name)
	}
	return modesPath + "/set?" + q.Encode()
}

func window(m api.DriftMode) string {
	if m.Mode != "window" {
		return ""
	}
	day := "each day"
	if m.WindowDay != "" {
		day = m.WindowDay
	}
	return fmt.Sprintf("%s from %d:00, %d h", day, m.WindowFrom, m.WindowHours)
}

func showSetMode(r *page.Request) error {
	scope := r.Query("scope")
	if scope == "" {
		scope = "workspace"
	}
	return drawSetMode(r, fiber.StatusOK, ui.Form{Values: url.Values{
		"scope": {scope}, "name": {r.Query("name")}, "mode": {"repair"}, "window_from": {"2"}, "window_hours": {"3"},
	}})
}

func drawSetMode(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{driftTarget, modesTarget}, "Set what is done about drift", modesPath+"/set", "Set", modesPath
	f.Key, f.Fields = page.NewKey(), []string{"scope", "name", "mode", "window_day", "window_from", "window_hours"}
	return r.Show(page.View{Title: f.Title, Nav: "/drift", Status: status, Body: modeFormPage(f)})
}

func showAccept(r *page.Request) error {
	return drawAccept(r, fiber.StatusOK, ui.Form{Values: url.Values{"hours": {"24"}}})
}

func drawAccept(r *page.Request, status int, f ui.Form) error {
	d, err := r.API.GetDrift(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Version == "" {
		f.Version = fmt.Sprint(d.Version)
	}
	f.Up, f.Title = []ui.Target{driftTarget}, "Accept the drift of "+d.Name+": "+d.Promise
	f.Means = "It is not repaired until the time ends. Then it is open again."
	f.Action, f.Submit, f.Cancel, f.Fields = "/drift/"+d.ID+"/accept", "Accept", "/drift", []string{"reason", "hours"}
	return r.Show(page.View{Title: f.Title, Nav: "/drift", Status: status, Body: acceptPage(f, d)})
}

func choices(values []string) (all []ui.Choice) {
	for _, v := range values {
		all = append(all, ui.Choice{Value: v, Label: ui.Word(v)})
	}
	return all
}
