package app

import (
	"context"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRoutes keeps the list of what the web app answers. The walk with a browser (rig/walk) reads it: it fails for a
// page that it does not visit, so a new one can't be forgotten there.
func TestRoutes(t *testing.T) {
	t.Parallel()
	server, err := New(context.Background(), Config{APIURL: "http://127.0.0.1:1"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range server.GetRoutes(true) {
		if r.Method == http.MethodGet || r.Method == http.MethodPost {
			lines = append(lines, r.Method+" "+r.Path+"\n")
		}
	}
	slices.Sort(lines)
	const golden = "testdata/routes.txt"
	got := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the routes are not those of %s (write it anew with -update):\n%s", golden, diff)
	}
}
