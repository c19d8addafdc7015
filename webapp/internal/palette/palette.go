// Package palette owns the way to anything by its name: the pages of all areas, and
// what they find. It serves a page, and the parts of it that
// the command palette of every other page shows.
package palette

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const longest = 64 // letters that are searched for

func mount(r fiber.Router, a *page.App) {
	r.Get("/web/go", a.Page(show))
}

// group is targets of one kind.
type group struct {
	Name    string
	Targets []ui.Target
}

func show(r *page.Request) error {
	q := []rune(r.Query("q"))
	query := string(q[:min(len(q), longest)])
	groups, err := search(r.Ctx, r, query)
	if err != nil {
		return err
	}
	if r.C.Get("X-Palette") != "" {
		return r.Fragment(options(groups))
	}
	return r.Show(page.View{Title: "Go to", Nav: "/web/go", Body: goPage(query, groups)})
}

// search looks for a text among everything that has a name. What an account
// may not see is not found.
func search(ctx context.Context, r *page.Request, query string) ([]group, error) {
	pages := r.Targets()
	if query == "" {
		return []group{{"Pages", pages}}, nil
	}
	found := []group{{"Pages", ui.Matching(pages, query, page.MaxFound)}}
	finds := r.App().Finds()
	for _, f := range finds {
		found = append(found, group{Name: f.Noun})
	}
	g, ctx := errgroup.WithContext(ctx)
	for i, f := range finds {
		g.Go(func() (err error) {
			found[i+1].Targets, err = f.Do(ctx, r, query)
			return page.Optional(err)
		})
	}
	err := g.Wait()
	return found, err
}

func total(groups []group) int {
	n := 0
	for _, g := range groups {
		n += len(g.Targets)
	}
	return n
}
