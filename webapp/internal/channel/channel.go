// Package channel owns the pages of notification channels: the list, a channel with
// its deliveries and secrets, the forms, and the test.
package channel

import (
	"context"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 1.500a4 4 0 0 0-4 4v3L2.500 11.500h11L12 8.500v-3a4 4 0 0 0-4-4zM6.500 13.500a1.500 1.500 0 0 0 3 0"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/channels", Label: "Channels", Icon: icon, Needs: "project.workspace.channel:read"}},
	Pages: []ui.Target{{Href: "/channels/new", Label: "Add a channel", Icon: icon, Needs: "project.workspace.channel:create"}},
	Finds: []page.Find{{Noun: "Channels", Do: find}},
	Nouns: []page.Noun{{Name: "channel", Path: "/channels/"}},
	Notices: map[string]string{
		"channel-created":        "The channel is added. Test it to see whether messages arrive.",
		"channel-changed":        "The channel is changed. Test it to see whether messages arrive.",
		"channel-deleted":        "The channel is deleted.",
		"channel-secret-added":   "The secret is added. Messages are signed with it besides the others.",
		"channel-secret-removed": "The secret is removed. Messages are no longer signed with it.",
	},
}

var outcomes = states.Tones{"delivered": ui.Good, "failed": ui.Bad}

func mount(r fiber.Router, a *page.App) {
	r.Get("/channels", a.Page(list))
	r.Get("/channels/new", a.Page(showNew))
	r.Post("/channels/new", a.Page(create))
	r.Get("/channels/:id", a.Page(show))
	r.Get("/channels/:id/edit", a.Page(showEdit))
	r.Post("/channels/:id/edit", a.Page(change))
	r.Post("/channels/:id/test", a.Page(test))
	r.Post("/channels/:id/secrets", a.Page(addSecret))
	r.Post("/channels/:id/secrets/:secret/remove", a.Page(removeSecret))
	r.Post("/channels/:id/delete", a.Page(page.Delete((*client.Client).GetChannel, (*client.Client).DeleteChannel, func(c api.Channel) (name, to string) { return c.Name, "/channels" }, "channel-deleted")))
}

var channelsTarget = ui.Target{Href: "/channels", Label: "Channels"}

