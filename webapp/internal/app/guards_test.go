package app

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"kloigos/backend/api"
)

// TestEveryRouteIsGuarded walks all routes of the web app: no form of another site does anything, each answer has the headers that
// keep a browser from running or framing it, cookies are out of reach of scripts and other sites, and what a client puts into an
// address ends up in no header.
func TestEveryRouteIsGuarded(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	walked := 0
	for _, line := range strings.Split(strings.TrimSpace(string(golden)), "\n") {
		method, path, _ := strings.Cut(line, " ")
		if method == http.MethodGet && (strings.Contains(path, "stream") && !strings.HasPrefix(path, "/event-streams") || path == "/web/healthz" || path == "/web/version") { // it does not end, or is no page
			continue
		}
		walked++
		parts := strings.Split(path, "/")
		for i, p := range parts {
			if strings.HasPrefix(p, ":") || p == "*" {
				parts[i] = "x%0d%0aX-Injected:%20yes"
			}
		}
		path = strings.Join(parts, "/")
		s := setup(t)
		if method == http.MethodPost {
			before := len(s.api.All())
			if a := s.post(path, nil, header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")); a.StatusCode != http.StatusForbidden {
				t.Errorf("%s from another site: %d", line, a.StatusCode)
			}
			for _, c := range s.api.All()[before:] { // the page that refuses says who is logged in
				if r, _ := api.RouteOf(c.Route); r.Method != http.MethodGet {
					t.Errorf("%s from another site called %s", line, c.Route)
				}
			}
		}
		a := s.do(method, path+"?next=%0d%0aX-Injected:%20yes&said=x%0d%0aX-Injected:%20yes", nil)
		if method == http.MethodPost {
			a = s.post(path+"?next=%0d%0aX-Injected:%20yes", map[string][]string{"next": {"/x\r\nX-Injected: yes"}, "name": {"x\r\nX-Injected: yes"}})
		}
		if a.Header.Get("X-Injected") != "" || strings.ContainsAny(a.Header.Get("Location"), "\r\n") {
			t.Errorf("%s: a header of the client's: %v", line, a.Header)
		}
		if l := a.Header.Get("Location"); strings.HasPrefix(l, "//") || strings.Contains(l, "evil") {
			t.Errorf("%s leads to %q", line, l)
		}
		if a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: types may be sniffed: %d", line, a.StatusCode)
		}
		csp := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: content policy %q", line, csp)
		}
		if len(a.Header.Values("Access-Control-Allow-Origin")) > 0 {
			t.Errorf("%s: other origins may read it", line)
		}
		for _, c := range a.Cookies() {
			if !c.Secure || c.SameSite != http.SameSiteLaxMode && c.SameSite != http.SameSiteStrictMode || c.Value != "" && strings.HasSuffix(c.Name, "kloigos") && !c.HttpOnly {
				t.Errorf("%s: cookie %s", line, c.Raw)
			}
		}
	}
	if walked < 200 {
		t.Errorf("only %d routes", walked)
	}
}
