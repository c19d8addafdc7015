// Package sqlguard makes a test fail when a package sends SQL that CockroachDB's
// grammar was never asked about: a statement that is neither a constant of a
// package that holds SQL nor made of the pieces in its golden file of assembled
// statements. Both are what crdb/grammar parses.
//
// It knows nothing of what a statement means.
package sqlguard

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Tracer watches a store; what it does not know is an error of the test.
func Tracer(t testing.TB) pgx.QueryTracer {
	t.Helper()
	k, err := loaded()
	if err != nil {
		t.Fatalf("read the statements of the store: %v", err)
	}
	return tracer{t, k}
}

type tracer struct {
	t     testing.TB
	known *Known
}

var _ pgx.BatchTracer = tracer{}

func (g tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	g.look(data.SQL)
	return ctx
}

// TraceBatchStart sees a batch as it is sent: what it asks for behind an error is
// never answered, and so not told of one by one.
func (g tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		g.look(q.SQL)
	}
	return ctx
}

func (g tracer) look(sql string) {
	if !g.known.Has(sql) {
		g.t.Errorf("a statement that the grammar test does not see is sent; is it a constant of a file *_sql.go, or in a testdata/assembled.sql? (go test ./backend/internal/store -run Assembled -update)\n%s", sql)
	}
}

func (tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Known is all SQL that is known to be sent.
type Known struct {
	constants  map[string]bool
	frames     map[string]bool            // base and tail of assembled statements
	conditions map[string]map[string]bool // by base
}

var loaded = sync.OnceValues(func() (*Known, error) {
	dirs, err := Dirs()
	if err != nil {
		return nil, err
	}
	return Load(dirs...)
})

// backend is the directory backend/internal of the tree that the process stands in, as a test does. (What the
// compiler notes of its files is no path where it was told -trimpath.)
func backend() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "backend", "internal"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the process stands in no tree of Kloigos")
		}
	}
}

// Dirs are the packages of the backend that hold SQL: store, the kernel's db, and
// each that has a file *_sql.go.
func Dirs() ([]string, error) {
	root, err := backend()
	if err != nil {
		return nil, err
	}
	dirs := []string{filepath.Join(root, "store"), filepath.Join(root, "kernel", "db")}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if dir := filepath.Dir(path); err == nil && strings.HasSuffix(path, "_sql.go") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return err
	})
	return dirs, err
}

// Load reads the constants of packages, and the assembled statements that each
// has in testdata/assembled.sql, where each ends with a semicolon.
func Load(dirs ...string) (*Known, error) {
	k := &Known{constants: map[string]bool{}, frames: map[string]bool{}, conditions: map[string]map[string]bool{}}
	for _, dir := range dirs {
		constants, _, err := Constants(dir)
		if err != nil {
			return nil, err
		}
		maps.Copy(k.constants, constants)
		assembled, err := os.ReadFile(filepath.Join(dir, "testdata", "assembled.sql"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		k.add(string(assembled))
	}
	return k, nil
}

func (k *Known) add(assembled string) {
	for sql := range strings.SplitSeq(assembled, ";\n") {
		if sql = comment.ReplaceAllString(sql, ""); strings.TrimSpace(sql) == "" {
			continue
		}
		base, conditions, tail := pieces(sql)
		k.frames[base+"\x00"+tail] = true
		if k.conditions[base] == nil {
			k.conditions[base] = map[string]bool{}
		}
		for _, c := range conditions {
			k.conditions[base][c] = true
		}
	}
}

var (
	// session is what the drivers say around statements.
	session = regexp.MustCompile(`(?i)^(begin|commit|rollback|savepoint|release savepoint)\b`)
	comment = regexp.MustCompile(`(?m)^-- .*\n`)
	value   = regexp.MustCompile(`\$\d+|\bLIMIT \d+$`)
)

// Has tells whether a statement is known.
func (k *Known) Has(sql string) bool {
	if k.constants[strings.TrimSpace(sql)] || session.MatchString(sql) {
		return true
	}
	base, conditions, tail := pieces(sql)
	if !k.frames[base+"\x00"+tail] {
		return false
	}
	for _, c := range conditions {
		if !k.conditions[base][c] {
			return false
		}
	}
	return true
}

// pieces takes a statement of store's list builder apart. Values are all alike,
// and so are limits.
func pieces(sql string) (base string, conditions []string, tail string) {
	sql = value.ReplaceAllStringFunc(strings.TrimSpace(sql), func(v string) string {
		return strings.TrimRight(v, "$0123456789") + "?"
	})
	parts := strings.Split(sql, "\n  AND ")
	last := len(parts) - 1
	if at := strings.LastIndex(parts[last], "\nORDER BY "); at >= 0 {
		parts[last], tail = parts[last][:at], parts[last][at:]
	}
	return parts[0], parts[1:], tail
}

// Constants evaluates every constant string in a package, sums of them too, and
// finds where text that is not constant is turned into a statement.
func Constants(dir string) (constants map[string]bool, conversions []string, err error) {
	set := token.NewFileSet()
	files, err := parse(set, dir)
	if err != nil {
		return nil, nil, err
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	check := types.Config{Error: func(error) {}, Importer: kernel{set}}
	_, _ = check.Check("store", set, files, info)
	constants = map[string]bool{}
	for _, v := range info.Types {
		if v.Value != nil && v.Value.Kind() == constant.String {
			constants[strings.TrimSpace(constant.StringVal(v.Value))] = true
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if typeName(call.Fun) == "Statement" && info.Types[call.Args[0]].Value == nil {
				conversions = append(conversions, filepath.Base(set.Position(call.Pos()).Filename))
			}
			return true
		})
	}
	return constants, conversions, nil
}

// parse reads the Go files of a directory, tests left out.
func parse(set *token.FileSet, dir string) (files []*ast.File, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no sources in %s", dir)
	}
	return files, nil
}

// kernel imports the kernel's packages for their constants. No constant of SQL comes from another one.
type kernel struct{ set *token.FileSet }

func (k kernel) Import(path string) (*types.Package, error) {
	const kernel = "kloigos/backend/internal/kernel/"
	if !strings.HasPrefix(path, kernel) {
		return nil, fmt.Errorf("%s is not read", path)
	}
	root, err := backend()
	if err != nil {
		return nil, err
	}
	files, err := parse(k.set, filepath.Join(root, "kernel", strings.TrimPrefix(path, kernel)))
	if err != nil {
		return nil, err
	}
	check := types.Config{Error: func(error) {}}
	read, _ := check.Check(path, k.set, files, nil) // what it imports itself is not read: its constants are known all the same
	return read, nil
}

// typeName is the last part of a name, or "".
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
