package hosting

import (
	"context"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

var (
	clustersTarget = ui.Target{Href: "/clusters", Label: "Clusters"}
	planesTarget   = ui.Target{Href: "/hosted-control-planes", Label: "Hosted control planes"}
)

func listPlanes(r *page.Request) error {
	f := api.HostedControlPlaneFilter{State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListHostedControlPlanes(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Hosted control planes", Path: planesTarget.Href, Here: r.Here(), Up: []ui.Target{clustersTarget},
		Means: "The control plane of a cluster can run in a management cluster of the operator. Its workers are hosts.",
		New:   ui.Target{Href: "/hosted-control-planes/new", Label: "Create a cluster"}, Filters: planeFilters(f), Filtered: f.State != "", Empty: len(found.Items) == 0,
		None: "No hosted control plane", NoneText: "It needs a workspace of type kubernetes, and a pool of management clusters.", NoMatch: "No hosted control plane matches",
		Heads: []ui.Head{{Field: "cluster", Label: "Cluster"}, {Label: "State"}, {Label: "Version"}, {Label: "Pool"}, {Label: "Replicas"}, {Label: "Message"}},
		Sort:  r.Sorter("cluster"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/clusters", Body: planesPage(l, found.Items)})
}

type planeView struct {
	object.Detail
	Plane    api.HostedControlPlane
	Versions []ui.Choice // that it may be upgraded to
	Form     ui.Form     // of an upgrade
}

func showPlane(r *page.Request) error { return drawPlane(r, fiber.StatusOK, ui.Form{}) }

func drawPlane(r *page.Request, status int, f ui.Form) error {
	p, err := r.API.GetHostedControlPlane(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := planeView{Plane: p, Form: f}
	if v.Form.Key = page.NewKey(); v.Form.Values == nil {
		v.Form.Values = url.Values{}
	}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() (err error) {
		v.View, err = object.Load(ctx, r, "hosted_control_plane", p.ID, api.JobFilter{Object: p.ID})
		return err
	})
	g.Go(func() error {
		version, err := r.API.GetKubeVersion(ctx, p.KubernetesVersion)
		for _, to := range version.UpgradesTo {
			v.Versions = append(v.Versions, ui.Choice{Value: to, Label: to})
		}
		return page.Optional(err)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{clustersTarget, planesTarget}, p.Cluster, "/hosted-control-planes/"+p.ID
	v.Tone, v.State, v.Means, v.Message = planeTones.Of(p.State), p.State, p.StateMeans, p.Message
	operations := slices.DeleteFunc(slices.Clone(p.Operations), func(o api.Operation) bool { return o.Name == "upgrade" }) // it has a form
	v.Operations = page.Operations(operations, []ui.Operation{
		{Name: "wake", Label: "Wake", What: "Gives the control plane its replicas back, and waits until its API server answers.", Action: v.Here + "/wake", Main: p.State == "asleep", Plan: true},
		{Name: "sleep", Label: "Put to sleep", What: "Takes its replicas away. Nobody can use the cluster then; pods on workers go on. Its data stays.", Action: v.Here + "/sleep", Plan: true},
		{Name: "delete", Label: "Delete", What: "Deletes the cluster with all that is in it, and takes Kubernetes off its hosts.", Action: v.Here + "/delete", Danger: true, Plan: true, Confirm: p.Cluster, Typed: "the name of the cluster", Version: p.Version},
	})
	return r.Show(page.View{Title: p.Cluster, Nav: "/clusters", Status: status, Body: planePage(v)})
}

// mayUpgrade tells whether the form of an upgrade is shown.
func (v planeView) mayUpgrade() bool {
	return len(v.Versions) > 0 && slices.ContainsFunc(v.Plane.Operations, func(o api.Operation) bool { return o.Name == "upgrade" && o.Allowed })
}

type newPlaneView struct {
	ui.Form
	Versions []ui.Choice
}

var planeFields = []string{"name", "kubernetes_version", "pool", "workers", "replicas", "pod_range", "service_range"}

func showNewPlane(r *page.Request) error {
	return drawNewPlane(r, fiber.StatusOK, ui.Form{Values: url.Values{"pool": {"default"}, "replicas": {"2"}, "konnectivity": {"true"}, "core_dns": {"true"}}})
}

func drawNewPlane(r *page.Request, status int, f ui.Form) error {
	v := newPlaneView{Form: f}
	v.Up, v.Title, v.Action, v.Submit, v.Cancel = []ui.Target{clustersTarget, planesTarget}, "Create a cluster with a hosted control plane", "/hosted-control-planes/new", "Create", planesTarget.Href
	v.Plan = true
	v.Key, v.Fields = page.NewKey(), planeFields
	found, err := r.API.ListKubeVersions(r.Ctx, api.KubeVersionFilter{PageQuery: api.PageQuery{Limit: 200}})
	if err != nil {
		return err
	}
	for _, version := range found.Items {
		if version.Active {
			v.Versions = append(v.Versions, ui.Choice{Value: version.Name, Label: version.Name})
		}
	}
	return r.Show(page.View{Title: v.Title, Nav: "/clusters", Status: status, Body: newPlanePage(v)})
}

func createPlane(r *page.Request) error {
	in := api.CreateHostedControlPlane{}
	f := ui.Form{Values: url.Values{}}
	for _, name := range append([]string{"konnectivity", "core_dns"}, planeFields...) {
		f.Values.Set(name, r.Form(name))
	}
	f.Wrong = r.Bind(&in)
	konnectivity, dns := r.Form("konnectivity") != "", r.Form("core_dns") != ""
	in.Konnectivity, in.CoreDNS = &konnectivity, &dns
	if f.Wrong.Any() {
		return drawNewPlane(r, fiber.StatusUnprocessableEntity, f)
	}
	start := func() (api.HostedControlPlane, string, error) {
		return r.API.CreateHostedControlPlane(r.Ctx, in, r.Once())
	}
	return page.PlanOr(r, "create-hosted-control-plane", "", in, start, planesTarget.Href, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNewPlane(r, status, f)
	})
}

func upgradePlane(r *page.Request) error {
	in := api.UpgradeHostedControlPlane{KubernetesVersion: r.Form("kubernetes_version")}
	start := func() (api.HostedControlPlane, string, error) {
		return r.API.UpgradeHostedControlPlane(r.Ctx, r.Param("id"), in, r.Once())
	}
	return page.PlanOr(r, "upgrade-hosted-control-plane", r.Param("id"), in, start, planesTarget.Href, func(status int, wrong ui.Problems) error {
		return drawPlane(r, status, ui.Form{Values: url.Values{"kubernetes_version": {in.KubernetesVersion}}, Wrong: wrong})
	})
}

func sleepPlane(r *page.Request) error {
	return startPlane(r, "sleep-hosted-control-plane", r.API.SleepHostedControlPlane)
}

func wakePlane(r *page.Request) error {
	return startPlane(r, "wake-hosted-control-plane", r.API.WakeHostedControlPlane)
}

// startPlane asks for a job without a body, or for the plan of it.
func startPlane(r *page.Request, operation string, start func(context.Context, string, ...client.Option) (api.HostedControlPlane, string, error)) error {
	asked := func() (api.HostedControlPlane, string, error) { return start(r.Ctx, r.Param("id"), r.Once()) }
	return page.PlanOr(r, operation, r.Param("id"), nil, asked, planesTarget.Href, nil)
}

func deletePlane(r *page.Request) error {
	if r.Planning() { // nothing needs to be typed to look
		p, err := r.API.GetHostedControlPlane(r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		return r.GoPlan(r.API.PlanOf(r.Ctx, "delete-hosted-control-plane", p.ID, api.DeleteCluster{Confirm: p.Cluster}))
	}
	_, job, err := r.API.DeleteHostedControlPlane(r.Ctx, r.Param("id"), api.DeleteCluster{Confirm: r.Form("confirm")}, r.IfSeen())
	if err != nil {
		return err
	}
	return r.GoJob(job, planesTarget.Href, "")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
