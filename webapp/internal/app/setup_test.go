package app

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"kloigos/webapp/internal/apitest"
)

// site is the web app over an API of the test's own.
type site struct {
	t   *testing.T
	api *apitest.API
	app *fiber.App
}

// samples are what the API holds for the pages of areas.
var samples []func(*apitest.API)

// addPages adds pages of an area to those that all checks walk, each with what must stand on it, and what the API answers for them.
func addPages(more map[string]string, answers func(*apitest.API)) bool {
	maps.Copy(pages, more)
	samples = append(samples, answers)
	return true
}

func setup(t *testing.T) *site {
	t.Helper()
	closing, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	api := apitest.New(t)
	for _, more := range samples {
		more(api)
	}
	server, err := New(closing, Config{
		APIURL: api.URL, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/32")},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, api: api, app: server}
}

type answer struct {
	*http.Response
	body string
}

// do sends a request as a browser with a session would.
func (s *site) do(method, path string, form url.Values, change ...func(*http.Request)) answer {
	s.t.Helper()
	var body io.Reader = http.NoBody
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, path, body)
	r.Host = "kloigos.example"
	r.Header.Set("Cookie", "__Host-kloigos="+apitest.Token)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method != http.MethodGet {
		r.Header.Set("Origin", "https://kloigos.example")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, c := range change {
		c(r)
	}
	resp, err := s.app.Test(r, -1)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{resp, string(raw)}
}

func (s *site) get(path string, change ...func(*http.Request)) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, nil, change...)
}

func (s *site) post(path string, form url.Values, change ...func(*http.Request)) answer {
	s.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	return s.do(http.MethodPost, path, form, change...)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

func (s *site) wantStatus(a answer, status int) {
	s.t.Helper()
	if a.StatusCode != status {
		s.t.Fatalf("status %d, want %d; Location %q\n%s", a.StatusCode, status, a.Header.Get("Location"), a.body)
	}
}

func (s *site) wantText(a answer, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(a.body, p) {
			s.t.Errorf("page lacks %q", p)
		}
	}
	if s.t.Failed() {
		s.t.Log(a.body)
	}
}

// wantRedirect checks that the form was taken and where it leads.
func (s *site) wantRedirect(a answer, to string) {
	s.t.Helper()
	s.wantStatus(a, http.StatusSeeOther)
	if got := a.Header.Get("Location"); got != to {
		s.t.Errorf("leads to %q, want %q", got, to)
	}
}

// only returns the one call of a route.
func (s *site) only(route string) apitest.Call {
	s.t.Helper()
	calls := s.api.Calls(route)
	if len(calls) != 1 {
		s.t.Fatalf("%s was called %d times", route, len(calls))
	}
	return calls[0]
}

// wantRedirectTo is for pages that are asked for again elsewhere.
func (s *site) wantRedirectTo(a answer, to string) {
	s.t.Helper()
	if got := a.Header.Get("Location"); a.StatusCode/100 != 3 || got != to {
		s.t.Errorf("status %d leads to %q, want %q", a.StatusCode, got, to)
	}
}
