package httpapi_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// sortsOf reads the orders of each list out of the API's description, where
// clients read them.
func (b *backend) sortsOf() map[string][]string {
	b.t.Helper()
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(b.server.OpenAPI(), &d); err != nil {
		b.t.Fatal(err)
	}
	sorts := map[string][]string{}
	for path, methods := range d.Paths {
		for _, p := range methods["get"].Parameters {
			if p.Name == "sort" {
				sorts[strings.TrimPrefix(path, api.Prefix)] = p.Schema.Enum
			}
		}
	}
	return sorts
}

// Every list, in every order that it has, page by page: each row once, in
// order, though many are alike.
func TestSortedPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tx(func(tx *store.Tx) error { // in one transaction: all of one time
		for i, name := range []string{"h3", "h1", "h2", "h5", "h4"} {
			h := store.Host{
				ID: uuid.New(), WorkspaceID: domain.DefaultWorkspace, OrganizationID: domain.DefaultOrganization, Name: name, Address: "192.0.2.1", Port: 22,
				AdminUser: "root", Networks: []string{"default"}, Labels: map[string]string{}, Profile: "minimal", State: domain.HostRegistered, Incarnation: uuid.New(),
			}
			if err := tx.InsertHost(t.Context(), h); err != nil {
				return err
			}
			if i%2 == 0 {
				if _, err := tx.MoveHost(t.Context(), h.ID, h.State, domain.ProbeRequested); err != nil {
					return err
				}
			}
			if err := tx.AddEvent(t.Context(), domain.Actor{Kind: domain.ActorInit, Name: "init"}, store.Audit{Workspace: domain.DefaultWorkspace, Action: "x", ObjectKind: "host"}); err != nil {
				return err
			}
		}
		return nil
	})
	for range 3 {
		b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "t"}, 201)
	}
	b.mustDo(http.MethodPost, "/address-pool", `{"addresses":[{"range":"10.0.0.8-10.0.0.12"}]}`, 201)
	b.mustDo(http.MethodPost, "/address-pool/10.0.0.9/close", nil, 200)
	sorts := b.sortsOf()
	if len(sorts) < 14 { // or they are not found any more
		t.Errorf("%d lists with orders: %v", len(sorts), sorts)
	}
	for path, names := range sorts {
		path = strings.Replace(path, "{name}", "host_probe", 1)
		if len(names) == 0 {
			t.Errorf("%s names no order", path)
		}
		for _, sort := range names {
			items := b.walk(path, sort)
			field := strings.TrimPrefix(sort, "-")
			less := func(x, y map[string]any) int {
				n := compare(t, path, field, x, y)
				if strings.HasPrefix(sort, "-") {
					return -n
				}
				return n
			}
			if !slices.IsSortedFunc(items, less) {
				t.Errorf("%s by %s: %v", path, sort, items)
			}
			if slices.Contains([]string{"/hosts", "/events", "/address-pool"}, path) && len(items) < 5 {
				t.Errorf("%s by %s: only %d rows", path, sort, len(items))
			}
		}
	}
}

