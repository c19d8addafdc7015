package httpapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// pick returns what a document has at a path, below whichever of its objects has it.
func pick(doc any, path string) (found []any) {
	switch doc := doc.(type) {
	case []any:
		for _, v := range doc {
			found = append(found, pick(v, path)...)
		}
	case map[string]any:
		for name, v := range doc {
			if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{")) {
				found = append(found, below(v, rest)...)
			}
			found = append(found, pick(v, path)...)
		}
	}
	return found
}

func below(v any, rest string) (found []any) {
	switch inner := v.(type) {
	case []any:
		for _, v := range inner {
			found = append(found, below(v, strings.TrimPrefix(rest, "[]"))...)
		}
	case map[string]any:
		for name, v := range inner {
			if next, ok := strings.CutPrefix(rest, "."+name); ok {
				found = append(found, below(v, next)...)
			}
			if strings.HasPrefix(rest, "{}") {
				found = append(found, name, v)
			}
		}
	default:
		if rest == "" {
			found = append(found, v)
		}
	}
	return found
}

// comesBack tells whether the answer shows the field as it was sent, or not at all.
func comesBack(t testing.TB, body []byte, field, sent string) bool {
	t.Helper()
	if len(body) == 0 {
		return true
	}
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	found := pick(doc, field)
	return len(found) == 0 || slices.Contains(found, any(sent))
}

// fresh makes a good body one that was not sent before, where that matters.
func fresh(good any, route string, n int) any {
	switch route {
	case "register-host":
		return put(good, "name", fmt.Sprintf("fresh%d", n))
	case "upload-playbook":
		files := maps.Clone(good.(map[string]any)["files"].(map[string]any))
		files["playbook.yml"] = fmt.Sprintf("# version %d\n%s", n, files["playbook.yml"])
		return put(good, "files", files)
	default:
		return good
	}
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

// drawn are the values for one place: all where KLOIGOS_ALL_HOSTILE_VALUES is set, else a few, others in each run. Every value
// meets every kind of place all the same, since there are some thousands of places.
type drawn struct {
	all  []any
	some *rand.Rand // nil: all
}

func draw(t *testing.T, canary string) drawn {
	t.Helper()
	d := drawn{all: hostileValues(canary)}
	if os.Getenv("KLOIGOS_ALL_HOSTILE_VALUES") == "" {
		seed, err := strconv.ParseUint(cmp.Or(os.Getenv("KLOIGOS_HOSTILE_SEED"), strconv.FormatInt(time.Now().UnixNano(), 10)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("KLOIGOS_HOSTILE_SEED=%d draws these values", seed)
		d.some = rand.New(rand.NewPCG(seed, 1))
	}
	return d
}

// drawnEach is how many values a place gets in the short form.
const drawnEach = 8

func (d drawn) values(whole bool) []any {
	if whole || d.some == nil {
		return d.all
	}
	few := make([]any, 0, drawnEach)
	for _, i := range d.some.Perm(len(d.all))[:drawnEach] {
		few = append(few, d.all[i])
	}
	return few
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
	canary := t.TempDir() + "/canary"
	values, taken := draw(t, canary), map[string]int{}
	free := []string{"create-token name", "upload-playbook note"} // texts that take everything
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
			for _, v := range values.values(false) {
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
		body := goodBody(r.ID)
		if r.ID == "upload-playbook" {
			body = upload(packaged(t), "")
		}
		j, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(j, &good); err != nil || good == nil {
			t.Fatalf("%s has no good body: %v", r.ID, err)
		}
		for _, field := range doc.fields(op.Body.Content["application/json"].Schema, "") {
			for _, v := range values.values(slices.Contains(free, r.ID+" "+field)) {
				tried++
				what := fmt.Sprintf("%s with %s = %.40q", r.ID, field, fmt.Sprint(v))
				a := b.do(r.Method, path, put(fresh(good, r.ID, tried), field, v))
				check(what, a)
				if s, ok := v.(string); ok && s != "" && a.status < 300 { // "" is what was not given
					taken[r.ID+" "+field]++
					if canonical := []string{"create-dns-zone server", "create-dns-record-set name", "create-service-account name"}; slices.Contains(canonical, r.ID+" "+field) {
						continue // it gets its port; its zone; its organization
					}
					if !comesBack(t, a.body, field, s) {
						t.Errorf("%s was taken, and came back otherwise: %.400s", what, a.body)
					}
				}
			}
		}
	}
	for _, text := range free {
		if taken[text] < 12 {
			t.Errorf("%s took only %d of %d values", text, taken[text], len(values.all))
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a value was run")
	}
	if tried < 1500 {
		t.Errorf("only %d were tried", tried)
	}
	if log := b.log.String(); strings.Contains(log, "panic") {
		t.Error("something panicked")
	}
	t.Logf("%d values", tried)
}
