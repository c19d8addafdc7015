package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// schema is the part of JSON Schema that the walk needs.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Additional any                `json:"additionalProperties"`
}

type operation struct {
	ID         string `json:"operationId"`
	Parameters []struct {
		Name, In string
	} `json:"parameters"`
	Body *struct {
		Content map[string]struct{ Schema *schema } `json:"content"`
	} `json:"requestBody"`
}

type openAPI struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*schema }
}

func (o openAPI) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = o.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	return s
}

// fields lists the paths of all fields below a schema: "a", "b[]", "b[].c",
// "d{}" for a map.
func (o openAPI) fields(s *schema, prefix string) []string {
	s = o.resolve(s)
	if s == nil {
		return nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := strings.TrimPrefix(prefix+"."+name, ".")
		all = append(all, p)
		all = append(all, o.fields(s.Properties[name], p)...)
	}
	if s.Items != nil {
		all = append(all, prefix+"[]")
		all = append(all, o.fields(s.Items, prefix+"[]")...)
	}
	if _, isMap := s.Additional.(map[string]any); isMap {
		all = append(all, prefix+"{}")
	}
	return all
}

// put returns a copy of a document with a value at a path.
func put(doc any, path string, value any) any {
	if path == "" {
		return value
	}
	switch {
	case strings.HasPrefix(path, "[]"):
		var first any
		if list, ok := doc.([]any); ok && len(list) > 0 {
			first = list[0]
		}
		return []any{put(first, path[2:], value)}
	case strings.HasPrefix(path, "{}"):
		if name, ok := value.(string); ok {
			return map[string]any{"key": value, name: "value"}
		}
		return map[string]any{"key": value}
	}
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path, ".[{")
	if end < 0 {
		end = len(path)
	}
	m, _ := doc.(map[string]any)
	m = maps.Clone(m)
	if m == nil {
		m = map[string]any{}
	}
	m[path[:end]] = put(m[path[:end]], path[end:], value)
	return m
}

func hostileValues(canary string) []any {
	return []any{
		"{{7*7}}", "{{ lookup('pipe', 'touch " + canary + "') }}", "{% raw %}", "$(touch " + canary + ")", "`touch " + canary + "`", "; touch " + canary,
		"-oProxyCommand=touch " + canary, "--upload-pack=touch " + canary, "a\r\nb", "a\x00b", "\u202Eabc", "<script>alert(1)</script>", `'"\`,
		"ansible_connection", "../../etc/passwd", "%s%n", strings.Repeat("x", 100_000), "", "\x1b[31m", "' OR 1=1 --",
		-1, 1 << 40, 1.5, true, nil,
		[]any{},
		map[string]any{},
		[]any{[]any{}},
		map[string]any{"__ansible_unsafe": "x"},
	}
}

// Hostile values in every field, query, path and header of the document: never
// a 5xx, never a panic, every refusal a problem, and text that is taken comes
// back as it was sent.
func TestHostileValuesEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	var doc openAPI
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	values := hostileValues(t.TempDir() + "/canary")
	check := func(what string, a answer) {
		t.Helper()
		switch {
		case a.status >= 500:
			t.Errorf("%s: %d %s", what, a.status, a.body)
		case a.status >= 400:
			a.problem(t)
		}
	}
	tried := 0
	for _, r := range api.Routes {
		op := doc.Paths[api.Prefix+r.Path][strings.ToLower(r.Method)]
		if op.ID != r.ID {
			t.Fatalf("%s is not in the document", r.ID)
		}
		if r.ID == "delete-session" {
			continue
		}
		path := strings.NewReplacer("{id}", "h1", "{name}", "host_probe", "{version}", "1").Replace(r.Path)
		for _, p := range op.Parameters {
			for _, v := range values {
				s, ok := v.(string)
				if !ok {
					continue
				}
				tried++
				what := fmt.Sprintf("%s with %s %s = %.40q", r.ID, p.In, p.Name, s)
				switch p.In {
				case "query":
					if len(s) < 10_000 {
						check(what, b.do(r.Method, path+"?"+url.Values{p.Name: {s}}.Encode(), goodBody(r.ID)))
					}
				case "path":
					if len(s) < 10_000 && s != "" {
						hostile := strings.NewReplacer("{"+p.Name+"}", url.PathEscape(s), "{id}", "h1", "{name}", "host_probe", "{version}", "1").Replace(r.Path)
						check(what, b.do(r.Method, hostile, goodBody(r.ID)))
					}
				case "header":
					if len(s) < 10_000 && !strings.ContainsAny(s, "\r\n\x00\x1b") { // a client can't send those
						check(what, b.do(r.Method, strings.Replace(path, "h1", uuid.NewString(), 1), goodBody(r.ID), p.Name, s))
					}
				}
			}
		}
		if op.Body == nil {
			continue
		}
		var good any
		j, err := json.Marshal(goodBody(r.ID))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(j, &good); err != nil || good == nil {
			t.Fatalf("%s has no good body: %v", r.ID, err)
		}
		for _, field := range doc.fields(op.Body.Content["application/json"].Schema, "") {
			for _, v := range values {
				tried++
				check(fmt.Sprintf("%s with %s = %.40q", r.ID, field, fmt.Sprint(v)), b.do(r.Method, path, put(good, field, v)))
			}
		}
	}
	if tried < 1500 {
		t.Errorf("only %d were tried", tried)
	}
	if log := b.log.String(); strings.Contains(log, "panic") {
		t.Error("something panicked")
	}
	t.Logf("%d values", tried)
}
