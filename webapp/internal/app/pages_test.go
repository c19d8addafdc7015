package app

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

var pages = map[string]string{ // path -> what must stand on it
	"/":                                     "Needs attention",
	"/hosts":                                "192.0.2.11",
	"/hosts/new":                            "Register and probe",
	"/hosts/h1":                             "h1-cu03",
	"/hosts/h2":                             "SHA256:9aYk3zE1rXk3HSxYHxqXGqLrJv5b5l2J2hU0ZxkqQnZ",
	"/hosts/h1/setup":                       "h1 is ready: 1 free unit",
	"/hosts/h1/edit":                        "Only where the host has another key at its new address.",
	"/hosts/h2/setup":                       "Step 2 of 6: Fingerprint",
	"/hosts/h3/setup":                       "Continue to the layout",
	"/hosts/h1/layout":                      "Units that stay",
	"/hosts/h3/layout":                      "/dev/disk/by-id/virtio-kloigos0",
	"/compute-units":                        "h1-cu01",
	"/compute-units/h1-cu02":                "0f1e2d3c-0000-4000-8000-00000000abcd",
	"/allocations":                          "10.0.2.101",
	"/allocations/new":                      "SSH public keys",
	"/allocations/" + apitest.AllocationID:  "ssh -p 2201 ada@203.0.113.9",
	"/jobs":                                 "Initialize host h1",
	"/jobs/" + apitest.JobID:                "What to do:",
	"/playbooks":                            "host_initialize",
	"/plans":                                "Replace allocation keys of ada on h1-cu01",
	"/plans/" + apitest.PlanID:              "Planned changes",
	"/playbooks/host_initialize":            "9f86d081884c",
	"/playbooks/host_initialize/versions/1": "roles/host_initialize/tasks/main.yml",
	"/playbooks/host_initialize/versions/1/file?path=playbook.yml": "- host_initialize",
	"/playbooks/host_initialize/versions/2":                        "name[casing]",
	"/playbooks/host_initialize/versions/2/diff?against=1":         "+hello",
	"/playbooks/host_initialize/versions/2/edit?path=playbook.yml": "Leave this file out",
	"/playbooks/host_initialize/versions/2/edit":                   "Add a file to",
	"/address-pool": "10.0.2.103",
	"/events":       "198.51.100.7",
	"/policies":     "recognised for a day",
	"/tokens":       "kl_cd34",
	"/system":       "PostgreSQL 15.9",
	"/web/go?q=h1":  "Compute units",

	"/jobs/" + apitest.JobID + "?view=tasks":                "Make the volumes",
	"/jobs/" + apitest.JobID + "?show=failed&q=<b>&after=3": `value="&lt;b&gt;"`,
}

var (
	inline  = regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|javascript:|<script(>|\s+[^s])`)
	foreign = regexp.MustCompile(`(src|href|action)="(https?:)?//`)
	h1      = regexp.MustCompile(`<h1[ >]`)
	ids     = regexp.MustCompile(`\sid="([^"]+)"`)

	paintsWhole = regexp.MustCompile(`<link rel="expect" href="#whole" blocking="render">(?s:.*)</main>\s*<span id="whole" hidden></span></body>`)
)

// TestEveryPage holds for all pages: they are drawn whole, nothing in them
// needs a laxer content policy, nothing comes from elsewhere, ids are unique.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	for path, want := range pages {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			a := s.get(path)
			s.wantStatus(a, http.StatusOK)
			s.wantText(a, want, "</html>", `lang="en"`)
			if n := len(h1.FindAllString(a.body, -1)); n != 1 {
				t.Errorf("%d headings of the first order", n)
			}
			if m := inline.FindString(a.body); m != "" {
				t.Errorf("inline script or style: %q", m)
			}
			if m := foreign.FindString(a.body); m != "" {
				t.Errorf("something from elsewhere: %q", m)
			}
			if !paintsWhole.MatchString(a.body) {
				t.Error("a browser may paint it before it has read it to its end")
			}
			seen := map[string]bool{}
			for _, m := range ids.FindAllStringSubmatch(a.body, -1) {
				if seen[m[1]] {
					t.Errorf("id %q twice", m[1])
				}
				seen[m[1]] = true
			}
			if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("content policy %q", csp)
			}
			if nosniff := a.Header.Get("X-Content-Type-Options"); nosniff != "nosniff" {
				t.Error("types may be sniffed")
			}
		})
	}
}

