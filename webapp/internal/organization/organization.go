// Package organization owns the pages of organizations, projects and workspaces: their lists, a scope with what is in it,
// and the forms that make, rename, move, suspend and delete one.
package organization

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const (
	icon   = "M6 1.500h4v4H6zM1.500 10.500h4v4h-4zM10.500 10.500h4v4h-4zM8 5.500V8M3.500 10.500V8h9v2.500"
	mostIn = 500 // projects and workspaces of an organization that its page shows
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/organizations", Label: "Organizations", Icon: icon}},
	Pages: []ui.Target{
		{Href: "/organizations/new", Label: "Create an organization", Icon: icon, Needs: "installation.organization:create"},
		{Href: "/projects/new", Label: "Create a project", Icon: icon, Needs: "project:create"},
		{Href: "/workspaces/new", Label: "Create a workspace", Icon: icon, Needs: "project.workspace:create"},
	},
	Finds: []page.Find{{Noun: "Workspaces", Do: find}},
	Nouns: []page.Noun{{Name: "organization", Path: "/organizations/"}, {Name: "project", Path: "/projects/"}, {Name: "workspace", Path: "/workspaces/"}},
	Notices: map[string]string{
		"scope-created":        "It is created.",
		"organization-created": "The organization is created, with a project and a workspace that are called default.",
		"scope-renamed":        "It is renamed. Addresses and commands use the new name from now on.",
		"scope-moved":          "The workspace is moved. Addresses and commands use the new path from now on.",
		"scope-suspended":      "It is suspended. Nothing in it can be changed; running jobs continue.",
		"scope-resumed":        "It is resumed.",
		"factor-required":      "Sessions and tokens of people without a second factor reach nothing of it now.",
		"factor-waived":        "Nobody needs a second factor in it any more.",
		"scope-deleting":       "It is being deleted with all that is in it. Nothing is added to it any more.",
		"key-replacing":        "Every host gets another key. Nothing has to be done here unless a host fails.",
		"key-left":             "The host is left behind. Put the new key on it by hand, then probe it.",
		"scope-deleted":        "It is deleted. Its history stays, and the name is free again.",
	},
}

// level is what is the same for the scopes of one kind.
type level struct {
	kind, list, means string
	get               func(*client.Client, context.Context, string) (api.Scope, error)
	change            func(*client.Client, context.Context, string, api.ChangeScope, ...client.Option) (api.Scope, error)
	suspend, resume   func(*client.Client, context.Context, string, ...client.Option) (api.Scope, error)
	remove            func(*client.Client, context.Context, string, ...client.Option) error
	cascade           func(*client.Client, context.Context, string, ...client.Option) (api.Plan, error) // a plan of it
	cascadeNow        func(*client.Client, context.Context, string, api.Cascade, ...client.Option) (api.Scope, string, error)
}

var levels = map[string]level{
	"organization": {
		"organization", "/organizations", "An organization holds projects. Others can't see, guess or count what is in it.",
		(*client.Client).GetOrganization, (*client.Client).ChangeOrganization, (*client.Client).SuspendOrganization, (*client.Client).ResumeOrganization, (*client.Client).DeleteOrganization,
		(*client.Client).PlanOrganizationCascade, (*client.Client).CascadeOrganization,
	},
	"project": {
		"project", "/projects", "A project holds workspaces.",
		(*client.Client).GetProject, (*client.Client).ChangeProject, (*client.Client).SuspendProject, (*client.Client).ResumeProject, (*client.Client).DeleteProject,
		(*client.Client).PlanProjectCascade, (*client.Client).CascadeProject,
	},
	"workspace": {
		"workspace", "/workspaces", "A workspace holds hosts, units, allocations, addresses, DNS zones and channels.",
		(*client.Client).GetWorkspace, (*client.Client).ChangeWorkspace, (*client.Client).SuspendWorkspace, (*client.Client).ResumeWorkspace, (*client.Client).DeleteWorkspace,
		(*client.Client).PlanWorkspaceCascade, (*client.Client).CascadeWorkspace,
	},
}

var tones = states.Tones{"active": ui.Good, "suspended": ui.Shut, "deleting": ui.Busy}

