// Package event owns the page of audit events: who did what, on which object,
// from where, with what changed.
package event

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort     ui.Sorter
	Events   []api.Event
	Filter   api.EventFilter
	Kinds    []string // of objects that the list can be narrowed to
	Filtered bool
	Problems ui.Problems
	Exports  url.Values // the filter, as the exports are asked for
	Pages    ui.Pages
	Of       string // "", organization or installation
}

// trail is one of the lists of events.
type trail struct {
	Of, Label, Means, Needs string
	list                    func(*client.Client, context.Context, api.EventFilter) (api.Page[api.Event], error)
}

var trails = []trail{
	{"", "Workspace", "Every change, newest first: who, what, on which object, from where. Events are never changed.", "project.workspace.event:read", (*client.Client).ListEvents},
	{"organization", "Organization", "Every change in all workspaces of the organization, and to its projects, roles and people.", "organization.event:read", (*client.Client).ListOrganizationEvents},
	{"installation", "Installation", "Every change that belongs to no organization: accounts, policies, the queue, backends.", "installation.event:read", (*client.Client).ListInstallationEvents},
}

// trailOf is the list of events that is asked for.
func trailOf(r *page.Request) trail {
	for _, t := range trails {
		if t.Of == r.Query("of") {
			return t
		}
	}
	return trails[0]
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/events", a.Page(list))
	r.Get("/events/export", a.Page(export))
}

// filterOf reads the filter from the address. A day is taken as its beginning
// in UTC; until is the last day, whole.
func filterOf(r *page.Request) api.EventFilter {
	f := api.EventFilter{Object: r.Query("object"), ObjectKind: r.Query("kind"), Action: r.Query("action"), Actor: r.Query("actor"), Since: r.Query("since"), Until: r.Query("until")}
	if day, err := time.Parse(time.DateOnly, f.Since); err == nil {
		f.Since = day.Format(time.RFC3339)
	}
	if day, err := time.Parse(time.DateOnly, f.Until); err == nil {
		f.Until = day.AddDate(0, 0, 1).Format(time.RFC3339)
	}
	return f
}

func list(r *page.Request) error {
	f, of := filterOf(r), trailOf(r)
	v := listView{Of: of.Of, Filter: f, Kinds: r.App().Nouns(), Filtered: f.Object+f.ObjectKind+f.Action+f.Actor+f.Since+f.Until != "", Exports: url.Values{}}
	v.Filter.Since, v.Filter.Until = r.Query("since"), r.Query("until") // as they were typed
	for _, name := range []string{"of", "object", "kind", "action", "actor", "since", "until", "sort"} {
		if value := r.Query(name); value != "" {
			v.Exports.Set(name, value)
		}
	}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	events, err := of.list(r.API, r.Ctx, f)
	status := fiber.StatusOK
	if err != nil {
		var bad bool
		if v.Problems, bad = page.Problems(err); !bad {
			return err
		}
		status = fiber.StatusUnprocessableEntity
	}
	if v.Events = events.Items; of.Of != "" {
		who, err := r.Who()
		if err != nil {
			return err
		}
		v.Events = elsewhere(v.Events, who.WorkspaceID)
	}
	v.Pages = r.Pages(events.PreviousCursor, events.NextCursor)
	v.Sort = r.Sorter("-at")
	return r.Show(page.View{Title: "Events", Nav: "/events", Status: status, Body: listPage(v, r.Here())})
}

// elsewhere takes the links off events of other workspaces: their objects have no page in this one.
func elsewhere(all []api.Event, here string) []api.Event {
	for i, e := range all {
		if e.Workspace == here || strings.Trim(e.Workspace, "0-") == "" {
			continue
		}
		all[i].Object, all[i].ObjectID, all[i].JobID = name(e), "", ""
	}
	return all
}

func (v listView) trail() trail {
	for _, t := range trails {
		if t.Of == v.Of {
			return t
		}
	}
	return trails[0]
}

// path is the list without a filter.
func (t trail) path() string {
	if t.Of == "" {
		return "/events"
	}
	return "/events?of=" + t.Of
}

func (v listView) export(format string) string {
	q := url.Values{"format": {format}}
	for name, values := range v.Exports {
		q[name] = values
	}
	return "/events/export?" + q.Encode()
}

func name(e api.Event) string {
	if e.Object != "" {
		return e.Object
	}
	return e.ObjectID
}

// Action is the action of an event in words.
func Action(s string) string { return strings.NewReplacer(".", " · ", "_", " ").Replace(s) }

// change is one field that an event changed.
type change struct{ Field, Before, After string }

func changes(e api.Event) []change {
	before, after := fields(e.Before), fields(e.After)
	all := maps.Clone(before)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, after)
	var out []change
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if before[k] != after[k] {
			out = append(out, change{k, before[k], after[k]})
		}
	}
	return out
}

func fields(raw json.RawMessage) map[string]string {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	out := map[string]string{}
	for k, v := range m {
		var s string
		if json.Unmarshal(v, &s) != nil {
			var b bytes.Buffer
			if json.Compact(&b, v) == nil {
				s = b.String()
			}
		}
		if s != "null" {
			out[k] = s
		}
	}
	return out
}
