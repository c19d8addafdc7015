package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"kloigos/backend/api"
)

func TestEventsAreFiltered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.probed("h1")
	b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "ci", Days: 1}, http.StatusCreated)
	list := func(query string) []api.Event {
		return decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/events?"+query, nil, http.StatusOK)).Items
	}
	all := list("")
	hosts := 0
	for _, e := range all {
		if e.ObjectKind == "host" {
			hosts++
		}
	}
	if hosts == 0 || hosts == len(all) {
		t.Fatalf("%d of %d events are of hosts", hosts, len(all))
	}
	if got := list("object_kind=host"); len(got) != hosts {
		t.Errorf("%d events of hosts, want %d", len(got), hosts)
	}
	for _, e := range list("action=host.register&actor=admin&object=" + h.ID) {
		if e.Action != "host.register" || e.ObjectID != h.ID {
			t.Errorf("%+v", e)
		}
	}
	if n := len(list("action=host.register")); n != 1 {
		t.Errorf("%d hosts were registered", n)
	}
	for query, want := range map[string]int{"actor=nobody": 0, "action=host.regist": 0} {
		if n := len(list(query)); n != want {
			t.Errorf("%s: %d events, want %d", query, n, want)
		}
	}
	middle := all[len(all)/2].At
	before, since := 0, 0
	for _, e := range all {
		if e.At.Before(middle) {
			before++
		} else {
			since++
		}
	}
	at := url.QueryEscape(middle.Format(time.RFC3339Nano))
	if n := len(list("until=" + at)); n != before {
		t.Errorf("%d events before %s, want %d", n, middle, before)
	}
	if n := len(list("since=" + at)); n != since {
		t.Errorf("%d events since %s, want %d", n, middle, since)
	}
	b.mustDo(http.MethodGet, "/events?since=yesterday", nil, http.StatusUnprocessableEntity)
}
