// Package token owns the page of one's own API tokens and sessions: making a
// token, whose secret is shown once, and ending one.
package token

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Tokens  []api.Token
	Current string // id of the session that looks
	Made    *api.Token
	Form    form
	Pages   ui.Pages
}

// form is what was typed, as it was typed.
type form struct {
	Name, Days, Key string
	Wrong           ui.Problems
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/tokens", a.Page(list))
	r.Post("/tokens", a.Page(create))
	r.Post("/tokens/:id/end", a.Page(end))
}

func list(r *page.Request) error {
	return draw(r, fiber.StatusOK, form{Days: "90"}, nil)
}

func draw(r *page.Request, status int, f form, made *api.Token) error {
	found, err := r.API.ListTokens(r.Ctx, api.PageQuery{Limit: 50, Cursor: r.Query("cursor")})
	if err != nil {
		return err
	}
	who, err := r.Who()
	if err != nil {
		return err
	}
	f.Key = page.NewKey()
	v := listView{Tokens: found.Items, Current: who.TokenID, Made: made, Form: f}
	v.Pages = r.Pages(found.PreviousCursor, found.NextCursor)
	r.C.Set(fiber.HeaderCacheControl, "no-store") // a secret may stand on it
	return r.Show(page.View{Title: "Tokens", Nav: "/tokens", Status: status, Body: listPage(v)})
}

func create(r *page.Request) error {
	f := form{Name: r.Form("name"), Days: r.Form("days")}
	days, err := strconv.Atoi(f.Days)
	if f.Days != "" && (err != nil || days < 1) {
		f.Wrong = ui.Problems{Title: "Not accepted. Nothing was changed.", Fields: []ui.FieldProblem{{Field: "days", Message: "enter a number from 1 to 3650"}}}
		return draw(r, fiber.StatusUnprocessableEntity, f, nil)
	}
	made, err := r.API.CreateToken(r.Ctx, api.CreateToken{Name: f.Name, Days: days}, client.IdempotencyKey(page.KeyOr(r.Form("key"))))
	if err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.Wrong = problems
		return draw(r, fiber.StatusUnprocessableEntity, f, nil)
	}
	return draw(r, fiber.StatusOK, form{Days: "90"}, &made)
}

func end(r *page.Request) error {
	if err := r.API.DeleteToken(r.Ctx, r.Param("id")); err != nil {
		return err
	}
	return r.Go("/tokens", "token-ended")
}
