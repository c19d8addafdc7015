package store

import (
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
	sql   statement
	value func(Position) any
}

func byText(sql statement) column {
	return column{sql, func(p Position) any { return p.Text }}
}

func byNumber(sql statement) column {
	return column{sql, func(p Position) any { return p.Number }}
}

func byTime(sql statement) column {
	return column{sql, func(p Position) any { return p.Time }}
}

func byID(sql statement) column { return column{sql, func(p Position) any { return p.ID }} }

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
