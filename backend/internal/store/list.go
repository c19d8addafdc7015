package store

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

// list puts a statement together at run time, out of pieces that are all
// constant: a SELECT ... WHERE, then conditions, then order, limit and lock.
// Values only ever go through arguments.
type list struct {
	sql   strings.Builder
	args  []any
	fixed bool // the limit is part of the statement
}

func newList(base statement, args ...any) *list {
	l := &list{args: args}
	l.sql.WriteString(string(base))
	return l
}

// plannedOnce is for a list that is read along the same index whatever values
// are asked for: PostgreSQL keeps its plan. Where the limit is a parameter it
// plans each time, since a plan for any limit seems dear to it: a tenth of all
// rows. That is right where another value wants another plan.
func (l *list) plannedOnce() { l.fixed = true }

// and adds a condition; each ? in it is one of the values.
func (l *list) and(condition statement, values ...any) *list {
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

// andIf adds the condition if the filter is set.
func (l *list) andIf(value string, condition statement) *list {
	if value == "" {
		return l
	}
	return l.and(condition, value)
}

func (l *list) value(v any) {
	l.args = append(l.args, v)
	l.sql.WriteString("$" + strconv.Itoa(len(l.args)))
}

// all is the statement without order or limit.
func (l *list) all() (statement, []any) { return statement(l.sql.String()), l.args }

func (l *list) page(order statement, limit int) (statement, []any) {
	l.sql.WriteString("\nORDER BY " + string(order))
	return l.limited(limit)
}

// sorted is a page from behind a place in an order.
func (l *list) sorted(columns []column, descending bool, after *Position, limit int) (statement, []any) {
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

func (l *list) limited(limit int) (statement, []any) {
	l.sql.WriteString("\nLIMIT ")
	if l.fixed {
		l.sql.WriteString(strconv.Itoa(limit))
	} else {
		l.value(limit)
	}
	return l.all()
}

// locked is a page whose rows are locked until the transaction ends.
func (l *list) locked(order statement, limit int, lock statement) (statement, []any) {
	l.page(order, limit)
	l.sql.WriteString("\n" + string(lock))
	return l.all()
}
