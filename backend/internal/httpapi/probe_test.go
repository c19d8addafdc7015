package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// TestProbeHosts: one job, by names and ids, that tells of each of its hosts.
func TestProbeHosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h1, h2 := b.ready("h1"), b.ready("h2")
	b.probed("h3")
	for name, bad := range map[string]struct {
		body   any
		status int
		says   string
	}{
		"nothing":                  {nil, http.StatusUnprocessableEntity, "body is required"},
		"no host":                  {api.ProbeHosts{Hosts: []string{}}, http.StatusUnprocessableEntity, "hosts"},
		"one that is not there":    {api.ProbeHosts{Hosts: []string{"h1", "h9"}}, http.StatusUnprocessableEntity, "hosts[1]"},
		"one by name and by id":    {api.ProbeHosts{Hosts: []string{"h1", h1.ID}}, http.StatusUnprocessableEntity, "hosts[1]"},
		"one that a probe moves":   {api.ProbeHosts{Hosts: []string{"h1", "h3"}}, http.StatusConflict, "h3 (probed)"},
		"more than one job may do": {api.ProbeHosts{Hosts: strings.Split(strings.Repeat("h1 ", 51), " ")}, http.StatusUnprocessableEntity, "hosts"},
	} {
		a := b.do(http.MethodPost, "/hosts/probe", bad.body)
		if a.status != bad.status || !strings.Contains(string(a.body), bad.says) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}

	asked := api.ProbeHosts{Hosts: []string{"h2", h1.ID}}
	first := b.mustDo(http.MethodPost, "/hosts/probe", asked, http.StatusAccepted, "Idempotency-Key", "k1")
	again := b.mustDo(http.MethodPost, "/hosts/probe", asked, http.StatusAccepted, "Idempotency-Key", "k1")
	if string(first.body) != string(again.body) || first.header.Get("Location") != again.header.Get("Location") {
		t.Errorf("the same request made %s, then %s", first.body, again.body)
	}
	j := decode[api.Job](t, first)
	if first.header.Get("Location") != api.Prefix+"/jobs/"+j.ID || j.Kind != "hosts_probe" || j.HoldsHost || j.HostID != "" || j.HostCount != 2 ||
		len(j.Hosts) != 2 || j.Hosts[0].Name != "h1" || j.Hosts[0].State != "pending" || j.Playbook != "host_probe" {
		t.Errorf("job %+v", j)
	}
	b.tx(func(tx *store.Tx) error {
		return tx.EndJobHost(t.Context(), uuid.MustParse(j.ID), uuid.MustParse(h2.ID), domain.ErrCodeUnreachable, "No route to host.")
	})
	j = decode[api.Job](t, b.mustDo(http.MethodGet, "/jobs/"+j.ID, nil, http.StatusOK))
	if h := j.Hosts[1]; h.Name != "h2" || h.ID != h2.ID || h.State != "failed" || h.Code != "unreachable" || h.Message != "No route to host." {
		t.Errorf("h2: %+v", h)
	}
	for _, path := range []string{"/jobs?host=" + h1.ID, "/jobs?kind=hosts_probe", "/jobs?state=active"} {
		page := decode[api.Page[api.Job]](t, b.mustDo(http.MethodGet, path, nil, http.StatusOK))
		if n := len(page.Items); n == 0 || page.Items[0].ID != j.ID || page.Items[0].HostCount != 2 || page.Items[0].Hosts != nil {
			t.Errorf("%s: %+v", path, page.Items)
		}
	}
}

// TestJobsOfAHostArePaged, those among them that have several hosts.
func TestJobsOfAHostArePaged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	var want []string
	for n := range 6 {
		path, body := "/hosts/h1/probe", any(nil)
		if n%2 == 0 {
			path, body = "/hosts/probe", api.ProbeHosts{Hosts: []string{"h1"}}
		}
		location := b.mustDo(http.MethodPost, path, body, http.StatusAccepted).header.Get("Location")
		id := strings.TrimPrefix(location, api.Prefix+"/jobs/")
		b.sql("UPDATE jobs SET state = 'succeeded', finished_at = now() WHERE id = $1", id)
		want = append([]string{id}, want...)
	}
	var got []string
	for cursor := ""; len(got) < 20; {
		page := decode[api.Page[api.Job]](t, b.mustDo(http.MethodGet, "/jobs?limit=2&host="+h.ID+"&cursor="+cursor, nil, http.StatusOK))
		for _, j := range page.Items {
			got = append(got, j.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(got) < 6 || strings.Join(got[:6], " ") != strings.Join(want, " ") {
		t.Errorf("pages of two give\n%v, want\n%v first", got, want)
	}
	seen := map[string]bool{}
	for _, id := range got {
		if seen[id] {
			t.Errorf("%s is on two pages", id)
		}
		seen[id] = true
	}
}
