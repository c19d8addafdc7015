package ui

import (
	"context"
	"slices"
	"strings"
)

// Group is a part of the navigation.
type Group int

// Groups of the navigation, from the top.
const (
	MainGroup Group = iota
	MoreGroup
)

// NavEntry is an entry of the navigation.
type NavEntry struct {
	Group             Group
	Href, Label, Icon string // Icon: see Icon
	Needs             string // permission to open it, "" for none
}

// Target is somewhere to go to.
type Target struct {
	Href, Label, Note, Icon string
	Needs                   string // permission to open it, "" for none
}

// Switcher is the choice of a workspace. The zero Switcher is none.
type Switcher struct {
	Current    string   // path of the workspace that is looked at, "" for none
	Workspaces []Target // those that can be chosen
}

// Allowed is what a session may do and open.
type Allowed struct {
	Permissions []string
	Refused     map[string]bool // pages that it may not open, by their path
}

type allowedKey struct{}

// WithAllowed has components leave out what the session may not do.
func WithAllowed(ctx context.Context, a Allowed) context.Context {
	return context.WithValue(ctx, allowedKey{}, a)
}

// Reachable tells whether an address is of a page that the session may open.
func Reachable(ctx context.Context, address string) bool {
	a, _ := ctx.Value(allowedKey{}).(Allowed)
	path, _, _ := strings.Cut(address, "?")
	return address != "" && !a.Refused[path]
}

// May tells whether the session has a permission.
func May(ctx context.Context, permission string) bool {
	a, _ := ctx.Value(allowedKey{}).(Allowed)
	return slices.Contains(a.Permissions, permission)
}

// Places are the paths of the pages of objects, by their noun. The id follows.
type Places map[string]string

// Of is the page of an object, "" if there is none.
func (p Places) Of(noun, id string) string {
	if p[noun] == "" || id == "" {
		return ""
	}
	return p[noun] + id
}

type placesKey struct{}

// WithPlaces has components link objects.
func WithPlaces(ctx context.Context, p Places) context.Context {
	return context.WithValue(ctx, placesKey{}, p)
}

// Place is the page of an object, "" if there is none.
func Place(ctx context.Context, noun, id string) string {
	p, _ := ctx.Value(placesKey{}).(Places)
	return p.Of(noun, id)
}

func inGroup(all []NavEntry, group Group) (some []NavEntry) {
	for _, e := range all {
		if e.Group == group {
			some = append(some, e)
		}
	}
	return some
}

// Matching are the targets whose label holds all words of a text, in whatever case, the first ones.
func Matching(all []Target, query string, limit int) (some []Target) {
	words := strings.Fields(strings.ToLower(query))
	for _, t := range all {
		label, holds := strings.ToLower(Word(t.Label)+" "+t.Label), true
		for _, w := range words {
			holds = holds && strings.Contains(label, w)
		}
		if holds && len(some) < limit {
			some = append(some, t)
		}
	}
	return some
}
