package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// hostileTexts are what a user or a host may put into any text of the API. Each
// carries the mark by which it is known on a page.
var hostileTexts = []string{
	`<script>alert("mark-0")</script>`, `"><img src=x onerror=alert("mark-1")>`, `'><svg onload=alert('mark-2')>`, `javascript:alert("mark-3")`,
	`{{ mark-4 }}${mark-4}<!-- -->`, `</pre></textarea></title><base href=//evil.example/mark-5>`, "https://evil.example/mark-6", "\u202Emark-7\u2066", `" autofocus onfocus=alert(1) x="mark-8`,
	"a\r\nevent: end\r\ndata: mark-9\r\n\r\n", `&lt;mark-10&gt;&amp;`, "\x1b]8;;https://evil.example/mark-11\x1b\\link\x1b[31m", `hx-get="/mark-12" hx-trigger="load"`, `%3Cscript%3Emark-13`,
}

// fill puts a text into every string below v that is free text; what the page
// looks things up by, or draws in its own words, keeps its value.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if v.Type() == reflect.TypeFor[time.Time]() || name == "State" || name == "Kind" || strings.HasSuffix(name, "ID") || name == "NextCursor" {
				continue
			}
			fill(v.Field(i), text)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			raw, _ := json.Marshal(map[string]any{text: text, "list": []string{text}})
			v.SetBytes(raw)
			return
		}
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() && !v.IsNil() {
			v.Set(reflect.ValueOf(map[string]string{text: text}))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(text)
		}
	}
}

// evil answers a route as the samples do, with the text in every field.
func (s *site) evil(text string) {
	client := &http.Client{}
	for _, r := range api.Routes {
		if r.Method != http.MethodGet || strings.Contains(r.ID, "stream") || strings.Contains(r.ID, "download") || r.ID == "whoami" {
			continue
		}
		path := strings.NewReplacer("{name}", "host_initialize", "{version}", "1").Replace(r.Path)
		for _, id := range []string{"h1", apitest.UnitID, apitest.AllocationID, apitest.JobID} {
			req, err := http.NewRequest(http.MethodGet, s.api.URL+api.Prefix+strings.Replace(path, "{id}", id, 1), nil)
			if err != nil {
				s.t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+apitest.Token)
			resp, err := client.Do(req)
			if err != nil {
				s.t.Fatal(err)
			}
			object := answerOf(r.ID)
			if object != nil && resp.StatusCode == http.StatusOK {
				if err := json.NewDecoder(resp.Body).Decode(object); err != nil {
					s.t.Fatalf("%s: %v", r.ID, err)
				}
				fill(reflect.ValueOf(object), text)
				s.api.Answer(r.ID, http.StatusOK, object)
			}
			_ = resp.Body.Close()
		}
	}
}

func answerOf(route string) any {
	switch route {
	case "get-capacity":
		return &api.Capacity{}
	case "list-hosts":
		return &api.Page[api.Host]{}
	case "get-host":
		return &api.Host{}
	case "list-compute-units":
		return &api.Page[api.ComputeUnit]{}
	case "get-compute-unit":
		return &api.ComputeUnit{}
	case "list-allocations":
		return &api.Page[api.Allocation]{}
	case "get-allocation":
		return &api.Allocation{}
	case "list-addresses":
		return &api.Page[api.Address]{}
	case "list-jobs":
		return &api.Page[api.Job]{}
	case "get-job":
		return &api.Job{}
	case "get-job-log":
		return &api.JobLog{}
	case "get-job-outline":
		return &api.LogOutline{}
	case "list-events":
		return &api.Page[api.Event]{}
	case "list-tokens":
		return &api.Page[api.Token]{}
	case "list-playbooks":
		return &api.Page[api.Playbook]{}
	case "list-organizations", "list-projects", "list-workspaces":
		return &api.Page[api.Scope]{}
	case "get-organization", "get-project", "get-workspace":
		return &api.Scope{}
	case "list-grants":
		return &api.Page[api.Grant]{}
	case "list-identity-providers", "list-installation-providers":
		return &api.Page[api.IdentityProvider]{}
	case "get-identity-provider", "get-installation-provider":
		return &api.IdentityProvider{}
	case "list-passkeys":
		return &api.Page[api.Passkey]{}
	case "list-identities":
		return &api.Page[api.Identity]{}
	case "list-linkable-providers":
		return &api.Page[api.LoginProvider]{}
	case "list-usage":
		return &api.Page[api.UsageLine]{}
	case "list-prices":
		return &api.Page[api.Price]{}
	case "get-statement":
		return &api.Statement{}
	case "list-invitations":
		return &api.Page[api.Invitation]{}
	case "list-approval-rules":
		return &api.Page[api.ApprovalRule]{}
	case "get-approval-rule":
		return &api.ApprovalRule{}
	case "list-roles":
		return &api.Page[api.Role]{}
	case "get-role":
		return &api.Role{}
	case "list-members", "list-accounts", "list-service-accounts":
		return &api.Page[api.Account]{}
	case "get-account", "get-service-account":
		return &api.Account{}
	case "list-keys":
		return &api.Page[api.Key]{}
	case "list-quotas":
		return &api.Page[api.Quota]{}
	case "list-organization-events", "list-installation-events":
		return &api.Page[api.Event]{}
	}
	return nil
}

