package failpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHitEndsOnceForEachFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ends := 0
	first, second := Points{dir: dir, kill: func() { ends++ }}, Points{dir: dir, kill: func() { ends++ }}
	name := PlayDone("host_probe", "playbook.yml")
	first.Hit(name)
	if ends != 0 {
		t.Fatal("ends although it is not armed")
	}
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first.Hit(PlayDone("host_probe", "bootstrap.yml"))
	if ends != 0 {
		t.Fatal("ends at another failpoint")
	}
	first.Hit(name)
	second.Hit(name)
	if ends != 1 {
		t.Fatalf("%d processes end for one file", ends)
	}
}

func TestHitWithoutDirectoryDoesNothing(t *testing.T) {
	t.Parallel()
	var none Points
	none.Hit("anything") // would panic on its nil kill
	In("").Hit("anything")
}

// TestDocumentNamesAll: docs/faults.md is where an author of tests looks.
func TestDocumentNamesAll(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		if row := fmt.Sprintf("| `%s` | %s |", p.Name, p.Means); !strings.Contains(string(text), row) {
			t.Errorf("docs/faults.md lacks the row %q", row)
		}
	}
}
