package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "kloigos/"
	here   = module + "backend/internal/"
)

// arrows are the areas whose core another area's core may call: later areas call
// earlier ones, never the other way.
var arrows = map[string][]string{
	"agent":    {},
	"drift":    {"agent"}, // what agents see
	"dns":      {},        // it reads records with miekg/dns, and sends none
	"iam":      {"dns"},   // which zone a grant is of
	"kube":     {},
	"network":  {},
	"playbook": {},
	"release":  {},
	"watch":    {},
}

// outside are what no area's core imports: it neither speaks HTTP nor talks to a
// machine or a service.
var outside = []string{"github.com/danielgtaylor/huma", "github.com/gofiber", "github.com/apenella", "net/http", "os/exec"}

// shared is what the kernel may import beside itself: it knows no noun either.
var shared = []string{module + "crdb/nodes", module + "backend/api/tlsfile"}

// TestArrows holds which package imports which: the kernel knows no area, an area's
// core knows the kernel and the areas of the table, and only app joins the rest.
func TestArrows(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		for _, i := range file.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			seen++
			if why := refused(strings.TrimPrefix(from, "internal/"), to); why != "" {
				t.Errorf("%s imports %s: %s", path, to, why)
			}
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d imports seen, %v", seen, err)
	}
}

// refused says why a package, below internal, may not import another; "" if it may.
func refused(from, to string) string {
	own, ours := strings.CutPrefix(to, here)
	area, rest := split(from)
	target, part := split(own)
	switch {
	case strings.HasPrefix(from, "kernel/"):
		if strings.HasPrefix(to, module) && !strings.HasPrefix(own, "kernel/") && !slices.Contains(shared, to) {
			return "the kernel knows no noun"
		}
	case area == "" && target != "" && (part == target+"http" || strings.HasPrefix(part, target+"work")) && from != "app" && !strings.HasPrefix(from, "testkit"):
		return "only app joins the parts of an area"
	case area == "":
		return ""
	case strings.HasPrefix(to, module) && !ours && (rest != area+"http" || to != module+"backend/api"):
		return "an area knows the kernel, and its part for HTTP the API's types"
	case ours && strings.HasPrefix(own, "kernel/"), ours && target == area && (rest != "" || part == ""):
		return ""
	case rest == area+"http" && own == "httpapi": // until that is the kernel's
		return ""
	case rest == "" && ours && target != "" && part == "" && slices.Contains(arrows[area], target):
		return ""
	case ours:
		return "it is neither the kernel's nor of an area in the table of arrows"
	case rest == "":
		for _, o := range outside {
			if strings.HasPrefix(to, o) {
				return "an area's core talks to nobody"
			}
		}
	}
	return ""
}

// split is the area of a package, and what of it: "" is its core.
func split(path string) (area, rest string) {
	path, of := strings.CutPrefix(path, "area/")
	if !of {
		return "", ""
	}
	area, rest, _ = strings.Cut(path, "/")
	return area, rest
}

// TestOnlyLookupsFind: a reference is made where the row was read, in a file
// *_sql.go, and nowhere else.
func TestOnlyLookupsFind(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if makesRef(path, string(text)) {
			t.Errorf("%s makes a scope.Ref; leave that to a lookup in a file *_sql.go", path)
		}
		return nil
	})
	if err != nil || seen < 200 {
		t.Errorf("%d files seen, %v", seen, err)
	}
	if !makesRef("area/dns/dnshttp/zone.go", "r := scope.Found[dns.Zone](id, w)") || makesRef("area/dns/zone_sql.go", "scope.Found[Zone](id, w)") || makesRef("a.go", "var r scope.Ref[Zone]") {
		t.Error("the search finds the wrong ones")
	}
}

func makesRef(path, text string) bool {
	return !strings.HasSuffix(path, "_sql.go") && strings.Contains(text, "scope.Found")
}

func TestArrowsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		may      bool
	}{
		{"kernel/db", here + "kernel/fault", true},
		{"kernel/db", here + "area/dns", false},
		{"kernel/db", here + "store", false},
		{"area/dns", here + "kernel/db", true},
		{"area/dns", here + "store", false},
		{"area/dns", here + "area/watch", false},
		{"area/dns", here + "area/dns/dnswork", false},
		{"area/dns", "github.com/gofiber/fiber/v2", false},
		{"area/dns/dnswork/rfc2136", "github.com/miekg/dns", true},
		{"area/dns/dnswork", here + "area/dns", true},
		{"area/dns/dnswork", module + "backend/api", false},
		{"area/dns/dnshttp", module + "backend/api", true},
		{"area/dns/dnshttp", here + "httpapi", true},
		{"area/dns/dnshttp", here + "intent", false},
		{"app", here + "area/dns/dnshttp", true},
		{"httpapi", here + "area/dns/dnshttp", false},
		{"worker", here + "area/dns/dnswork", false},
	} {
		if why := refused(c.from, c.to); (why == "") != c.may {
			t.Errorf("%s imports %s: %q", c.from, c.to, why)
		}
	}
}
