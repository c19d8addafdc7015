package app

import (
	"net/http"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

func TestGoToAnythingByItsName(t *testing.T) {
	t.Parallel()
	s := setup(t)
	asked := header("X-Palette", "1")
	a := s.get("/web/go?q=h1", asked)
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, `role="option"`, `data-href="/hosts/`+apitest.HostID+`"`, `data-href="/compute-units/`+apitest.UnitID+`"`, `data-href="/allocations/`+apitest.AllocationID+`"`)
	if strings.Contains(a.body, "<html") {
		t.Error("a whole page, where a part was asked for")
	}
	for route, want := range map[string]string{
		"list-hosts": "limit=6&search=h1", "list-compute-units": "limit=6&search=h1", "list-allocations": "limit=6&search=h1",
	} {
		if q := s.only(route).Query; q != want {
			t.Errorf("%s was asked %q, want %q", route, q, want)
		}
	}
	s.wantText(s.get("/web/go?q=initialize", asked), `data-href="/jobs/`+apitest.JobID+`"`, "host_initialize", `data-href="/playbooks/host_initialize"`)
	s.wantText(s.get("/web/go?q="+apitest.JobID, asked), "Initialize host h1")
	s.wantText(s.get("/web/go?q=REGISTER+host", asked), `data-href="/hosts/new"`)
	if n := strings.Count(s.get("/web/go", asked).body, `role="option"`); n < 22 { // more with each area
		t.Errorf("%d pages are offered where nothing is typed", n)
	}
}

// Without scripts it is a page; what is refused is not found.
func TestGoToIsAPage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, route := range []string{"list-hosts", "list-compute-units", "list-allocations", "list-jobs", "list-playbooks"} {
		s.api.Refuse(route, api.Problem{Status: http.StatusForbidden, Code: "forbidden"})
	}
	a := s.get("/web/go?q=jobs")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "</html>", `<a href="/jobs?state=failed">Failed jobs</a>`, `value="jobs"`)
	s.wantText(s.get("/web/go?q=zzz"), "No results")
	s.wantText(s.get("/jobs"), `href="/web/go"`, "/static/palette.")
	if a := s.get("/login", header("Cookie", "")); strings.Contains(a.body, "palette") {
		t.Error("who is not logged in gets the palette")
	}
}
