package domain_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/domain"
)

var update = flag.Bool("update", false, "write docs/lifecycles.md anew")

func TestDocumentIsFresh(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/lifecycles.md"
	want := domain.Document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/lifecycles.md is not what the tables say (write it with -update):\n%s", diff)
	}
	for _, l := range lives() {
		for _, s := range l.states {
			if !strings.Contains(want, "| `"+s.State+"` |") || !strings.Contains(want, s.Means) {
				t.Errorf("%s %s is not in the document", l.noun, s.State)
			}
		}
	}
}
