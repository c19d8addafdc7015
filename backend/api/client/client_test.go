package client

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
)

// server answers as the API does and remembers what it was asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	calls []*http.Request
}

func setup(t *testing.T, handle http.HandlerFunc) (*server, *Client) {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.calls = append(s.calls, r)
		s.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := New(Config{BaseURL: s.URL, Token: "kl_secret"})
	if err != nil {
		t.Fatal(err)
	}
	c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return s, c
}

func (s *server) seen() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func TestBearerForwardedAndConditionsAreSent(t *testing.T) {
	t.Parallel()
	s, c := setup(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, api.Host{Name: "h1"}) })
	h, err := c.WithForwarded("2001:db8::1").SetLayout(t.Context(), "h 1", api.SetLayout{Count: 2}, IfMatch(7))
	if err != nil || h.Name != "h1" {
		t.Fatalf("SetLayout = %+v, %v", h, err)
	}
	r := s.seen()[0]
	got := map[string]string{}
	for _, name := range []string{"Authorization", "Forwarded", "If-Match", "Content-Type", "Idempotency-Key"} {
		got[name] = r.Header.Get(name)
	}
	want := map[string]string{
		"Authorization": "Bearer kl_secret", "Forwarded": `for="[2001:db8::1]"`, "If-Match": `"7"`,
		"Content-Type": "application/json", "Idempotency-Key": "",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r.URL.EscapedPath() != "/api/v1/hosts/h%201/layout" || r.Method != http.MethodPut {
		t.Errorf("%s %s", r.Method, r.URL.EscapedPath())
	}
}

