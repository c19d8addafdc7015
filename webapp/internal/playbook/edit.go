package playbook

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// editForm changes or adds one file on top of a version. Drafts are changes of
// other files that go into the same new version.
type editForm struct {
	Key, Path, Content, Note string
	New, Remove              bool
	Drafts                   []draft
	Files                    []string // of the version
	Findings                 []finding
	Wrong                    ui.Problems
}

// draft is the change of one file that is not stored yet.
type draft struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Remove  bool   `json:"remove,omitempty"`
}

// finding is what is said of one line of the file that is edited, as editor.js
// reads it.
type finding struct {
	Line     int    `json:"line"`
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
}

// marks are the findings for editor.js.
func (f editForm) marks() string { return asJSON(f.Findings) }

// carried are the drafts for the form.
func (f editForm) carried() string { return asJSON(f.Drafts) }

// asJSON writes strings and numbers, which can't fail.
func asJSON[T any](all []T) string {
	if all == nil {
		all = []T{}
	}
	b, _ := json.Marshal(all)
	return string(b)
}

// isUnsaved tells whether the form holds text that is stored nowhere.
func (f editForm) isUnsaved() bool { return f.Wrong.Any() || len(f.Drafts) > 0 }

// isOfVersion tells whether the version has the file that is edited.
func (f editForm) isOfVersion() bool { return slices.Contains(f.Files, f.Path) }

// others are the files that can be changed beside this one.
func (f editForm) others() []ui.Choice {
	all := []ui.Choice{{Value: "", Label: "a new file"}}
	for _, path := range f.Files {
		if path != f.Path {
			all = append(all, ui.Choice{Value: path, Label: path})
		}
	}
	return all
}

// note adds what the API refused this file for to what is said of its lines.
func (f *editForm) note() {
	for _, p := range f.Wrong.Fields {
		rest, ok := strings.CutPrefix(p.Field, f.Path+":")
		if line, err := strconv.Atoi(rest); ok && err == nil {
			f.Findings = append(f.Findings, finding{line, "error", "refused", p.Message})
		}
	}
}

// refuses tells whether a problem of the form is about a file.
func (f editForm) refuses(path string) bool {
	return slices.ContainsFunc(f.Wrong.Fields, func(p ui.FieldProblem) bool {
		return p.Field == path || strings.HasPrefix(p.Field, path+":")
	})
}

// putAside makes a draft of the file that is edited.
func (f *editForm) putAside() {
	f.drop(f.Path)
	f.Drafts = append(f.Drafts, draft{f.Path, f.Content, f.Remove})
}

// take puts a draft in the place of the file that is edited.
func (f *editForm) take(d draft) {
	f.drop(d.Path)
	f.Path, f.Content, f.Remove, f.New = d.Path, d.Content, d.Remove, false
}

func (f *editForm) drop(path string) {
	f.Drafts = slices.DeleteFunc(f.Drafts, func(d draft) bool { return d.Path == path })
}

// showRefused puts the first file that was refused in the place of one that was
// not.
func (f *editForm) showRefused() {
	if f.refuses(f.Path) {
		return
	}
	for _, d := range f.Drafts {
		if f.refuses(d.Path) {
			f.putAside()
			f.take(d)
			return
		}
	}
}

// files are all changes as the API takes them.
func (f editForm) files() map[string]*string {
	all := map[string]*string{}
	for _, d := range append(slices.Clone(f.Drafts), draft{f.Path, f.Content, f.Remove}) {
		all[d.Path] = nil
		if !d.Remove {
			all[d.Path] = &d.Content
		}
	}
	return all
}

func edit(r *page.Request) error {
	at, err := placeOf(r)
	if err != nil {
		return err
	}
	form := editForm{}
	if err := load(r, at, &form, r.Query("path")); err != nil {
		return err
	}
	return drawEdit(r, at, fiber.StatusOK, form)
}

// load puts a file of the version in the place of the one that is edited; "" is
// a new one.
func load(r *page.Request, at place, form *editForm, path string) error {
	form.Path, form.Content, form.New, form.Remove, form.Findings = path, "", path == "", false, nil
	if form.New {
		return nil
	}
	f, err := r.API.GetPlaybookFile(r.Ctx, at.Playbook, at.Version, path)
	if err != nil {
		return err
	}
	form.Content = f.Content
	return form.lint(r, at)
}

