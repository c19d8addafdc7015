package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"kloigos/backend/api"
)

// 32 requests with one key, on two backends at once, make one host, one job
// and one event, and all get the same answer.
func TestSameKeyInParallelIsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, second := b.serve(b.cfg2())
	urls := []string{b.url, second}
	before := b.rows()
	answers := make([]answer, 32)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = b.do(http.MethodPost, urls[i%2]+api.Prefix+"/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, "Idempotency-Key", "one and the same")
		})
	}
	all.Wait()
	first := decode[api.Host](t, answers[0])
	for i, a := range answers {
		if a.status != http.StatusAccepted {
			t.Fatalf("answer %d: %d %s", i, a.status, a.body)
		}
		h := decode[api.Host](t, a)
		if h.ID != first.ID || a.header.Get("Location") != answers[0].header.Get("Location") || a.header.Get("Location") == "" {
			t.Errorf("answer %d: host %s with %s, want %s with %s", i, h.ID, a.header.Get("Location"), first.ID, answers[0].header.Get("Location"))
		}
	}
	want := before
	for _, table := range []string{"hosts 0", "jobs 0", "events 0", "idempotency_keys 0"} {
		want = strings.Replace(want, table, strings.Replace(table, "0", "1", 1), 1)
	}
	if after := b.rows(); after != want {
		t.Errorf("rows:\n%swant:\n%s", after, want)
	}
}

// Different keys for the same thing race for real: one wins, 31 conflict.
func TestDifferentKeysAreDifferentRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status := make([]int, 32)
	var all sync.WaitGroup
	for i := range status {
		all.Go(func() {
			status[i] = b.do(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, "Idempotency-Key", fmt.Sprint("key ", i)).status
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, s := range status {
		count[s]++
	}
	if count[http.StatusAccepted] != 1 || count[http.StatusConflict] != 31 {
		t.Errorf("statuses %v", count)
	}
}

func TestKeysAreGuarded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 202, "Idempotency-Key", "a")
	p := b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h2", Address: "127.0.0.1"}, 422, "Idempotency-Key", "a").problem(t)
	if p.Code != "idempotency_key_reused" {
		t.Errorf("another body: %q", p.Code)
	}
	p = b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "x"}, 422, "Idempotency-Key", "a").problem(t)
	if p.Code != "idempotency_key_reused" {
		t.Errorf("another route: %q", p.Code)
	}
	for _, key := range []string{strings.Repeat("k", 256), "caf\u00e9", "a\tb"} {
		if p := b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h3", Address: "127.0.0.1"}, 422, "Idempotency-Key", key).problem(t); p.Errors[0].Field != "Idempotency-Key" {
			t.Errorf("key %q: %+v", key, p)
		}
	}
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h4", Address: "127.0.0.1"}, 202, "Idempotency-Key", strings.Repeat("k", 255))
	// Keys of one account are not those of another.
	_, other := b.newAccount("other", "administrator")
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h5", Address: "127.0.0.1"}, 202, "Idempotency-Key", "a", "Authorization", "Bearer "+other)
	// What failed did not use its key up.
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 409, "Idempotency-Key", "c")
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h6", Address: "127.0.0.1"}, 202, "Idempotency-Key", "c")
}

// Repeated, each action answers as it did, though its object has moved on and
// would now refuse.
func TestRepeatedActions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	twice := func(path string, body any, status int) (answer, answer) {
		t.Helper()
		a := b.mustDo(http.MethodPost, path, body, status, "Idempotency-Key", path)
		again := b.mustDo(http.MethodPost, path, body, status, "Idempotency-Key", path)
		if a.header.Get("Location") != again.header.Get("Location") {
			t.Errorf("%s: Location %q, then %q", path, a.header.Get("Location"), again.header.Get("Location"))
		}
		return a, again
	}
	twice("/hosts/h1/drain", nil, 200)
	twice("/hosts/h1/undrain", nil, 200)
	twice("/compute-units/h1-cu01/close", nil, 200)
	first, again := twice("/address-pool", api.AddAddresses{Addresses: []api.AddRange{{Range: "10.0.0.1-10.0.0.3"}, {Range: "10.0.0.9"}}}, 201)
	if string(first.body) != string(again.body) || len(decode[api.Page[api.Address]](t, again).Items) != 4 {
		t.Errorf("addresses %s, then %s", first.body, again.body)
	}
	twice("/address-pool/10.0.0.9/close", nil, 200)
	first, again = twice("/allocations", api.CreateAllocation{Unit: "h1-cu02", SSHKeys: []string{sshKey}}, 202)
	a, repeated := decode[api.Allocation](t, first), decode[api.Allocation](t, again)
	if a.ID != repeated.ID || a.LoginUser != repeated.LoginUser || first.header.Get("Location") == "" {
		t.Errorf("allocation %+v, then %+v", a, repeated)
	}
	first, _ = twice("/hosts/h1/measure", nil, 202)
	job := first.header.Get("Location")[strings.LastIndex(first.header.Get("Location"), "/")+1:]
	twice("/jobs/"+job+"/cancel", nil, 202)
	if p := b.mustDo(http.MethodPost, "/jobs/"+job+"/retry", api.RetryJob{FromStep: "wipe"}, 422).problem(t); len(p.Errors) != 1 || p.Errors[0].Field != "from_step" {
		t.Errorf("a retry from a step that there is none of: %+v", p)
	}
	twice("/jobs/"+job+"/retry", api.RetryJob{FromStep: "measure"}, 202)
	b.finishJob(a.ID, a.ActiveJob, nil)
	twice("/allocations/"+a.ID+"/deallocate", api.Deallocate{Confirm: a.LoginUser}, 202)

	token := api.CreateToken{Name: "once"}
	b.mustDo(http.MethodPost, "/tokens", token, 201, "Idempotency-Key", "t")
	p := b.mustDo(http.MethodPost, "/tokens", token, 409, "Idempotency-Key", "t").problem(t)
	if p.Code != "secret_shown_once" {
		t.Errorf("token again: %q", p.Code)
	}
}
