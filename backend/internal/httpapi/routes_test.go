package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/testkit"
)

// bodies that pass the checks on types, for every route that takes one.
func goodBody(id string) any {
	switch id {
	case "create-session":
		return api.Login{Account: "nobody", Password: "wrong"}
	case "create-token":
		return api.CreateToken{Name: "ci", Days: 1}
	case "register-host":
		return api.RegisterHost{Name: "h9", Address: "127.0.0.1"}
	case "update-host":
		return api.UpdateHost{Labels: &map[string]string{"rack": "r1"}}
	case "probe-hosts":
		return api.ProbeHosts{Hosts: []string{"h1"}}
	case "confirm-host-key":
		return api.ConfirmHostKey{Fingerprint: "SHA256:none"}
	case "set-layout", "preview-layout", "relayout-host":
		return api.SetLayout{Count: 1, CPUsEach: 1}
	case "declare-host-lost":
		return api.DeclareLost{Confirm: "no"}
	case "create-allocation":
		return api.CreateAllocation{CPUs: 1, SSHKeys: []string{sshKey}}
	case "replace-allocation-keys":
		return api.ReplaceKeys{SSHKeys: []string{sshKey}}
	case "deallocate":
		return api.Deallocate{Confirm: "no"}
	case "add-addresses":
		return api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.9.9.9"}}}
	case "upload-playbook":
		return api.UploadPlaybook{Files: map[string]*string{}}
	case "pause-queue":
		return api.PauseQueue{Reason: "new switches"}
	case "pause-policy":
		return api.PausePolicy{Reason: "new switches"}
	case "resume-policy", "run-policy":
		return api.OfObject{}
	case "pause-object":
		return api.PauseObject{ObjectID: "6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11", Reason: "new switches"}
	case "resume-object":
		return api.ThisObject{ObjectID: "6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11"}
	case "retry-job":
		return api.RetryJob{Playbook: "bound"}
	}
	return exampleBody(id)
}

// exampleBody is the example that a route of an area gives (httpapi.Example), a copy of the caller's own; nil if
// it gives none.
func exampleBody(id string) (body any) {
	if example := exampleBodies()[id]; example != nil {
		if err := json.Unmarshal(example, &body); err != nil {
			panic(err)
		}
	}
	return body
}

// exampleBodies reads the API's description once: it has megabytes, and some tests ask for an example before each request.
var exampleBodies = sync.OnceValue(func() map[string]json.RawMessage {
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			RequestBody struct {
				Content map[string]struct{ Example json.RawMessage }
			} `json:"requestBody"`
		}
	}
	if err := json.Unmarshal(bareDocument(), &doc); err != nil {
		panic(err)
	}
	bodies := map[string]json.RawMessage{}
	for _, methods := range doc.Paths {
		for _, op := range methods {
			bodies[op.OperationID] = op.RequestBody.Content["application/json"].Example
		}
	}
	return bodies
})

// bareDocument is the API's description, made without a database.
var bareDocument = sync.OnceValue(func() []byte {
	areas, err := app.NewAreas(app.Parts{})
	if err != nil {
		panic(err)
	}
	return httpapi.New(httpapi.Config{Kinds: areas.Kinds, Areas: areas.Routes, Log: slog.New(slog.DiscardHandler)}).OpenAPI()
})

func pathOf(r api.Route) string {
	p := strings.NewReplacer("{id}", uuid.NewString(), "{key}", uuid.NewString(), "{name}", "host_probe", "{version}", "1").Replace(r.Path)
	switch r.ID {
	case "get-playbook-file":
		p += "?path=playbook.yml"
	case "diff-playbook":
		p += "?against=1"
	}
	return p
}

// Every route, for everyone who may come: what they get stands in the golden
// file. The objects named do not exist, so that what is allowed ends in 404.
func TestEveryRouteForEveryone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, stranger := b.expired("expired")
	api2 := b.apiToken("ci")
	who := []struct{ name, authorization string }{
		{"no token", ""},
		{"bad token", "Bearer kl_" + strings.Repeat("x", 43)},
		{"not a token", "Bearer hello"},
		{"other scheme", "Basic " + b.token},
		{"expired", "Bearer " + stranger},
		{"administrator", "Bearer " + b.token},
		{"administrator's API token", "Bearer " + api2},
	}
	byTag := map[string]*bytes.Buffer{}
	for _, r := range api.Routes {
		if r.ID == "delete-session" {
			continue // below: it ends the token
		}
		out := byTag[r.Tag]
		if out == nil {
			out = new(bytes.Buffer)
			byTag[r.Tag] = out
		}
		fmt.Fprintf(out, "%s %s %s (%s)\n", r.ID, r.Method, r.Path, r.Permission)
		for _, w := range who {
			a := b.do(r.Method, pathOf(r), goodBody(r.ID), "Authorization", w.authorization)
			code := ""
			if a.status >= 400 {
				code = " " + a.problem(t).Code
			}
			fmt.Fprintf(out, "  %-26s %d%s\n", w.name, a.status, code)
			if a.status == http.StatusUnauthorized && r.Permission != "" && a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: 401 without WWW-Authenticate", r.ID)
			}
		}
	}
	for tag, out := range byTag {
		golden(t, "authorization/"+fileOf(tag)+".golden", out.Bytes())
	}
	noMore(t, "authorization", len(byTag))

	b.mustDo(http.MethodDelete, "/sessions/current", nil, http.StatusUnauthorized, "Authorization", "")
	b.mustDo(http.MethodDelete, "/sessions/current", nil, http.StatusNoContent)
	b.mustDo(http.MethodGet, "/whoami", nil, http.StatusUnauthorized)
	b.mustDo(http.MethodGet, "/whoami", nil, http.StatusOK, "Authorization", "Bearer "+api2)
}

