// Package role owns the pages of the roles that can be given in an organization, and the forms of those that it makes itself.
package role

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 1.500l5.500 2v4c0 3.500-2.300 5.800-5.500 7-3.200-1.200-5.500-3.500-5.500-7v-4zM5.500 8l1.800 1.800L10.800 6.200"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/roles", Label: "Roles", Icon: icon, Needs: "organization.role:read"},
		{Href: "/roles/new", Label: "Create a role", Icon: icon, Needs: "organization.role:create"},
	},
	Nouns: []page.Noun{{Name: "role", Path: "/roles/"}},
	Notices: map[string]string{
		"role-created": "The role is created. Give it to somebody under Members.",
		"role-changed": "The role is changed, for everybody who has it.",
		"role-deleted": "The role is deleted.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/roles", a.Page(list))
	r.Get("/roles/new", a.Page(showNew))
	r.Post("/roles/new", a.Page(create))
	r.Get("/roles/:id", a.Page(showEdit))
	r.Post("/roles/:id", a.Page(change))
	r.Post("/roles/:id/delete", a.Page(remove))
}

func rolesURL(s api.Scope) string { return "/roles?organization=" + url.QueryEscape(s.Path) }

func list(r *page.Request) error {
	s, err := organization.Named(r, "organization")
	if err != nil {
		return err
	}
	found, err := r.API.ListRoles(r.Ctx, api.RoleFilter{Organization: s.ID})
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Roles of " + s.Path, Path: "/roles", Here: r.Here(), Up: organization.Crumbs(s), Means: "A role is a set of permissions. It is given to an account at a scope, under Members.",
		New:   ui.Target{Href: "/roles/new?organization=" + url.QueryEscape(s.Path), Label: "Create a role"},
		Heads: []ui.Head{{Label: "Role"}, {Label: "Permits"}, {Label: "Permissions"}},
	}
	return r.Show(page.View{Title: l.Title, Nav: "/organizations", Body: listPage(l, url.QueryEscape(s.Path), found.Items)})
}

// noun is a noun with the verbs that can be permitted.
type noun struct {
	Name  string
	Verbs []string
}

// form is a role as it was typed.
type form struct {
	ui.Form
	Organization api.Scope
	Nouns        []noun
	Chosen       map[string]bool
	Role         api.Role // that is changed
}

// nouns are all permissions that can be in a role: those of an owner.
func nouns(r *page.Request, organization string) ([]noun, error) {
	roles, err := r.API.ListRoles(r.Ctx, api.RoleFilter{Organization: organization})
	if err != nil {
		return nil, err
	}
	verbs := map[string][]string{}
	for _, role := range roles.Items {
		if role.Name != "owner" || !role.BuiltIn {
			continue
		}
		for _, p := range role.Permissions {
			if p == api.Own {
				continue
			}
			name, verb, _ := strings.Cut(p, ":")
			verbs[name] = append(verbs[name], verb)
		}
	}
	var all []noun
	for _, name := range slices.Sorted(maps.Keys(verbs)) {
		all = append(all, noun{name, verbs[name]})
	}
	return all, nil
}

func chosen(permissions []string) map[string]bool {
	all := map[string]bool{}
	for _, p := range permissions {
		all[p] = true
	}
	return all
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, form{Form: ui.Form{Values: url.Values{}}})
}

func drawNew(r *page.Request, status int, f form) error {
	s, err := organization.Named(r, "organization")
	if err != nil {
		return err
	}
	if f.Nouns, err = nouns(r, s.ID); err != nil {
		return err
	}
	f.Organization = s
	f.Up, f.Title, f.Action, f.Submit = append(organization.Crumbs(s), ui.Target{Href: rolesURL(s), Label: "Roles"}), "Create a role", "/roles/new", "Create"
	f.Cancel, f.Key, f.Fields = rolesURL(s), page.NewKey(), []string{"name", "description", "permissions"}
	f.Means = "You can put in only what you may do yourself."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: formPage(f)})
}

func read(r *page.Request) form {
	f := form{Chosen: chosen(r.FormAll("permissions"))}
	f.Values, f.Version = url.Values{"name": {r.Form("name")}, "description": {r.Form("description")}}, r.Form("version")
	return f
}

func create(r *page.Request) error {
	f := read(r)
	in := api.CreateRole{Name: r.Form("name"), Organization: r.Form("organization"), Description: r.Form("description"), Permissions: append([]string{}, r.FormAll("permissions")...)}
	made, err := r.API.CreateRole(r.Ctx, in, r.Once())
	if err == nil {
		return r.Go("/roles/"+made.ID+"?organization="+url.QueryEscape(in.Organization), "role-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

func showEdit(r *page.Request) error {
	role, err := r.API.GetRole(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := form{Chosen: chosen(role.Permissions)}
	f.Values, f.Version = url.Values{"name": {role.Name}, "description": {role.Description}}, strconv.FormatInt(role.Version, 10)
	return drawEdit(r, fiber.StatusOK, role, f)
}

func drawEdit(r *page.Request, status int, role api.Role, f form) error {
	s, err := organization.Named(r, "organization")
	if err != nil {
		return err
	}
	if f.Nouns, err = nouns(r, s.ID); err != nil {
		return err
	}
	f.Organization, f.Role = s, role
	f.Up, f.Title, f.Action, f.Submit = append(organization.Crumbs(s), ui.Target{Href: rolesURL(s), Label: "Roles"}), "Role "+role.Name, "/roles/"+role.ID, "Save"
	f.Cancel, f.Fields, f.Means = rolesURL(s), []string{"name", "description", "permissions"}, "A change counts at once for everybody who has the role."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: editPage(f)})
}

func change(r *page.Request) error {
	role, err := r.API.GetRole(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := read(r)
	name, description, permissions := r.Form("name"), r.Form("description"), append([]string{}, r.FormAll("permissions")...)
	_, err = r.API.ChangeRole(r.Ctx, role.ID, api.ChangeRole{Name: &name, Description: &description, Permissions: &permissions}, r.IfSeen())
	if err == nil {
		return r.Go("/roles/"+role.ID+"?organization="+url.QueryEscape(r.Form("organization")), "role-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawEdit(r, status, role, f)
	})
}

func remove(r *page.Request) error {
	role, err := r.API.GetRole(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if err = r.Typed(role.Name); err == nil {
		err = r.API.DeleteRole(r.Ctx, role.ID, r.IfSeen())
	}
	if err == nil {
		return r.Go("/roles", "role-deleted")
	}
	f := form{Chosen: chosen(role.Permissions)}
	f.Values, f.Version = url.Values{"name": {role.Name}, "description": {role.Description}}, strconv.FormatInt(role.Version, 10)
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawEdit(r, status, role, f)
	})
}

// words is a noun in words: project.workspace.dns_zone -> workspace: dns zone.
func (n noun) words() string {
	parts := strings.Split(n.Name, ".")
	last := ui.Word(parts[len(parts)-1])
	if len(parts) == 1 || last == "workspace" || last == "project" {
		return ui.Sentence(last)
	}
	return ui.Sentence(last) + " of the " + parts[len(parts)-2]
}