// walk reads a list two rows at a time and looks that none comes twice, that
// none is left out, that the way back shows the same pages, and that the cursor
// is good for this order only.
func (b *backend) walk(path, sort string) (items []map[string]any) {
	b.t.Helper()
	whole := decode[api.Page[map[string]any]](b.t, b.mustDo(http.MethodGet, path+"?limit=500&sort="+url.QueryEscape(sort), nil, 200)).Items
	seen := map[string]bool{}
	read := func(cursor string) api.Page[map[string]any] {
		return decode[api.Page[map[string]any]](b.t, b.mustDo(http.MethodGet, path+"?limit=2&sort="+url.QueryEscape(sort)+"&cursor="+cursor, nil, 200))
	}
	var pages []api.Page[map[string]any]
	for cursor, turn := "", 0; turn < 100; turn++ {
		page := read(cursor)
		pages = append(pages, page)
		for _, item := range page.Items {
			key, _ := json.Marshal([]any{item["id"], item["name"], item["version"]})
			if seen[string(key)] {
				b.t.Errorf("%s by %s: %s comes twice", path, sort, key)
			}
			seen[string(key)] = true
		}
		items = append(items, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		other := "-" + sort
		if strings.HasPrefix(sort, "-") {
			other = sort[1:]
		}
		p := b.mustDo(http.MethodGet, path+"?limit=2&sort="+url.QueryEscape(other)+"&cursor="+cursor, nil, 422).problem(b.t)
		if len(p.Errors) != 1 || p.Errors[0].Field != "cursor" {
			b.t.Errorf("%s: a cursor of %s with %s: %+v", path, sort, other, p.Errors)
		}
	}
	if pages[0].PreviousCursor != "" {
		b.t.Errorf("%s by %s: something comes before the first page", path, sort)
	}
	for n := len(pages) - 1; n > 0; n-- {
		before := read(pages[n].PreviousCursor)
		if !reflect.DeepEqual(pages[n-1].Items, before.Items) {
			b.t.Errorf("%s by %s: before page %d: %v, not %v", path, sort, n, before.Items, pages[n-1].Items)
		}
		if (before.PreviousCursor == "") != (n == 1) {
			b.t.Errorf("%s by %s: before page %d comes %q", path, sort, n-1, before.PreviousCursor)
		}
		if again := read(before.NextCursor); !reflect.DeepEqual(pages[n].Items, again.Items) {
			b.t.Errorf("%s by %s: behind page %d: %v, not %v", path, sort, n-1, again.Items, pages[n].Items)
		}
	}
	if len(items) != len(whole) {
		b.t.Errorf("%s by %s: %d rows in pages, %d at once", path, sort, len(items), len(whole))
	}
	return items
}

// TestPagesOfAListThatChanges: the way back ends with a whole first page, and
// leads out of where nothing is any more.
func TestPagesOfAListThatChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodPost, "/address-pool", `{"addresses":[{"range":"10.0.0.1-10.0.0.5"}]}`, 201)
	read := func(cursor string) (api.Page[api.Address], string) {
		page := decode[api.Page[api.Address]](t, b.mustDo(http.MethodGet, "/address-pool?limit=2&cursor="+cursor, nil, 200))
		var on []string
		for _, a := range page.Items {
			on = append(on, strings.TrimPrefix(a.Address, "10.0.0."))
		}
		return page, strings.Join(on, " ")
	}
	first, _ := read("")
	second, _ := read(first.NextCursor)
	b.mustDo(http.MethodDelete, "/address-pool/10.0.0.1", nil, 204)
	if back, on := read(second.PreviousCursor); on != "2 3" || back.PreviousCursor != "" || back.NextCursor == "" {
		t.Errorf("back on the first page: %s, %+v", on, back)
	}
	b.mustDo(http.MethodDelete, "/address-pool/10.0.0.5", nil, 204)
	none, on := read(second.NextCursor)
	if on != "" || none.NextCursor != "" {
		t.Errorf("behind the last: %s, %+v", on, none)
	}
	if back, on := read(none.PreviousCursor); on != "2 3" || back.PreviousCursor != "" {
		t.Errorf("out of an empty page: %s, %+v", on, back)
	}
}

// compare compares what two rows show in a field.
func compare(t *testing.T, path, field string, x, y map[string]any) int {
	t.Helper()
	a, b := x[field], y[field]
	switch a := a.(type) {
	case string:
		other := b.(string)
		if at, err := time.Parse(time.RFC3339Nano, a); err == nil {
			then, _ := time.Parse(time.RFC3339Nano, other)
			return at.Compare(then)
		}
		if path == "/address-pool" && field == "address" {
			a, other = strings.Replace(a, "10.0.0.8", "10.0.0.08", 1), strings.Replace(other, "10.0.0.8", "10.0.0.08", 1)
			a, other = strings.Replace(a, "10.0.0.9", "10.0.0.09", 1), strings.Replace(other, "10.0.0.9", "10.0.0.09", 1)
		}
		return cmp.Compare(a, other)
	case float64:
		return cmp.Compare(a, b.(float64))
	}
	t.Fatalf("%s: %s is %v", path, field, a)
	return 0
}
