package app

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const playbookPath = "/playbooks/host_initialize"

// upload sends the form with which an artifact is brought in, as a browser does.
func (s *site) upload(archive []byte, fields map[string]string) answer {
	s.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			s.t.Fatal(err)
		}
	}
	if archive != nil {
		part, err := w.CreateFormFile("archive", `..\..\"><b>.tar.zst`)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := part.Write(archive); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.do(http.MethodPost, playbookPath+"/versions", url.Values{}, func(r *http.Request) {
		*r = *httptest.NewRequest(http.MethodPost, playbookPath+"/versions", &body).WithContext(r.Context())
		r.Host = "kloigos.example"
		r.Header.Set("Cookie", "__Host-kloigos="+apitest.Token)
		r.Header.Set("Origin", "https://kloigos.example")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", w.FormDataContentType())
	})
}

func TestBringAVersionIn(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get(playbookPath), `enctype="multipart/form-data"`, `type="file"`, "2 findings", "a message of the day")
	s.api.Answer("upload-playbook", http.StatusCreated, apitest.PlaybookVersion(2))
	archive := []byte("\x28\xb5\x2f\xfd\x00\r\n\xff")
	a := s.upload(archive, map[string]string{"note": " why & how ", "key": aKey})
	s.wantRedirect(a, playbookPath+"/versions/2?said=version-stored")
	call := s.only("upload-playbook")
	if call.Body != string(archive) || call.Query != "note=why+%26+how" || call.Header.Get("Content-Type") != "application/zstd" || call.Header.Get("Idempotency-Key") != aKey {
		t.Errorf("sent %q, %q, %v", call.Body, call.Query, call.Header)
	}
}

func TestARefusedVersionTellsEveryPlace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("upload-playbook", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{
		{Field: "roles/x/tasks/main.yml:4", Message: "raw: goes around the fence"}, {Field: "<b>.cfg", Message: "has no place in a playbook"},
	}})
	a := s.upload([]byte("x"), map[string]string{"note": "<i>"})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "roles/x/tasks/main.yml:4", "raw: goes around the fence", "&lt;b&gt;.cfg", `value="&lt;i&gt;"`, "Nothing was changed")
	for name, archive := range map[string][]byte{"none": nil, "empty": {}, "large": make([]byte, 1<<20+1)} {
		a := s.upload(archive, nil)
		s.wantStatus(a, http.StatusUnprocessableEntity)
		s.wantText(a, `id="archive-problem"`)
		if n := len(s.api.Calls("upload-playbook")); n != 1 {
			t.Errorf("%s: was sent", name)
		}
	}
	s.wantStatus(s.post(playbookPath+"/versions", url.Values{"note": {"x"}}), http.StatusBadRequest)
}

func TestMakeAVersionTheDefault(t *testing.T) {
	t.Parallel()
	s := setup(t)
	action := playbookPath + "/versions/2/make-default?revision=4"
	s.wantText(s.get(playbookPath+"/versions/2"), `action="`+action+`"`, "Make it the default", "&lt;b&gt;{{x}}&lt;/b&gt;")
	s.wantText(s.get(playbookPath+"/versions/1"), "It is the default", "Not checked yet")
	s.api.Answer("set-default-playbook", 200, api.Playbook{Name: "host_initialize"})
	s.wantStatus(s.post(action, url.Values{"confirm": {"host_probe"}}), http.StatusConflict)
	s.wantStatus(s.post(playbookPath+"/versions/2/make-default", url.Values{"confirm": {"host_initialize"}}), http.StatusBadRequest)
	if n := len(s.api.Calls("set-default-playbook")); n != 0 {
		t.Fatal("it was done all the same")
	}
	s.wantRedirect(s.post(action, url.Values{"confirm": {"host_initialize"}}), playbookPath+"?said=default-set")
	if m := s.only("set-default-playbook").Header.Get("If-Match"); m != `"4"` {
		t.Errorf("If-Match %q", m)
	}
	s.api.Answer("get-playbook", 200, api.Playbook{Name: "host_initialize", DefaultVersion: 3, Revision: 5})
	s.wantText(s.get(playbookPath+"/versions/2"), "Roll back to it", "the default, v3")
}