// What is refused must be refused before the body is looked at, or the checks
// on types are a service for everyone.
func TestWhoAsksComesBeforeWhatIsAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, r := range api.Routes {
		if r.Permission == "" || goodBody(r.ID) == nil {
			continue
		}
		for _, body := range []string{`{"a":1,"a":2}`, `{"nothing":true}`, `[`} {
			if a := b.do(r.Method, pathOf(r), body, "Authorization", ""); a.status != http.StatusUnauthorized {
				t.Errorf("%s with body %s and no token: %d", r.ID, body, a.status)
			}
		}
	}
}

// Only logging in is open, what the page for it offers, and what a secret link is for.
func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	open := []string{
		"create-session", "confirm-session", "set-password", "list-login-providers", "start-login", "finish-login", "begin-passkey-login", "create-passkey-session",
		"show-offered-role", "join-by-invitation",
	}
	for _, r := range api.Routes {
		if (r.Permission == "") != slices.Contains(open, r.ID) {
			t.Errorf("%s has permission %q", r.ID, r.Permission)
		}
	}
}

// An account without grants may see who it is, and nothing else, whatever exists.
func TestWithoutGrants(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.probed("h1")
	_, guest := b.newAccount("guest", "account")
	for _, path := range []string{"/hosts", "/hosts/h1", "/hosts/" + h.ID, "/hosts/h2", "/hosts/" + uuid.NewString(), "/system", "/policies", "/playbooks"} {
		for _, workspace := range []string{"", domain.DefaultWorkspace.String(), "default/default/default", "no/such/one"} {
			p := b.mustDo(http.MethodGet, path, nil, http.StatusForbidden, "Authorization", "Bearer "+guest, api.WorkspaceHeader, workspace).problem(t)
			if p.Code != "forbidden" {
				t.Errorf("%s: %q", path, p.Code)
			}
		}
	}
	b.mustDo(http.MethodGet, "/whoami", nil, http.StatusOK, "Authorization", "Bearer "+guest)
}

func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parts := documentByTag(t, b.server.OpenAPI())
	for tag, part := range parts {
		golden(t, "openapi/"+fileOf(tag)+".json", part)
	}
	noMore(t, "openapi", len(parts))
	b.mustDo(http.MethodGet, "/openapi.json", nil, http.StatusUnauthorized, "Authorization", "")
	served := b.mustDo(http.MethodGet, "/openapi.json", nil, http.StatusOK)
	if !bytes.Equal(served.body, b.server.OpenAPI()) {
		t.Error("the document that is served is another")
	}
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Permission  string `json:"x-permission"`
		}
	}
	if err := json.Unmarshal(served.body, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("version %q", doc.OpenAPI)
	}
	for _, r := range api.Routes {
		op, ok := doc.Paths[api.Prefix+r.Path][strings.ToLower(r.Method)]
		if !ok || op.OperationID != r.ID || op.Permission != r.Permission {
			t.Errorf("%s: %+v", r.ID, op)
		}
	}
}

