// Package service owns the pages of service accounts, the accounts of programs, and of their keys, whose secrets are shown once.
package service

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M3.500 5.500h9v8h-9zM8 2.500v3M6 8.500h.1M10 8.500h.1M6 11h4"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/service-accounts", Label: "Service accounts", Icon: icon, Needs: "organization.service_account:read"},
		{Href: "/service-accounts/new", Label: "Create a service account", Icon: icon, Needs: "organization.service_account:create"},
	},
	Nouns: []page.Noun{{Name: "service_account", Path: "/service-accounts/"}},
	Notices: map[string]string{
		"service-account-created":  "The service account is created. It can do nothing until you give it a role under Members.",
		"service-account-disabled": "The service account is disabled. Its keys have ended.",
		"service-account-enabled":  "The service account is enabled. Create keys for it.",
		"key-deleted":              "The key has ended.",
	},
}

var tones = states.Tones{"active": ui.Good, "disabled": ui.Shut}

func mount(r fiber.Router, a *page.App) {
	r.Get("/service-accounts", a.Page(list))
	r.Get("/service-accounts/new", a.Page(showNew))
	r.Post("/service-accounts/new", a.Page(page.Create((*client.Client).CreateServiceAccount, drawNew, accountURL, "service-account-created")))
	r.Get("/service-accounts/:id", a.Page(show))
	r.Post("/service-accounts/:id/disable", a.Page(do((*client.Client).DisableServiceAccount, "service-account-disabled")))
	r.Post("/service-accounts/:id/enable", a.Page(do((*client.Client).EnableServiceAccount, "service-account-enabled")))
	r.Post("/service-accounts/:id/keys", a.Page(createKey))
	r.Post("/service-accounts/:id/keys/:key/rotate", a.Page(rotateKey))
	r.Post("/service-accounts/:id/keys/:key/delete", a.Page(deleteKey))
}

func accountURL(a api.Account) string { return "/service-accounts/" + a.ID }

func list(r *page.Request) error {
	s, err := organization.Named(r, "organization")
	if err != nil {
		return err
	}
	f := api.ServiceAccountFilter{Organization: s.ID, State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListServiceAccounts(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Service accounts of " + s.Path, Path: "/service-accounts", Here: r.Here(), Up: organization.Crumbs(s),
		Means: "Accounts of programs. They have no password, and may do nothing until they are given a role.",
		New:   ui.Target{Href: "/service-accounts/new?organization=" + url.QueryEscape(s.Path), Label: "Create a service account"}, Empty: len(found.Items) == 0,
		None: "No service accounts", NoneText: "Create one for each program, and give it only the role that it needs.",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Field: "created_at", Label: "Created"}}, Sort: r.Sorter("name"),
		Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/organizations", Body: listPage(l, found.Items)})
}

type view struct {
	Account    api.Account
	Up         []ui.Target
	Operations []ui.Operation
	Keys       []api.Key
	MayMake    bool
	Made       *api.Key // with its secret, which is shown once
	Form       ui.Form
	Wrong      ui.Problems
}

func show(r *page.Request) error { return draw(r, fiber.StatusOK, view{}) }

