package organization

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

func version(s api.Scope) string { return strconv.FormatInt(s.Version, 10) }

func showNewOrganization(r *page.Request) error {
	return drawNewOrganization(r, fiber.StatusOK, ui.Form{Values: url.Values{}})
}

func drawNewOrganization(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{{Href: "/organizations", Label: "Organizations"}}, "Create an organization", "/organizations/new", "Create"
	f.Cancel, f.Key, f.Fields = "/organizations", page.NewKey(), []string{"name", "owner"}
	f.Means = "It gets an SSH key of its own for hosts, and a project and a workspace that are called default."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: organizationForm(f)})
}

func createOrganization(r *page.Request) error {
	to := func(made api.Scope) string {
		r.ForgetScopes()
		return At(made)
	}
	return page.Create((*client.Client).CreateOrganization, drawNewOrganization, to, "organization-created")(r)
}

func showNewProject(r *page.Request) error {
	return drawNewProject(r, fiber.StatusOK, ui.Form{Values: url.Values{}})
}

func drawNewProject(r *page.Request, status int, f ui.Form) error {
	in, err := Named(r, "organization")
	if err != nil {
		return err
	}
	f.Values.Set("organization", in.Path)
	f.Up, f.Title, f.Action, f.Submit = Crumbs(in), "Create a project", "/projects/new", "Create"
	f.Cancel, f.Key, f.Fields, f.Means = At(in), page.NewKey(), []string{"name", "organization"}, "In the organization "+in.Path+"."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: projectForm(f)})
}

func showNewWorkspace(r *page.Request) error {
	return drawNewWorkspace(r, fiber.StatusOK, ui.Form{Values: url.Values{"project": {r.Query("project")}}})
}

// projectChoices are the projects of an organization.
func projectChoices(r *page.Request, organization string) ([]ui.Choice, error) {
	found, err := r.API.ListProjects(r.Ctx, api.ProjectFilter{Organization: organization, PageQuery: api.PageQuery{Limit: mostIn}})
	choices := make([]ui.Choice, 0, len(found.Items))
	for _, p := range found.Items {
		choices = append(choices, ui.Choice{Value: p.Path, Label: p.Path})
	}
	return choices, err
}

func drawNewWorkspace(r *page.Request, status int, f ui.Form) error {
	choices, err := projectChoices(r, "")
	if err != nil {
		return err
	}
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{{Href: "/organizations", Label: "Organizations"}}, "Create a workspace", "/workspaces/new", "Create"
	f.Cancel, f.Key, f.Fields = "/organizations", page.NewKey(), []string{"name", "project", "type"}
	f.Means = "It begins empty: register hosts in it, or let its project use others."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: workspaceForm(f, choices)})
}

func createWorkspace(r *page.Request) error {
	to := func(made api.Scope) string {
		r.ForgetScopes()
		return At(made)
	}
	return page.Create((*client.Client).CreateWorkspace, drawNewWorkspace, to, "scope-created")(r)
}

func types() []string { return states.Enum(api.CreateWorkspace{}, "Type") }

func showMove(r *page.Request) error { return drawMove(r, fiber.StatusOK, ui.Form{}) }

func drawMove(r *page.Request, status int, f ui.Form) error {
	s, err := r.API.GetWorkspace(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	choices, err := projectChoices(r, s.OrganizationID)
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values, f.Version = url.Values{"project": {s.Organization + "/" + s.Project}}, version(s)
	}
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = Crumbs(s), "Move "+s.Path, At(s)+"/move", "Move", At(s)
	f.Fields, f.Means = []string{"project"}, "Everything in it moves along. Roles and quotas of the other project count then."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: moveForm(f, choices)})
}

func move(r *page.Request) error {
	s, err := r.API.GetWorkspace(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	to := func(now api.Scope) string {
		if now.ID != "" {
			r.Renamed(s.Path, now.Path)
		}
		return At(s)
	}
	return page.Change((*client.Client).MoveWorkspace, drawMove, to, "scope-moved")(r)
}
