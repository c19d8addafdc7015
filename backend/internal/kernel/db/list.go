package db

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Position is where a page of a list ends: the sort key of the row at its edge,
// of which a list uses what it is sorted by, and its id. Further on are the rows
// behind it, or with Back those before it.
type Position struct {
	Text   string    `json:"t,omitempty"`
	Number int64     `json:"n,omitempty"`
	Time   time.Time `json:"at,omitzero"`
	ID     uuid.UUID `json:"id"`
	Back   bool      `json:"back,omitempty"`
}

// List puts a statement together at run time, out of pieces that are all
// constant: a SELECT ... WHERE, then conditions, then order, limit and lock.
// Values only ever go through arguments.
type List struct {
	sql   strings.Builder
	args  []any
	fixed bool // the limit is part of the statement
}

// NewList begins a list of what base selects. base ends with a WHERE, to which
// conditions are added; args are those of base.
func NewList(base Statement, args ...any) *List {
	l := &List{args: args}
	l.sql.WriteString(string(base))
	return l
}

// PlannedOnce is for a list that is read along the same index whatever values
// are asked for: PostgreSQL keeps its plan. Where the limit is a parameter it
// plans each time, since a plan for any limit seems dear to it: a tenth of all
// rows. That is right where another value wants another plan.
func (l *List) PlannedOnce() { l.fixed = true }

// IsPlannedOnce tells whether PlannedOnce was called.
func (l *List) IsPlannedOnce() bool { return l.fixed }

// And adds a condition; each ? in it is one of the values.
func (l *List) And(condition Statement, values ...any) *List {
	l.sql.WriteString("\n  AND ")
	for part := range strings.SplitSeq(string(condition), "?") {
		l.sql.WriteString(part)
		if len(values) > 0 {
			l.value(values[0])
			values = values[1:]
		}
	}
	return l
}

// AndIf adds the condition if the filter is set.
func (l *List) AndIf(value string, condition Statement) *List {
	if value == "" {
		return l
	}
	return l.And(condition, value)
}

func (l *List) value(v any) {
	l.args = append(l.args, v)
	l.sql.WriteString("$" + strconv.Itoa(len(l.args)))
}

// All is the statement without order or limit.
func (l *List) All() (Statement, []any) { return Statement(l.sql.String()), l.args }

// Page is the statement of one page, and its arguments.
func (l *List) Page(order Statement, limit int) (Statement, []any) {
	l.sql.WriteString("\nORDER BY " + string(order))
	return l.limited(limit)
}

// sorted is a page from behind a place in an order.
func (l *List) sorted(columns []Column, descending bool, after *Position, limit int) (Statement, []any) {
	names, compare, direction := make([]string, len(columns)), " > ", ""
	if descending {
		compare, direction = " < ", " DESC"
	}
	for i, c := range columns {
		names[i] = string(c.sql)
	}
	if after != nil {
		l.sql.WriteString("\n  AND (" + strings.Join(names, ", ") + ")" + compare + "(")
		for i, c := range columns {
			if i > 0 {
				l.sql.WriteString(", ")
			}
			l.value(c.value(*after))
		}
		l.sql.WriteString(")")
	}
	l.sql.WriteString("\nORDER BY " + strings.Join(names, direction+", ") + direction)
	return l.limited(limit)
}

func (l *List) limited(limit int) (Statement, []any) {
	l.sql.WriteString("\nLIMIT ")
	if l.fixed {
		l.sql.WriteString(strconv.Itoa(limit))
	} else {
		l.value(limit)
	}
	return l.All()
}

// Locked is a page whose rows are locked until the transaction ends.
func (l *List) Locked(order Statement, limit int, lock Statement) (Statement, []any) {
	l.Page(order, limit)
	l.sql.WriteString("\n" + string(lock))
	return l.All()
}