func draw(r *page.Request, status int, v view) error {
	a, err := r.API.GetServiceAccount(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	keys, err := r.API.ListKeys(r.Ctx, a.ID)
	if err != nil {
		return err
	}
	of, err := r.API.GetOrganization(r.Ctx, a.OrganizationID)
	if err != nil {
		return err
	}
	v.Account, v.Keys = a, keys.Items
	v.Up = append(organization.Crumbs(of), ui.Target{Href: "/service-accounts?organization=" + url.QueryEscape(of.Path), Label: "Service accounts"})
	v.Operations = page.Operations(a.Operations, []ui.Operation{
		{Name: "enable", Label: "Enable", What: "Keys can be made for it again.", Action: accountURL(a) + "/enable", Version: a.Version},
		{Name: "disable", Label: "Disable", What: "Ends all of its keys at once.", Action: accountURL(a) + "/disable", Danger: true, Confirm: a.Name, Typed: "the name", Version: a.Version},
	})
	v.Operations = ui.Possible(v.Operations, a.State != "active", "enable", "disable")
	for _, o := range a.Operations {
		v.MayMake = v.MayMake || o.Name == "create_key" && o.Allowed
	}
	if v.Form.Values == nil {
		v.Form.Values = url.Values{"days": {"90"}}
	}
	v.Form.Key = page.NewKey()
	r.C.Set(fiber.HeaderCacheControl, "no-store") // a secret may stand on it
	return r.Show(page.View{Title: a.Name, Nav: "/organizations", Status: status, Body: showPage(v)})
}

func showNew(r *page.Request) error { return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{}}) }

func drawNew(r *page.Request, status int, f ui.Form) error {
	s, err := organization.Named(r, "organization")
	if err != nil {
		return err
	}
	list := "/service-accounts?organization=" + url.QueryEscape(s.Path)
	f.Values.Set("organization", s.Path)
	f.Up, f.Title, f.Action, f.Submit = append(organization.Crumbs(s), ui.Target{Href: list, Label: "Service accounts"}), "Create a service account", "/service-accounts/new", "Create"
	f.Cancel, f.Key, f.Fields, f.Means = list, page.NewKey(), []string{"name", "organization"}, "In the organization "+s.Path+". The end of its full name comes from the organization."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: newPage(f)})
}

func do(call func(*client.Client, context.Context, string, ...client.Option) (api.Account, error), said string) func(*page.Request) error {
	return func(r *page.Request) error {
		a, err := r.API.GetServiceAccount(r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		if said == "service-account-disabled" {
			err = r.Typed(a.Name)
		}
		if err == nil {
			_, err = call(r.API, r.Ctx, a.ID, r.IfSeen())
		}
		if err != nil {
			return refused(r, view{}, err)
		}
		return r.Go(accountURL(a), said)
	}
}

func refused(r *page.Request, v view, err error) error {
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		if v.Form.Values != nil { // the form says it
			v.Form.Wrong = wrong
		} else {
			v.Wrong = wrong
		}
		return draw(r, status, v)
	})
}

func createKey(r *page.Request) error {
	var in api.CreateKey
	v := view{Form: ui.Form{Values: url.Values{}}}
	for _, name := range []string{"name", "days", "scope", "permissions"} {
		v.Form.Values.Set(name, r.Form(name))
	}
	v.Form.Wrong = r.Bind(&in)
	if v.Form.Wrong.Any() {
		return draw(r, fiber.StatusUnprocessableEntity, v)
	}
	if len(in.Permissions) == 0 {
		in.Permissions = nil // all that the account may
	}
	made, err := r.API.CreateKey(r.Ctx, r.Param("id"), in, r.Once())
	if err != nil {
		return refused(r, v, err)
	}
	return draw(r, fiber.StatusOK, view{Made: &made})
}

func rotateKey(r *page.Request) error {
	hours, err := strconv.Atoi(r.Form("hours"))
	if err != nil || hours < 0 {
		return draw(r, fiber.StatusUnprocessableEntity, view{Wrong: ui.Problems{Title: "Not accepted. Nothing was changed.", Detail: "Hours is a whole number."}})
	}
	made, err := r.API.RotateKey(r.Ctx, r.Param("id"), r.Param("key"), api.RotateKey{Hours: hours}, r.Once())
	if err != nil {
		return refused(r, view{}, err)
	}
	return draw(r, fiber.StatusOK, view{Made: &made})
}

func deleteKey(r *page.Request) error {
	if err := r.API.DeleteKey(r.Ctx, r.Param("id"), r.Param("key")); err != nil {
		return refused(r, view{}, err)
	}
	return r.Go("/service-accounts/"+r.Param("id"), "key-deleted")
}
