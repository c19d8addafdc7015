package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/playbooks"
)

// packaged is the playbook host_probe that comes with this release, by its files.
func packaged(t testing.TB) map[string]string {
	t.Helper()
	b, err := bundle.Build(playbooks.Files, "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	files, err := bundle.All(b.Content, bundle.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, content := range files {
		texts[name] = string(content)
	}
	return texts
}

func upload(texts map[string]string, note string) api.UploadPlaybook {
	u := api.UploadPlaybook{Files: map[string]*string{}, Note: note}
	for name, text := range texts {
		u.Files[name] = &text
	}
	return u
}

func archive(t testing.TB, texts map[string]string) []byte {
	t.Helper()
	files := map[string][]byte{}
	for name, text := range texts {
		files[name] = []byte(text)
	}
	b, err := bundle.Pack("host_probe", files)
	if err != nil {
		t.Fatal(err)
	}
	return b.Content
}

// An upload as files, as an archive, once more, on top of another version: what
// is stored comes back byte for byte, and known files make no new version.
func TestUploadAPlaybook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	texts := packaged(t)
	const note = "héllo <b>"
	v := decode[api.PlaybookVersion](t, b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(texts, note), http.StatusCreated))
	if v.Version != 2 || v.Default || v.Seeded || v.CreatedBy != "admin" || v.Files != len(texts) || v.Note != note || v.LintState != "waiting" {
		t.Errorf("%+v", v)
	}
	for name, text := range texts {
		f := decode[api.PlaybookFile](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions/2/file?path="+name, nil, http.StatusOK))
		if f.Content != text {
			t.Errorf("%s came back as %q", name, f.Content)
		}
	}
	again := decode[api.PlaybookVersion](t, b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", archive(t, texts), http.StatusOK, "Content-Type", "application/zstd"))
	if again.ID != v.ID {
		t.Errorf("known files made version %d", again.Version)
	}
	texts["README.md"] = "# Probe\n"
	v3 := decode[api.PlaybookVersion](t, b.mustDo(http.MethodPost, "/playbooks/host_probe/versions?note=by+archive", archive(t, texts), http.StatusCreated, "Content-Type", "application/zstd"))
	if v3.Version != 3 || v3.Note != "by archive" {
		t.Errorf("%+v", v3)
	}
	v4 := decode[api.PlaybookVersion](t, b.mustDo(http.MethodPost, "/playbooks/host_probe/versions",
		`{"base": 3, "files": {"README.md": null, "CHANGELOG.md": "- all\n"}}`, http.StatusCreated))
	diff := decode[api.PlaybookDiff](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions/4/diff?against=3", nil, http.StatusOK))
	want := []api.PlaybookFileDiff{
		{Path: "CHANGELOG.md", Change: "added", Added: 1, Diff: "--- a/CHANGELOG.md\n+++ b/CHANGELOG.md\n@@ -0,0 +1 @@\n+- all\n"},
		{Path: "README.md", Change: "removed", Removed: 1, Diff: "--- a/README.md\n+++ b/README.md\n@@ -1 +0,0 @@\n-# Probe\n"},
	}
	if d := cmp.Diff(want, diff.Files); v4.Version != 4 || d != "" {
		t.Errorf("version %d: %s", v4.Version, d)
	}
	p := decode[api.Playbook](t, b.mustDo(http.MethodGet, "/playbooks/host_probe", nil, http.StatusOK))
	if p.DefaultVersion != 1 || p.Versions != 4 {
		t.Errorf("%+v", p)
	}
	var events int
	b.row(&events, "SELECT count(*) FROM events WHERE action = 'playbook.upload' AND object_name = 'host_probe' AND actor_name = 'admin'")
	if events != 3 {
		t.Errorf("%d events, want 3", events)
	}
}

func TestUploadsAreRefusedPlaceByPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	texts := packaged(t)
	texts["roles/host_probe/tasks/main.yml"] = "---\n- name: Read\n  kloigos_probe:\n- raw: id\n- ansible.builtin.debug: {msg: \"{{ lookup('pipe', 'id') }}\"}\n"
	texts["ansible.cfg"] = "[defaults]\n"
	texts["../../etc/x"] = ""
	want := map[string]string{"ansible.cfg": "Ansible's configuration", "roles/host_probe/tasks/main.yml:4": "around the fence", "roles/host_probe/tasks/main.yml:5": "lookups run on the controller"}
	without := func(name string) map[string]string {
		less := map[string]string{}
		for n, text := range texts {
			if n != name {
				less[n] = text
			}
		}
		return less
	}
	p := b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(without("../../etc/x"), ""), http.StatusUnprocessableEntity).problem(t)
	got := map[string]string{}
	for _, f := range p.Errors {
		got[f.Field] = f.Message
	}
	for place, why := range want {
		if !strings.Contains(got[place], why) {
			t.Errorf("%s: %q, want %q", place, got[place], why)
		}
	}
	if p.Code != "invalid" || len(got) != len(want) {
		t.Errorf("%+v", p)
	}
	p = b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(texts, ""), http.StatusUnprocessableEntity).problem(t)
	if len(p.Errors) != 1 || p.Errors[0].Field != "../../etc/x" {
		t.Errorf("%+v", p.Errors)
	}
	zstd := []string{"Content-Type", "application/zstd"}
	for name, c := range map[string]struct {
		path    string
		body    any
		headers []string
		status  int
		field   string
	}{
		"no zstd":            {"/playbooks/host_probe/versions", "hello", zstd, 422, "files"},
		"no archive":         {"/playbooks/host_probe/versions", []byte{}, zstd, 422, ""},
		"for another job":    {"/playbooks/unit_allocate/versions", upload(packaged(t), ""), nil, 422, "playbook.yml"},
		"no such playbook":   {"/playbooks/nothing/versions", upload(packaged(t), ""), nil, 404, ""},
		"a name that is not": {"/playbooks/..%2f..%2fetc/versions", upload(packaged(t), ""), nil, 404, ""},
		"no files":           {"/playbooks/host_probe/versions", `{"note": "x"}`, nil, 422, "files"},
		"files of no shape":  {"/playbooks/host_probe/versions", `{"files": ["x"]}`, nil, 422, "files"},
		"a file of no text":  {"/playbooks/host_probe/versions", `{"files": {"playbook.yml": 7}}`, nil, 422, "files.playbook.yml"},
		"an unknown field":   {"/playbooks/host_probe/versions", `{"files": {}, "force": true}`, nil, 422, "force"},
		"a file twice":       {"/playbooks/host_probe/versions", `{"files": {"a": "", "a": ""}}`, nil, 422, "files.a"},
		"another type":       {"/playbooks/host_probe/versions", `x`, []string{"Content-Type", "application/x-tar"}, 415, ""},
		"a base of none":     {"/playbooks/host_probe/versions", `{"base": 9, "files": {}}`, nil, 422, "base"},
		"a base of nothing":  {"/playbooks/host_probe/versions", `{"base": -1, "files": {}}`, nil, 422, "base"},
		"nothing left out":   {"/playbooks/host_probe/versions", `{"base": 1, "files": {"x": null}}`, nil, 422, "x"},
		"a note of controls": {"/playbooks/host_probe/versions", upload(packaged(t), "a\x1b[31m"), nil, 422, "note"},
		"compressed twice":   {"/playbooks/host_probe/versions", "x", append(zstd, "Content-Encoding", "gzip"), 415, ""},
	} {
		a := b.do(http.MethodPost, c.path, c.body, c.headers...)
		p := a.problem(t)
		if a.status != c.status || c.field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %d %+v", name, a.status, p.Errors)
		}
	}
	// Only announced: it is refused before it comes, and whoever still sends may not hear it.
	large := rawBytes(t, b, "POST "+api.Prefix+"/playbooks/host_probe/versions HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer "+b.token+
		"\r\nContent-Type: application/zstd\r\nContent-Length: 2097152\r\n\r\n")
	if large.problem(t); large.status != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", large.status)
	}
	var versions int
	b.row(&versions, "SELECT count(*) FROM playbook_versions WHERE NOT seeded")
	if versions != 0 {
		t.Errorf("%d versions were made", versions)
	}
}

func TestAnUploadIsDoneOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	texts := packaged(t)
	key := []string{"Idempotency-Key", "upload-1"}
	first := decode[api.PlaybookVersion](t, b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(texts, "x"), http.StatusCreated, key...))
	again := decode[api.PlaybookVersion](t, b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(texts, "x"), http.StatusCreated, key...))
	if first.ID != again.ID {
		t.Errorf("version %d, then %d", first.Version, again.Version)
	}
	texts["README.md"] = "other"
	if p := b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(texts, "x"), http.StatusUnprocessableEntity, key...).problem(t); p.Code != "idempotency_key_reused" {
		t.Errorf("%+v", p)
	}
	// The same new files from many at once are one version, and nobody gets an error that he could not repeat.
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			a := b.do(http.MethodPost, "/playbooks/host_probe/versions", upload(texts, ""))
			if a.status != http.StatusCreated && a.status != http.StatusOK && a.status != http.StatusConflict {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	all.Wait()
	p := decode[api.Playbook](t, b.mustDo(http.MethodGet, "/playbooks/host_probe", nil, http.StatusOK))
	if p.Versions != 3 {
		t.Errorf("%d versions, want 3", p.Versions)
	}
}

func TestMakeAVersionTheDefaultAndRollBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(packaged(t), ""), http.StatusCreated)
	a := b.mustDo(http.MethodGet, "/playbooks/host_probe", nil, http.StatusOK)
	old := a.header.Get("ETag")
	if old != `"1"` || decode[api.Playbook](t, a).Revision != 1 {
		t.Fatalf("ETag %s", old)
	}
	set := func(version, ifMatch string, status int, more ...string) answer {
		return b.mustDo(http.MethodPost, "/playbooks/host_probe/versions/"+version+"/make-default", nil, status, append(more, "If-Match", ifMatch)...)
	}
	a = set("2", old, http.StatusOK, "Idempotency-Key", "d")
	if p := decode[api.Playbook](t, a); p.DefaultVersion != 2 || p.Revision != 2 || a.header.Get("ETag") != `"2"` {
		t.Errorf("%+v", p)
	}
	set("2", old, http.StatusOK, "Idempotency-Key", "d") // once more: done already
	if p := set("1", old, http.StatusPreconditionFailed).problem(t); p.Code != "version_mismatch" {
		t.Errorf("%+v", p)
	}
	if p := set("2", "", http.StatusConflict).problem(t); p.Code != "is_default" {
		t.Errorf("%+v", p)
	}
	set("7", "", http.StatusNotFound)
	// New jobs are bound to it, and to the other after a roll back.
	bound := func(name string) int {
		h := b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: name, Address: "127.0.0.1", HostKey: sshKey}, http.StatusAccepted)
		return decode[api.Job](t, b.mustDo(http.MethodGet, "/jobs/"+decode[api.Host](t, h).ActiveJob, nil, http.StatusOK)).Version
	}
	if v := bound("h1"); v != 2 {
		t.Errorf("a job is bound to version %d, want 2", v)
	}
	if p := decode[api.Playbook](t, set("1", `"2"`, http.StatusOK)); p.DefaultVersion != 1 || p.Revision != 3 {
		t.Errorf("%+v", p)
	}
	if v := bound("h2"); v != 1 {
		t.Errorf("after the roll back a job is bound to version %d, want 1", v)
	}
	var events []struct{ Action, Before, After string }
	page := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/events?limit=100", nil, http.StatusOK))
	for _, e := range page.Items {
		if e.Action == "playbook.set_default" || e.Action == "playbook.roll_back" {
			var before, after struct {
				Default int `json:"default_version"`
			}
			if json.Unmarshal(e.Before, &before) != nil || json.Unmarshal(e.After, &after) != nil {
				t.Errorf("%s %s", e.Before, e.After)
			}
			events = append(events, struct{ Action, Before, After string }{e.Action, string(rune('0' + before.Default)), string(rune('0' + after.Default))})
		}
	}
	want := []struct{ Action, Before, After string }{{"playbook.roll_back", "2", "1"}, {"playbook.set_default", "1", "2"}}
	if d := cmp.Diff(want, events); d != "" {
		t.Error(d)
	}
	// A release's seed leaves the choice of a person alone.
	set("2", "", http.StatusOK)
	b.tx(func(tx *store.Tx) error {
		v := store.PlaybookVersion{Playbook: "host_probe", SHA256: strings.Repeat("a", 64), SizeBytes: 1, DecodedBytes: 1, Files: 1, Seeded: true, CreatedBy: "init"}
		_, added, err := tx.SeedPlaybook(t.Context(), "x", v, []byte("x"))
		if !added {
			t.Error("the seed is no new version")
		}
		return err
	})
	if p := decode[api.Playbook](t, b.mustDo(http.MethodGet, "/playbooks/host_probe", nil, http.StatusOK)); p.DefaultVersion != 2 || p.Versions != 3 {
		t.Errorf("%+v", p)
	}
}