// TestTryAVersion: as a plan on one host or allocation, with this version.
func TestTryAVersion(t *testing.T) {
	t.Parallel()
	for playbook, c := range map[string]struct{ route, on, page, body string }{
		"host_initialize":   {"initialize-host", apitest.HostID, ">h1</option>", ""},
		"host_decommission": {"decommission-host", apitest.HostID, ">h1</option>", ""},
		"unit_allocate":     {"replace-allocation-keys", apitest.AllocationID, ">ada on h1-cu01</option>", apitest.Key},
		"unit_deallocate":   {"deallocate", apitest.AllocationID, ">ada on h1-cu01</option>", `"confirm":"ada"`},
	} {
		t.Run(playbook, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			s.api.On("get-playbook-version", func(w http.ResponseWriter, _ *http.Request) {
				v := apitest.PlaybookVersion(2)
				v.Playbook = playbook
				apitest.JSON(w, v)
			})
			at := "/playbooks/" + playbook + "/versions/2"
			s.wantText(s.get(at), `action="`+at+`/try"`, c.page, "Create a plan with v2")
			s.api.Answer(c.route, http.StatusAccepted, apitest.Plan(), apitest.JobID)
			s.wantRedirect(s.post(at+"/try", url.Values{"on": {c.on}}), "/plans/"+apitest.PlanID)
			call := s.only(c.route)
			if call.Query != "plan=true&playbook_version=2" || !strings.Contains(call.Body, c.body) {
				t.Errorf("asked %q with %s", call.Query, call.Body)
			}
			s.wantStatus(s.post(at+"/try", nil), http.StatusBadRequest)
		})
	}
	s := setup(t)
	s.wantStatus(s.post("/playbooks/host_probe/versions/1/try", url.Values{"on": {"h1"}}), http.StatusNotFound)
	s.api.Answer("list-hosts", 200, apitest.Page[api.Host]())
	s.wantText(s.get(playbookPath+"/versions/2"), "No host is ready")
}

// TestWhatUsesAVersion: jobs that are bound to it, those that have ended beside those that have not.
func TestWhatUsesAVersion(t *testing.T) {
	t.Parallel()
	s := setup(t)
	more := ""
	s.api.On("list-jobs", func(w http.ResponseWriter, r *http.Request) {
		waiting, done := apitest.Job("host_initialize", "queued"), apitest.Job("host_initialize", "succeeded")
		waiting.Host, done.Host = "waits-here", "ran-here"
		found := map[string]api.Page[api.Job]{"active": apitest.Page(waiting), "ended": apitest.Page(done)}
		q := r.URL.Query()
		p, ok := found[q.Get("state")]
		if !ok || q.Get("playbook") != "host_initialize" || q.Get("version") != "2" {
			p = apitest.Page[api.Job]()
		}
		p.NextCursor = more
		apitest.JSON(w, p)
	})
	const active, ended = "/jobs?playbook=host_initialize&amp;state=active&amp;version=2", "/jobs?playbook=host_initialize&amp;state=ended&amp;version=2"
	a := s.get(playbookPath + "/versions/2")
	s.wantText(a, "waits-here", "ran-here")
	if strings.Contains(a.body, active) || strings.Contains(a.body, ended) {
		t.Error("leads to more where there are none")
	}
	more = "more"
	s.wantText(s.get(playbookPath+"/versions/2"), `href="`+active+`">All active jobs<`, `href="`+ended+`">All ended jobs<`)
	s.wantText(s.get("/jobs?playbook=host_initialize&state=ended&version=2"), `<a href="/playbooks/host_initialize/versions/2">host_initialize v2</a>`, "ran-here",
		`aria-current="true" href="`+ended+`">Ended<`, `href="`+active+`">Active<`, `href="/jobs">All jobs<`, `cursor=more&amp;playbook=host_initialize&amp;state=ended&amp;version=2`)
	more = ""
	s.wantText(s.get(playbookPath+"/versions/1"), "No active job uses this version.", "No job has used this version yet.")
}

// TestTheEditorIsGivenTheFindings: the text area holds the text as it is, and
// beside it what is said of its lines; only this page loads the editor.
func TestTheEditorIsGivenTheFindings(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get(playbookPath + "/versions/2/edit?path=playbook.yml")
	s.wantText(a, `data-line="3">Line 3</a>`, `{&#34;line&#34;:3,&#34;severity&#34;:&#34;warning&#34;,&#34;rule&#34;:&#34;jinja[spacing]&#34;`, "/static/editor.")
	s.wantText(s.get(playbookPath+"/versions/2/file?path=playbook.yml"), `<span class="finding">jinja[spacing]: `, `id="L3"`, "1 finding")
	if strings.Contains(s.get(playbookPath+"/versions/2/file?path=playbook.yml").body, "/static/editor.") {
		t.Error("a page that only shows loads the editor")
	}
	s.api.Refuse("upload-playbook", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "playbook.yml:2", Message: "raw: goes around the fence"}}})
	a = s.post(playbookPath+"/versions/2/edit", url.Values{"path": {"playbook.yml"}, "content": {"x\ny\n"}})
	s.wantText(a, `data-line="2">Line 2</a>`, `&#34;severity&#34;:&#34;error&#34;`, "goes around the fence")
}

