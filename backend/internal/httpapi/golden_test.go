package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var schemaRef = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// What the goldens hold is split by the tag of a route, so that a change of one
// noun changes the files of one noun.

// fileOf is the name of a tag as a file.
func fileOf(tag string) string { return strings.ReplaceAll(tag, " ", "_") }

// noMore fails when a folder of goldens has a file that no tag writes any more.
func noMore(t *testing.T, folder string, tags int) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + folder + "/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != tags {
		t.Errorf("testdata/%s has %d files for %d tags; delete those that no tag writes", folder, len(files), tags)
	}
	for _, f := range files {
		if i, err := os.Stat(f); err != nil || i.Size() == 0 {
			t.Errorf("%s is empty: %v", f, err)
		}
	}
}

// documentByTag cuts an OpenAPI document: for each tag its paths, with the schemas
// that only they use. What several tags use is the part "shared".
func documentByTag(t *testing.T, document []byte) map[string][]byte {
	t.Helper()
	type raw = json.RawMessage
	var doc struct {
		Paths      map[string]map[string]raw `json:"paths"`
		Components map[string]map[string]raw `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components["schemas"]
	users := map[string]map[string]bool{}
	var use func(tag string, text raw)
	use = func(tag string, text raw) {
		for _, m := range schemaRef.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if users[name] == nil {
				users[name] = map[string]bool{}
			}
			if !users[name][tag] {
				users[name][tag] = true
				use(tag, schemas[name])
			}
		}
	}
	type part struct {
		Paths   map[string]map[string]raw `json:"paths,omitempty"`
		Schemas map[string]raw            `json:"schemas,omitempty"`
		Rest    map[string]raw            `json:"rest,omitempty"`
	}
	parts := map[string]*part{}
	of := func(tag string) *part {
		if parts[tag] == nil {
			parts[tag] = &part{Paths: map[string]map[string]raw{}, Schemas: map[string]raw{}}
		}
		return parts[tag]
	}
	for path, methods := range doc.Paths {
		for method, text := range methods {
			var op struct{ Tags []string }
			if err := json.Unmarshal(text, &op); err != nil || len(op.Tags) != 1 {
				t.Fatalf("%s %s: tags %v, %v", method, path, op.Tags, err)
			}
			p := of(op.Tags[0])
			if p.Paths[path] == nil {
				p.Paths[path] = map[string]raw{}
			}
			p.Paths[path][method] = text
			use(op.Tags[0], text)
		}
	}
	for name, text := range schemas {
		where := "shared"
		if len(users[name]) == 1 {
			for tag := range users[name] {
				where = tag
			}
		}
		of(where).Schemas[name] = text
	}
	delete(doc.Components, "schemas")
	var rest map[string]raw
	if err := json.Unmarshal(document, &rest); err != nil {
		t.Fatal(err)
	}
	delete(rest, "paths")
	rest["components"], _ = json.Marshal(doc.Components)
	of("shared").Rest = rest
	out := map[string][]byte{}
	for tag, p := range parts {
		text, err := json.MarshalIndent(p, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out[tag] = append(text, '\n')
	}
	return out
}