func TestOutsideOfTheRoutes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{http.MethodGet, "/nothing", 404, "no_route"},
		{http.MethodGet, "/hosts/", 404, "no_route"},
		{http.MethodGet, "/Hosts", 404, "no_route"},
		{http.MethodPatch, "/hosts", 405, "method_not_allowed"},
		{"BREW", "/hosts", 405, "method_not_allowed"},
		{http.MethodGet, "/hosts/%zz", 400, "bad_url"},
		{http.MethodGet, "/hosts?state=%zz", 400, "bad_url"},
		{http.MethodGet, "/hosts/..%2f..%2fetc", 404, "not_found"},
		{http.MethodGet, "/hosts/%00", 404, "not_found"},
		{http.MethodGet, "/compute-units/%ff", 404, "not_found"},
		{http.MethodGet, "/playbooks/Host_Probe", 404, "not_found"},
		{http.MethodGet, "/address-pool/1.2.3.4", 405, "method_not_allowed"},
	} {
		a := rawRequest(t, b, c.method, api.Prefix+c.path)
		if p := a.problem(t); a.status != c.status || p.Code != c.code {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, a.status, p.Code, c.status, c.code)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodGet, b.url+"/healthz", nil, http.StatusOK, "Authorization", "")
	ready := b.mustDo(http.MethodGet, b.url+"/readyz", nil, http.StatusOK, "Authorization", "")
	if !strings.Contains(string(ready.body), `"database":true`) {
		t.Errorf("ready: %s", ready.body)
	}
	b.mustDo(http.MethodGet, b.url+"/metrics", nil, http.StatusUnauthorized, "Authorization", "")
	metrics := string(b.mustDo(http.MethodGet, b.url+"/metrics", nil, http.StatusOK).body)
	if !strings.Contains(metrics, "kloigos_http_requests_total") {
		t.Errorf("metrics: %.300s", metrics)
	}
	b.server.Drain()
	b.mustDo(http.MethodGet, b.url+"/readyz", nil, http.StatusNotFound)
	b.mustDo(http.MethodGet, "/whoami", nil, http.StatusOK)
}

func TestReadyNeedsEveryCheck(t *testing.T) {
	t.Parallel()
	b := setup(t, failingCheck)
	a := b.mustDo(http.MethodGet, b.url+"/readyz", nil, http.StatusServiceUnavailable, "Authorization", "")
	if strings.Contains(string(a.body), "hunter2") || !strings.Contains(string(a.body), `"keyset":false`) || !strings.Contains(string(a.body), `"broken":false`) {
		t.Errorf("ready: %s", a.body)
	}
	told := testkit.Series(t, string(b.mustDo(http.MethodGet, b.url+"/metrics", nil, http.StatusOK).body))
	if keyset, ok := told[`kloigos_ready{check="keyset"}`]; !ok || keyset != 0 || told[`kloigos_ready{check="database"}`] != 1 {
		t.Errorf("kloigos_ready{check=\"keyset\"} is %v (there: %v)", keyset, ok)
	}
}

func TestDocsPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	page := b.mustDo(http.MethodGet, "/docs", nil, http.StatusOK, "Authorization", "")
	if strings.Contains(string(page.body), "http://") || strings.Contains(string(page.body), "https://") {
		t.Error("the page loads from elsewhere")
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "script-src 'self';") {
		t.Errorf("policy %q", policy)
	}
	for name, kind := range map[string]string{"elements.js": "text/javascript", "elements.css": "text/css", "page.js": "text/javascript", "page.css": "text/css"} {
		for _, encoding := range []string{"gzip", "identity"} {
			a := b.mustDo(http.MethodGet, "/docs/"+name, nil, http.StatusOK, "Authorization", "", "Accept-Encoding", encoding)
			if !strings.HasPrefix(a.header.Get("Content-Type"), kind) || len(a.body) < 100 || a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s as %s: %d bytes, %v", name, encoding, len(a.body), a.header)
			}
		}
	}
}

func TestPlaybooksAsFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := testBundle(t, "host_probe")
	a := b.mustDo(http.MethodGet, "/playbooks/host_probe/versions/1/download", nil, http.StatusOK)
	if !bytes.Equal(a.body, want.Content) || a.header.Get("Content-Type") != "application/zstd" ||
		a.header.Get("Content-Disposition") != `attachment; filename="host_probe-1.tar.zst"` || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d bytes, %v", len(a.body), a.header)
	}
	v := decode[api.Page[api.PlaybookVersion]](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions", nil, http.StatusOK))
	if len(v.Items) != 1 || v.Items[0].SHA256 != want.SHA256 || !v.Items[0].Default || !v.Items[0].Seeded {
		t.Errorf("versions %+v", v)
	}
	files := decode[api.Page[api.PlaybookFile]](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions/1/files", nil, http.StatusOK))
	if !slices.ContainsFunc(files.Items, func(f api.PlaybookFile) bool { return f.Path == "playbook.yml" && f.SizeBytes > 0 }) {
		t.Errorf("files %+v", files)
	}
	f := decode[api.PlaybookFile](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions/1/file?path=playbook.yml", nil, http.StatusOK))
	if !strings.Contains(f.Content, "hosts: all") {
		t.Errorf("file %+v", f)
	}
	for path, status := range map[string]int{
		"/playbooks/host_probe/versions/1/file?path=../etc/passwd": 404, "/playbooks/host_probe/versions/1/file": 422,
		"/playbooks/host_probe/versions/2/files": 404, "/playbooks/host_probe/versions/x/files": 422, "/playbooks/none/versions": 404,
		"/playbooks/host_probe/versions/0/download": 422, "/playbooks/host_probe/versions/99999999999/download": 422,
	} {
		b.mustDo(http.MethodGet, path, nil, status)
	}
}