func mount(r fiber.Router, a *page.App) {
	r.Get("/organizations", a.Page(list))
	r.Get("/organizations/new", a.Page(showNewOrganization))
	r.Post("/organizations/new", a.Page(createOrganization))
	r.Get("/projects/new", a.Page(showNewProject))
	r.Post("/projects/new", a.Page(page.Create((*client.Client).CreateProject, drawNewProject, At, "scope-created")))
	r.Get("/workspaces/new", a.Page(showNewWorkspace))
	r.Post("/workspaces/new", a.Page(createWorkspace))
	r.Get("/workspaces/:id/move", a.Page(showMove))
	r.Post("/workspaces/:id/move", a.Page(move))
	r.Post("/organizations/:id/require-second-factor", a.Page(levels["organization"].do((*client.Client).RequireSecondFactor, "factor-required")))
	r.Post("/organizations/:id/waive-second-factor", a.Page(levels["organization"].do((*client.Client).WaiveSecondFactor, "factor-waived")))
	mountSSHKey(r, a)
	for _, kind := range []string{"organization", "project", "workspace"} {
		l := levels[kind]
		r.Get(l.list+"/:id", a.Page(l.show))
		r.Get(l.list+"/:id/edit", a.Page(l.showEdit))
		r.Post(l.list+"/:id/edit", a.Page(l.rename))
		r.Post(l.list+"/:id/suspend", a.Page(l.do(l.suspend, "scope-suspended")))
		r.Post(l.list+"/:id/resume", a.Page(l.do(l.resume, "scope-resumed")))
		r.Post(l.list+"/:id/delete", a.Page(l.delete))
		r.Post(l.list+"/:id/cascade", a.Page(l.planCascade))
	}
}

// At is the page of a scope.
func At(s api.Scope) string {
	l, known := levels[s.Kind]
	if !known {
		l = levels["organization"]
	}
	return l.list + "/" + s.ID
}

// Find is the scope of a path, such as acme/web.
func Find(r *page.Request, path string) (api.Scope, error) {
	kind := "organization"
	switch strings.Count(path, "/") {
	case 1:
		kind = "project"
	case 2:
		kind = "workspace"
	}
	return levels[kind].get(r.API, r.Ctx, path)
}

// Named is the scope that the address of a page names; without one, the organization of the workspace that is looked at.
func Named(r *page.Request, parameter string) (api.Scope, error) {
	path := r.Query(parameter)
	if path == "" {
		path = r.Form(parameter)
	}
	if path == "" {
		who, err := r.Who()
		if err != nil {
			return api.Scope{}, err
		}
		path, _, _ = strings.Cut(who.Workspace, "/")
	}
	if path == "" {
		found, err := r.API.ListOrganizations(r.Ctx, api.OrganizationFilter{PageQuery: api.PageQuery{Limit: 1}})
		if err != nil || len(found.Items) == 0 {
			return api.Scope{}, orNotFound(err)
		}
		return found.Items[0], nil
	}
	return Find(r, path)
}

func orNotFound(err error) error {
	if err == nil {
		return fiber.ErrNotFound
	}
	return err
}

// Crumbs are the ways to the scopes above one, and to itself.
func Crumbs(s api.Scope) []ui.Target {
	up := []ui.Target{{Href: "/organizations", Label: "Organizations"}, {Href: "/organizations/" + s.OrganizationID, Label: s.Organization}}
	switch s.Kind {
	case "organization":
		return up
	case "project":
		return append(up, ui.Target{Href: At(s), Label: s.Name})
	}
	return append(up, ui.Target{Href: "/projects/" + s.ProjectID, Label: s.Project}, ui.Target{Href: At(s), Label: s.Name})
}

func above(s api.Scope) []ui.Target {
	up := Crumbs(s)
	return up[:len(up)-1]
}

func find(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListWorkspaces(ctx, api.WorkspaceFilter{PageQuery: api.PageQuery{Limit: mostIn}})
	var all []ui.Target
	if len(found.Items) > 1 {
		for _, w := range found.Items {
			all = append(all, ui.Target{Href: "/w/" + w.Path + "/", Label: w.Path, Note: ui.Word(w.State), Icon: icon})
		}
	}
	return ui.Matching(all, query, page.MaxFound), err
}

