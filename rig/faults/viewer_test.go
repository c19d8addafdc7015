package faults

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A raw viewer goes on where its connection broke, and takes nothing twice and
// no gap for good.
func TestRawViewer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		streams []string
		least   int64
		fails   bool
	}{
		"whole":    {streams: []string{"event: state\n\nid: 1\n\nid: 2\n\nevent: end\n\n"}, least: 2},
		"broken":   {streams: []string{"id: 1\n\n", "id: 2\n\nevent: end\n\n"}, least: 2},
		"twice":    {streams: []string{"id: 1\n\nid: 1\n\nevent: end\n\n"}, fails: true},
		"again":    {streams: []string{"id: 1\n\n", "id: 1\n\nid: 2\n\nevent: end\n\n"}, fails: true},
		"with gap": {streams: []string{"id: 1\n\nid: 3\n\nevent: end\n\n"}, fails: true},
		"too few":  {streams: []string{"id: 1\n\nevent: end\n\n"}, least: 2, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
				if want := map[bool]string{true: "1"}[n > 0]; in.Header.Get("Last-Event-ID") != want {
					t.Errorf("connection %d goes on after %q", n, in.Header.Get("Last-Event-ID"))
				}
				_, _ = fmt.Fprint(out, c.streams[min(n, len(c.streams)-1)])
				n++
			}))
			defer server.Close()
			v := viewer{world: &World{}, http: server.Client(), base: server.URL}
			if err := v.follow(t.Context(), c.least); (err != nil) != c.fails {
				t.Error(err)
			}
		})
	}
}

// A slow viewer is served, and nothing else will do.
func TestSlowViewerHearsNothingButWell(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(http.StatusServiceUnavailable) }))
	defer server.Close()
	begun := time.Now()
	if err := (&viewer{world: &World{}, base: server.URL}).crawl(t.Context()); err == nil || time.Since(begun) > time.Minute {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
}
