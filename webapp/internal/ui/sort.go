package ui

import (
	"net/url"
	"strings"
)

// Sorter is the order of a list, and the way to the others. The zero value is
// that of a table that can't be sorted.
type Sorter struct {
	Path    string     // of the list; "" if it can't be sorted
	Query   url.Values // its filters
	Given   string     // the order that was asked for; "" for none
	Default string     // the order where none is asked for
}

func (s Sorter) now() string {
	if s.Given != "" {
		return s.Given
	}
	return s.Default
}

// Direction is "ascending" or "descending" for the field that the list is
// sorted by, "" for others.
func (s Sorter) Direction(field string) string {
	switch s.now() {
	case field:
		return "ascending"
	case "-" + field:
		return "descending"
	}
	return ""
}

// Href is the list sorted by a field; the other way round if it is sorted by
// that already.
func (s Sorter) Href(field string) string {
	q := url.Values{}
	for k, v := range s.Query {
		q[k] = v
	}
	next := field
	switch s.Direction(field) {
	case "ascending":
		next = "-" + field
	case "":
		if strings.HasPrefix(s.Default, "-") && s.Default[1:] == field {
			next = s.Default // the newest first
		}
	}
	if next == s.Default {
		q.Del("sort")
	} else {
		q.Set("sort", next)
	}
	if len(q) == 0 {
		return s.Path
	}
	return s.Path + "?" + q.Encode()
}