func list(r *page.Request) error {
	f := api.OrganizationFilter{State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListOrganizations(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Organizations", Path: "/organizations", Here: r.Here(), Means: "Organizations hold projects, projects hold workspaces. You see those in which you have a role.",
		New: ui.Target{Href: "/organizations/new", Label: "Create an organization"}, Filters: filters(f), Filtered: f.State != "", Empty: len(found.Items) == 0,
		None: "No organization", NoneText: "You have no role in one yet. Ask an owner or admin of it.", NoMatch: "No organization matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Field: "created_at", Label: "Created"}}, Sort: r.Sorter("name"),
		Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/organizations", Body: listPage(l, found.Items)})
}

// view is a scope and what is in it.
type view struct {
	Scope      api.Scope
	Up         []ui.Target
	Operations []ui.Operation
	Projects   []api.Scope // of an organization
	Workspaces []api.Scope // of an organization or a project
	Deletes    string      // the page of the job that deletes it; "" for none
	Open       string      // where its events and objects are shown; "" where the session sees none
	Wrong      ui.Problems
}

// workspacesOf are the workspaces of a project.
func (v view) workspacesOf(project api.Scope) (some []api.Scope) {
	for _, w := range v.Workspaces {
		if w.ProjectID == project.ID {
			some = append(some, w)
		}
	}
	return some
}

func (l level) show(r *page.Request) error {
	s, err := l.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return l.draw(r, fiber.StatusOK, s, ui.Problems{})
}

func (l level) draw(r *page.Request, status int, s api.Scope, wrong ui.Problems) error {
	v := view{Scope: s, Up: above(s), Wrong: wrong, Operations: l.operations(s)}
	if err := v.fill(r); err != nil {
		return err
	}
	if s.Kind != "workspace" && len(v.Workspaces) == 0 {
		v.withoutPlan()
	}
	who, err := r.Who()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(v.Workspaces, func(w api.Scope) bool { return w.Path == who.Workspace }); i >= 0 {
		v.Open = "/"
	} else if len(v.Workspaces) > 0 {
		v.Open = "/w/" + v.Workspaces[0].Path + "/"
	}
	if d := s.Deletion; d != nil {
		if i := slices.IndexFunc(v.Workspaces, func(w api.Scope) bool { return w.ID == d.Workspace }); i >= 0 {
			v.Deletes = "/w/" + v.Workspaces[i].Path + "/jobs/" + d.JobID
		}
	}
	return r.Show(page.View{Title: s.Path, Nav: "/organizations", Status: status, Body: scopePage(v)})
}

// withoutPlan has the scopes in it deleted at once: where there is no workspace, no plan shows what goes.
func (v *view) withoutPlan() {
	for i, o := range v.Operations {
		if o.Name == "cascade" {
			v.Operations[i].Confirm, v.Operations[i].Typed = v.Scope.Name, "its name"
			v.Operations[i].What = "No workspace is in it, so nothing lives in it. It goes at once, with the scopes in it."
		}
	}
}

// fill asks for what is in the scope.
func (v *view) fill(r *page.Request) error {
	s := v.Scope
	if s.Kind == "workspace" {
		v.Workspaces = []api.Scope{s}
		return nil
	}
	g, ctx := errgroup.WithContext(r.Ctx)
	if s.Kind == "organization" {
		g.Go(func() error {
			found, err := r.API.ListProjects(ctx, api.ProjectFilter{Organization: s.ID, PageQuery: api.PageQuery{Limit: mostIn}})
			v.Projects = found.Items
			return page.Optional(err)
		})
	}
	g.Go(func() error {
		f := api.WorkspaceFilter{Organization: s.OrganizationID, PageQuery: api.PageQuery{Limit: mostIn}}
		if s.Kind == "project" {
			f.Project = s.ID
		}
		found, err := r.API.ListWorkspaces(ctx, f)
		v.Workspaces = found.Items
		return page.Optional(err)
	})
	return g.Wait()
}

func (l level) operations(s api.Scope) []ui.Operation {
	at := At(s)
	all := page.Operations(s.Operations, []ui.Operation{
		{Name: "change", Label: "Rename", What: "Addresses and commands use the new name then.", Href: at + "/edit"},
		{Name: "move", Label: "Move", What: "To another project of its organization, with all that is in it.", Href: at + "/move"},
		{Name: "resume", Label: "Resume", What: "What is in it can be changed again.", Action: at + "/resume", Main: true, Version: s.Version},
		{Name: "require-second-factor", Label: "Ask for a second factor", What: "Sessions and tokens of people who proved none reach nothing of it then. Yours has to be proved.", Action: at + "/require-second-factor", Version: s.Version},
		{Name: "waive-second-factor", Label: "End to ask for a second factor", What: "A password alone is enough then.", Action: at + "/waive-second-factor", Version: s.Version},
		{Name: "suspend", Label: "Suspend", What: "Nothing in it can be changed then. Running jobs continue.", Action: at + "/suspend", Danger: true, Confirm: s.Name, Typed: "its name", Version: s.Version},
		{Name: "delete", Label: "Delete", What: "Only if nothing is in it any more.", Action: at + "/delete", Danger: true, Confirm: s.Name, Typed: "its name", Version: s.Version},
		{Name: "cascade", Label: "Delete with all that is in it", What: "Shows a plan first, which lists all that goes. Nothing is deleted before you confirm that.", Action: at + "/cascade", Danger: true},
	})
	all = ui.Possible(all, s.SecondFactorRequired, "waive-second-factor", "require-second-factor")
	return ui.Possible(all, s.State == "suspended" || s.State == "deleting", "resume", "suspend")
}

// refused draws the page of a scope with why something can't be done with it.
func (l level) refused(r *page.Request, s api.Scope, err error) error {
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		if now, getErr := l.get(r.API, r.Ctx, s.ID); getErr == nil {
			s = now
		}
		return l.draw(r, status, s, wrong)
	})
}

