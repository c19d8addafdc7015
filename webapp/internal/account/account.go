// Package account owns the pages of all accounts of the installation, for its operators: the list, an account, the link with
// which a person sets a password, and disabling one.
package account

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.500 14.500v-1c0-2 1.500-3 3-3h5c1.500 0 3 1 3 3v1z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/accounts", Label: "Accounts", Icon: icon, Needs: "installation.account:read"}},
	Pages: []ui.Target{{Href: "/accounts/new", Label: "Create an account", Icon: icon, Needs: "installation.account:create"}},
	Finds: []page.Find{{Noun: "Accounts", Do: find}},
	Nouns: []page.Noun{{Name: "account", Path: "/accounts/"}},
	Notices: map[string]string{
		"account-changed":  "The account is changed.",
		"account-disabled": "The account is disabled. Its sessions and tokens have ended.",
		"account-enabled":  "The account is enabled.",
	},
}

var tones = states.Tones{"active": ui.Good, "disabled": ui.Shut}

func mount(r fiber.Router, a *page.App) {
	r.Get("/accounts", a.Page(list))
	r.Get("/accounts/new", a.Page(showNew))
	r.Post("/accounts/new", a.Page(create))
	r.Get("/accounts/:id", a.Page(show))
	r.Get("/accounts/:id/edit", a.Page(showEdit))
	r.Post("/accounts/:id/edit", a.Page(page.Change((*client.Client).ChangeAccount, drawEdit, At, "account-changed")))
	r.Post("/accounts/:id/disable", a.Page(do((*client.Client).DisableAccount, "account-disabled")))
	r.Post("/accounts/:id/enable", a.Page(do((*client.Client).EnableAccount, "account-enabled")))
	r.Post("/accounts/:id/reset-password", a.Page(reset))
}

var target = ui.Target{Href: "/accounts", Label: "Accounts"}

func find(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListAccounts(ctx, api.AccountFilter{PageQuery: api.PageQuery{Limit: 200}})
	all := make([]ui.Target, 0, len(found.Items))
	for _, a := range found.Items {
		all = append(all, ui.Target{Href: At(a), Label: a.Name, Note: ui.Word(a.State) + " · " + a.Email, Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}

// At is the page of an account.
func At(a api.Account) string {
	if a.Kind == "service" {
		return "/service-accounts/" + a.ID
	}
	return "/accounts/" + a.ID
}

func list(r *page.Request) error {
	f := api.AccountFilter{Kind: r.Query("kind"), State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListAccounts(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Accounts", Path: "/accounts", Here: r.Here(), Means: "People and programs of the whole installation. Roles say what they may do, and where.",
		New: ui.Target{Href: "/accounts/new", Label: "Create an account"}, Filters: filters(f), Filtered: f.Kind+f.State != "", Empty: len(found.Items) == 0,
		None: "No accounts", NoneText: "Create one for each person.", NoMatch: "No account matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Kind"}, {Label: "E-mail"}, {Field: "created_at", Label: "Created"}}, Sort: r.Sorter("name"),
		Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/accounts", Body: listPage(l, found.Items)})
}

type view struct {
	Account    api.Account
	Link       string // address with which the person sets a password; "" for none
	Operations []ui.Operation
	Wrong      ui.Problems
}

func show(r *page.Request) error {
	a, err := r.API.GetAccount(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return draw(r, fiber.StatusOK, view{Account: a})
}

func draw(r *page.Request, status int, v view) error {
	a, at := v.Account, "/accounts/"+v.Account.ID
	v.Operations = page.Operations(a.Operations, []ui.Operation{
		{Name: "reset-password", Label: "Reset the password", What: "Makes a link with which the person sets another password. It is shown once.", Action: at + "/reset-password", Main: true},
		{Name: "change", Label: "Edit", What: "Changes name or address.", Href: at + "/edit"},
		{Name: "enable", Label: "Enable", What: "The person can log in again.", Action: at + "/enable", Version: a.Version},
		{Name: "disable", Label: "Disable", What: "Ends all sessions and tokens at once.", Action: at + "/disable", Danger: true, Confirm: a.Name, Typed: "the name", Version: a.Version},
	})
	v.Operations = ui.Possible(v.Operations, a.State != "active", "enable", "disable")
	if v.Link != "" {
		r.C.Set(fiber.HeaderCacheControl, "no-store")
	}
	return r.Show(page.View{Title: a.Name, Nav: "/accounts", Status: status, Body: showPage(v)})
}

// link is the address of the page on which a password is set. The secret stands behind #, which no browser sends.
func link(r *page.Request, secret string) string {
	if secret == "" {
		return ""
	}
	return r.C.Get(fiber.HeaderOrigin) + "/set-password#" + secret
}

func refused(r *page.Request, a api.Account, err error) error {
	return page.Refused(err, func(status int, wrong ui.Problems) error { return draw(r, status, view{Account: a, Wrong: wrong}) })
}

func do(call func(*client.Client, context.Context, string, ...client.Option) (api.Account, error), said string) func(*page.Request) error {
	return func(r *page.Request) error {
		a, err := r.API.GetAccount(r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		if said == "account-disabled" {
			if err := r.Typed(a.Name); err != nil {
				return refused(r, a, err)
			}
		}
		if _, err := call(r.API, r.Ctx, a.ID, r.IfSeen()); err != nil {
			return refused(r, a, err)
		}
		return r.Go("/accounts/"+a.ID, said)
	}
}

func reset(r *page.Request) error {
	a, err := r.API.GetAccount(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	made, err := r.API.ResetPassword(r.Ctx, a.ID)
	if err != nil {
		return refused(r, a, err)
	}
	return draw(r, fiber.StatusOK, view{Account: made, Link: link(r, made.Link)})
}

func showNew(r *page.Request) error { return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{}}) }

func drawNew(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{target}, "Create an account", "/accounts/new", "Create", "/accounts"
	f.Key, f.Fields, f.Means = page.NewKey(), []string{"name", "email"}, "The next page shows a link once. Give it to the person, who sets a password with it."
	return r.Show(page.View{Title: f.Title, Nav: "/accounts", Status: status, Body: formPage(f)})
}

func create(r *page.Request) error {
	f := ui.Form{Values: url.Values{"name": {r.Form("name")}, "email": {r.Form("email")}}}
	made, err := r.API.CreateAccount(r.Ctx, api.CreateAccount{Name: r.Form("name"), Email: r.Form("email")}, r.Once())
	if err == nil {
		return draw(r, fiber.StatusOK, view{Account: made, Link: link(r, made.Link)})
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

func showEdit(r *page.Request) error { return drawEdit(r, fiber.StatusOK, ui.Form{}) }

func drawEdit(r *page.Request, status int, f ui.Form) error {
	a, err := r.API.GetAccount(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values, f.Version = url.Values{"name": {a.Name}, "email": {a.Email}}, strconv.FormatInt(a.Version, 10)
	}
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{target, {Href: At(a), Label: a.Name}}, "Edit "+a.Name, At(a)+"/edit", "Save", At(a)
	f.Fields = []string{"name", "email"}
	return r.Show(page.View{Title: f.Title, Nav: "/accounts", Status: status, Body: formPage(f)})
}
