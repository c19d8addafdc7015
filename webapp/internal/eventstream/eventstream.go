// Package eventstream owns the pages of event streams: those of an organization and those of the installation.
package eventstream

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M2 4h8M2 8h6M2 12h8M11 6l3 2-3 2"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: theirs.list, Label: "Event streams", Icon: icon, Needs: "organization.event_stream:read"},
		{Href: theirs.list + "/new", Label: "Add an event stream", Icon: icon, Needs: "organization.event_stream:create"},
		{Href: ours.list, Label: "Installation's event streams", Icon: icon, Needs: "installation.event_stream:read"},
		{Href: ours.list + "/new", Label: "Add an event stream of the installation", Icon: icon, Needs: "installation.event_stream:create"},
	},
	Nouns: []page.Noun{{Name: "event_stream", Path: theirs.list + "/"}},
	Notices: map[string]string{
		"event-stream-created": "The event stream is added. Events are sent about a minute after they were written.",
		"event-stream-changed": "The event stream is changed.",
		"event-stream-deleted": "The event stream is deleted. The events stay here.",
	},
}

// realm is whose event streams some pages are about.
type realm struct {
	list, title string
	get         func(*client.Client, context.Context, string) (api.EventStream, error)
	change      func(*client.Client, context.Context, string, api.ChangeEventStream, ...client.Option) (api.EventStream, error)
	remove      func(*client.Client, context.Context, string, ...client.Option) error
}

var (
	theirs = realm{"/event-streams", "Event streams", (*client.Client).GetEventStream, (*client.Client).ChangeEventStream, (*client.Client).DeleteEventStream}
	ours   = realm{
		"/installation-event-streams", "Installation's event streams",
		(*client.Client).GetInstallationStream, (*client.Client).ChangeInstallationStream, (*client.Client).DeleteInstallationStream,
	}
)

func mount(r fiber.Router, a *page.App) {
	for _, w := range []realm{theirs, ours} {
		r.Get(w.list, a.Page(w.showList))
		r.Get(w.list+"/new", a.Page(w.showNew))
		r.Post(w.list+"/new", a.Page(w.create))
		r.Get(w.list+"/:id", a.Page(w.show))
		r.Get(w.list+"/:id/edit", a.Page(w.showEdit))
		r.Post(w.list+"/:id/edit", a.Page(w.save))
		r.Post(w.list+"/:id/delete", a.Page(page.Delete(w.get, w.remove, func(s api.EventStream) (name, to string) { return s.Name, w.whole(s.Organization) }, "event-stream-deleted")))
	}
}

func (w realm) ofInstallation() bool { return w.list == ours.list }

// whole is the list of the organization that a page is about.
func (w realm) whole(organization string) string {
	if w.ofInstallation() {
		return w.list
	}
	return w.list + "?organization=" + url.QueryEscape(organization)
}

// up is the way to the list of a stream.
func (w realm) up(organizationID, organization string) []ui.Target {
	list := ui.Target{Href: w.whole(organization), Label: w.title}
	if w.ofInstallation() {
		return []ui.Target{list}
	}
	return []ui.Target{{Href: "/organizations", Label: "Organizations"}, {Href: "/organizations/" + organizationID, Label: organization}, list}
}

func (w realm) nav() string {
	if w.ofInstallation() {
		return w.list
	}
	return "/organizations"
}

// stands is how a stream stands in a word.
func stands(s api.EventStream) (ui.Tone, string, string) {
	switch {
	case !s.Enabled:
		return ui.Shut, "disabled", "nothing is sent; its position stays"
	case s.SentAt == nil:
		return ui.Line, "not sent yet", "no event was taken by the receiver yet"
	}
	return ui.Good, "enabled", "events are sent as they are sealed"
}

func (w realm) showList(r *page.Request) error {
	l := ui.List{
		Title: w.title, Path: w.list, Here: w.list, Means: "An event stream sends what is in no organization, such as logins, to a receiver of yours.",
		New:  ui.Target{Href: w.list + "/new", Label: "Add an event stream"},
		None: "No event streams", NoneText: "Add a webhook, or a syslog server with TLS.", Heads: []ui.Head{{Label: "Name"}, {Label: "State"}, {Label: "Type"}, {Label: "Receiver"}, {Label: "Sent"}},
	}
	var found api.Page[api.EventStream]
	var err error
	if w.ofInstallation() {
		found, err = r.API.ListInstallationStreams(r.Ctx)
	} else {
		s, named := organization.Named(r, "organization")
		if named != nil {
			return named
		}
		l.Title, l.Here, l.Up = "Event streams of "+s.Path, w.whole(s.Path), organization.Crumbs(s)
		l.Means, l.New.Href = "An event stream sends the events of the organization to a receiver of yours.", w.list+"/new?organization="+url.QueryEscape(s.Path)
		found, err = r.API.ListEventStreams(r.Ctx, api.EventStreamFilter{Organization: s.ID})
	}
	if err != nil {
		return err
	}
	l.Empty = len(found.Items) == 0
	return r.Show(page.View{Title: l.Title, Nav: w.nav(), Body: listPage(w, l, found.Items)})
}

type view struct {
	object.Detail
	Stream api.EventStream
}

