package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/secret"
)

// number is a whole number of a request: a query or path parameter, or a field
// of a body.
type number struct {
	what     string
	min, max *float64
	send     func(value string) answer
}

// numbers finds every number that the document lets a client send.
func (b *backend) numbers(doc map[string]any) (all []number) {
	b.t.Helper()
	var walk func(schema map[string]any, path string, found func(path string, schema map[string]any))
	walk = func(schema map[string]any, path string, found func(string, map[string]any)) {
		if ref, ok := schema["$ref"].(string); ok {
			schema = doc["components"].(map[string]any)["schemas"].(map[string]any)[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
		}
		if isNumber(schema) {
			found(path, schema)
		}
		if properties, ok := schema["properties"].(map[string]any); ok {
			for name, p := range properties {
				walk(p.(map[string]any), strings.TrimPrefix(path+"."+name, "."), found)
			}
		}
		if items, ok := schema["items"].(map[string]any); ok {
			walk(items, path+"[]", found)
		}
	}
	for _, r := range api.Routes {
		op := doc["paths"].(map[string]any)[api.Prefix+r.Path].(map[string]any)[strings.ToLower(r.Method)].(map[string]any)
		parameters, _ := op["parameters"].([]any)
		for _, p := range parameters {
			p := p.(map[string]any)
			name, schema := p["name"].(string), p["schema"].(map[string]any)
			if !isNumber(schema) {
				continue
			}
			n := number{what: r.ID + " " + p["in"].(string) + " " + name, min: bound(schema, "minimum"), max: bound(schema, "maximum")}
			switch p["in"] {
			case "query":
				n.send = func(value string) answer {
					path, query, _ := strings.Cut(pathOf(r), "?")
					values, _ := url.ParseQuery(query)
					values.Set(name, value)
					return b.do(r.Method, path+"?"+values.Encode(), goodBody(r.ID))
				}
			case "path":
				n.send = func(value string) answer {
					path := strings.NewReplacer("{"+name+"}", value, "{id}", uuid.NewString(), "{name}", "host_probe").Replace(r.Path)
					return b.do(r.Method, path+"?"+afterQuestion(pathOf(r)), goodBody(r.ID))
				}
			default:
				b.t.Errorf("%s: a number of another kind", n.what)
				continue
			}
			all = append(all, n)
		}
		body, _ := op["requestBody"].(map[string]any)
		if body == nil {
			continue
		}
		schema := body["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
		walk(schema, "", func(path string, s map[string]any) {
			all = append(all, number{
				what: r.ID + " body " + path, min: bound(s, "minimum"), max: bound(s, "maximum"),
				send: func(value string) answer {
					var good any
					j, _ := json.Marshal(goodBody(r.ID))
					_ = json.Unmarshal(j, &good)
					sent, err := json.Marshal(put(good, path, json.RawMessage(value)))
					if err != nil {
						b.t.Fatal(err)
					}
					return b.do(r.Method, pathOf(r), string(sent))
				},
			})
		})
	}
	return all
}

func afterQuestion(path string) string {
	_, query, _ := strings.Cut(path, "?")
	return query
}

func isNumber(schema map[string]any) bool {
	is := func(t any) bool { return t == "integer" || t == "number" }
	if types, ok := schema["type"].([]any); ok {
		for _, t := range types {
			if is(t) {
				return true
			}
		}
	}
	return is(schema["type"])
}

func bound(schema map[string]any, name string) *float64 {
	if v, ok := schema[name].(float64); ok {
		return &v
	}
	return nil
}

// Every number of a request has bounds that its column, or what is computed
// with it, can hold. Just outside it is refused, and just inside nothing breaks.
func TestNumbersHaveBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc map[string]any
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	all := b.numbers(doc)
	if len(all) < 40 {
		t.Errorf("only %d numbers were found", len(all))
	}
	for _, n := range all {
		if n.min == nil || n.max == nil {
			t.Errorf("%s has no bounds", n.what)
		}
		values := map[string]bool{ // whether it lies outside
			strconv.FormatInt(math.MaxInt32, 10): false, strconv.FormatInt(math.MaxInt32+1, 10): false, "-1": false,
			strconv.FormatInt(math.MaxInt64, 10): false, strconv.FormatInt(math.MinInt64, 10): false, "9223372036854775808": true,
		}
		if n.min != nil {
			values[strconv.FormatInt(int64(*n.min)-1, 10)] = true
			values[strconv.FormatInt(int64(*n.min), 10)] = false
		}
		if n.max != nil {
			values[strconv.FormatInt(int64(*n.max)+1, 10)] = true
			values[strconv.FormatInt(int64(*n.max), 10)] = false
		}
		for v, outside := range values {
			a := n.send(v)
			switch {
			case a.status >= 500:
				t.Errorf("%s = %s: %d %s", n.what, v, a.status, a.body)
			case outside && a.status != http.StatusUnprocessableEntity:
				t.Errorf("%s = %s is taken: %d %s", n.what, v, a.status, a.body)
			}
		}
	}
	// Objects that exist: a number goes on to the statement.
	h := b.ready("h1")
	job := decode[api.Page[api.Job]](t, b.mustDo(http.MethodGet, "/jobs", nil, 200)).Items[0].ID
	for _, path := range []string{
		"/jobs/" + job + "/log?after=9223372036854775807", "/jobs/" + job + "/log/stream?after=9223372036854775807", "/jobs/" + job + "/log?after=9007199254740992",
		"/jobs?playbook=host_probe&version=2147483648&host=" + h.ID,
	} {
		b.mustDo(http.MethodGet, path, nil, http.StatusUnprocessableEntity)
	}
	b.mustDo(http.MethodGet, "/jobs/"+job+"/log?after=9007199254740991", nil, 200)
	b.mustDo(http.MethodGet, "/jobs?playbook=host_probe&version=2147483647&host="+h.ID, nil, 200)
	b.mustDo(http.MethodGet, "/jobs/"+job+"/log/stream", nil, http.StatusUnprocessableEntity, "Last-Event-ID", "9223372036854775807")
	if a := b.do(http.MethodPost, "/hosts/"+h.ID+"/drain", nil, "If-Match", `"9223372036854775807"`); a.status != http.StatusPreconditionFailed {
		t.Errorf("the largest ETag: %d %s", a.status, a.body)
	}
}

// A cursor of a stranger is refused, as the place in it that its list could hold
// shows. One that is vouched for never holds more than the list's columns can.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	keys, err := secret.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(c *httpapi.Config) { c.Codes = keys })
	b.ready("h1")
	other, err := secret.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	one := uuid.NewString()
	bad := []string{
		`{"t":"a\u0000b","id":"` + one + `"}`, `{"n":-1,"id":"` + one + `"}`, `{"at":"0000-01-01T00:00:00Z","id":"` + one + `"}`, `{"id":"x"}`, `{}`, `null`, `[]`, `"a"`,
		`{"t":7}`, `{"id":"` + one + `","id":"` + one + `"}`, `{"t":"a","n":2147483648,"at":"9999-12-31T23:59:59Z","id":"` + one + `","back":true}`,
		`{"t":"a\u0000b","at":"2026-01-01T00:00:00Z","id":"` + one + `"}`, `{"t":"a\u0000b","n":1,"id":"` + one + `"}`, `{"n":9223372036854775808,"id":"` + one + `"}`,
	}
	edge := []string{ // a column of some list holds it, and others don't
		`{"n":2147483648,"id":"` + one + `"}`, `{"n":9223372036854775807,"id":"` + one + `"}`, `{"at":"9999-12-31T23:59:59Z","id":"` + one + `"}`,
		`{"t":"` + strings.Repeat("x", 200) + `","id":"` + one + `"}`, `{"n":2147483648,"id":"00000000-0000-0000-0000-000000000000"}`, `{"id":"` + one + `","back":true}`,
	}
	good := []string{ // one of them is a place in each list
		`{"t":"a","id":"` + one + `"}`, `{"at":"2026-01-01T00:00:00Z","id":"` + one + `"}`, `{"n":5,"id":"` + one + `"}`, `{"t":"a","n":5,"id":"` + one + `"}`,
		`{"t":"a","at":"2026-01-01T00:00:00Z","id":"` + one + `"}`, `{"t":"a","id":"00000000-0000-0000-0000-000000000000"}`, `{"n":5,"id":"00000000-0000-0000-0000-000000000000"}`,
		`{"id":"` + one + `"}`,
	}
	// What a cursor of a list without filters is bound to, beside its route.
	bound := map[string]string{
		"list-hosts": strings.Repeat("\x00", 5), "list-compute-units": strings.Repeat("\x00", 7) + "0", "list-allocations": strings.Repeat("\x00", 7),
		"list-addresses": strings.Repeat("\x00", 2), "list-jobs": strings.Repeat("\x00", 8) + "0", "list-plans": strings.Repeat("\x00", 4), "list-events": strings.Repeat("\x00", 6),
		"list-playbooks": "\x00", "list-playbook-versions": "\x00host_probe", "list-tokens": "\x00" + b.account.String(),
		"list-policy-items": "\x00host_probe\x00\x00", "list-delivery-targets": "\x00" + uuid.Nil.String() + "\x00",
		"list-playbook-delivery-targets": "\x00" + uuid.Nil.String() + "\x00", "list-release-targets": "\x00" + uuid.Nil.String() + "\x00",
		"list-usage": "\x00" + domain.DefaultOrganization.String() + time.Now().UTC().Format("\x002006-01-") + "01" + time.Now().UTC().Format("\x002006-01-02"),
	}
	for _, r := range api.Routes {
		sorts := b.sorts(r)
		if len(sorts) == 0 {
			continue
		}
		to, known := bound[r.ID]
		if !known { // a list of an area: its filters, none given
			to = strings.Repeat("\x00", max(1, b.filters(r)))
		}
		askWith := func(code func([]byte) []byte, sort, position string) answer {
			cursor := base64.RawURLEncoding.EncodeToString(append(code([]byte(r.ID + to + "\x00" + sort + "\x00" + position))[:16:16], position...))
			return b.do(http.MethodGet, strings.Replace(r.Path, "{name}", "host_probe", 1)+"?"+url.Values{"sort": {sort}, "cursor": {cursor}}.Encode(), nil)
		}
		ask := func(sort, position string) answer {
			return askWith(func(text []byte) []byte { return keys.Vouch("cursor of a list", text) }, sort, position)
		}
		strangers := map[string]func([]byte) []byte{
			"a plain checksum":  func(text []byte) []byte { sum := sha256.Sum256(text); return sum[:] },
			"another keyset":    func(text []byte) []byte { return other.Vouch("cursor of a list", text) },
			"another purpose":   func(text []byte) []byte { return keys.Vouch("something else", text) },
			"no code":           func([]byte) []byte { return make([]byte, 16) },
			"the code of a bit": func(text []byte) []byte { return keys.Vouch("cursor of a list", text[:len(text)-1]) },
		}
		for _, sort := range sorts {
			taken := 0
			for _, position := range good {
				if ask(sort, position).status != http.StatusOK {
					continue
				}
				taken++
				for name, code := range strangers {
					if a := askWith(code, sort, position); a.status != http.StatusUnprocessableEntity {
						t.Errorf("%s by %s with %s: %d %.300s", r.ID, sort, name, a.status, a.body)
					}
				}
			}
			if taken == 0 {
				t.Errorf("%s by %s takes none of the good places: the test does not know what its cursors are bound to", r.ID, sort)
			}
			for _, position := range bad {
				if a := ask(sort, position); a.status != http.StatusUnprocessableEntity {
					t.Errorf("%s by %s from %.100s: %d %.300s", r.ID, sort, position, a.status, a.body)
				}
			}
			for _, position := range edge {
				if a := ask(sort, position); a.status != http.StatusUnprocessableEntity && a.status != http.StatusOK {
					t.Errorf("%s by %s from %.100s: %d %.300s", r.ID, sort, position, a.status, a.body)
				}
			}
		}
	}
}