func TestTextOfAHostStaysText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	evil := `<img src=x onerror=alert(1)>` + "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07"
	h := apitest.Host()
	h.Facts.Hostname, h.Facts.Devices[1].Model, h.StateMeans = evil, evil, evil
	j := apitest.Job("host_initialize", "failed")
	j.Error.Message = evil
	s.api.Answer("get-host", 200, h)
	s.api.Answer("get-job", 200, j)
	s.api.Answer("get-job-log", 200, api.JobLog{Items: []api.LogEntry{{Sequence: 1, Kind: "output", Output: evil, Task: evil, Message: evil, Diff: evil}}})
	for _, path := range []string{"/hosts/h1", "/jobs/" + apitest.JobID} {
		a := s.get(path)
		s.wantStatus(a, http.StatusOK)
		if strings.Contains(a.body, "<img") || strings.Contains(a.body, `href="https://evil`) {
			t.Errorf("%s: text became markup", path)
		}
		s.wantText(a, "&lt;img src=x")
	}
}

func TestListsKeepTheirFiltersFromPageToPage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("list-hosts", 200, api.Page[api.Host]{Items: []api.Host{apitest.Host()}, NextCursor: "c/2", PreviousCursor: "c/0"})
	a := s.get("/hosts?state=ready&search=h1&cursor=c1&region=")
	s.wantText(a, `href="/hosts?cursor=c%2F2&amp;search=h1&amp;state=ready" rel="next">Next page<`, `href="/hosts?cursor=c%2F0&amp;search=h1&amp;state=ready" rel="prev">Previous page<`,
		`href="/hosts?search=h1&amp;state=ready">First page<`, `value="h1"`)
	if q := s.only("list-hosts").Query; q != "cursor=c1&limit=50&search=h1&state=ready" {
		t.Errorf("the API was asked %q", q)
	}
}

// TestListsAreFilteredByPlaceAndLabels, as people write labels in the forms.
func TestListsAreFilteredByPlaceAndLabels(t *testing.T) {
	t.Parallel()
	for path, route := range map[string]string{"/hosts": "list-hosts", "/compute-units": "list-compute-units", "/allocations": "list-allocations"} {
		s := setup(t)
		a := s.get(path + "?region=eu&zone=a&labels=team%3Dweb,+for%3Dci,&state=allocated")
		s.wantText(a, `name="region" value="eu"`, `name="zone" value="a"`, `name="labels" value="team=web,for=ci"`, ">Clear<")
		if q := s.only(route).Query; q != "labels=team%3Dweb%2Cfor%3Dci&limit=50&region=eu&state=allocated&zone=a" {
			t.Errorf("%s: the API was asked %q", path, q)
		}
		s = setup(t)
		s.wantText(s.get(path), `name="labels" value=""`)
		if q := s.only(route).Query; strings.Contains(q, "labels") || strings.Contains(q, "region") {
			t.Errorf("%s: the API was asked %q", path, q)
		}
	}
}

// TestListsLeadToThePageBefore, each of them, and nowhere from their beginning.
func TestListsLeadToThePageBefore(t *testing.T) {
	t.Parallel()
	for path, list := range map[string]struct {
		route string
		page  any
	}{
		"/hosts":                     {"list-hosts", api.Page[api.Host]{Items: []api.Host{apitest.Host()}, PreviousCursor: "before"}},
		"/compute-units":             {"list-compute-units", api.Page[api.ComputeUnit]{Items: []api.ComputeUnit{apitest.Unit(1, "free")}, PreviousCursor: "before"}},
		"/allocations":               {"list-allocations", api.Page[api.Allocation]{PreviousCursor: "before"}},
		"/jobs":                      {"list-jobs", api.Page[api.Job]{Items: []api.Job{apitest.Job("host_probe", "queued")}, PreviousCursor: "before"}},
		"/plans":                     {"list-plans", api.Page[api.Plan]{PreviousCursor: "before"}},
		"/playbooks":                 {"list-playbooks", api.Page[api.Playbook]{PreviousCursor: "before"}},
		"/playbooks/host_initialize": {"list-playbook-versions", api.Page[api.PlaybookVersion]{PreviousCursor: "before"}},
		"/address-pool":              {"list-addresses", api.Page[api.Address]{Items: []api.Address{{ID: "a", Address: "10.0.0.1"}}, PreviousCursor: "before"}},
		"/events":                    {"list-events", api.Page[api.Event]{Items: []api.Event{{ID: "e", At: apitest.Now}}, PreviousCursor: "before"}},
		"/tokens":                    {"list-tokens", api.Page[api.Token]{PreviousCursor: "before"}},
	} {
		s := setup(t)
		if a := s.get(path); strings.Contains(a.body, "Previous page") {
			t.Errorf("%s leads before its beginning", path)
		}
		s.api.Answer(list.route, 200, list.page)
		a := s.get(path + "?cursor=here")
		if !strings.Contains(a.body, `href="`+path+`?cursor=before" rel="prev">Previous page<`) || !strings.Contains(a.body, `href="`+path+`">First page<`) {
			t.Errorf("%s does not lead back: status %d", path, a.StatusCode)
		}
	}
}

