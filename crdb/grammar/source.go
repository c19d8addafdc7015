package grammar

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Found is a piece of SQL in a Go file.
type Found struct {
	Position string // file:line
	SQL      string
	// Condition: not a statement but what stands behind WHERE, with ? for its values.
	Condition bool
	// Uncheckable says why the piece can't be known before the program runs.
	Uncheckable string
}

// keyword begins a statement; error texts begin in lower case.
var keyword = regexp.MustCompile(`^(?:\s|--[^\n]*\n)*(SELECT|INSERT INTO|UPDATE|UPSERT|DELETE FROM|WITH|CREATE|ALTER|DROP|TRUNCATE|MERGE INTO|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|LISTEN|NOTIFY|LOCK)(\s|$)`)

// condition is what a filter looks like, wherever it is written: a column with its table's alias.
var condition = regexp.MustCompile(`^(?:\(|NOT |EXISTS ?\(|position\()*(?:[a-z]{1,3}\.[a-z_]+|\?) (?:[=<>@~&|]|IN |IS |NOT |LIKE |BETWEEN )|^(?:NOT )?EXISTS ?\(`)

// SourceSQL returns all SQL in the Go files of a directory, tests left out. It knows constants of the package, and of
// others of the module, sums of them, conditions such as `h.state = ?`, and the methods `and(condition, ...)`, `andIf(value, condition)` and
// `Page(order, limit)` that put a list's statement together out of such.
func SourceSQL(dir string) ([]Found, error) {
	fileSet := token.NewFileSet()
	files, err := readSources(fileSet, dir)
	if err != nil {
		return nil, err
	}
	v := newVisitor(fileSet, dir, files)
	for _, file := range files {
		ast.Inspect(file, v.visit)
	}
	return v.found, nil
}

// readSources reads the Go files of a directory, tests left out.
func readSources(fileSet *token.FileSet, dir string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the sources: %w", err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read a source: %w", err)
		}
		file, err := parser.ParseFile(fileSet, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse a source: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

type visitor struct {
	fileSet   *token.FileSet
	constants map[string]ast.Expr
	dir       string
	imports   map[string]string   // paths by name
	packages  map[string]*visitor // others of the module, by path
	found     []Found
}

func newVisitor(fileSet *token.FileSet, dir string, files []*ast.File) *visitor {
	v := &visitor{fileSet: fileSet, constants: constantsOf(files), dir: dir, imports: map[string]string{}, packages: map[string]*visitor{}}
	for _, file := range files {
		for _, spec := range file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			name := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			v.imports[name] = path
		}
	}
	return v
}

// imported returns another package of the module, for its constants; nil if it is none.
func (v *visitor) imported(name string) *visitor {
	const module = "kloigos/"
	path := v.imports[name]
	if p, seen := v.packages[path]; seen || !strings.HasPrefix(path, module) {
		return p
	}
	root, err := filepath.Abs(v.dir)
	if err != nil {
		return nil
	}
	for ; root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
	}
	dir := filepath.Join(root, strings.TrimPrefix(path, module))
	files, err := readSources(v.fileSet, dir)
	if err != nil {
		return nil
	}
	v.packages[path] = newVisitor(v.fileSet, dir, files)
	return v.packages[path]
}

func (v *visitor) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.CallExpr:
		v.list(node)
	case *ast.BinaryExpr:
		if node.Op != token.ADD {
			return true
		}
		v.statement(node)
		return false
	case *ast.BasicLit:
		v.statement(node)
	}
	return true
}

// statement takes an expression if it is SQL: if its constant beginning says so.
func (v *visitor) statement(expr ast.Expr) {
	value, whole := v.evaluate(expr, 0)
	found := Found{Position: v.fileSet.Position(expr.Pos()).String(), SQL: value}
	switch {
	case keyword.MatchString(value):
	case condition.MatchString(value):
		found.Condition = true
	default:
		return
	}
	if !whole {
		found.Uncheckable = "it is put together at run time: use constants, or the list builder"
	}
	v.found = append(v.found, found)
}

// list takes the conditions and orders that are handed to the list builder.
func (v *visitor) list(call *ast.CallExpr) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	at := -1
	switch selector.Sel.Name {
	case "And", "Page":
		at = 0
	case "AndIf":
		at = 1
	}
	if at < 0 || len(call.Args) <= at {
		return
	}
	value, whole := v.evaluate(call.Args[at], 0)
	if !whole || condition.MatchString(value) && selector.Sel.Name != "Page" {
		return // seen where it is written
	}
	found := Found{Position: v.fileSet.Position(call.Args[at].Pos()).String(), SQL: value, Condition: true}
	if selector.Sel.Name == "Page" {
		found.Condition, found.SQL = false, "SELECT FROM t ORDER BY "+value
	}
	v.found = append(v.found, found)
}

// evaluate returns the constant beginning of a string expression and whether that is all of it.
func (v *visitor) evaluate(expr ast.Expr, depth int) (value string, whole bool) {
	const deepest = 50 // a constant that names itself would not compile, but is parsed
	if depth > deepest {
		return "", false
	}
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if expr.Kind != token.STRING {
			return "", false
		}
		value, err := strconv.Unquote(expr.Value)
		return value, err == nil
	case *ast.Ident:
		if constant, ok := v.constants[expr.Name]; ok {
			return v.evaluate(constant, depth+1)
		}
	case *ast.SelectorExpr:
		if name, ok := expr.X.(*ast.Ident); ok {
			if p := v.imported(name.Name); p != nil {
				return p.evaluate(expr.Sel, depth+1)
			}
		}
	case *ast.ParenExpr:
		return v.evaluate(expr.X, depth+1)
	case *ast.BinaryExpr:
		left, whole := v.evaluate(expr.X, depth+1)
		if !whole || expr.Op != token.ADD {
			return left, false
		}
		right, whole := v.evaluate(expr.Y, depth+1)
		return left + right, whole
	}
	return "", false
}

func constantsOf(files []*ast.File) map[string]ast.Expr {
	constants := make(map[string]ast.Expr)
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			decl, ok := node.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				return true
			}
			for _, spec := range decl.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, name := range value.Names {
					if i < len(value.Values) {
						constants[name.Name] = value.Values[i]
					}
				}
			}
			return true
		})
	}
	return constants
}