// lint adds what ansible-lint says of the file as the version has it.
func (f *editForm) lint(r *page.Request, at place) error {
	said, err := findingsIn(r, at, f.Path)
	if err != nil {
		return err
	}
	for _, l := range said {
		f.Findings = append(f.Findings, finding{l.Line, "warning", l.Rule, l.Message})
	}
	return nil
}

func drawEdit(r *page.Request, at place, status int, form editForm) error {
	form.Key = page.NewKey()
	form.note()
	files, err := r.API.ListPlaybookFiles(r.Ctx, at.Playbook, at.Version)
	if err != nil {
		return err
	}
	for _, f := range files {
		form.Files = append(form.Files, f.Path)
	}
	return r.Show(page.View{Title: "Change " + at.title(), Nav: "/playbooks", Status: status, Script: "editor.js", Body: editPage(at, form)})
}

// readEdit reads the form. A browser sends the lines of a text area with
// carriage returns.
func readEdit(r *page.Request) (editForm, error) {
	f := editForm{
		Path: r.Form("path"), Content: strings.ReplaceAll(r.FormRaw("content"), "\r\n", "\n"), Note: r.Form("note"),
		New: r.Form("new") == "true", Remove: r.Form("remove") == "true",
	}
	if drafts := r.FormRaw("drafts"); drafts != "" {
		if err := json.Unmarshal([]byte(drafts), &f.Drafts); err != nil {
			return f, fiber.ErrBadRequest
		}
	}
	return f, nil
}

// save stores a new version, or goes on to another file of the same one.
func save(r *page.Request) error {
	at, err := placeOf(r)
	if err != nil {
		return err
	}
	f, err := readEdit(r)
	if err != nil {
		return err
	}
	if path := r.Form("drop"); path != "" {
		f.drop(path)
		return drawEdit(r, at, fiber.StatusOK, f)
	}
	differs, err := changes(r, at, f)
	if err != nil {
		return err
	}
	path, further := r.Form("open"), r.Form("open") != ""
	if r.Form("further") == "true" {
		path, further = r.Form("other"), true
	}
	if further {
		if differs {
			f.putAside()
		}
		return open(r, at, f, path)
	}
	if f.Path == "" {
		f.Wrong = ui.Problems{Title: refused, Fields: []ui.FieldProblem{{Field: "path", Message: "must be given"}}}
		return drawEdit(r, at, fiber.StatusUnprocessableEntity, f)
	}
	u := api.UploadPlaybook{Base: at.Version, Files: f.files(), Note: f.Note}
	if !differs && len(f.Drafts) > 0 {
		delete(u.Files, f.Path)
	}
	v, err := r.API.UploadPlaybook(r.Ctx, at.Playbook, u, client.IdempotencyKey(page.KeyOr(r.Form("key"))))
	if err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.Wrong = problems
		f.showRefused()
		return drawEdit(r, at, fiber.StatusUnprocessableEntity, f)
	}
	return r.Go(place{v.Playbook, v.Version}.href(), "version-stored")
}

// open draws the form with another file, as it was left if it was changed.
func open(r *page.Request, at place, f editForm, path string) error {
	for _, d := range f.Drafts {
		if d.Path == path {
			f.take(d)
			return drawEdit(r, at, fiber.StatusOK, f)
		}
	}
	if err := load(r, at, &f, path); err != nil {
		return err
	}
	return drawEdit(r, at, fiber.StatusOK, f)
}

// changes tells whether the file of the form is another than the version's.
func changes(r *page.Request, at place, f editForm) (bool, error) {
	switch {
	case f.Path == "":
		return false, nil
	case f.Remove || f.New || len(f.Drafts) == 0 && r.Form("further") == "" && r.Form("open") == "":
		return true, nil // what is sent alone is sent as it is
	}
	was, err := r.API.GetPlaybookFile(r.Ctx, at.Playbook, at.Version, f.Path)
	if err := page.Optional(err); err != nil {
		return false, err
	}
	return was.Path == "" || was.Content != f.Content, nil
}
