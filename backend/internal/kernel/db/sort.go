package db

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Sorting is the orders that a list can be read in. The first is the default;
// ascending where its name has no - before it. Rows that are alike come by id,
// in the same direction, so that a place in the list is always one place.
type Sorting[R any] []Order[R]

// Order is one order, ascending or descending, over columns that have an index.
type Order[R any] struct {
	Name    string // as the API calls it; with - before it, the default is descending
	Columns []Column
	At      func(R) Position
}

// Column is a column to sort by, and where a Position keeps its value.
type Column struct {
	sql     Statement
	value   func(Position) any
	compare func(a, b Position) int
	holds   func(Position) bool // the column can hold the value
	clear   func(*Position)
}

// maxSortText is more than any text that a list is sorted by has, in bytes.
const maxSortText = 1024

// ByText sorts by a column of text of at most 1,024 bytes.
func ByText(sql Statement) Column {
	return Column{
		sql, func(p Position) any { return p.Text }, func(a, b Position) int { return strings.Compare(a.Text, b.Text) },
		func(p Position) bool {
			return len(p.Text) <= maxSortText && utf8.ValidString(p.Text) && !strings.ContainsRune(p.Text, 0)
		},
		func(p *Position) { p.Text = "" },
	}
}

// ByNumber sorts by a column of whole numbers from 0 to one that it can hold.
func ByNumber(sql Statement, most int64) Column {
	return Column{
		sql, func(p Position) any { return p.Number }, func(a, b Position) int { return cmp.Compare(a.Number, b.Number) },
		func(p Position) bool { return p.Number >= 0 && p.Number <= most },
		func(p *Position) { p.Number = 0 },
	}
}

// ByTime sorts by a column of times.
func ByTime(sql Statement) Column {
	return Column{
		sql, func(p Position) any { return p.Time }, func(a, b Position) int { return a.Time.Compare(b.Time) },
		func(p Position) bool { return p.Time.Year() >= 1 && p.Time.Year() <= 9999 },
		func(p *Position) { p.Time = time.Time{} },
	}
}

// ByID sorts by a column of UUIDs.
func ByID(sql Statement) Column {
	return Column{
		sql, func(p Position) any { return p.ID }, func(a, b Position) int { return bytes.Compare(a.ID[:], b.ID[:]) },
		func(Position) bool { return true },
		func(p *Position) { p.ID = uuid.Nil },
	}
}

// Holds tells whether a place, which may come from anywhere, is one that an
// order can have: its columns can hold their values, and there are no others.
func (s Sorting[R]) Holds(name string, p Position) bool {
	o, _, ok := s.find(name)
	for _, c := range o.Columns {
		ok = ok && c.holds(p)
		c.clear(&p)
	}
	p.Back = false
	return ok && p == Position{}
}

// Names are the orders by the names that the API gives them, the default first.
func (s Sorting[R]) Names() []string {
	var names []string
	for _, o := range s {
		plain := strings.TrimPrefix(o.Name, "-")
		both := []string{plain, "-" + plain}
		if plain != o.Name {
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
	return o.At(row)
}

func (s Sorting[R]) find(name string) (o Order[R], descending, ok bool) {
	if name == "" {
		name = s[0].Name
	}
	for _, o := range s {
		if strings.TrimPrefix(o.Name, "-") == strings.TrimPrefix(name, "-") {
			return o, strings.HasPrefix(name, "-"), true
		}
	}
	return o, false, false
}

// Read reads one page of a list: from behind a place, in one order. What comes
// before a place comes behind it in the order turned around.
func (s Sorting[R]) Read(ctx context.Context, q Reader, l *List, name string, after *Position, limit int) ([]R, error) {
	o, descending, ok := s.find(name)
	if !ok {
		return nil, fmt.Errorf("no order is called %q", name)
	}
	back := after != nil && after.Back
	sql, args := l.sorted(o.Columns, descending != back, after, limit)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	page, err := AppendRows(make([]R, 0, limit), rows)
	if back {
		slices.Reverse(page)
	}
	return page, err
}

// Merge makes one page of the pages of a list's parts, read as read does, of
// which no two have a row in common. Texts must be such that the database orders
// them by their bytes.
func (s Sorting[R]) Merge(name string, after *Position, limit int, parts ...[]R) []R {
	o, descending, _ := s.find(name)
	page := slices.Concat(parts...)
	slices.SortFunc(page, func(a, b R) int {
		if descending {
			a, b = b, a
		}
		for _, c := range o.Columns {
			if d := c.compare(o.At(a), o.At(b)); d != 0 {
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
