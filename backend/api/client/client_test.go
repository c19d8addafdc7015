package client

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	ctx := t.Context()
	errs := []error{}
	try := func(_ any, err error) { errs = append(errs, err) }
	try2 := func(_ any, _ string, err error) { errs = append(errs, err) }
	try(c.CreateSession(ctx, api.Login{}))
	try(nil, c.DeleteSession(ctx))
	try(c.Whoami(ctx))
	try(c.ListTokens(ctx, api.PageQuery{}))
	try(c.CreateToken(ctx, api.CreateToken{}))
	try(nil, c.DeleteToken(ctx, "ID"))
	try(c.ListHosts(ctx, api.HostFilter{}))
	try2(c.RegisterHost(ctx, api.RegisterHost{}))
	try(c.GetHost(ctx, "ID"))
	try2(c.UpdateHost(ctx, "ID", api.UpdateHost{}))
	try2(c.ProbeHost(ctx, "ID"))
	try2(c.ProbeHosts(ctx, api.ProbeHosts{}))
	try2(c.MeasureHost(ctx, "ID", 3))
	try2(c.ConfirmHostKey(ctx, "ID", api.ConfirmHostKey{}))
	try(c.SetLayout(ctx, "ID", api.SetLayout{}))
	try(c.PreviewLayout(ctx, "ID", api.SetLayout{}))
	try2(c.RelayoutHost(ctx, "ID", api.SetLayout{}))
	try2(c.InitializeHost(ctx, "ID"))
	try2(c.RefenceHost(ctx, "ID"))
	try(c.DrainHost(ctx, "ID"))
	try(c.UndrainHost(ctx, "ID"))
	try2(c.DecommissionHost(ctx, "ID"))
	try(c.DeclareHostLost(ctx, "ID", api.DeclareLost{}))
	try(nil, c.RemoveHost(ctx, "ID"))
	try(c.ListComputeUnits(ctx, api.UnitFilter{}))
	try(c.GetComputeUnit(ctx, "ID"))
	try(c.CloseComputeUnit(ctx, "ID"))
	try(c.OpenComputeUnit(ctx, "ID"))
	try(c.ListAllocations(ctx, api.AllocationFilter{}))
	try2(c.CreateAllocation(ctx, api.CreateAllocation{}))
	try(c.GetAllocation(ctx, "ID"))
	try2(c.ReplaceKeys(ctx, "ID", api.ReplaceKeys{}))
	try2(c.Deallocate(ctx, "ID", api.Deallocate{}))
	try(c.ListAddresses(ctx, api.AddressFilter{}))
	try(c.AddAddresses(ctx, api.AddAddresses{}))
	try(nil, c.RemoveAddress(ctx, "ID"))
	try(c.CloseAddress(ctx, "ID"))
	try(c.OpenAddress(ctx, "ID"))
	try(c.ReleaseAddress(ctx, "ID"))
	try(c.ListDNSZones(ctx, api.DNSZoneFilter{}))
	try(c.CreateDNSZone(ctx, api.CreateDNSZone{}))
	try(c.GetDNSZone(ctx, "ID"))
	try(c.ChangeDNSZone(ctx, "ID", api.ChangeDNSZone{}))
	try(nil, c.DeleteDNSZone(ctx, "ID"))
	try2(c.SyncDNSZone(ctx, "ID"))
	try2(c.ConfirmDNSPlan(ctx, "ID", api.ConfirmDNSPlan{}))
	try(c.AdoptDNSRecord(ctx, "ID", api.AdoptDNSRecord{}))
	try(c.ListDNSForeignRecords(ctx, api.DNSForeignFilter{}))
	try(c.ListDNSRecordSets(ctx, api.DNSRecordSetFilter{}))
	try(c.CreateDNSRecordSet(ctx, api.CreateDNSRecordSet{}))
	try(c.GetDNSRecordSet(ctx, "ID"))
	try(c.ChangeDNSRecordSet(ctx, "ID", api.ChangeDNSRecordSet{}))
	try(nil, c.DeleteDNSRecordSet(ctx, "ID"))
	try2(c.CheckDNSRecordSet(ctx, "ID"))
	try(c.ListPlaybooks(ctx, api.PageQuery{}))
	try(c.GetPlaybook(ctx, "NAME"))
	try(c.ListPlaybookVersions(ctx, "NAME", api.PageQuery{}))
	try(c.GetPlaybookVersion(ctx, "NAME", 3))
	try(c.UploadPlaybook(ctx, "NAME", api.UploadPlaybook{}))
	try(c.UploadPlaybookArchive(ctx, "NAME", []byte("zstd"), "why"))
	try(c.DiffPlaybook(ctx, "NAME", 3, 2))
	try(c.SetDefaultPlaybook(ctx, "NAME", 3))
	try(c.ListPlaybookFiles(ctx, "NAME", 3))
	try(c.GetPlaybookFile(ctx, "NAME", 3, "playbook.yml"))
	body, err := c.DownloadPlaybook(ctx, "NAME", 3)
	try(nil, err)
	_ = body.Close()
	try(c.GetCapacity(ctx))
	try(c.ListJobs(ctx, api.JobFilter{}))
	try(c.GetJob(ctx, "ID"))
	try(c.GetJobLog(ctx, "ID", 0, 0))
	try(c.FindInJobLog(ctx, "ID", api.LogFilter{Search: "x"}))
	try(c.GetJobOutline(ctx, "ID"))
	for _, err := range c.StreamJobLog(ctx, "ID", 0) {
		try(nil, err)
	}
	try2(c.RetryJob(ctx, "ID", api.RetryJob{}))
	try2(c.CancelJob(ctx, "ID"))
	try2(c.GiveUpJob(ctx, "ID"))
	try(c.ListPlans(ctx, api.PlanFilter{}))
	try(c.GetPlan(ctx, "ID"))
	try(c.ListEvents(ctx, api.EventFilter{}))
	try(c.GetSystem(ctx))
	try(c.GetQueue(ctx))
	try(c.PauseQueue(ctx, api.PauseQueue{}))
	try(c.ResumeQueue(ctx))
	try(c.ListPolicies(ctx))
	try(c.GetPolicy(ctx, "NAME"))
	try(c.ListPolicyItems(ctx, "NAME", api.PolicyItemFilter{}))
	try(c.PausePolicy(ctx, "NAME", api.PausePolicy{}))
	try(c.ResumePolicy(ctx, "NAME", api.OfObject{}))
	try(c.RunPolicy(ctx, "NAME", api.OfObject{}))
	try(c.PauseObject(ctx, api.PauseObject{}))
	try(struct{}{}, c.ResumeObject(ctx, api.ThisObject{}))
	try(c.ListConditions(ctx, api.ConditionFilter{}))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, r := range api.Routes {
		path := strings.NewReplacer("{id}", "ID", "{name}", "NAME", "{version}", "3").Replace(r.Path)
		want = append(want, r.Method+" "+api.Prefix+path)
	}
	for _, r := range s.seen() {
		got = append(got, r.Method+" "+r.URL.Path)
		if r.URL.RawQuery == "note=why" && (r.Header.Get("Content-Type") != "application/zstd" || r.Header.Get("Idempotency-Key") == "") {
			t.Errorf("an archive goes with %v", r.Header)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	got = slices.Compact(got) // a version goes up in two ways
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
