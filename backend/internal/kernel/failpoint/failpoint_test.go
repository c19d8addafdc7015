package failpoint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		if row := fmt.Sprintf("| `%s` | %s |", p.Name, p.Means); !strings.Contains(string(text), row) {
			t.Errorf("docs/faults.md lacks the row %q", row)
		}
	}
}

// TestAllAreMet: a failpoint that is in no code, or in no list, is one that a
// test of faults arms in vain, or never.
func TestAllAreMet(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, p := range All() {
		listed = append(listed, p.Name)
	}
	slices.Sort(listed)
	named := constants(t)
	named["PlayDone"] = PlayDone("<playbook>", "<file>")
	named["CallDone"] = CallDone("<kind>")
	met := map[string]bool{}
	for place, name := range hits(t) {
		value, ok := named[name]
		if !ok {
			t.Errorf("%s: %s is not a failpoint", place, name)
		}
		met[value] = true
	}
	if all := slices.Sorted(maps.Values(named)); !slices.Equal(all, listed) {
		t.Errorf("there are %q, listed are %q", all, listed)
	}
	if all := slices.Sorted(maps.Keys(met)); !slices.Equal(all, listed) {
		t.Errorf("the code comes to %q, listed are %q", all, listed)
	}
}

// constants are the package's exported ones, by name.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "failpoint.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if literal, ok := spec.Values[i].(*ast.BasicLit); ok && name.IsExported() {
				found[name.Name] = strings.Trim(literal.Value, `"`)
			}
		}
		return true
	})
	return found
}

// hits are the names that the backend's code calls Hit with, by their place.
func hits(t *testing.T) map[string]string {
	t.Helper()
	found, files := map[string]string{}, token.NewFileSet()
	err := filepath.WalkDir(filepath.Join("..", "..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := hit(n); ok {
				found[files.Position(n.Pos()).String()] = name
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// hit tells whether a node is x.Hit(failpoint.Name) or x.Hit(failpoint.Name(...)), and the name; what it cannot read is
// none that there is.
func hit(n ast.Node) (name string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	if does, ok := call.Fun.(*ast.SelectorExpr); !ok || does.Sel.Name != "Hit" {
		return "", false
	}
	what := call.Args[0]
	if inner, ok := what.(*ast.CallExpr); ok {
		what = inner.Fun
	}
	point, ok := what.(*ast.SelectorExpr)
	if !ok {
		return "(something computed)", true
	}
	return point.Sel.Name, true
}