func TestDifferencesAreText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get(playbookPath + "/versions/2/diff?against=1")
	s.wantText(a, `<span class="add">+- name: &lt;script&gt;alert(1)&lt;/script&gt;`, `<span class="del">-- name: Initialize`, `<span class="at">@@ -1,4 +1,4 @@`, "2 files differ.", "added, +1")
	if strings.Contains(a.body, "<script>alert") {
		t.Error("text became markup")
	}
	if q := s.only("diff-playbook").Query; q != "against=1" {
		t.Errorf("asked %q", q)
	}
	s.wantStatus(s.get(playbookPath+"/versions/2/diff"), http.StatusNotFound)
	s.api.Answer("diff-playbook", 200, api.PlaybookDiff{Playbook: "host_initialize", Version: 2, Against: 1, Files: []api.PlaybookFileDiff{}})
	s.wantText(s.get(playbookPath+"/versions/2/diff?against=1"), "hold the same files")
}

func TestChangeAFileOnTopOfAVersion(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get(playbookPath+"/versions/1/file?path=playbook.yml"), playbookPath+"/versions/1/edit?path=playbook.yml")
	s.wantText(s.get(playbookPath+"/versions/1/edit?path=playbook.yml"), "- name: Initialize\n")
	s.api.Answer("upload-playbook", http.StatusCreated, apitest.PlaybookVersion(2))
	content := "\n  a: |\n\tb \n\n"
	form := url.Values{"path": {"playbook.yml"}, "content": {strings.ReplaceAll(content, "\n", "\r\n")}, "note": {"why"}, "key": {aKey}}
	s.wantRedirect(s.post(playbookPath+"/versions/1/edit", form), playbookPath+"/versions/2?said=version-stored")
	var got api.UploadPlaybook
	call := s.only("upload-playbook")
	call.Into(t, &got)
	if d := cmp.Diff(api.UploadPlaybook{Base: 1, Files: map[string]*string{"playbook.yml": &content}, Note: "why"}, got); d != "" || call.Header.Get("Idempotency-Key") != aKey {
		t.Error(d)
	}
	form.Set("remove", "true")
	s.post(playbookPath+"/versions/1/edit", form)
	if body := s.api.Calls("upload-playbook")[1].Body; !strings.Contains(body, `{"playbook.yml":null}`) {
		t.Errorf("sent %s", body)
	}
	s.api.Refuse("upload-playbook", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "playbook.yml:2", Message: "is not YAML"}}})
	a := s.post(playbookPath+"/versions/1/edit", url.Values{"path": {"playbook.yml"}, "content": {"<b>\n"}, "new": {"true"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "<code>playbook.yml:2</code> is not YAML", "&lt;b&gt;", `value="playbook.yml"`)
	s.wantStatus(s.post(playbookPath+"/versions/1/edit", url.Values{"content": {"x"}}), http.StatusUnprocessableEntity)
}

// TestChangeSeveralFilesInOneVersion: what was changed of one file goes along while another is opened, and all of them
// are stored at once. It needs no script.
func TestChangeSeveralFilesInOneVersion(t *testing.T) {
	t.Parallel()
	s := setup(t)
	path := playbookPath + "/versions/1/edit"
	const carried = `[{&#34;path&#34;:&#34;playbook.yml&#34;,&#34;content&#34;:&#34;one\n&#34;}]`
	a := s.post(path, url.Values{"path": {"playbook.yml"}, "content": {"one\r\n"}, "further": {"true"}, "other": {""}, "note": {"why"}})
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "Add a file to", `name="drafts" value="`+carried+`"`, `value="why"`, "data-guard data-unsaved", `name="open" value="playbook.yml"`)
	if n := len(s.api.Calls("upload-playbook")); n != 0 {
		t.Fatal("it was stored already")
	}
	drafts := []string{`[{"path":"playbook.yml","content":"one\n"}]`}
	s.wantText(s.post(path, url.Values{"drafts": drafts, "open": {"playbook.yml"}}), "one\n</textarea>", `name="drafts" value="[]"`)
	s.wantText(s.post(path, url.Values{"drafts": drafts, "path": {"b"}, "content": {"x"}, "new": {"true"}, "drop": {"playbook.yml"}}), `name="drafts" value="[]"`, `value="b"`)

	form := url.Values{"drafts": drafts, "path": {"roles/x/files/two"}, "content": {"two"}, "new": {"true"}, "note": {"why"}}
	s.api.Refuse("upload-playbook", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "playbook.yml:1", Message: "raw: goes around the fence"}}})
	a = s.post(path, form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, `<h1 class="mono">playbook.yml</h1>`, `data-line="1">Line 1</a>`, `name="open" value="roles/x/files/two"`)

	s.api.Answer("upload-playbook", http.StatusCreated, apitest.PlaybookVersion(2))
	s.wantRedirect(s.post(path, form), playbookPath+"/versions/2?said=version-stored")
	var got api.UploadPlaybook
	s.api.Calls("upload-playbook")[1].Into(t, &got)
	one, two := "one\n", "two"
	if d := cmp.Diff(api.UploadPlaybook{Base: 1, Files: map[string]*string{"playbook.yml": &one, "roles/x/files/two": &two}, Note: "why"}, got); d != "" {
		t.Error(d)
	}
	s.wantStatus(s.post(path, url.Values{"drafts": {"{"}, "path": {"b"}}), http.StatusBadRequest)
}
