package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/httpapi"
)

// The queue is paused and resumed once, however often a request is repeated,
// and shows who did it, since when and why.
func TestPauseTheQueue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, http.StatusAccepted)
	q := decode[api.Queue](t, b.mustDo(http.MethodGet, "/queue", nil, http.StatusOK))
	if q.Paused || q.Queued != 1 || q.Running != 0 || q.PausedAt != nil {
		t.Errorf("%+v", q)
	}
	for range 2 {
		q = decode[api.Queue](t, b.mustDo(http.MethodPost, "/queue/pause", api.PauseQueue{Reason: "new switches"}, http.StatusOK, "Idempotency-Key", "p"))
		if !q.Paused || q.PausedBy != "admin" || q.Reason != "new switches" || q.PausedAt == nil || q.Queued != 1 {
			t.Errorf("%+v", q)
		}
	}
	if p := b.mustDo(http.MethodPost, "/queue/pause", api.PauseQueue{Reason: "again"}, http.StatusConflict).problem(t); p.Code != "queue_paused" {
		t.Errorf("%+v", p)
	}
	for range 2 {
		if q = decode[api.Queue](t, b.mustDo(http.MethodPost, "/queue/resume", nil, http.StatusOK, "Idempotency-Key", "r")); q.Paused || q.Reason != "" {
			t.Errorf("%+v", q)
		}
	}
	if p := b.mustDo(http.MethodPost, "/queue/resume", nil, http.StatusConflict).problem(t); p.Code != "queue_not_paused" {
		t.Errorf("%+v", p)
	}
	for _, reason := range []string{"", "   ", "a\nb", strings.Repeat("x", 501)} {
		b.mustDo(http.MethodPost, "/queue/pause", api.PauseQueue{Reason: reason}, http.StatusUnprocessableEntity)
	}
}

// However many ask, a long queue is counted once in a while.
func TestTheQueueIsCountedSeldom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	from := time.Now()
	first := decode[api.Queue](t, b.mustDo(http.MethodGet, "/queue", nil, http.StatusOK))
	b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, http.StatusAccepted)
	if again := decode[api.Queue](t, b.mustDo(http.MethodGet, "/queue", nil, http.StatusOK)); first.Queued != 0 || again.Queued != 0 && time.Since(from) < 2*time.Second {
		t.Errorf("counted at once: %+v, then %+v", first, again)
	}
	for end := time.Now().Add(10 * time.Second); decode[api.Queue](t, b.mustDo(http.MethodGet, "/queue", nil, http.StatusOK)).Queued != 1; {
		if time.Now().After(end) {
			t.Fatal("never counted again")
		}
	}
}

// A backend without the API tells of its health and answers nothing else.
func TestABackendWithoutTheAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httpapi.NewHealth(b.cfg2())
	url := b.listen(server)
	b.mustDo(http.MethodGet, url+"/healthz", nil, http.StatusOK, "Authorization", "")
	b.mustDo(http.MethodGet, url+"/readyz", nil, http.StatusOK, "Authorization", "")
	b.mustDo(http.MethodGet, url+"/metrics", nil, http.StatusUnauthorized, "Authorization", "")
	if text := string(b.mustDo(http.MethodGet, url+"/metrics", nil, http.StatusOK).body); !strings.Contains(text, "kloigos_http_requests_total") {
		t.Errorf("metrics: %.300s", text)
	}
	for _, path := range []string{"/api/v1/whoami", "/api/v1/hosts", "/docs", "/"} {
		if a := b.do(http.MethodGet, url+path, nil); a.status != http.StatusNotFound || a.problem(t).Code != "no_route" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	server.Drain()
	b.mustDo(http.MethodGet, url+"/readyz", nil, http.StatusNotFound)
}