func (l level) do(call func(*client.Client, context.Context, string, ...client.Option) (api.Scope, error), said string) func(*page.Request) error {
	return func(r *page.Request) error {
		s, err := l.get(r.API, r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		if said == "scope-suspended" {
			if err := r.Typed(s.Name); err != nil {
				return l.refused(r, s, err)
			}
		}
		if _, err := call(r.API, r.Ctx, s.ID, r.IfSeen()); err != nil {
			return l.refused(r, s, err)
		}
		return r.Go(At(s), said)
	}
}

func (l level) delete(r *page.Request) error {
	s, err := l.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if err = r.Typed(s.Name); err == nil {
		err = l.remove(r.API, r.Ctx, s.ID, r.IfSeen())
	}
	if err != nil {
		return l.refused(r, s, err)
	}
	r.Renamed(s.Path, "")
	up := above(s)
	return r.Go(up[len(up)-1].Href, "scope-deleted")
}

// planCascade makes a plan to delete a scope with all that is in it, and shows it. It stands in a workspace that goes.
func (l level) planCascade(r *page.Request) error {
	s, err := l.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if r.Form("confirm") != "" {
		return l.cascadeEmpty(r, s)
	}
	p, err := l.cascade(r.API, r.Ctx, s.ID)
	if err != nil {
		return l.refused(r, s, err)
	}
	in, err := r.API.GetWorkspace(r.Ctx, p.Workspace)
	if err != nil {
		return err
	}
	return r.Go("/w/"+in.Path+"/plans/"+p.ID, "")
}

// cascadeEmpty deletes a scope without workspaces at once: there is no plan of that.
func (l level) cascadeEmpty(r *page.Request, s api.Scope) error {
	err := r.Typed(s.Name)
	if err == nil {
		_, _, err = l.cascadeNow(r.API, r.Ctx, s.ID, api.Cascade{Confirm: s.Name})
	}
	if err != nil {
		return l.refused(r, s, err)
	}
	r.Renamed(s.Path, "")
	up := above(s)
	return r.Go(up[len(up)-1].Href, "scope-deleted")
}

func (l level) showEdit(r *page.Request) error { return l.drawEdit(r, fiber.StatusOK, ui.Form{}) }

func (l level) drawEdit(r *page.Request, status int, f ui.Form) error {
	s, err := l.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values, f.Version = url.Values{"name": {s.Name}}, version(s)
	}
	f.Up, f.Title, f.Action, f.Submit, f.Cancel, f.Fields = Crumbs(s), "Rename "+s.Path, At(s)+"/edit", "Rename", At(s), []string{"name"}
	f.Means = "Links and commands with the old name no longer work."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: nameForm(f)})
}

func (l level) rename(r *page.Request) error {
	s, err := l.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	to := func(now api.Scope) string {
		if now.ID != "" {
			r.Renamed(s.Path, now.Path)
		}
		return At(s)
	}
	return page.Change(l.change, l.drawEdit, to, "scope-renamed")(r)
}
