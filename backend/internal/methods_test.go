package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// mostMethods is how many methods a type has at most; those that are still to shrink are named in CONTRIBUTING.md.
const mostMethods = 25

var stillToShrink = map[string]bool{"area/iam/iamhttp.handlers": true, "area/kube/kubework.steps": true, "area/kube/kubework/kubeapi.Client": true, "httpapi.Server": true, "intent.Intents": true, "store.Reads": true, "store.Tx": true, "worker.run": true}

// A type that has more methods is several things.
func TestTypesHaveFewMethods(t *testing.T) {
	t.Parallel()
	methods := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv != nil {
				methods[filepath.ToSlash(filepath.Dir(path))+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range methods {
		if (n > mostMethods) != stillToShrink[name] {
			t.Errorf("%s has %d methods; at most %d, and in the list of this test only while it has more", name, n, mostMethods)
		}
	}
	if len(methods) < 100 {
		t.Errorf("only %d types were found", len(methods))
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
