// Package playbook owns the pages of playbooks: the list, versions with what
// ansible-lint says of them, the files of a version, how it differs from
// another, its download, and the forms that bring a version in, try it as a plan
// and make it the default.
package playbook

import (
	"io"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// maxDownload is the largest artifact that is passed on, in bytes.
const maxDownload = 64 << 20

func mount(r fiber.Router, a *page.App) {
	r.Get("/playbooks", a.Page(list))
	r.Get("/playbooks/:name", a.Page(detail))
	r.Post("/playbooks/:name/versions", a.Page(upload))
	r.Get("/playbooks/:name/versions/:version", a.Page(version))
	r.Post("/playbooks/:name/versions/:version/make-default", a.Page(makeDefault))
	r.Post("/playbooks/:name/versions/:version/try", a.Page(try))
	r.Get("/playbooks/:name/versions/:version/diff", a.Page(diff))
	r.Get("/playbooks/:name/versions/:version/edit", a.Page(edit))
	r.Post("/playbooks/:name/versions/:version/edit", a.Page(save))
	r.Get("/playbooks/:name/versions/:version/file", a.Page(file))
	r.Get("/playbooks/:name/versions/:version/download", a.Page(download))
}

func list(r *page.Request) error {
	found, err := r.API.ListPlaybooks(r.Ctx, api.PageQuery{Limit: 200, Cursor: r.Query("cursor")})
	if err != nil {
		return err
	}
	pages := r.Pages(found.PreviousCursor, found.NextCursor)
	return r.Show(page.View{Title: "Playbooks", Nav: "/playbooks", Body: listPage(found.Items, pages)})
}

func detail(r *page.Request) error { return drawDetail(r, fiber.StatusOK, uploadForm{}) }

func drawDetail(r *page.Request, status int, form uploadForm) error {
	p, err := r.API.GetPlaybook(r.Ctx, r.Param("name"))
	if err != nil {
		return err
	}
	found, err := r.API.ListPlaybookVersions(r.Ctx, p.Name, api.PageQuery{Limit: 50, Cursor: r.Query("cursor")})
	if err != nil {
		return err
	}
	form.Key = page.NewKey()
	pages := r.Pages(found.PreviousCursor, found.NextCursor)
	return r.Show(page.View{Title: p.Name, Nav: "/playbooks", Status: status, Body: detailPage(p, found.Items, form, pages)})
}

type place struct {
	Playbook string
	Version  int
}

func (p place) href() string {
	return "/playbooks/" + url.PathEscape(p.Playbook) + "/versions/" + strconv.Itoa(p.Version)
}

func (p place) title() string { return p.Playbook + " v" + strconv.Itoa(p.Version) }

func (p place) diff(against int) string { return p.href() + "/diff?against=" + strconv.Itoa(against) }

func (p place) edit(path string) string { return p.href() + "/edit?path=" + url.QueryEscape(path) }

func (p place) file(path string) string {
	return p.href() + "/file?path=" + url.QueryEscape(path)
}

// line is a line of a file; of 0 it is the file.
func (p place) line(path string, n int) string {
	if n < 1 {
		return p.file(path)
	}
	return p.file(path) + "#L" + strconv.Itoa(n)
}

func placeOf(r *page.Request) (place, error) {
	v, err := strconv.Atoi(r.Param("version"))
	if err != nil {
		return place{}, fiber.ErrNotFound
	}
	return place{r.Param("name"), v}, nil
}

func version(r *page.Request) error {
	at, err := placeOf(r)
	if err != nil {
		return err
	}
	v := versionView{At: at}
	if v.Version, err = r.API.GetPlaybookVersion(r.Ctx, at.Playbook, at.Version); err != nil {
		return err
	}
	if v.Playbook, err = r.API.GetPlaybook(r.Ctx, at.Playbook); err != nil {
		return err
	}
	if v.Files, err = r.API.ListPlaybookFiles(r.Ctx, at.Playbook, at.Version); err != nil {
		return err
	}
	others, err := r.API.ListPlaybookVersions(r.Ctx, at.Playbook, api.PageQuery{Limit: 100})
	if err != nil {
		return err
	}
	v.Others = others.Items
	if v.Trial, err = trialOf(r, v.Version); err != nil {
		return err
	}
	if v.Uses, err = usesOf(r, at); err != nil {
		return err
	}
	return r.Show(page.View{Title: at.title(), Nav: "/playbooks", Body: versionPage(v)})
}

func file(r *page.Request) error {
	p, err := placeOf(r)
	if err != nil {
		return err
	}
	f, err := r.API.GetPlaybookFile(r.Ctx, p.Playbook, p.Version, r.Query("path"))
	if err != nil {
		return err
	}
	findings, err := findingsIn(r, p, f.Path)
	if err != nil {
		return err
	}
	return r.Show(page.View{Title: f.Path, Nav: "/playbooks", Body: filePage(p, f, findings)})
}

// findingsIn is what ansible-lint says of one file of a version.
func findingsIn(r *page.Request, p place, path string) ([]api.LintFinding, error) {
	v, err := r.API.GetPlaybookVersion(r.Ctx, p.Playbook, p.Version)
	if err != nil || v.Lint == nil {
		return nil, err
	}
	var found []api.LintFinding
	for _, l := range v.Lint.Findings {
		if l.Path == path {
			found = append(found, l)
		}
	}
	return found, nil
}

func download(r *page.Request) error {
	p, err := placeOf(r)
	if err != nil {
		return err
	}
	body, err := r.API.DownloadPlaybook(r.Ctx, p.Playbook, p.Version)
	if err != nil {
		return err
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, maxDownload))
	if err != nil {
		return err
	}
	r.C.Set(fiber.HeaderContentType, "application/zstd")
	r.C.Set(fiber.HeaderContentDisposition, `attachment; filename="`+safeName(p.Playbook)+"-v"+strconv.Itoa(p.Version)+`.tar.zst"`)
	return r.C.Send(content)
}

// safeName keeps of a name what can stand in a header.
func safeName(s string) string {
	out := []byte(s)
	for i, b := range out {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '_' && b != '-' {
			out[i] = '_'
		}
	}
	return string(out)
}

func total(files []api.PlaybookFile) string {
	var n int64
	for _, f := range files {
		n += f.SizeBytes
	}
	return ui.Count(len(files), "file") + ", " + ui.Bytes(n)
}
