// Package event owns the page of audit events: who did what, on which object,
// from where, with what changed.
package event

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort        ui.Sorter
	Events      []api.Event
	Object      string
	First, Next string
}

// Mount adds the routes.
func Mount(r fiber.Router, a *page.App) {
	r.Get("/events", a.Page(list))
}

func list(r *page.Request) error {
	f := api.EventFilter{Object: r.Query("object")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	events, err := r.API.ListEvents(r.Ctx, f)
	if err != nil {
		return err
	}
	v := listView{Events: events.Items, Object: f.Object}
	v.First, v.Next = r.Pages(events.NextCursor)
	v.Sort = r.Sorter("-at")
	return r.Show(page.View{Title: "Events", Nav: "/events", Body: listPage(v, r.Here())})
}

var places = map[string]string{
	"host": "/hosts/", "unit": "/compute-units/", "compute_unit": "/compute-units/", "allocation": "/allocations/", "job": "/jobs/",
}

// href is the page of an event's object, "" if there is none.
func href(e api.Event) string {
	place, ok := places[e.ObjectKind]
	if !ok || e.ObjectID == "" {
		return ""
	}
	return place + e.ObjectID
}

func name(e api.Event) string {
	if e.Object != "" {
		return e.Object
	}
	return e.ObjectID
}

func action(s string) string { return strings.NewReplacer(".", " · ", "_", " ").Replace(s) }

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
