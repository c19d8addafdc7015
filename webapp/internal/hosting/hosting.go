// Package hosting owns the pages of hosted control planes, and those of the management clusters that they run in.
package hosting

import (
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M3 3h10v4H3zM3 9h10v4H3zM5 5h.010M5 11h.010M8 7v2"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/hosted-control-planes", Label: "Hosted control planes", Icon: icon, Needs: "project.workspace.cluster:read"},
		{Href: "/hosted-control-planes/new", Label: "Create a cluster with a hosted control plane", Icon: icon, Needs: "project.workspace.cluster:create"},
		{Href: "/management-clusters", Label: "Management clusters", Icon: icon, Needs: "installation.management_cluster:read"},
		{Href: "/management-clusters/new", Label: "Add a management cluster", Icon: icon, Needs: "installation.management_cluster:create"},
	},
	Nouns: []page.Noun{{Name: "hosted_control_plane", Path: "/hosted-control-planes/"}, {Name: "management_cluster", Path: "/management-clusters/"}},
	Notices: map[string]string{
		"management-created": "The management cluster is added. It is looked at within seconds.",
		"management-changed": "The management cluster is changed.",
		"management-deleted": "The management cluster is forgotten. Nothing was changed there.",
	},
}

var planeTones = states.Tones{
	"pending": ui.Line, "creating": ui.Busy, "ready": ui.Good, "changing": ui.Busy, "asleep": ui.Shut, "degraded": ui.Bad, "failed": ui.Bad,
	"deleting": ui.Busy, "delete_failed": ui.Bad,
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/hosted-control-planes", a.Page(listPlanes))
	r.Get("/hosted-control-planes/new", a.Page(showNewPlane))
	r.Post("/hosted-control-planes/new", a.Page(createPlane))
	r.Get("/hosted-control-planes/:id", a.Page(showPlane))
	r.Post("/hosted-control-planes/:id/upgrade", a.Page(upgradePlane))
	r.Post("/hosted-control-planes/:id/sleep", a.Page(sleepPlane))
	r.Post("/hosted-control-planes/:id/wake", a.Page(wakePlane))
	r.Post("/hosted-control-planes/:id/delete", a.Page(deletePlane))
	r.Get("/management-clusters", a.Page(listManagements))
	r.Get("/management-clusters/new", a.Page(showNewManagement))
	r.Post("/management-clusters/new", a.Page(createManagement))
	r.Get("/management-clusters/:id", a.Page(showManagement))
	r.Post("/management-clusters/:id/check", a.Page(checkManagement))
	r.Get("/management-clusters/:id/edit", a.Page(showEditManagement))
	r.Post("/management-clusters/:id/edit", a.Page(saveManagement))
	r.Post("/management-clusters/:id/delete", a.Page(page.Delete((*client.Client).GetManagementCluster, (*client.Client).DeleteManagementCluster, func(m api.ManagementCluster) (name, to string) { return m.Name, managementsTarget.Href }, "management-deleted")))
}