// Text of users and hosts in every field of every answer of the API: it is text
// on every page, whole and escaped. It makes no element, no attribute, no
// address that leads out, and no script, live or not.
func TestHostileTextIsTextOnEveryPage(t *testing.T) {
	t.Parallel()
	plain := map[string]map[string]int{} // path -> what elements the page is made of
	for path := range pages {
		s := setup(t)
		plain[path] = elements(t, s.get(path).body)
	}
	shown := 0
	for i, text := range hostileTexts {
		s := setup(t)
		s.evil(text)
		for path := range pages {
			a := s.get(path)
			if a.StatusCode != http.StatusOK {
				t.Errorf("%s with %q: status %d", path, text, a.StatusCode)
				continue
			}
			if strings.Contains(a.body, fmt.Sprintf("mark-%d", i)) {
				shown++
			}
			if m := inline.FindString(withoutText(t, a.body)); m != "" {
				t.Errorf("%s with %q: inline script or style: %q", path, text, m)
			}
			checkPage(t, path, text, a.body)
			for name, n := range elements(t, a.body) {
				if plain[path][name] == 0 && (name == "script" || name == "img" || name == "svg" || name == "base" || name == "iframe") {
					t.Errorf("%s with %q: %d new <%s>", path, text, n, name)
				}
			}
		}
	}
	if shown < len(hostileTexts)*len(pages)/2 {
		t.Errorf("the texts are shown on %d pages only: this test would show little", shown)
	}
}

func parsed(t *testing.T, body string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func elements(t *testing.T, body string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for n := range parsed(t, body).Descendants() {
		if n.Type == html.ElementNode {
			count[n.Data]++
		}
	}
	return count
}

// withoutText is a page with nothing but its elements and attributes' names.
func withoutText(t *testing.T, body string) string {
	t.Helper()
	var b strings.Builder
	for n := range parsed(t, body).Descendants() {
		if n.Type == html.ElementNode && n.Data != "script" {
			b.WriteString("<" + n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key + "=")
			}
			b.WriteString(">")
		}
	}
	return b.String()
}

func checkPage(t *testing.T, path, text, body string) {
	t.Helper()
	for n := range parsed(t, body).Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch a.Key {
			case "href", "src", "action", "formaction", "hx-get", "hx-post", "sse-connect", "hx-sse":
				// An address within this site, or a place on this page.
				if value != "" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?") || strings.HasPrefix(value, "//") {
					t.Errorf("%s with %q: <%s %s=%q> leads out", path, text, n.Data, a.Key, a.Val)
				}
			case "srcdoc", "style":
				t.Errorf("%s with %q: <%s %s=%q>", path, text, n.Data, a.Key, a.Val)
			}
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s with %q: <%s %s=%q> is a script", path, text, n.Data, a.Key, a.Val)
			}
		}
	}
}

// The text of a host in a live log stays within its event, whatever ends lines
// in it.
func TestHostileTextStaysWithinItsEvent(t *testing.T) {
	t.Parallel()
	for _, text := range append(hostileTexts, "\r", "\n\n", "\r\r\n\nid: 99\nevent: gone", "a\u2028event: end", "a\x85b", "\ufeffdata:") {
		s := setup(t)
		s.api.On("stream-job-log", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			log := apitest.Log()[:1]
			fill(reflect.ValueOf(log), text)
			log[0].Kind = "failed"
			apitest.Event(w, 1, "log", log[0])
			apitest.Event(w, 0, "end", struct{}{})
		})
		a := s.get("/jobs/"+apitest.JobID+"/stream", header("Accept", "text/event-stream"))
		if strings.Contains(a.body, "\r") {
			t.Errorf("%q: a carriage return is in the stream", text)
		}
		var names, ids []string
		for line := range strings.SplitSeq(a.body, "\n") {
			field, value, _ := strings.Cut(line, ":")
			switch field {
			case "event":
				names = append(names, strings.TrimSpace(value))
			case "id":
				ids = append(ids, strings.TrimSpace(value))
			case "data", "retry", "":
			default:
				t.Errorf("%q: the line %q is no field of ours", text, line)
			}
		}
		if got := fmt.Sprint(names, ids); got != "[log end] [1]" {
			t.Errorf("%q: events %s", text, got)
		}
		if nosniff := a.Header.Get("X-Content-Type-Options"); nosniff != "nosniff" {
			t.Errorf("%q: the type may be sniffed", text)
		}
		data := strings.ReplaceAll(a.body, "data: ", "")
		if strings.Contains(data, "<script") || strings.Contains(data, "<img") || strings.Contains(data, "<svg on") {
			t.Errorf("%q became markup: %s", text, data)
		}
	}
}
