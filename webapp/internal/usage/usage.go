// Package usage owns the pages of what a scope had in use, day by day, of the monthly statement of an organization, each with its
// files, and of the prices that statements are made with.
package usage

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M2 13.500h12M3.500 11l3-4 2.500 2.500 4-6"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/usage", Label: "Usage", Icon: icon, Needs: "organization.usage:read"},
		{Href: "/statements", Label: "Statement", Icon: icon, Needs: "organization.statement:read"},
		{Href: "/prices", Label: "Prices", Icon: icon, Needs: "organization.statement:read"},
	},
	Notices: map[string]string{
		"price-added":   "The price is set. Statements count with it from its beginning.",
		"price-deleted": "The price is deleted.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/usage", a.Page(show))
	r.Get("/usage/export", a.Page(export))
	r.Get("/statements", a.Page(statement))
	r.Get("/statements/export", a.Page(statementFile))
	r.Get("/prices", a.Page(prices))
	r.Post("/prices", a.Page(addPrice))
	r.Post("/prices/:id/delete", a.Page(deletePrice))
}

// period is the filter of the page: a scope and its first and last day.
type period struct{ Scope, First, Last string }

func periodOf(r *page.Request) period {
	return period{r.Query("scope"), r.Query("first"), r.Query("last")}
}

func (p period) filter(cursor string, limit int) api.UsageFilter {
	return api.UsageFilter{Scope: p.Scope, First: p.First, Last: p.Last, PageQuery: api.PageQuery{Cursor: cursor, Limit: limit}}
}

// file is where the same is had as a file.
func (p period) file() string {
	return "/usage/export?" + url.Values{"scope": {p.Scope}, "first": {p.First}, "last": {p.Last}}.Encode()
}

func show(r *page.Request) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	p := periodOf(r)
	p.Scope = s.Path
	now := time.Now().UTC()
	if p.First == "" {
		p.First = now.Format("2006-01") + "-01"
	}
	if p.Last == "" {
		p.Last = now.Format(time.DateOnly)
	}
	l := ui.List{
		Title: "Usage of " + s.Path, Path: "/usage", Here: r.Here(), Up: organization.Crumbs(s), Means: "A line for each day and allocation, in UTC.",
		Filters: filters(p), Filtered: r.Query("first")+r.Query("last") != "", None: "Nothing was in use", NoneText: "Usage is counted from the first allocation on.", NoMatch: "Nothing was in use then",
		Heads: []ui.Head{{Label: "Day"}, {Label: "Allocation"}, {Label: "Workspace"}, {Label: "CPUs"}, {Label: "Memory"}, {Label: "Volume"}, {Label: "Hours"}},
	}
	f := p.filter(r.Query("cursor"), 100)
	f.Sort = r.Query("sort")
	found, err := r.API.ListUsage(r.Ctx, f)
	if err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error {
			l.Empty = true
			return r.Show(page.View{Title: l.Title, Nav: "/organizations", Status: status, Body: usagePage(l, p, nil, wrong)})
		})
	}
	l.Empty, l.Pages = len(found.Items) == 0, r.Pages(found.PreviousCursor, found.NextCursor)
	return r.Show(page.View{Title: l.Title, Nav: "/organizations", Body: usagePage(l, p, found.Items, ui.Problems{})})
}

func hours(seconds float64) string { return strconv.FormatFloat(seconds/3600, 'f', 2, 64) }

// bill is a statement with the months around it.
type bill struct {
	api.Statement
	Of             api.Scope
	Previous, Next string // months; "" for one that is to come
	ShowsWhere     bool   // lines name their workspaces
	This           string // the running month
	Up             []ui.Target
	Wrong          ui.Problems
}

// file is where the same is had as a file.
func (b bill) file(format string) string {
	return "/statements/export?" + url.Values{"organization": {b.Of.Organization}, "month": {b.Month}, "format": {format}}.Encode()
}

var resources = map[string]string{"unit_hour": "Hours of units", "cpu_hour": "Hours of CPUs", "memory_gib_hour": "GiB hours of memory", "volume_gib_hour": "GiB hours of volumes"}

func statementAt(path, month string) string {
	return "/statements?" + url.Values{"organization": {path}, "month": {month}}.Encode()
}

func statement(r *page.Request) error {
	s, err := organization.Named(r, "organization")
	if err != nil {
		return err
	}
	b := bill{Of: s, Up: organization.Crumbs(s), This: time.Now().UTC().Format("2006-01")}
	found, err := r.API.GetStatement(r.Ctx, api.StatementFilter{Organization: s.OrganizationID, Month: r.Query("month")})
	if err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error {
			b.Wrong, b.Month = wrong, r.Query("month")
			return r.Show(page.View{Title: "Statement of " + s.Organization, Nav: "/organizations", Status: status, Body: statementPage(b)})
		})
	}
	b.Statement = found
	if month, err := time.Parse("2006-01", found.Month); err == nil {
		b.Previous = month.AddDate(0, -1, 0).Format("2006-01")
		if found.Over {
			b.Next = month.AddDate(0, 1, 0).Format("2006-01")
		}
	}
	for _, line := range found.Lines {
		b.ShowsWhere = b.ShowsWhere || line.Workspace != ""
	}
	return r.Show(page.View{Title: "Statement of " + s.Organization, Nav: "/organizations", Body: statementPage(b)})
}

// resource names what one of a quantity is.
func resource(name string) string {
	if words, known := resources[name]; known {
		return words
	}
	return ui.Sentence(name)
}

func missing(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = resource(name)
	}
	return strings.Join(words, ", ")
}
