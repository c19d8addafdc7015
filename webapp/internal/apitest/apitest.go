// Package apitest is an API that speaks the wire contract for tests of the web
// app's own logic: what it shows, sends and says when something goes wrong. It
// decides nothing; the tests say what it answers.
package apitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kloigos/backend/api"
)

// Token opens this API.
const Token = "kl_test-token"

// Now is the time of the samples.
var Now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// Call is a request that came in.
type Call struct {
	Route  string // id in the table of routes
	Path   string
	Query  string
	Header http.Header
	Body   string
}

// Into decodes the body of a call.
func (c Call) Into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.Body), v); err != nil {
		t.Fatalf("body of %s: %v: %s", c.Route, err, c.Body)
	}
}

// API answers with what it was told.
type API struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	calls   []Call
}

// New starts an API that holds the samples. It ends with the test.
func New(t testing.TB) *API {
	t.Helper()
	a := &API{answers: map[string]http.HandlerFunc{}}
	mux := http.NewServeMux()
	for _, r := range api.Routes {
		mux.HandleFunc(r.Method+" "+api.Prefix+r.Path, a.serve(r))
	}
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	a.samples()
	return a
}

func (a *API) serve(route api.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		a.mu.Lock()
		a.calls = append(a.calls, Call{route.ID, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), string(body)})
		answer := a.answers[route.ID]
		a.mu.Unlock()
		switch {
		case route.Permission != "" && r.Header.Get("Authorization") != "Bearer "+Token:
			Problem(w, api.Problem{Status: http.StatusUnauthorized, Code: "unauthenticated", Title: "Log in"})
		case answer == nil:
			Problem(w, api.Problem{Status: http.StatusNotFound, Code: "not_found", Title: "Not found"})
		default:
			answer(w, r)
		}
	}
}

// On sets how a route answers.
func (a *API) On(route string, answer http.HandlerFunc) {
	if _, ok := api.RouteOf(route); !ok {
		panic("no route " + route)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[route] = answer
}

// Answer makes a route answer with status and object; job, if given, is the id
// of the job that was made.
func (a *API) Answer(route string, status int, object any, job ...string) {
	a.On(route, func(w http.ResponseWriter, _ *http.Request) {
		if len(job) > 0 {
			w.Header().Set("Location", api.Prefix+"/jobs/"+job[0])
		}
		write(w, "application/json", status, object)
	})
}

// Refuse makes a route answer with a problem.
func (a *API) Refuse(route string, p api.Problem) {
	a.On(route, func(w http.ResponseWriter, _ *http.Request) { Problem(w, p) })
}

// All returns all calls so far.
func (a *API) All() []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// Calls returns the calls of a route.
func (a *API) Calls(route string) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []Call
	for _, c := range a.calls {
		if c.Route == route {
			all = append(all, c)
		}
	}
	return all
}

// Problem answers with a problem.
func Problem(w http.ResponseWriter, p api.Problem) {
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	write(w, "application/problem+json", p.Status, p)
}

func write(w http.ResponseWriter, contentType string, status int, v any) {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Page is one page of a list, the last one.
func Page[T any](items ...T) api.Page[T] {
	if items == nil {
		items = []T{}
	}
	return api.Page[T]{Items: items}
}

// Event writes one event of a stream.
func Event(w http.ResponseWriter, id int64, name string, v any) {
	raw, _ := json.Marshal(v)
	if id > 0 {
		_, _ = fmt.Fprintf(w, "id: %d\n", id)
	}
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, raw)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// JSON answers with an object.
func JSON(w http.ResponseWriter, v any) { write(w, "application/json", http.StatusOK, v) }
