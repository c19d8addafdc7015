package playbook

import (
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	maxArchive = 1 << 20 // what the API takes
	refused    = "Not accepted. Nothing was changed."
)

// uploadForm brings an artifact in.
type uploadForm struct {
	Key, Note string
	Wrong     ui.Problems
}

func upload(r *page.Request) error {
	form, err := r.C.MultipartForm()
	if err != nil {
		return fiber.ErrBadRequest
	}
	text := func(name string) string {
		if all := form.Value[name]; len(all) == 1 {
			return strings.TrimSpace(strings.ToValidUTF8(all[0], "\uFFFD"))
		}
		return ""
	}
	f := uploadForm{Note: text("note")}
	wrong := func(message string) error {
		f.Wrong = ui.Problems{Title: refused, Fields: []ui.FieldProblem{{Field: "archive", Message: message}}}
		return drawDetail(r, fiber.StatusUnprocessableEntity, f)
	}
	files := form.File["archive"]
	if len(files) != 1 || files[0].Size == 0 {
		return wrong("choose a file: a tar that is compressed with zstd")
	}
	if files[0].Size > maxArchive {
		return wrong("is larger than " + ui.Bytes(maxArchive))
	}
	source, err := files[0].Open()
	if err != nil {
		return err
	}
	defer source.Close()
	content, err := io.ReadAll(io.LimitReader(source, maxArchive))
	if err != nil {
		return err
	}
	v, err := r.API.UploadPlaybookArchive(r.Ctx, r.Param("name"), content, f.Note, client.IdempotencyKey(page.KeyOr(text("key"))))
	if err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.Wrong = problems
		return drawDetail(r, fiber.StatusUnprocessableEntity, f)
	}
	return r.Go(place{v.Playbook, v.Version}.href(), "version-stored")
}

// makeDefault changes what new jobs are bound to, if the name was typed with
// it and the default is still the one that was looked at.
func makeDefault(r *page.Request) error {
	at, err := placeOf(r)
	if err != nil {
		return err
	}
	if r.Form("confirm") != at.Playbook {
		return &api.Problem{Status: fiber.StatusConflict, Code: "not_confirmed", Detail: "the typed text is not the playbook's name; nothing was done"}
	}
	revision, err := strconv.ParseInt(r.Query("revision"), 10, 64)
	if err != nil || revision < 1 {
		return fiber.ErrBadRequest
	}
	if _, err := r.API.SetDefaultPlaybook(r.Ctx, at.Playbook, at.Version, client.IfMatch(revision)); err != nil {
		return err
	}
	return r.Go("/playbooks/"+url.PathEscape(at.Playbook), "default-set")
}

// versionView is the page of one version.
type versionView struct {
	At       place
	Version  api.PlaybookVersion
	Playbook api.Playbook
	Files    []api.PlaybookFile
	Others   []api.PlaybookVersion
	Trial    trial
	Uses     uses
}

// against is the version that this one is compared with at first: the default,
// or for the default the one before it.
func (v versionView) against() int {
	if !v.Version.Default {
		return v.Playbook.DefaultVersion
	}
	return max(v.Version.Version-1, 1)
}

func (v versionView) operations() []ui.Operation {
	o := ui.Operation{
		Label: "Make it the default", What: "New jobs use this version. Existing jobs keep theirs.", Allowed: !v.Version.Default, Main: true,
		Prevents: "It is the default already.", Confirm: v.Playbook.Name, Typed: "the playbook's name",
		Action: v.At.href() + "/make-default?revision=" + strconv.FormatInt(v.Playbook.Revision, 10),
	}
	if v.Version.Version < v.Playbook.DefaultVersion {
		o.Label, o.What = "Roll back to it", "It is earlier than the default, v"+strconv.Itoa(v.Playbook.DefaultVersion)+". New jobs use this version again; existing jobs keep theirs."
	}
	return []ui.Operation{o}
}

// lintTone is how a version's lint stands.
func lintTone(v api.PlaybookVersion) (tone ui.Tone, word, means string) {
	switch {
	case v.LintState == "done" && v.LintFindings == 0:
		return ui.Good, "clean", "ansible-lint found nothing"
	case v.LintState == "done":
		return ui.Wait, ui.Count(v.LintFindings, "finding"), "advice of ansible-lint"
	case v.LintState == "running":
		return ui.Busy, "running", "ansible-lint is running"
	case v.LintState == "unavailable":
		return ui.Gone, "not available", "no backend has ansible-lint"
	case v.LintState == "failed":
		return ui.Bad, "failed", "ansible-lint did not finish"
	default:
		return ui.Line, "waiting", "a backend starts it within seconds"
	}
}

func diff(r *page.Request) error {
	at, err := placeOf(r)
	if err != nil {
		return err
	}
	against, err := strconv.Atoi(r.Query("against"))
	if err != nil {
		return fiber.ErrNotFound
	}
	d, err := r.API.DiffPlaybook(r.Ctx, at.Playbook, at.Version, against)
	if err != nil {
		return err
	}
	return r.Show(page.View{Title: at.title() + " against v" + strconv.Itoa(against), Nav: "/playbooks", Body: diffPage(at, d)})
}

// diffLine is one line of a unified diff.
type diffLine struct{ Kind, Text string }

// lines cuts a unified diff; its first two lines, which name the file, are
// left out.
func lines(unified string) []diffLine {
	var all []diffLine
	for i, line := range strings.Split(strings.TrimSuffix(unified, "\n"), "\n") {
		kind := "same"
		switch {
		case i < 2:
			continue
		case strings.HasPrefix(line, "@@"):
			kind = "at"
		case strings.HasPrefix(line, "+"):
			kind = "add"
		case strings.HasPrefix(line, "-"):
			kind = "del"
		case strings.HasPrefix(line, `\`):
			kind = "at"
		}
		all = append(all, diffLine{kind, line})
	}
	return all
}