func find(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListChannels(ctx, api.ChannelFilter{PageQuery: api.PageQuery{Limit: 200}})
	all := make([]ui.Target, 0, len(found.Items))
	for _, c := range found.Items {
		all = append(all, ui.Target{Href: "/channels/" + c.ID, Label: c.Name, Note: ui.Word(c.Type) + " · " + receiver(c), Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}

func receiver(c api.Channel) string { return c.URL + strings.Join(c.Recipients, ", ") }

// stands is how a channel stands in a word.
func stands(c api.Channel) (ui.Tone, string, string) {
	if c.Enabled {
		return ui.Good, "enabled", "notifications are sent"
	}
	return ui.Shut, "disabled", "nothing is sent but tests"
}

var heads = []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Type"}, {Label: "Receiver"}, {Label: "Subscribes"}}

func list(r *page.Request) error {
	f := api.ChannelFilter{Type: r.Query("type")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListChannels(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Channels", Path: "/channels", Here: r.Here(), Means: "A channel is where Kloigos tells people, or their programs, that something went wrong.",
		New: ui.Target{Href: "/channels/new", Label: "Add a channel"}, Filters: filters(f), Filtered: f.Type != "", Empty: len(found.Items) == 0,
		None: "No channels yet", NoneText: "Add a webhook or mail, then test it.", NoMatch: "No channel matches",
		Heads: heads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/channels", Body: listPage(l, found.Items)})
}

type view struct {
	object.Detail
	Channel    api.Channel
	Deliveries []api.ChannelDelivery
	Key        string
}

func show(r *page.Request) error {
	c, err := r.API.GetChannel(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Channel: c, Key: page.NewKey()}
	if v.View, err = object.Load(r.Ctx, r, "channel", c.ID, api.JobFilter{Object: c.ID}); err != nil {
		return err
	}
	found, err := r.API.ListChannelDeliveries(r.Ctx, api.ChannelDeliveryFilter{Channel: c.ID, PageQuery: api.PageQuery{Limit: 20}})
	if err != nil {
		return err
	}
	v.Deliveries = found.Items
	v.Up, v.Name, v.Here = []ui.Target{channelsTarget}, c.Name, "/channels/"+c.ID
	v.Tone, v.State, v.Means = stands(c)
	v.Operations = page.Operations(c.Operations, []ui.Operation{
		{Name: "test", Label: "Send a test", What: "Delivers a test message, enabled or not.", Action: v.Here + "/test", Main: true},
		{Name: "change", Label: "Edit", What: "Changes its settings.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Delete", What: "Nothing is sent to it any more.", Action: v.Here + "/delete", Danger: true, Confirm: c.Name, Typed: "the name", Version: c.Version},
	})
	return r.Show(page.View{Title: c.Name, Nav: "/channels", Body: showPage(v)})
}

// form is what was typed, as it was typed. Secrets are not drawn again.
type form struct {
	ui.Form
	Name, Type, Subscribes, URL, Server, TLS, Username, Sender, Recipients string
	Enabled, HasPassword                                                   bool
}

var fields = []string{"name", "subscribes", "url", "secret", "server", "tls", "username", "password", "sender", "recipients"}

func read(r *page.Request) form {
	return form{
		Name: r.Form("name"), Type: r.Form("type"), Subscribes: r.Form("subscribes"), URL: r.Form("url"), Server: r.Form("server"), TLS: r.Form("tls"),
		Username: r.Form("username"), Sender: r.Form("sender"), Recipients: r.Form("recipients"), Enabled: r.Form("enabled") != "",
	}
}

func showNew(r *page.Request) error {
	f := form{Type: r.Query("type"), Enabled: true, TLS: "starttls"}
	if f.Type != "email" {
		f.Type = "webhook"
	}
	return drawNew(r, fiber.StatusOK, f)
}

func drawNew(r *page.Request, status int, f form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{channelsTarget}, "Add a channel", "/channels/new", "Add", "/channels"
	f.Key, f.Fields = page.NewKey(), append([]string{"type"}, fields...)
	return r.Show(page.View{Title: f.Title, Nav: "/channels", Status: status, Body: formPage(f)})
}

func create(r *page.Request) error {
	f := read(r)
	in := api.CreateChannel{Name: f.Name, Type: f.Type, Enabled: &f.Enabled, Subscribes: words(f.Subscribes)}
	if f.Type == "email" {
		in.Server, in.TLS, in.Username, in.Password, in.Sender, in.Recipients = f.Server, f.TLS, f.Username, r.FormRaw("password"), f.Sender, words(f.Recipients)
	} else {
		in.URL, in.Secret = f.URL, r.Form("secret")
	}
	c, err := r.API.CreateChannel(r.Ctx, in, r.Once())
	if err == nil {
		return r.Go("/channels/"+c.ID, "channel-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

// words is never nil: the API answers with what is wrong, and not with a complaint about null.
func words(s string) []string {
	return append([]string{}, strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })...)
}

func showEdit(r *page.Request) error {
	c, err := r.API.GetChannel(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := form{
		Name: c.Name, Subscribes: strings.Join(c.Subscribes, "\n"), URL: c.URL, Server: c.Server, TLS: c.TLS, Username: c.Username, Sender: c.Sender,
		Recipients: strings.Join(c.Recipients, "\n"), Enabled: c.Enabled,
	}
	f.Version = strconv.FormatInt(c.Version, 10)
	return drawEdit(r, fiber.StatusOK, c, f)
}

func drawEdit(r *page.Request, status int, c api.Channel, f form) error {
	at := "/channels/" + c.ID
	f.Type, f.HasPassword, f.Up = c.Type, c.HasPassword, []ui.Target{channelsTarget, {Href: at, Label: c.Name}}
	f.Title, f.Action, f.Submit, f.Cancel, f.Fields = "Edit "+c.Name, at+"/edit", "Save", at, fields
	return r.Show(page.View{Title: f.Title, Nav: "/channels", Status: status, Body: formPage(f)})
}

func change(r *page.Request) error {
	c, err := r.API.GetChannel(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := read(r)
	f.Version = r.Form("version")
	subscribes, recipients, password := words(f.Subscribes), words(f.Recipients), r.FormRaw("password")
	in := api.ChangeChannel{Name: &f.Name, Enabled: &f.Enabled, Subscribes: &subscribes}
	if c.Type == "email" {
		in.Server, in.TLS, in.Username, in.Sender, in.Recipients = &f.Server, &f.TLS, &f.Username, &f.Sender, &recipients
		if password != "" {
			in.Password = &password
		}
	} else {
		in.URL = &f.URL
	}
	if _, err := r.API.ChangeChannel(r.Ctx, c.ID, in, r.IfSeen()); err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error {
			f.Wrong = wrong
			return drawEdit(r, status, c, f)
		})
	}
	return r.Go("/channels/"+c.ID, "channel-changed")
}

func test(r *page.Request) error {
	_, job, err := r.API.TestChannel(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return r.GoJob(job, "/channels/"+r.Param("id"), "")
}

func addSecret(r *page.Request) error {
	if _, err := r.API.AddChannelSecret(r.Ctx, r.Param("id"), api.AddChannelSecret{Secret: r.Form("secret")}, r.Once()); err != nil {
		return err
	}
	return r.Go("/channels/"+r.Param("id"), "channel-secret-added")
}

func removeSecret(r *page.Request) error {
	if _, err := r.API.RemoveChannelSecret(r.Ctx, r.Param("id"), api.RemoveChannelSecret{SecretID: r.Param("secret")}); err != nil {
		return err
	}
	return r.Go("/channels/"+r.Param("id"), "channel-secret-removed")
}
