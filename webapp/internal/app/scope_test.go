package app

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// sees makes the session one of somebody who sees these workspaces and may do this in
// each of them; without permissions, everything.
func (s *site) sees(workspaces []string, permissions ...string) {
	if permissions == nil {
		permissions = api.Permissions()
	}
	items := make([]api.Scope, 0, len(workspaces))
	for _, path := range workspaces {
		names := strings.Split(path, "/")
		items = append(items, api.Scope{ID: path, Kind: "workspace", Name: names[2], Path: path, Organization: names[0], Project: names[1]})
	}
	s.api.Answer("list-workspaces", 200, apitest.Page(items...))
	s.api.On("whoami", func(w http.ResponseWriter, r *http.Request) {
		who := api.Whoami{Account: "ada", AccountID: "a1", TokenID: apitest.TokenID, TokenKind: "session", Permissions: permissions}
		switch at := r.Header.Get(api.WorkspaceHeader); {
		case slices.Contains(workspaces, at):
			who.Workspace = at
		case at == "" && slices.Contains(workspaces, apitest.Workspace):
			who.Workspace = apitest.Workspace
		case at == "" && len(workspaces) == 1:
			who.Workspace = workspaces[0]
		}
		apitest.JSON(w, who)
	})
}

var severalWorkspaces = []string{"acme/web/live", "acme/web/test", apitest.Workspace}

func TestWhoSeesOneWorkspaceSeesNoSwitcher(t *testing.T) {
	t.Parallel()
	for _, one := range []string{apitest.Workspace, "acme/web/live"} {
		s := setup(t)
		s.sees([]string{one})
		a := s.get("/hosts")
		s.wantStatus(a, http.StatusOK)
		if strings.Contains(a.body, "switcher") || strings.Contains(a.body, `"/w/`) {
			t.Error("the page of a single team knows of workspaces")
		}
		if h := s.only("list-hosts").Header.Get(api.WorkspaceHeader); h != "" {
			t.Errorf("the API was asked about %q", h)
		}
	}
}

func TestAddressesCarryTheWorkspace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sees(severalWorkspaces)
	s.wantRedirectTo(s.get("/hosts?state=ready"), "/w/default/default/default/hosts?state=ready")
	s.wantRedirectTo(s.get("/hosts", header("Cookie", "__Host-kloigos="+apitest.Token+"; kloigos-workspace=acme/web/test")), "/w/acme/web/test/hosts")
	s.wantRedirectTo(s.get("/hosts", header("Cookie", "__Host-kloigos="+apitest.Token+"; kloigos-workspace=other/web/test")), "/w/default/default/default/hosts")

	a := s.get("/w/acme/web/live/hosts?state=ready")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, `href="/w/acme/web/live/hosts/`, `href="/w/acme/web/live/jobs"`, `action="/w/acme/web/live/hosts"`, `hx-get="/w/acme/web/live/hosts?state=ready"`,
		`href="/w/acme/web/test/hosts"`, `action="/w/acme/web/live/web/theme"`, `name="next" value="/w/acme/web/live/hosts?state=ready"`, `src="/static/`)
	if m := regexp.MustCompile(`(href|action|hx-get)="/(hosts|jobs|web|logout|events)[^"]*"`).FindString(a.body); m != "" {
		t.Errorf("%s leads out of the workspace", m)
	}
	if c := strings.Join(a.Header.Values("Set-Cookie"), " "); !strings.Contains(strings.ToLower(c), "kloigos-workspace=acme/web/live") {
		t.Errorf("the workspace is not remembered: %q", c)
	}
	if h := s.only("list-hosts").Header.Get(api.WorkspaceHeader); h != "acme/web/live" {
		t.Errorf("the API was asked about %q", h)
	}

	s.api.Answer("create-channel", http.StatusCreated, webhookChannel())
	s.wantRedirectTo(s.post("/w/acme/web/live/channels/new", url.Values{"name": {"x"}}), "/w/acme/web/live/channels/"+channelID+"?said=channel-created")
	s.wantText(s.get("/w/acme/web/live/channels/"+channelID+"?said=channel-created"), "The channel is added.")
	s.wantText(s.get("/w/acme/web/live"), "Overview")
	s.wantText(s.get("/w/acme/web/live/web/go?q=h1", header("X-Palette", "1")), `data-href="/w/acme/web/live/hosts/`)
	s.wantText(s.get("/w/acme/web/live/jobs/"+apitest.JobID), `data-job="/w/acme/web/live/jobs/`)
	s.wantRedirectTo(s.get("/w/acme/web/live/hosts", header("Cookie", "")), "/login?next=%2Fw%2Facme%2Fweb%2Flive%2Fhosts")
}