// TestListsAreSortedByTheirHeads: links, so that it works without scripts; the
// filters stay, the cursor of another order does not.
func TestListsAreSortedByTheirHeads(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for path, want := range map[string]string{
		"/hosts":                             `aria-sort="ascending"><a class="sort" href="/hosts?sort=-name">Host</a>`,
		"/hosts?state=ready&sort=state":      `href="/hosts?sort=-state&amp;state=ready">State</a>`,
		"/hosts?sort=-state&cursor=abc":      `aria-sort="descending"><a class="sort" href="/hosts?sort=state">State</a>`,
		"/compute-units?sort=-name":          `href="/compute-units?sort=cpu_count">CPUs</a>`,
		"/allocations?sort=login_user":       `href="/allocations">Made</a>`,
		"/jobs":                              `aria-sort="descending"><a class="sort" href="/jobs?sort=created_at">Asked</a>`,
		"/events?sort=at":                    `aria-sort="ascending"><a class="sort" href="/events">When</a>`,
		"/jobs?sort=kind&state=failed":       `<input type="hidden" name="sort" value="kind"`,
		"/compute-units?host=h1&sort=-state": `href="/compute-units?host=h1">Unit</a>`,
	} {
		a := s.get(path)
		s.wantStatus(a, http.StatusOK)
		if !strings.Contains(a.body, want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
	s.get("/hosts?sort=-state")
	calls := s.api.Calls("list-hosts")
	if q := calls[len(calls)-1].Query; !strings.Contains(q, "sort=-state") {
		t.Errorf("the API was asked for %s", q)
	}
	if a := s.get("/hosts/h1"); strings.Contains(a.body, `class="sort"`) {
		t.Error("the tables of a host's page offer an order that they do not have")
	}
}

// TestColumnsAreChosenInTheAddress: they stay when a list is filtered, sorted
// or turned to the next page, and what is no column is none.
func TestColumnsAreChosenInTheAddress(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("list-hosts", 200, api.Page[api.Host]{Items: []api.Host{apitest.Host()}, NextCursor: "c2"})
	a := s.get("/hosts?col=labels&col=units&col=evil&state=ready")
	s.wantText(a, ">Labels</th>", ">Units</th>", `<input type="hidden" name="col" value="labels">`, `href="/hosts?col=labels&amp;col=units&amp;col=evil&amp;cursor=c2&amp;state=ready"`,
		`sort=-name&amp;state=ready">Host</a>`, `href="/hosts?state=ready">As at first</a>`, `<input type="hidden" name="state" value="ready">`)
	for _, not := range []string{">Memory</th>", ">Seen</th>", `value="evil"`} {
		if strings.Contains(a.body, not) {
			t.Errorf("page has %s", not)
		}
	}
	if q := s.only("list-hosts").Query; q != "limit=50&state=ready" {
		t.Errorf("the API was asked %q", q)
	}
	s.wantText(s.get("/hosts"), ">Memory</th>", ">Seen</th>")
	s.wantText(s.get("/allocations?col=ssh"), "ssh -p 2201 ada@203.0.113.9", ">SSH command</th>")
	s.wantText(s.get("/compute-units?col=mount&min_cpus=2"), "/mnt/kloigos/h1/cu01", `name="min_cpus" value="2"`)
	if q := s.only("list-compute-units").Query; q != "limit=50&min_cpus=2" {
		t.Errorf("the API was asked %q", q)
	}
}

func TestEmptyListsSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, route := range []string{"list-hosts", "list-compute-units", "list-allocations", "list-jobs", "list-plans", "list-addresses", "list-events", "list-playbooks"} {
		s.api.Answer(route, 200, apitest.Page[api.Host]())
	}
	for path, want := range map[string][2]string{
		"/hosts":                    {"No hosts yet", `href="/hosts/new"`},
		"/hosts?state=lost":         {"No host matches", `href="/hosts">Clear<`},
		"/compute-units":            {"No compute units yet", `href="/hosts">Hosts<`},
		"/compute-units?state=free": {"No unit matches", `href="/compute-units">Clear<`},
		"/allocations":              {"No allocations yet", `href="/allocations/new"`},
		"/allocations?state=lost":   {"No allocation matches", `href="/allocations">Clear<`},
		"/jobs":                     {"No jobs yet", `href="/hosts/new"`},
		"/jobs?state=failed":        {"No job matches", `href="/jobs">Clear<`},
		"/jobs?state=ended&playbook=host_probe&version=1": {"No job matches", `href="/jobs">All jobs<`},
		"/plans":                       {"No plans yet", "Create one next to the actions of a host"},
		"/plans?state=ready":           {"No plan matches", `href="/plans">Clear<`},
		"/address-pool":                {"The pool is empty", "Add some here."},
		"/address-pool?state=free":     {"No address matches", `href="/address-pool">Clear<`},
		"/events":                      {"No events", "Nothing has changed yet."},
		"/events?action=host.register": {"No event matches", `href="/events">Clear<`},
		"/playbooks":                   {"No playbooks", "kloigos-backend init"},
	} {
		s.wantText(s.get(path), want[0], want[1])
	}
	s.api.Answer("get-capacity", 200, api.Capacity{})
	s.wantText(s.get("/"), "Start with a host")
}

func TestAssetsAreCachedForEver(t *testing.T) {
	t.Parallel()
	s := setup(t)
	page := s.get("/login", header("Cookie", ""))
	for _, m := range regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		a := s.get(m[1], header("Accept-Encoding", "gzip"))
		s.wantStatus(a, http.StatusOK)
		if c := a.Header.Get("Cache-Control"); c != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %q", m[1], c)
		}
		if e := a.Header.Get("Content-Encoding"); e != "gzip" {
			t.Errorf("%s is not compressed", m[1])
		}
	}
	s.wantStatus(s.get("/static/app.000000000000.css"), http.StatusNotFound)
}

