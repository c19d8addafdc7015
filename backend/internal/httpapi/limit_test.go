package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/scope"
)

// Two backends limit an account together: what is left is the same at both, and nobody else's requests count for it.
func TestLimitsHoldAcrossBackends(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limited := func() (*httpapi.Server, string) {
		cfg := b.cfg2()
		cfg.Limits = httpapi.Limits{Account: 0.02, Burst: 1000 * time.Second} // 20 at once, then one in 50 s
		return b.serve(cfg)
	}
	one, first := limited()
	two, second := limited()
	busy := b.granted("busy", "viewer", scope.Organization, domain.DefaultOrganization)
	other := b.granted("other1", "viewer", scope.Organization, domain.DefaultOrganization)
	ask := func(base, token string) answer {
		return b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Authorization", "Bearer "+token)
	}
	through := func(base string, of int) (n int, last answer) {
		for range of {
			if last = ask(base, busy); last.status == http.StatusOK {
				n++
			}
		}
		return n, last
	}
	if n, _ := through(first, 14); n != 14 {
		t.Errorf("%d of 14 got through at the first", n)
	}
	if n, _ := through(second, 2); n != 2 {
		t.Errorf("%d of 2 got through at the second", n)
	}
	one.SyncLimits(t.Context())
	two.SyncLimits(t.Context())
	n, refused := through(second, 12)
	if n < 4 || n > 6 || refused.status != http.StatusTooManyRequests {
		t.Errorf("%d more got through at the second, then %d", n, refused.status)
	}
	if wait, err := strconv.Atoi(refused.header.Get("Retry-After")); err != nil || wait < 1 || wait > 50 {
		t.Errorf("Retry-After is %q", refused.header.Get("Retry-After"))
	}
	if p := refused.problem(t); p.Code != "too_many_requests" {
		t.Errorf("refused by %+v", p)
	}
	two.SyncLimits(t.Context())
	one.SyncLimits(t.Context())
	if n, _ := through(first, 6); n > 2 {
		t.Errorf("%d more got through at the first", n)
	}
	if a := ask(second, other); a.status != http.StatusOK {
		t.Errorf("another account: %d", a.status)
	}
}

// A key that asks too much does not keep its account from asking.
func TestAKeyIsLimitedByItself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := b.cfg2()
	cfg.Limits = httpapi.Limits{Account: 1000, Key: 0.002, Burst: 1000 * time.Second}
	_, base := b.serve(cfg)
	key := b.apiToken("runaway")
	statuses := map[int]int{}
	for range 5 {
		statuses[b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Authorization", "Bearer "+key).status]++
	}
	if statuses[200] != 2 || statuses[429] != 3 {
		t.Errorf("answers %v", statuses)
	}
	if a := b.do(http.MethodGet, base+api.Prefix+"/jobs", nil); a.status != 200 {
		t.Errorf("the account: %d", a.status)
	}
}

// Strangers of one address are limited, of IPv6 all of a /64. Who has a token gets through from the same address, and so does everybody
// from another one.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := b.cfg2()
	trusted("127.0.0.1/32")(&cfg)
	cfg.Limits = httpapi.Limits{Account: 1000, Address: 0.005, Burst: 1000 * time.Second} // 5 at once
	_, base := b.serve(cfg)
	for name, ask := range map[string]func(from string) answer{
		"a wrong token": func(from string) answer {
			return b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Authorization", "Bearer kl_"+api.Prefix, "Forwarded", "for="+from)
		},
		"no token": func(from string) answer {
			return b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Authorization", "", "Forwarded", "for="+from)
		},
		"a wrong password": func(from string) answer {
			return b.do(http.MethodPost, base+api.Prefix+"/sessions", api.Login{Account: "nobody", Password: "wrong"}, "Authorization", "", "Forwarded", "for="+from)
		},
	} {
		first, near, far := "203.0.113.5", "203.0.113.5", "203.0.113.6"
		switch name {
		case "no token":
			first, near, far = `"[2001:db8:1:2::1]"`, `"[2001:db8:1:2:3::1]"`, `"[2001:db8:1:3::1]"`
		case "a wrong password":
			first, near, far = "198.51.100.1", "198.51.100.1", "198.51.100.2"
		}
		for i := range 5 {
			if a := ask(first); a.status != http.StatusUnauthorized {
				t.Fatalf("%s, try %d: %d", name, i+1, a.status)
			}
		}
		refused := ask(near)
		if refused.status != http.StatusTooManyRequests || refused.header.Get("Retry-After") == "" {
			t.Errorf("%s, after five: %d", name, refused.status)
		}
		if a := b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Forwarded", "for="+near); a.status != http.StatusOK {
			t.Errorf("%s: with a token from the same address: %d", name, a.status)
		}
		if a := ask(far); a.status != http.StatusUnauthorized {
			t.Errorf("%s, from another address: %d", name, a.status)
		}
	}
	// What nobody told from whom it is, and what tells of no object, is not limited.
	for range 8 {
		if a := b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Authorization", ""); a.status != http.StatusUnauthorized {
			t.Fatalf("from the proxy itself: %d", a.status)
		}
		if a := b.do(http.MethodGet, base+"/healthz", nil, "Forwarded", "for=203.0.113.5"); a.status != http.StatusOK {
			t.Fatalf("/healthz: %d", a.status)
		}
	}
}

// Without the table of levels a backend limits by what it counted itself.
func TestLimitsHoldWithoutTheTable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := b.cfg2()
	cfg.Limits = httpapi.Limits{Account: 0.005, Burst: 1000 * time.Second} // 5 at once
	one, base := b.serve(cfg)
	b.sql("ALTER TABLE request_levels RENAME TO levels_elsewhere")
	statuses := map[int]int{}
	for range 8 {
		statuses[b.do(http.MethodGet, base+api.Prefix+"/jobs", nil).status]++
		one.SyncLimits(t.Context())
	}
	if statuses[200] != 5 || statuses[429] != 3 {
		t.Errorf("answers %v", statuses)
	}
}

// The page of a web app asks for many people: each counts for their own session.
func TestAWebAppIsNotLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := b.cfg2()
	trusted("127.0.0.1/32")(&cfg)
	cfg.Limits = httpapi.Limits{Account: 0.003, Address: 0.002, Burst: 1000 * time.Second} // 3 and 2 at once
	_, base := b.serve(cfg)
	for _, name := range []string{"anna", "bert", "carl", "dora"} {
		token := b.granted(name, "viewer", scope.Organization, domain.DefaultOrganization)
		for i := range 4 {
			a := b.do(http.MethodGet, base+api.Prefix+"/jobs", nil, "Authorization", "Bearer "+token, "Forwarded", "for=203.0.113.9")
			if want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 3]; a.status != want {
				t.Errorf("%s, request %d: %d", name, i+1, a.status)
			}
		}
	}
}

// Every route says that it may answer 429.
func TestEveryRouteTellsOfLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string         `json:"operationId"`
			Responses   map[string]any `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	told := []string{}
	for _, path := range doc.Paths {
		for _, op := range path {
			if op.Responses["429"] == nil {
				t.Errorf("%s does not tell of 429", op.OperationID)
			}
			told = append(told, op.OperationID)
		}
	}
	for _, r := range api.Routes {
		if !slices.Contains(told, r.ID) {
			t.Errorf("%s is not described", r.ID)
		}
	}
}
