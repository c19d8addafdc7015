package app

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

func TestEventsAreFiltered(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/events?kind=host&action=host.probe&actor=ada&since=2026-03-01&until=2026-03-02")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, `<option value="host" selected>`, `value="host.probe"`, `value="2026-03-02"`,
		`href="/events/export?action=host.probe&amp;actor=ada&amp;format=csv&amp;kind=host&amp;since=2026-03-01&amp;until=2026-03-02"`)
	const want = "action=host.probe&actor=ada&limit=50&object_kind=host&since=2026-03-01T00%3A00%3A00Z&until=2026-03-03T00%3A00%3A00Z"
	if q := s.only("list-events").Query; q != want {
		t.Errorf("the API was asked %q, want %q", q, want)
	}
	s.api.Answer("list-events", 200, apitest.Page[api.Event]())
	s.wantText(s.get("/events?actor=nobody"), "No event matches")
	s.wantText(s.get("/events"), "Nothing has changed yet.")
	s.api.Refuse("list-events", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "query.since", Message: "must be a time"}}})
	a = s.get("/events?since=then")
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "query.since", "must be a time")
}

// manyEvents answers as a trail of so many events does.
func (s *site) manyEvents(pages, each int) {
	s.api.On("list-events", func(w http.ResponseWriter, r *http.Request) {
		n := 0
		_, _ = fmt.Sscanf(r.URL.Query().Get("cursor"), "c%d", &n)
		p := api.Page[api.Event]{Items: make([]api.Event, each)}
		for i := range p.Items {
			p.Items[i] = api.Event{ID: "e", At: apitest.Now, ActorKind: "account", Actor: `=HYPERLINK("evil")`, Action: "host.probe", Object: "a,\"b\"\nc", After: []byte(`{"a":1}`)}
		}
		if n++; n < pages {
			p.NextCursor = fmt.Sprintf("c%d", n)
		}
		apitest.JSON(w, p)
	})
}

func TestEventsAreExported(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.manyEvents(3, 500)
	a := s.get("/events/export?format=csv&actor=ada")
	s.wantStatus(a, http.StatusOK)
	if d := a.Header.Get("Content-Disposition"); d != `attachment; filename="events.csv"` {
		t.Errorf("disposition %q", d)
	}
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) != 1501 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	want := []string{"2026-03-14T15:09:26Z", "account", `'=HYPERLINK("evil")`, "", "host.probe", "", "", "a,\"b\"\nc", "", "", "", `{"a":1}`}
	if d := cmp.Diff(want, rows[1500]); d != "" {
		t.Error(d)
	}
	for i, c := range s.api.Calls("list-events") {
		if !strings.Contains(c.Query, "actor=ada") || i > 0 && !strings.Contains(c.Query, "cursor=c") {
			t.Errorf("part %d was asked for with %q", i, c.Query)
		}
	}
	a = s.get("/events/export?format=jsonl")
	if n := strings.Count(a.body, "\n"); n != 1500 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/jsonl") {
		t.Errorf("%d lines of %s", n, a.Header.Get("Content-Type"))
	}
	s.wantStatus(s.get("/events/export", header("Cookie", "")), http.StatusSeeOther)
	s.api.Refuse("list-events", api.Problem{Status: http.StatusForbidden, Code: "forbidden"})
	s.wantStatus(s.get("/events/export"), http.StatusForbidden)
}

// An export has an end, and says that it is one; so does one that breaks off.
func TestAnExportThatIsNotWholeSaysSo(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.manyEvents(1000, 500)
	a := s.get("/events/export?format=csv")
	if n := strings.Count(a.body, "2026-03-14T15:09:26Z"); n != 100_000 || !strings.Contains(a.body, "cut off after 100,000 rows") {
		t.Errorf("%d events: %.200q", n, a.body[max(0, len(a.body)-200):])
	}
	calls := 0
	s.api.On("list-events", func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls > 1 {
			apitest.Problem(w, api.Problem{Status: http.StatusForbidden, Code: "forbidden"})
			return
		}
		apitest.JSON(w, api.Page[api.Event]{Items: []api.Event{{ID: "e", At: apitest.Now}}, NextCursor: "c"})
	})
	s.wantText(s.get("/events/export"), `{"export":"cut off: the rest could not be read; export it again"}`)
}