// filters is how many parameters narrow a list.
func (b *backend) filters(r api.Route) (n int) {
	b.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		b.t.Fatal(err)
	}
	for _, p := range doc.Paths[api.Prefix+r.Path][strings.ToLower(r.Method)].Parameters {
		if p.In == "query" && p.Name != "limit" && p.Name != "cursor" && p.Name != "sort" {
			n++
		}
	}
	return n
}

// sorts are the orders of a route that lists.
func (b *backend) sorts(r api.Route) []string {
	b.t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		b.t.Fatal(err)
	}
	for _, p := range doc.Paths[api.Prefix+r.Path][strings.ToLower(r.Method)].Parameters {
		if p.Name == "sort" {
			return p.Schema.Enum
		}
	}
	return nil
}

// Of two headers a proxy may judge one and this server the other.
func TestHeadersGivenTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := "Bearer " + b.token
	for name, values := range map[string][2]string{
		"Authorization": {good, good}, "authorization": {"Bearer kl_x", good}, "Idempotency-Key": {"a", "b"}, "If-Match": {`"1"`, `"2"`}, "Content-Type": {"application/json", "application/zstd"},
		"Content-Encoding": {"identity", "gzip"}, "Host": {"test", "other"}, "Last-Event-ID": {"1", "2"},
	} {
		request := "GET /api/v1/whoami HTTP/1.1\r\nConnection: close\r\n"
		if name != "Host" {
			request += "Host: test\r\n"
		}
		if !strings.EqualFold(name, "Authorization") {
			request += "Authorization: " + good + "\r\n"
		}
		a := rawBytes(t, b, request+name+": "+values[0]+"\r\n"+strings.ToUpper(name)+": "+values[1]+"\r\n\r\n")
		if p := a.problem(t); a.status != http.StatusBadRequest || p.Code != "bad_request" || name != "Host" && !strings.Contains(strings.ToLower(p.Detail), strings.ToLower(name)) {
			t.Errorf("%s: %d %+v", name, a.status, p)
		}
	}
	a := rawBytes(t, b, "GET /api/v1/whoami HTTP/1.1\r\nConnection: close\r\nHost: test\r\nAuthorization: "+good+"\r\nAccept: a/b\r\nAccept: */*\r\n\r\n")
	if a.status != http.StatusOK {
		t.Errorf("a header that may have several lines: %d %s", a.status, a.body)
	}
}