// TestFirstVisitIsSmall: a page and all that it needs, as it goes over the wire, but for the editor.
func TestFirstVisitIsSmall(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, path := range []string{"/login", "/", "/hosts", "/jobs/" + apitest.JobID} {
		page := s.get(path)
		size, assets := len(page.body), map[string]bool{}
		for _, m := range regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page.body, -1) {
			if assets[m[1]] {
				continue
			}
			assets[m[1]] = true
			size += len(s.get(m[1], header("Accept-Encoding", "gzip")).body)
		}
		if len(assets) < 3 || size >= 100_000 {
			t.Errorf("%s: %d bytes, with %d assets", path, size, len(assets))
		}
		t.Logf("%s: %d bytes, %d of them the page", path, size, len(page.body))
	}
}

func TestOverviewNamesWhatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := setup(t)
	failed := apitest.Allocation()
	failed.State, failed.StateMeans = "allocation_failed", "setting it up failed"
	s.api.On("list-allocations", func(w http.ResponseWriter, r *http.Request) {
		items := apitest.Page[api.Allocation]()
		if r.URL.Query().Get("state") == "allocation_failed" {
			items = apitest.Page(failed)
		}
		apitest.JSON(w, items)
	})
	s.api.Answer("list-addresses", 200, apitest.Page[api.Address]())
	a := s.get("/")
	s.wantText(a, "h2: confirm its host key", "h3: set its layout", "ada on h1-cu01: allocation failed")
	if strings.Contains(a.body, "quarantine") {
		t.Error("names addresses that are not there")
	}
}