// A form that is drawn again, live parts and streams stay in their workspace.
func TestPartsStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sees(severalWorkspaces)
	s.wantText(s.get("/w/acme/web/live/hosts", header("HX-Request", "true")), `href="/w/acme/web/live/hosts/`)
	s.api.On("stream-job-log", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		j := apitest.Job("host_initialize", "succeeded")
		apitest.Event(w, 0, "state", j)
		apitest.Event(w, 0, "end", struct{}{})
	})
	a := s.get("/w/acme/web/live/jobs/"+apitest.JobID+"/stream", header("Accept", "text/event-stream"))
	s.wantText(a, `href="/w/acme/web/live/`)
	if strings.Contains(a.body, `href="/hosts`) {
		t.Error("a stream leads out of the workspace")
	}
	if h := s.only("stream-job-log").Header.Get(api.WorkspaceHeader); h != "acme/web/live" {
		t.Errorf("the stream was asked about %q", h)
	}
}

// What is not there and what may not be seen have the same page.
func TestAWorkspaceThatIsNotVisible(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sees(severalWorkspaces)
	strip := func(a answer, path string) string { return strings.ReplaceAll(a.body, path, "") }
	hidden, none := s.get("/w/other/web/live/tokens"), s.get("/w/noone/web/live/tokens")
	s.wantStatus(hidden, http.StatusNotFound)
	s.wantStatus(none, http.StatusNotFound)
	if a, b := strip(hidden, "other/web/live"), strip(none, "noone/web/live"); a != b {
		t.Errorf("the pages differ:\n%s\n%s", a, b)
	}
	s.wantText(hidden, "Not found", `href="/hosts"`)
	for _, path := range []string{"/w/", "/w/acme", "/w/acme/web", "/w/ACME/web/live/hosts", "/w/acme/web/live/w/acme/web/test/hosts", "/w/acme/web/live/nothing"} {
		s.wantStatus(s.get(path), http.StatusNotFound)
	}
}

// Text of others is never taken for an address, and hidden fields stay as they are.
func TestOnlyAddressesAreRewritten(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sees(severalWorkspaces)
	h := apitest.Host()
	h.Name = `x href="/hosts/evil" y`
	s.api.Answer("list-hosts", 200, apitest.Page(h))
	s.wantText(s.get("/w/acme/web/live/hosts"), `href=&#34;/hosts/evil&#34;`)
}

// The navigation and the palette have what the session may read, and no button that is refused.
func TestPagesShowWhatMayBeDone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var reads []string
	for _, p := range api.Permissions() {
		if strings.HasSuffix(p, ":read") && !strings.HasPrefix(p, "installation.") && !strings.HasSuffix(p, ".event:read") || p == api.Own {
			reads = append(reads, p)
		}
	}
	s.sees([]string{"acme/web/live"}, reads...)
	for path, nots := range map[string][]string{
		"/":             {`href="/policies"`, `href="/system"`, `href="/hosts/new"`, `href="/allocations/new"`, `href="/events"`, `href="/accounts"`},
		"/hosts":        {`href="/hosts/new"`, `action="/hosts/probe"`},
		"/allocations":  {`href="/allocations/new"`},
		"/channels":     {`href="/channels/new"`},
		"/dns-zones":    {`href="/dns-zones/new"`},
		"/address-pool": {`method="post" action="/address-pool"`},
		"/web/go":       {"Register a host", "Allocate a unit", "Policies"},
	} {
		a := s.get(path)
		s.wantStatus(a, http.StatusOK)
		for _, not := range nots {
			if strings.Contains(a.body, not) {
				t.Errorf("%s shows %s to a viewer", path, not)
			}
		}
	}
	s.wantText(s.get("/hosts"), `href="/jobs"`)
}
