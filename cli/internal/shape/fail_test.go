package shape_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
)

// A limit of requests says when to go on.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "75")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"code": "too_many_requests", "title": "Too Many Requests", "status": 429, "detail": "Too many requests of this API key."}`))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetSystem(t.Context())
	if p := (*api.Problem)(nil); !errors.As(err, &p) || p.RetryAfter != 75 {
		t.Fatalf("%v", err)
	}
	if got, want := shape.Message(err), "Too many requests of this API key.\nRepeat the command in 75 s."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shape.CodeOf(err); got != shape.CodeUnreachable {
		t.Errorf("exit code %d", got)
	}
}
