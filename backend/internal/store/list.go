package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Position is where a page of a list ended: the sort key of its last row, of
// which a list uses one, and its id.
type Position struct {
	Text   string    `json:"t,omitempty"`
	Number int64     `json:"n,omitempty"`
	Time   time.Time `json:"at,omitzero"`
	ID     uuid.UUID `json:"id"`
}

// list puts a list's statement together: a constant SELECT ... WHERE true,
// then filters, then order and limit. Values only ever go through arguments.
type list struct {
	sql  strings.Builder
	args []any
}

func newList(base string, args ...any) *list {
	l := &list{args: args}
	l.sql.WriteString(base)
	return l
}

// and adds a condition; each ? in it is one of the values.
func (l *list) and(condition string, values ...any) *list {
	l.sql.WriteString("\n  AND ")
	for part := range strings.SplitSeq(condition, "?") {
		l.sql.WriteString(part)
		if len(values) > 0 {
			l.args = append(l.args, values[0])
			values = values[1:]
			l.sql.WriteString("$" + strconv.Itoa(len(l.args)))
		}
	}
	return l
}

// andIf adds the condition if the filter is set.
func (l *list) andIf(value, condition string) *list {
	if value == "" {
		return l
	}
	return l.and(condition, value)
}

func (l *list) page(order string, limit int) (string, []any) {
	l.sql.WriteString("\nORDER BY " + order + "\nLIMIT ")
	l.args = append(l.args, limit)
	l.sql.WriteString("$" + strconv.Itoa(len(l.args)))
	return l.sql.String(), l.args
}
