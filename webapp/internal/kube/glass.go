package kube

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

func showGlass(r *page.Request) error {
	return drawGlass(r, fiber.StatusOK, ui.Form{Values: url.Values{"minutes": {"60"}}})
}

// drawGlass is the form that asks for a reason before it gives anything.
func drawGlass(r *page.Request, status int, f ui.Form) error {
	c, err := r.API.GetCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	at := "/clusters/" + c.ID
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{clustersTarget, {Href: at, Label: c.Name}}, "Break the glass of "+c.Name, at+"/break-glass", "Issue the file", at
	f.Key, f.Fields = page.NewKey(), []string{"reason", "minutes"}
	return r.Show(page.View{Title: f.Title, Nav: "/clusters", Status: status, Body: glassPage(f)})
}

func breakGlass(r *page.Request) error {
	f := ui.Form{Values: url.Values{"reason": {r.Form("reason")}, "minutes": {r.Form("minutes")}}}
	minutes, err := strconv.Atoi(r.Form("minutes"))
	if err != nil {
		f.Wrong.Fields = append(f.Wrong.Fields, ui.FieldProblem{Field: "minutes", Message: "Use 10 to 60."})
		return drawGlass(r, fiber.StatusUnprocessableEntity, f)
	}
	made, err := r.API.BreakGlass(r.Ctx, r.Param("id"), api.BreakGlass{Reason: r.Form("reason"), Minutes: minutes}, r.Once())
	if err == nil {
		return draw(r, fiber.StatusOK, view{Glass: &made})
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawGlass(r, status, f)
	})
}
