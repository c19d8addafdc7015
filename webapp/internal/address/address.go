// Package address owns the page of the address pool: the list, adding
// addresses, closing, opening, releasing and removing one.
package address

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Addresses      []api.Address
	State, Network string
	Pages          ui.Pages
	Filtered       bool
	Add            addForm
}

// addForm is what was typed, as it was typed.
type addForm struct {
	Network, Addresses, Key string
	Wrong                   ui.Problems
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/address-pool", a.Page(list))
	r.Post("/address-pool", a.Page(add))
	r.Post("/address-pool/:id/close", a.Page(closeAddress))
	r.Post("/address-pool/:id/open", a.Page(openAddress))
	r.Post("/address-pool/:id/release", a.Page(release))
	r.Post("/address-pool/:id/remove", a.Page(remove))
}

func list(r *page.Request) error {
	return draw(r, fiber.StatusOK, addForm{Network: "default"})
}

func draw(r *page.Request, status int, add addForm) error {
	f := api.AddressFilter{State: r.Query("state"), Network: r.Query("network")}
	f.Cursor, f.Limit = r.Query("cursor"), 50
	found, err := r.API.ListAddresses(r.Ctx, f)
	if err != nil {
		return err
	}
	add.Key = page.NewKey()
	v := listView{Addresses: found.Items, State: f.State, Network: f.Network, Filtered: f.State+f.Network != "", Add: add}
	v.Pages = r.Pages(found.PreviousCursor, found.NextCursor)
	here := r.Here()
	if r.C.Method() != fiber.MethodGet {
		here = "/address-pool"
	}
	return r.Show(page.View{Title: "Address pool", Nav: "/address-pool", Status: status, Body: listPage(v, here)})
}

func add(r *page.Request) error {
	f := addForm{Network: r.Form("network"), Addresses: r.Form("addresses")}
	in := api.AddAddresses{Network: f.Network, Addresses: []api.AddRange{}}
	for _, line := range page.Lines(f.Addresses) {
		words := page.Words(line)
		a := api.AddRange{Range: words[0]}
		if len(words) > 1 {
			a.Endpoint = words[1]
		}
		if len(words) > 2 {
			f.Wrong.Title = "Not accepted. Nothing was changed."
			f.Wrong.Fields = append(f.Wrong.Fields, ui.FieldProblem{Field: fmt.Sprintf("addresses[%d]", len(in.Addresses)), Message: "give at most an address and an endpoint"})
		}
		in.Addresses = append(in.Addresses, a)
	}
	if f.Wrong.Any() {
		return draw(r, fiber.StatusUnprocessableEntity, f)
	}
	if _, err := r.API.AddAddresses(r.Ctx, in, client.IdempotencyKey(page.KeyOr(r.Form("key")))); err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.Wrong = problems
		return draw(r, fiber.StatusUnprocessableEntity, f)
	}
	return r.Go("/address-pool", "addresses-added")
}

func closeAddress(r *page.Request) error {
	_, err := r.API.CloseAddress(r.Ctx, r.Param("id"))
	return done(r, "address-closed", err)
}

func openAddress(r *page.Request) error {
	_, err := r.API.OpenAddress(r.Ctx, r.Param("id"))
	return done(r, "address-opened", err)
}

func release(r *page.Request) error {
	_, err := r.API.ReleaseAddress(r.Ctx, r.Param("id"))
	return done(r, "address-released", err)
}

func remove(r *page.Request) error {
	return done(r, "address-removed", r.API.RemoveAddress(r.Ctx, r.Param("id")))
}

func done(r *page.Request, said string, err error) error {
	if err != nil {
		return err
	}
	return r.Go("/address-pool", said)
}

// action is what the state of an address lets one do with one click.
type action struct{ Name, Label string }

func actions(state string) []action {
	switch state {
	case "free":
		return []action{{"close", "Close"}}
	case "unavailable":
		return []action{{"open", "Open"}}
	case "quarantined":
		return []action{{"release", "Release"}}
	default:
		return nil
	}
}