// What a lint found is shown with the version; one that was uploaded again is the seed's.
func TestLintOfAVersionIsShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	who := domain.Actor{Kind: domain.ActorPolicy, Name: "playbook_lint"}
	take := func(able bool) (intent.LintTask, error) { return b.intents.TakeLint(t.Context(), able) }
	show := func() api.PlaybookVersion {
		return decode[api.PlaybookVersion](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions/2", nil, http.StatusOK))
	}
	b.mustDo(http.MethodPost, "/playbooks/host_probe/versions", upload(packaged(t), ""), http.StatusCreated)
	if v := show(); v.LintState != "waiting" || v.Lint != nil {
		t.Errorf("%+v", v)
	}
	task, err := take(false)
	if err != nil || task.Due.Playbook != "host_probe" || task.Due.Version != 2 || len(task.Content) == 0 {
		t.Fatalf("%+v, %v; the newest goes first", task.Due, err)
	}
	if v := show(); v.LintState != "running" {
		t.Errorf("%+v", v)
	}
	if err := b.intents.EndLint(t.Context(), intent.By(who), task, domain.Lint{State: domain.LintUnavailable, Message: "no ansible-lint"}); err != nil {
		t.Fatal(err)
	}
	if v := show(); v.LintState != "unavailable" || v.Lint == nil || v.Lint.Message != "no ansible-lint" {
		t.Errorf("%+v", v)
	}
	// A backend that has the tool takes it up once more; one that has not leaves it.
	if other, err := take(false); err != nil || other.Due.ID == task.Due.ID {
		t.Fatalf("%+v, %v", other.Due, err)
	}
	task, err = take(true)
	if err != nil || task.Due.Version != 2 {
		t.Fatalf("%+v, %v", task.Due, err)
	}
	finding := domain.LintFinding{Rule: "no-tabs", Severity: "minor", Path: "playbook.yml", Line: 3, Message: "<script>alert(1)</script>"}
	done := domain.Lint{State: domain.LintDone, Tool: "ansible-lint 6", Findings: []domain.LintFinding{finding}}
	if err := b.intents.EndLint(t.Context(), intent.By(who), task, done); err != nil {
		t.Fatal(err)
	}
	if err := b.intents.EndLint(t.Context(), intent.By(who), task, done); err == nil {
		t.Error("it was ended twice")
	}
	v := show()
	if v.LintState != "done" || v.LintFindings != 1 || v.Lint.Tool != "ansible-lint 6" || cmp.Diff([]api.LintFinding{api.LintFinding(finding)}, v.Lint.Findings) != "" {
		t.Errorf("%+v, %+v", v, v.Lint)
	}
	page := decode[api.Page[api.PlaybookVersion]](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions", nil, http.StatusOK))
	if page.Items[0].LintState != "done" || page.Items[0].LintFindings != 1 || page.Items[0].Lint != nil {
		t.Errorf("%+v", page.Items[0])
	}
	// What a dead backend left is another's after a while.
	left, err := take(true)
	if err != nil {
		t.Fatal(err)
	}
	b.sql("UPDATE playbook_lints SET started_at = started_at - INTERVAL '11 minutes' WHERE version_id = $1", left.Due.ID)
	for range 10 {
		again, err := take(true)
		if err != nil {
			t.Fatal("what was left is not taken up again: ", err)
		}
		if again.Due.ID == left.Due.ID {
			if err := b.intents.EndLint(t.Context(), intent.By(who), left, done); err == nil {
				t.Error("the dead one's end was taken")
			}
			return
		}
	}
	t.Error("what was left is not taken up again")
}

// Nor does one that has Ansible and can't build the wall around it: it never judges without.
func TestNoUploadIsTakenWithoutBubblewrap(t *testing.T) {
	t.Parallel()
	if !testkit.WithoutBubblewrap(t) {
		return
	}
	b := setup(t, func(c *httpapi.Config) { c.Judge = judge.New("ansible-playbook") })
	for range 2 {
		r := b.do(http.MethodPost, "/playbooks/host_probe/versions", upload(packaged(t), ""))
		if p := decode[api.Problem](t, r); r.status != http.StatusServiceUnavailable || p.Code != "no_judge" {
			t.Errorf("%d %+v", r.status, p)
		}
	}
	if !strings.Contains(b.log.String(), "bubblewrap is not installed") {
		t.Error("the log does not say what is missing")
	}
	if v := decode[api.Page[api.PlaybookVersion]](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions", nil, http.StatusOK)); len(v.Items) != 1 {
		t.Errorf("%d versions, want the packaged one", len(v.Items))
	}
}

// A backend that can't judge a playbook takes none, and says so; it does not let one pass that nobody has looked at.
func TestNoUploadIsTakenWithoutAJudge(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) { c.Judge = judge.New("/nonexistent/ansible-playbook") })
	r := b.do(http.MethodPost, "/playbooks/host_probe/versions", upload(packaged(t), ""))
	if p := decode[api.Problem](t, r); r.status != http.StatusServiceUnavailable || p.Code != "no_judge" || !strings.Contains(p.Detail, "Ansible") {
		t.Errorf("%d %+v", r.status, p)
	}
	if v := decode[api.Page[api.PlaybookVersion]](t, b.mustDo(http.MethodGet, "/playbooks/host_probe/versions", nil, http.StatusOK)); len(v.Items) != 1 {
		t.Errorf("%d versions, want the packaged one", len(v.Items))
	}
}
