package ui

import (
	"context"
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
}

// Target is somewhere to go to.
type Target struct{ Href, Label, Note, Icon string }

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
