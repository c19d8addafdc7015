package page

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gofiber/fiber/v2"

	"kloigos/webapp/internal/ui"
)

// Area is what a folder of pages hands over: its routes, and all that other pages show of its nouns.
type Area struct {
	Mount   func(fiber.Router, *App)
	Nav     []ui.NavEntry
	Pages   []ui.Target       // what the palette offers beside the entries of the navigation
	Finds   []Find            // what the palette finds by its name
	Waits   Waits             // what of it waits for a person, for the overview; nil: nothing ever
	Nouns   []Noun            // what events, conditions and jobs are about
	Notices map[string]string // what was just done, by the key that stands in an address: nobody can put words of their own on a page
}

// Find looks for objects of a noun by a text.
type Find struct {
	Noun string // heads what was found
	Do   func(ctx context.Context, r *Request, query string) ([]ui.Target, error)
}

// Task is something that waits for a person.
type Task struct {
	Tone             ui.Tone
	Title, Why, Href string
}

// Waits finds what waits for a person, a few of it at most.
type Waits func(ctx context.Context, r *Request) ([]Task, error)

// MaxFound is how many objects of a noun the palette shows.
const MaxFound = 6

// Noun is what the API calls objects of a kind, and where their pages are.
type Noun struct {
	Name string
	Path string // of an object's page, before its id; "" if it has none
}

// Mount adds areas, in the order of the navigation.
func (a *App) Mount(r fiber.Router, areas ...Area) error {
	a.notices, a.places, a.needs = map[string]string{}, ui.Places{}, map[string]string{}
	for _, area := range areas {
		if area.Mount != nil {
			area.Mount(r, a)
		}
		for _, n := range area.Nav {
			a.nav = append(a.nav, n)
			a.targets = append(a.targets, ui.Target{Href: n.Href, Label: n.Label, Icon: n.Icon})
			a.need(n.Href, n.Needs)
		}
		for _, t := range area.Pages {
			a.need(t.Href, t.Needs)
		}
		a.targets = append(a.targets, area.Pages...)
		a.finds = append(a.finds, area.Finds...)
		if area.Waits != nil {
			a.waits = append(a.waits, area.Waits)
		}
		for key, text := range area.Notices {
			if a.notices[key] != "" {
				return fmt.Errorf("two areas have a notice %q", key)
			}
			a.notices[key] = text
		}
		for _, n := range area.Nouns {
			if _, taken := a.places[n.Name]; taken {
				return fmt.Errorf("two areas have a noun %q", n.Name)
			}
			a.places[n.Name] = n.Path
			a.nouns = append(a.nouns, n.Name)
		}
	}
	return nil
}

// need holds the permission that a page needs; one without is for everybody.
func (a *App) need(address, permission string) {
	if permission != "" {
		a.needs[pathOf(address)] = permission
	}
}

// entries are those of the navigation that the session may open.
func entries(all []ui.NavEntry, refused map[string]bool) []ui.NavEntry {
	return slices.DeleteFunc(slices.Clone(all), func(n ui.NavEntry) bool { return refused[n.Href] })
}

// Finds are what the palette finds.
func (a *App) Finds() []Find { return a.finds }

// Waits are what finds all that waits for a person.
func (a *App) Waits() []Waits { return a.waits }

// Nouns are the names of all nouns, as events have them.
func (a *App) Nouns() []string { return a.nouns }

// Place is the page of an object, "" if there is none.
func (a *App) Place(noun, id string) string { return a.places.Of(noun, id) }

// listOf is the list in which something stands that is at a path.
func (a *App) listOf(path string) (l ui.Target) {
	i := slices.IndexFunc(a.targets, func(t ui.Target) bool { return t.Href != "/" && strings.HasPrefix(path, t.Href+"/") })
	if i < 0 {
		return l
	}
	label := []rune(a.targets[i].Label)
	if len(label) > 1 && unicode.IsLower(label[1]) { // DNS stays DNS
		label[0] = unicode.ToLower(label[0])
	}
	return ui.Target{Label: "All " + string(label), Href: a.targets[i].Href}
}
