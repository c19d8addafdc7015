package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Sorting is the orders that a list can be read in. The first is the default;
// ascending where its name has no - before it. Rows that are alike come by id,
// in the same direction, so that a place in the list is always one place.
type Sorting[R any] []order[R]

// order is one order, ascending or descending, over columns that have an index.
type order[R any] struct {
	name    string // as the API calls it; with - before it, the default is descending
	columns []column
	at      func(R) Position
}

// column is a column to sort by, and where a Position keeps its value.
type column struct {
	sql     statement
	value   func(Position) any
	compare func(a, b Position) int
}

func byText(sql statement) column {
	return column{sql, func(p Position) any { return p.Text }, func(a, b Position) int { return strings.Compare(a.Text, b.Text) }}
}

func byNumber(sql statement) column {
	return column{sql, func(p Position) any { return p.Number }, func(a, b Position) int { return cmp.Compare(a.Number, b.Number) }}
}

func byTime(sql statement) column {
	return column{sql, func(p Position) any { return p.Time }, func(a, b Position) int { return a.Time.Compare(b.Time) }}
}

func byID(sql statement) column {
	return column{sql, func(p Position) any { return p.ID }, func(a, b Position) int { return bytes.Compare(a.ID[:], b.ID[:]) }}
}

// Names are the orders by the names that the API gives them, the default first.
func (s Sorting[R]) Names() []string {
	var names []string
	for _, o := range s {
		plain := strings.TrimPrefix(o.name, "-")
		both := []string{plain, "-" + plain}
		if plain != o.name {
			slices.Reverse(both)
		}
		names = append(names, both...)
	}
	return names
}

// At is the place of a row in one order; "" is the default order.
func (s Sorting[R]) At(name string, row R) Position {
	o, _, ok := s.find(name)
	if !ok {
		return Position{}
	}
	return o.at(row)
}

func (s Sorting[R]) find(name string) (o order[R], descending, ok bool) {
	if name == "" {
		name = s[0].name
	}
	for _, o := range s {
		if strings.TrimPrefix(o.name, "-") == strings.TrimPrefix(name, "-") {
			return o, strings.HasPrefix(name, "-"), true
		}
	}
	return o, false, false
}

// read reads one page of a list: from behind a place, in one order. What comes
// before a place comes behind it in the order turned around.
func (s Sorting[R]) read(ctx context.Context, q querier, l *list, name string, after *Position, limit int) ([]R, error) {
	o, descending, ok := s.find(name)
	if !ok {
		return nil, fmt.Errorf("no order is called %q", name)
	}
	back := after != nil && after.Back
	sql, args := l.sorted(o.columns, descending != back, after, limit)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	page, err := appendRows(make([]R, 0, limit), rows)
	if back {
		slices.Reverse(page)
	}
	return page, err
}

// merge makes one page of the pages of a list's parts, read as read does, of
// which no two have a row in common. Texts must be such that the database orders
// them by their bytes.
func (s Sorting[R]) merge(name string, after *Position, limit int, parts ...[]R) []R {
	o, descending, _ := s.find(name)
	page := slices.Concat(parts...)
	slices.SortFunc(page, func(a, b R) int {
		if descending {
			a, b = b, a
		}
		for _, c := range o.columns {
			if d := c.compare(o.at(a), o.at(b)); d != 0 {
				return d
			}
		}
		return 0
	})
	beyond := max(len(page)-limit, 0)
	if after != nil && after.Back {
		return page[beyond:]
	}
	return page[:len(page)-beyond]
}