func TestProblemIsTheError(t *testing.T) {
	t.Parallel()
	_, c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"status":422,"code":"invalid","title":"t","errors":[{"field":"name","message":"m"}]}`)
	})
	_, _, err := c.RegisterHost(t.Context(), api.RegisterHost{})
	var p *api.Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v is no problem", err)
	}
	want := &api.Problem{Status: 422, Code: "invalid", Title: "t", Errors: []api.FieldProblem{{Field: "name", Message: "m"}}}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
}

func TestAnswerOfAProxyBecomesAProblem(t *testing.T) {
	t.Parallel()
	_, c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>bad gateway</html>")
	})
	_, err := c.GetHost(t.Context(), "h1")
	var p *api.Problem
	if !errors.As(err, &p) || p.Status != 502 || p.Code != "http_502" {
		t.Fatalf("error = %#v", err)
	}
}

func TestPostIsRetriedWithTheSameKey(t *testing.T) {
	t.Parallel()
	n := 0
	var s *server
	s, c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			s.CloseClientConnections()
			return
		}
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Location", "/api/v1/jobs/j1")
		answer(w, http.StatusAccepted, api.Host{Name: "h1"})
	})
	h, job, err := c.RegisterHost(t.Context(), api.RegisterHost{Name: "h1"})
	if err != nil || h.Name != "h1" || job != "j1" {
		t.Fatalf("RegisterHost = %v, %q, %v", h.Name, job, err)
	}
	var keys []string
	for _, r := range s.seen() {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("keys of the tries: %q", keys)
	}
}

func TestWhatCantBeRepeatedIsNot(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*Client) error{
		"login": func(c *Client) error { _, err := c.CreateSession(t.Context(), api.Login{}); return err },
		"conditional change": func(c *Client) error {
			_, err := c.SetLayout(t.Context(), "h1", api.SetLayout{}, IfMatch(1))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := setup(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
			if err := call(c); err == nil {
				t.Fatal("no error")
			}
			if n := len(s.seen()); n != 1 {
				t.Errorf("was sent %d times", n)
			}
		})
	}
}

func TestDeleteWhoseAnswerWasLostIsDone(t *testing.T) {
	t.Parallel()
	n := 0
	_, c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answer(w, http.StatusNotFound, api.Problem{Code: "not_found"})
	})
	if err := c.RemoveHost(t.Context(), "h1"); err != nil {
		t.Error(err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s, c := setup(t, nil)
	s.Close()
	if _, err := c.GetHost(t.Context(), "h1"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("error = %v", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	s, c := setup(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	if _, err := c.GetHost(t.Context(), "h1"); err == nil {
		t.Error("no error")
	}
	if n := len(s.seen()); n != 1 {
		t.Errorf("%d requests were made", n)
	}
}

func TestAllFollowsCursorsAndKeepsTheFilter(t *testing.T) {
	t.Parallel()
	s, c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			answer(w, 200, api.Page[api.Host]{Items: []api.Host{{Name: "a"}, {Name: "b"}}, NextCursor: "2"})
		default:
			answer(w, 200, api.Page[api.Host]{Items: []api.Host{{Name: "c"}}})
		}
	})
	var names []string
	for h, err := range c.AllHosts(t.Context(), api.HostFilter{State: "ready", PageQuery: api.PageQuery{Limit: 2}}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if d := cmp.Diff([]string{"a", "b", "c"}, names); d != "" {
		t.Error(d)
	}
	if q := s.seen()[1].URL.RawQuery; q != "cursor=2&limit=2&state=ready" {
		t.Errorf("second page was asked with %q", q)
	}
}

func TestAllEndsWithTheError(t *testing.T) {
	t.Parallel()
	_, c := setup(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 403, api.Problem{Code: "forbidden"}) })
	n := 0
	for _, err := range c.AllJobs(t.Context(), api.JobFilter{}) {
		if n++; err == nil {
			t.Error("no error")
		}
	}
	if n != 1 {
		t.Errorf("yielded %d times", n)
	}
}

func TestCustomCA(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, api.Host{Name: "h1"}) }))
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	for name, given := range map[string][]byte{"known": ca, "unknown": nil} {
		c, err := New(Config{BaseURL: s.URL, CA: given})
		if err != nil {
			t.Fatal(err)
		}
		c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		_, err = c.GetHost(t.Context(), "h1")
		if (err == nil) != (name == "known") {
			t.Errorf("%s authority: %v", name, err)
		}
	}
	if _, err := New(Config{BaseURL: s.URL, CA: []byte("no certificate")}); err == nil {
		t.Error("a CA without a certificate was taken")
	}
}

func TestBadBaseURL(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "127.0.0.1:8080", "ftp://x", "https://", "https://user:secret@x", "https://x?y=z"} {
		if _, err := New(Config{BaseURL: u}); err == nil {
			t.Errorf("%q was taken", u)
		}
	}
}

// TestEveryRouteHasItsMethod holds the client and the table of routes together:
// each route is called once, by its method and path, and no other is.
func TestEveryRouteHasItsMethod(t *testing.T) {
	t.Parallel()
	s, c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stream") {
			fmt.Fprint(w, "event: end\ndata: {}\n\n")
			return
		}
		answer(w, 200, map[string]any{})
	})
	called := reflect.ValueOf(c)
	byOperation := []string{"PlanOf", "ApplyPlan"} // see TestPlansByOperation
	for i := range called.NumMethod() {
		if slices.Contains(byOperation, called.Type().Method(i).Name) {
			continue
		}
		if err := call(t, called.Method(i)); err != nil {
			t.Errorf("%s: %v", called.Type().Method(i).Name, err)
		}
	}
	var want, got []string
	for _, r := range api.Routes {
		path := strings.NewReplacer("{id}", "X", "{key}", "X", "{name}", "X", "{version}", "3").Replace(r.Path)
		want = append(want, r.Method+" "+api.Prefix+path)
	}
	for _, r := range s.seen() {
		got = append(got, r.Method+" "+r.URL.Path)
		if r.URL.RawQuery == "note=X" && (r.Header.Get("Content-Type") != "application/zstd" || r.Header.Get("Idempotency-Key") == "") {
			t.Errorf("an archive goes with %v", r.Header)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	got = slices.Compact(got) // a version goes up in two ways, and all pages of a list are read as one is
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A plan is made and applied by the operation of its action. One that this program does not know is refused, and nothing is asked.
func TestPlansByOperation(t *testing.T) {
	t.Parallel()
	s, c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", api.Prefix+"/jobs/j1")
		answer(w, 202, api.Plan{ID: "p1"})
	})
	plan, err := c.PlanOf(t.Context(), "delete-cluster", "a b", api.DeleteCluster{Confirm: "apps"})
	if err != nil || plan.ID != "p1" {
		t.Errorf("%+v, %v", plan, err)
	}
	job, err := c.ApplyPlan(t.Context(), api.Plan{ID: "p1", Action: "delete-cluster", ObjectID: "c1", Request: []byte(`{"confirm":"apps"}`)})
	if err != nil || job != "j1" {
		t.Errorf("job %q, %v", job, err)
	}
	for _, unknown := range []api.Plan{{}, {Action: "none"}} {
		if _, err := c.ApplyPlan(t.Context(), unknown); err == nil {
			t.Errorf("%+v was applied", unknown)
		}
	}
	var got []string
	for _, r := range s.seen() {
		got = append(got, r.Method+" "+r.URL.EscapedPath()+"?"+r.URL.RawQuery)
	}
	want := []string{"POST " + api.Prefix + "/clusters/a%20b/delete?plan=true", "POST " + api.Prefix + "/clusters/c1/delete?plan_id=p1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// call calls a method that asks the API, with something for each argument. Methods
// without a context ask nothing.
func call(t *testing.T, method reflect.Value) error {
	kind := method.Type()
	if kind.NumIn() == 0 || kind.In(0) != reflect.TypeFor[context.Context]() {
		return nil
	}
	args := []reflect.Value{reflect.ValueOf(t.Context())}
	last := kind.NumIn()
	if kind.IsVariadic() {
		last-- // no options
	}
	for i := 1; i < last; i++ {
		value := reflect.New(kind.In(i)).Elem()
		switch {
		case value.Kind() == reflect.String:
			value.SetString("X")
		case value.CanInt():
			value.SetInt(3)
		case value.Type() == reflect.TypeFor[[]byte]():
			value.SetBytes([]byte("zstd"))
		}
		args = append(args, value)
	}
	for _, out := range method.Call(args) {
		switch v := out.Interface().(type) {
		case error:
			return v
		case io.Closer:
			return v.Close()
		}
		if out.Kind() == reflect.Func { // pages, or a stream
			for _, second := range out.Seq2() {
				if err, failed := second.Interface().(error); failed {
					return err
				}
			}
		}
	}
	return nil
}
