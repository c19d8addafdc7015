package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

const cursorCode = 16 // bytes before a cursor's position that vouch for it

// list is one request for a page: what is listed and by which filters.
type list struct {
	query   api.PageQuery
	binding string // what a cursor is good for
	codes   Codes
}

func (s *Server) listOf(route string, q api.PageQuery, filters ...string) list {
	return list{query: q, binding: route + "\x00" + strings.Join(filters, "\x00"), codes: s.cfg.Codes}
}

// sorted makes a list's orders known, so that a sort which is none of them is
// refused with the other bad fields, and the API's description names them.
func sorted[R any](s store.Sorting[R]) func(*huma.Operation) {
	return func(op *huma.Operation) {
		if op.Metadata == nil {
			op.Metadata = map[string]any{}
		}
		op.Metadata["sort"] = s.Names()
	}
}

// after is where the page begins; nil for the first one. A cursor that no
// backend made is refused, and nothing that the list's columns can't hold is
// taken from one either: the columns may have changed since it was made.
func (l list) after(holds func(store.Position) bool) (*store.Position, error) {
	if l.query.Cursor == "" {
		return nil, nil
	}
	refused := badField("cursor", "is no cursor of a page of this list in this sort with these filters")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(l.query.Cursor)
	if err != nil || len(raw) <= cursorCode || !l.codes.Vouched(cursorPurpose, l.bound(raw[cursorCode:]), raw[:cursorCode]) {
		return nil, refused
	}
	var p store.Position
	if err := json.Unmarshal(raw[cursorCode:], &p); err != nil || !holds(p) {
		return nil, refused
	}
	// Only what a cursor is made of: no name twice, no other spelling.
	if again, err := json.Marshal(p); err != nil || !slices.Equal(again, raw[cursorCode:]) {
		return nil, refused
	}
	return &p, nil
}

// Codes vouches for what clients bring back. The same on every backend, since
// another one may be asked for the next page.
type Codes interface {
	Vouch(purpose string, message []byte) []byte // 32 bytes
	Vouched(purpose string, message, code []byte) bool
}

// own are codes that only this process knows, for a server that is alone.
type own [32]byte

func (o *own) Vouch(purpose string, message []byte) []byte {
	h := hmac.New(sha256.New, o[:])
	h.Write([]byte(purpose + "\x00"))
	h.Write(message)
	return h.Sum(nil)
}

func (o *own) Vouched(purpose string, message, code []byte) bool {
	return hmac.Equal(o.Vouch(purpose, message)[:cursorCode], code)
}

const cursorPurpose = "cursor of a list"

// bound is a position with the list that it belongs to: a cursor of one list is
// not read by another.
func (l list) bound(position []byte) []byte {
	return append([]byte(l.binding+"\x00"), position...)
}

// cursor is a place as clients know it; "" for none.
func (l list) cursor(p *store.Position) (string, error) {
	if p == nil {
		return "", nil
	}
	position, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(l.codes.Vouch(cursorPurpose, l.bound(position))[:cursorCode:cursorCode], position...)), nil
}

// pageOf reads one row more than the page holds, so that a page knows whether
// it is the last one, or the first.
func pageOf[R, A any](l list, sorting store.Sorting[R], read func(after *store.Position, limit int) ([]R, error), present func(R) A) (*object[api.Page[A]], error) {
	if l.query.Sort == "" {
		l.query.Sort = sorting.Names()[0]
	}
	l.binding += "\x00" + l.query.Sort
	after, err := l.after(func(p store.Position) bool { return sorting.Holds(l.query.Sort, p) })
	if err != nil {
		return nil, err
	}
	rows, err := read(after, l.query.Limit+1)
	if err == nil && after != nil && after.Back && len(rows) <= l.query.Limit {
		after = nil // the list begins here: its first page, and not a shorter one
		rows, err = read(nil, l.query.Limit+1)
	}
	if err != nil {
		return nil, err
	}
	rows, previous, next := cut(rows, l.query.Limit, after, func(r R) store.Position { return sorting.At(l.query.Sort, r) })
	out := &object[api.Page[A]]{}
	if out.Body.PreviousCursor, err = l.cursor(previous); err != nil {
		return nil, err
	}
	if out.Body.NextCursor, err = l.cursor(next); err != nil {
		return nil, err
	}
	out.Body.Items = make([]A, len(rows))
	for i, r := range rows {
		out.Body.Items[i] = present(r)
	}
	return out, nil
}

// cut leaves out the row that was read to know whether there are more, and
// returns where the pages before and behind begin; nil where there is none.
func cut[R any](rows []R, limit int, after *store.Position, at func(R) store.Position) (shown []R, previous, next *store.Position) {
	back, more := after != nil && after.Back, len(rows) > limit
	switch {
	case more && back:
		rows = rows[1:]
	case more:
		rows = rows[:limit]
	}
	if after != nil {
		edge := *after // where all that was behind it is gone
		if len(rows) > 0 {
			edge = at(rows[0])
		}
		edge.Back = true
		previous = &edge
	}
	if more || back {
		edge := at(rows[len(rows)-1])
		next = &edge
	}
	return rows, previous, next
}

// whole is a list that is never long: all of it is one page.
func whole[R, A any](rows []R, present func(R) A) *object[api.Page[A]] {
	out := &object[api.Page[A]]{}
	out.Body.Items = make([]A, len(rows))
	for i, r := range rows {
		out.Body.Items[i] = present(r)
	}
	return out
}

// oneOf refuses a filter's value that no row can have.
func oneOf(field, value string, names []string) error {
	if value == "" || slices.Contains(names, value) {
		return nil
	}
	return badField(field, "must be one of "+strings.Join(names, ", "))
}

// id reads an id; names that happen to look like one in another spelling are
// names.
func id(s string) (uuid.UUID, bool) {
	u, err := uuid.Parse(s)
	return u, err == nil && len(s) == 36
}

// idOrName reads a filter that takes either.
func idOrName(value string) (*uuid.UUID, string) {
	if u, ok := id(value); ok {
		return &u, ""
	}
	return nil, value
}

func idFilter(field, value string) (*uuid.UUID, error) {
	if value == "" {
		return nil, nil
	}
	u, ok := id(value)
	if !ok {
		return nil, badField(field, "must be an id")
	}
	return &u, nil
}

// labelFilter reads key=value,key=value; nil for none.
func labelFilter(value string) (map[string]string, error) {
	if value == "" {
		return nil, nil
	}
	labels := map[string]string{}
	for pair := range strings.SplitSeq(value, ",") {
		key, v, ok := strings.Cut(pair, "=")
		if _, twice := labels[key]; !ok || twice {
			return nil, badField("labels", "must be key=value,key=value, each key once")
		}
		labels[key] = v
	}
	if err := domain.CheckLabels(labels); err != nil {
		return nil, badField("labels", err.Error())
	}
	return labels, nil
}

func timeFilter(field, value string) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return nil, badField(field, "must be a time such as 2026-03-14T15:09:26Z")
	}
	return &t, nil
}

func text(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func value[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}
