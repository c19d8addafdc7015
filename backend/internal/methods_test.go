package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// mostMethods is how many methods a type has at most; those that have more are named in CONTRIBUTING.md.
const mostMethods = 25

var haveMore = map[string]bool{
	"backend/internal/intent.Intents": true, "backend/internal/store.Reads": true, "backend/internal/store.Tx": true,
	"backend/api/client.Client": true,
	"rig/bench.Bed":             true, "rig/demo.Installation": true, "rig/demo.checker": true, "rig/faults.World": true, "rig/kube/kubevm.rig": true, "rig/showcase.world": true,
}

// TestTypesHaveFewMethods: a type that has more methods is several things.
func TestTypesHaveFewMethods(t *testing.T) {
	t.Parallel()
	methods := map[string]int{}
	eachFile(t, func(path string) error {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv != nil {
				methods[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root)+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	for name, n := range methods {
		if (n > mostMethods) != haveMore[name] {
			t.Errorf("%s has %d methods; at most %d, and in the list of this test only while it has more", name, n, mostMethods)
		}
	}
	for name := range haveMore {
		if methods[name] == 0 {
			t.Errorf("%s is in the list, and no such type was found", name)
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