func (w realm) show(r *page.Request) error {
	s, err := w.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Stream: s}
	if v.View, err = object.Load(r.Ctx, r, "event_stream", s.ID, api.JobFilter{Object: s.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = w.up(s.OrganizationID, s.Organization), s.Name, w.list+"/"+s.ID
	v.Tone, v.State, v.Means = stands(s)
	v.Operations = page.Operations(s.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes its receiver, or disables it.", Href: v.Here + "/edit", Main: true},
		{Name: "delete", Label: "Delete", What: "Nothing is sent any more. The events stay here.", Action: v.Here + "/delete", Danger: true, Confirm: s.Name, Typed: "the name", Version: s.Version},
	})
	return r.Show(page.View{Title: s.Name, Nav: w.nav(), Body: showPage(v)})
}

var fields = []string{"name", "type", "url", "secret", "server", "authority"}

func (w realm) showNew(r *page.Request) error {
	kind := "webhook"
	if r.Query("type") == "syslog" {
		kind = "syslog"
	}
	return w.drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{"type": {kind}, "enabled": {"true"}}})
}

func (w realm) drawNew(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Cancel = w.up("", ""), w.list
	if !w.ofInstallation() {
		s, err := organization.Named(r, "organization")
		if err != nil {
			return err
		}
		f.Up, f.Cancel = w.up(s.OrganizationID, s.Organization), w.whole(s.Organization)
		f.Values.Set("organization", s.Organization)
	}
	f.Title, f.Action, f.Submit, f.Key, f.Fields = "Add an event stream", w.list+"/new", "Add", page.NewKey(), fields
	return r.Show(page.View{Title: f.Title, Nav: w.nav(), Status: status, Body: formPage(f, w, false)})
}

// typed are the fields of the form, without the secret.
func typed(r *page.Request) url.Values {
	values := url.Values{}
	for _, name := range []string{"name", "type", "url", "server", "authority", "organization", "enabled", "history"} {
		values.Set(name, r.Form(name))
	}
	return values
}

func (w realm) create(r *page.Request) error {
	enabled := r.Form("enabled") != ""
	in := api.CreateInstallationStream{
		Name: r.Form("name"), Type: r.Form("type"), URL: r.Form("url"), Secret: r.Form("secret"), Server: r.Form("server"),
		Authority: r.FormRaw("authority"), History: r.Form("history") != "", Enabled: &enabled,
	}
	var made api.EventStream
	var err error
	if w.ofInstallation() {
		made, err = r.API.CreateInstallationStream(r.Ctx, in, r.Once())
	} else {
		made, err = r.API.CreateEventStream(r.Ctx, api.CreateEventStream{
			Name: in.Name, Type: in.Type, URL: in.URL, Secret: in.Secret, Server: in.Server, Authority: in.Authority, History: in.History, Enabled: in.Enabled,
			Organization: r.Form("organization"),
		}, r.Once())
	}
	if err == nil {
		return r.Go(w.list+"/"+made.ID, "event-stream-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return w.drawNew(r, status, ui.Form{Wrong: wrong, Values: typed(r)})
	})
}

func (w realm) showEdit(r *page.Request) error { return w.drawEdit(r, fiber.StatusOK, ui.Form{}) }

func (w realm) drawEdit(r *page.Request, status int, f ui.Form) error {
	s, err := w.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Version = strconv.FormatInt(s.Version, 10)
		f.Values = url.Values{"name": {s.Name}, "url": {s.URL}, "server": {s.Server}, "authority": {s.Authority}}
		if s.Enabled {
			f.Values.Set("enabled", "true")
		}
	}
	f.Values.Set("type", s.Type)
	at := w.list + "/" + s.ID
	f.Up, f.Title, f.Action, f.Submit, f.Cancel, f.Fields = append(w.up(s.OrganizationID, s.Organization), ui.Target{Href: at, Label: s.Name}), "Edit "+s.Name, at+"/edit", "Save", at, fields
	f.Means = "Its position stays: another receiver gets what comes next."
	return r.Show(page.View{Title: f.Title, Nav: w.nav(), Status: status, Body: formPage(f, w, s.HasSecret)})
}

func (w realm) save(r *page.Request) error {
	values, secret, enabled := typed(r), r.Form("secret"), r.Form("enabled") != ""
	name, authority := values.Get("name"), r.FormRaw("authority")
	in := api.ChangeEventStream{Name: &name, Authority: &authority, Enabled: &enabled}
	if address := values.Get("url"); address != "" {
		in.URL = &address
	}
	if server := values.Get("server"); server != "" {
		in.Server = &server
	}
	if secret != "" {
		in.Secret = &secret
	}
	_, err := w.change(r.API, r.Ctx, r.Param("id"), in, r.IfSeen())
	if err == nil {
		return r.Go(w.list+"/"+r.Param("id"), "event-stream-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return w.drawEdit(r, status, ui.Form{Wrong: wrong, Values: values, Version: r.Form("version")})
	})
}

// kindAddress is the page of the form for another type.
func kindAddress(w realm, f ui.Form, kind string) string {
	at := w.list + "/new?type=" + kind
	if o := f.Values.Get("organization"); o != "" {
		at += "&organization=" + url.QueryEscape(o)
	}
	return at
}

func vouched(s api.EventStream) string {
	if s.Authority == "" {
		return "the authorities of the backend's system"
	}
	return strconv.Itoa(strings.Count(s.Authority, "BEGIN CERTIFICATE")) + " of its own"
}
