// Package kube owns the pages of Kubernetes clusters: the list, a cluster with its nodes and bindings, the form that asks for
// one, the kubeconfig that is shown once, and the versions that clusters can have.
package kube

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 1.500l5.500 3v7L8 14.500l-5.500-3v-7zM8 5v6M5 6.500l6 3M11 6.500l-6 3"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/clusters", Label: "Clusters", Icon: icon, Needs: "project.workspace.cluster:read"}},
	Pages: []ui.Target{
		{Href: "/clusters/new", Label: "Create a cluster", Icon: icon, Needs: "project.workspace.cluster:create"},
		{Href: "/cluster-namespaces", Label: "Namespaces of clusters", Icon: icon, Needs: "project.workspace.cluster:read"},
		{Href: "/cluster-snapshots", Label: "Snapshots of clusters", Icon: icon, Needs: "project.workspace.cluster:read"},
		{Href: "/kube-versions", Label: "Versions of Kubernetes", Icon: icon, Needs: "project.workspace.cluster:read"},
	},
	Nouns: []page.Noun{{Name: "cluster", Path: "/clusters/"}, {Name: "cluster_namespace", Path: "/cluster-namespaces/"}, {Name: "cluster_snapshot", Path: "/cluster-snapshots/"}},
	Notices: map[string]string{
		"window-set":        "The maintenance window is set.",
		"binding-created":   "The account has a role in the cluster. The policy of the cluster brings it there within seconds.",
		"binding-deleted":   "The role is taken away. The policy of the cluster removes it there within seconds.",
		"namespace-created": "The namespace is added. Its policy brings it to the cluster within seconds.",
		"namespace-changed": "The namespace is changed. Its policy brings that to the cluster within seconds.",
		"namespace-deleted": "The namespace is being deleted in the cluster.",
		"namespace-left":    "Kloigos lets go of the namespace. It stays in the cluster.",
		"snapshots-set":     "The schedule of snapshots is set.",
		"snapshot-deleted":  "The snapshot is deleted.",
		"snapshot-kept":     "The name of the cluster was not typed. The snapshot is still there.",
	},
}

var (
	clusterTones = states.Tones{
		"pending": ui.Line, "creating": ui.Busy, "active": ui.Good, "degraded": ui.Bad, "changing": ui.Busy, "failed": ui.Bad, "deleting": ui.Busy, "delete_failed": ui.Bad,
	}
	nodeTones = states.Tones{
		"pending": ui.Line, "prepared": ui.Busy, "joined": ui.Busy, "ready": ui.Good, "not_ready": ui.Bad, "leaving": ui.Busy, "left": ui.Gone,
	}
)

func mount(r fiber.Router, a *page.App) {
	r.Get("/clusters", a.Page(list))
	r.Get("/clusters/new", a.Page(showNew))
	r.Post("/clusters/new", a.Page(create))
	r.Get("/clusters/:id", a.Page(show))
	r.Post("/clusters/:id/delete", a.Page(remove))
	r.Post("/clusters/:id/kubeconfig", a.Page(connect))
	r.Get("/clusters/:id/upgrade", a.Page(showUpgrade))
	r.Post("/clusters/:id/upgrade", a.Page(upgradeCluster))
	r.Post("/clusters/:id/renew-certificates", a.Page(renewCertificates))
	r.Post("/clusters/:id/window", a.Page(setWindow))
	r.Get("/clusters/:id/break-glass", a.Page(showGlass))
	r.Post("/clusters/:id/break-glass", a.Page(breakGlass))
	r.Post("/clusters/:id/nodes", a.Page(addNodes))
	r.Post("/clusters/:id/nodes/:node/remove", a.Page(removeNode))
	r.Post("/clusters/:id/replace-node", a.Page(replaceNode))
	r.Post("/clusters/:id/bindings", a.Page(bind))
	r.Post("/clusters/:id/bindings/:binding/delete", a.Page(unbind))
	r.Get("/kube-versions", a.Page(versions))
	mountNamespaces(r, a)
	mountSnapshots(r, a)
}

var clustersTarget = ui.Target{Href: "/clusters", Label: "Clusters"}

var heads = []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Version"}, {Label: "Endpoint"}, {Label: "Nodes ready"}, {Label: "Message"}}

func list(r *page.Request) error {
	f := api.ClusterFilter{State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListClusters(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Clusters", Path: "/clusters", Here: r.Here(), Means: "A workspace of type kubernetes has one cluster, made of whole hosts.",
		New: ui.Target{Href: "/clusters/new", Label: "Create a cluster"}, Links: []ui.Target{namespacesTarget, snapshotsTarget, {Href: "/kube-versions", Label: "Versions"}},
		Filters: filters(f), Filtered: f.State != "", Empty: len(found.Items) == 0,
		None: "No cluster yet", NoneText: "It needs a workspace of type kubernetes, and a host in it that is initialized.", NoMatch: "No cluster matches",
		Heads: heads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/clusters", Body: listPage(l, found.Items)})
}

type view struct {
	object.Detail
	Cluster  api.Cluster
	Nodes    []api.ClusterNode
	Bindings []api.ClusterBinding
	Spaces   []api.ClusterNamespace
	Made     *api.Kubeconfig
	Glass    *api.AdminKubeconfig
	Key      string
	Form     ui.Form     // of a binding
	More     ui.Form     // of more nodes
	Other    ui.Form     // of a host in the place of a node
	Hosts    []ui.Choice // that can be nodes
}

func show(r *page.Request) error { return draw(r, fiber.StatusOK, view{}) }

func draw(r *page.Request, status int, v view) error {
	c, err := r.API.GetCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v.Cluster, v.Key = c, page.NewKey()
	for _, f := range []*ui.Form{&v.Form, &v.More, &v.Other} {
		f.Key = page.NewKey()
		if f.Values == nil {
			f.Values = url.Values{}
		}
	}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() (err error) {
		v.View, err = object.Load(ctx, r, "cluster", c.ID, api.JobFilter{Object: c.ID})
		return err
	})
	g.Go(func() error {
		found, err := r.API.ListClusterNodes(ctx, api.ClusterNodeFilter{PageQuery: api.PageQuery{Limit: 200}})
		v.Nodes = slices.DeleteFunc(found.Items, func(n api.ClusterNode) bool { return n.ClusterID != c.ID })
		return err
	})
	g.Go(func() error {
		found, err := r.API.ListClusterBindings(ctx, api.ClusterBindingFilter{PageQuery: api.PageQuery{Limit: 200}})
		v.Bindings = slices.DeleteFunc(found.Items, func(b api.ClusterBinding) bool { return b.ClusterID != c.ID })
		return err
	})
	g.Go(func() error {
		found, err := r.API.ListClusterNamespaces(ctx, api.ClusterNamespaceFilter{PageQuery: api.PageQuery{Limit: 200}})
		v.Spaces = slices.DeleteFunc(found.Items, func(n api.ClusterNamespace) bool { return n.ClusterID != c.ID })
		return err
	})
	g.Go(func() (err error) {
		v.Hosts, err = hosts(ctx, r)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	v.Hosts = slices.DeleteFunc(v.Hosts, func(h ui.Choice) bool {
		return slices.ContainsFunc(v.Nodes, func(n api.ClusterNode) bool { return n.Name == h.Value })
	})
	v.Up, v.Name, v.Here = []ui.Target{clustersTarget}, c.Name, "/clusters/"+c.ID
	v.Tone, v.State, v.Means, v.Message = clusterTones.Of(c.State), c.State, c.StateMeans, c.Message
	v.Operations = page.Operations(c.Operations, []ui.Operation{
		{Name: "kubeconfig", Label: "Get a kubeconfig", What: "Issues a client certificate of your account for one hour.", Action: v.Here + "/kubeconfig", Main: true},
		{Name: "upgrade", Label: "Upgrade", What: "Shows what an upgrade of Kubernetes would do, and asks for it.", Href: v.Here + "/upgrade"},
		{Name: "renew-certificates", Label: "Renew certificates", What: "Renews the certificates of the control planes that end within 300 days, and restarts one control plane after the other.", Action: v.Here + "/renew-certificates", Plan: true},
		{Name: "snapshot", Label: "Take a snapshot", What: "Takes a snapshot of etcd on a control plane and keeps it here, encrypted. The cluster goes on as it is.", Action: v.Here + "/snapshot"},
		{Name: "break-glass", Label: "Break the glass", What: "Issues a file of an administrator for an hour at most. It needs a reason.", Href: v.Here + "/break-glass"},
		{Name: "delete", Label: "Delete", What: "Deletes the cluster with all that is in it, and takes Kubernetes off its hosts.", Action: v.Here + "/delete", Danger: true, Plan: true, Confirm: c.Name, Typed: "the name", Version: c.Version},
	})
	r.C.Set(fiber.HeaderCacheControl, "no-store") // a key may stand on it
	return r.Show(page.View{Title: c.Name, Nav: "/clusters", Status: status, Body: showPage(v)})
}

func showNew(r *page.Request) error { return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{}}) }

// newView is what the form offers to choose from.
type newView struct {
	ui.Form
	Versions []ui.Choice
	Hosts    []ui.Choice // that can be nodes
}

func drawNew(r *page.Request, status int, f ui.Form) error {
	v := newView{Form: f}
	v.Up, v.Title, v.Action, v.Submit, v.Cancel = []ui.Target{clustersTarget}, "Create a cluster", "/clusters/new", "Create", "/clusters"
	v.Plan = true
	v.Key, v.Fields = page.NewKey(), []string{"name", "kubernetes_version", "control_plane", "workers", "endpoint", "pod_range", "service_range", "oidc_issuer", "oidc_client_id", "oidc_username_claim", "oidc_groups_claim"}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() error {
		found, err := r.API.ListKubeVersions(ctx, api.KubeVersionFilter{PageQuery: api.PageQuery{Limit: 200}})
		for _, version := range found.Items {
			if version.Active {
				v.Versions = append(v.Versions, ui.Choice{Value: version.Name, Label: version.Name})
			}
		}
		return err
	})
	g.Go(func() (err error) {
		v.Hosts, err = hosts(ctx, r)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return r.Show(page.View{Title: v.Title, Nav: "/clusters", Status: status, Body: newPage(v)})
}

func create(r *page.Request) error {
	var in api.CreateCluster
	f := ui.Form{Values: url.Values{}}
	for _, name := range []string{"name", "kubernetes_version", "control_plane", "workers", "endpoint", "pod_range", "service_range", "oidc_issuer", "oidc_client_id", "oidc_username_claim", "oidc_groups_claim"} {
		f.Values.Set(name, r.Form(name))
	}
	_ = r.Bind(&in) // it has texts only
	start := func() (api.Cluster, string, error) { return r.API.CreateCluster(r.Ctx, in, r.Once()) }
	return page.PlanOr(r, "create-cluster", "", in, start, "/clusters", func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

func remove(r *page.Request) error {
	if r.Planning() { // nothing needs to be typed to look
		c, err := r.API.GetCluster(r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		return r.GoPlan(r.API.PlanOf(r.Ctx, "delete-cluster", c.ID, api.DeleteCluster{Confirm: c.Name}))
	}
	_, job, err := r.API.DeleteCluster(r.Ctx, r.Param("id"), api.DeleteCluster{Confirm: r.Form("confirm")}, r.IfSeen())
	if err != nil {
		return err
	}
	return r.GoJob(job, "/clusters", "")
}

func connect(r *page.Request) error {
	made, err := r.API.IssueKubeconfig(r.Ctx, r.Param("id"), api.IssueKubeconfig{Hours: 1}, r.Once())
	if err != nil {
		return err
	}
	return draw(r, fiber.StatusOK, view{Made: &made})
}

func bind(r *page.Request) error {
	in := api.CreateClusterBinding{Cluster: r.Param("id"), Account: r.Form("account"), Role: r.Form("role"), Namespace: r.Form("namespace")}
	if _, err := r.API.CreateClusterBinding(r.Ctx, in, r.Once()); err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error {
			return draw(r, status, view{Form: ui.Form{Values: url.Values{"account": {in.Account}, "role": {in.Role}, "namespace": {in.Namespace}}, Wrong: wrong}})
		})
	}
	return r.Go("/clusters/"+r.Param("id"), "binding-created")
}

func unbind(r *page.Request) error {
	if err := r.API.DeleteClusterBinding(r.Ctx, r.Param("binding")); err != nil {
		return err
	}
	return r.Go("/clusters/"+r.Param("id"), "binding-deleted")
}

func versions(r *page.Request) error {
	f := api.KubeVersionFilter{PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}}
	found, err := r.API.ListKubeVersions(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Versions of Kubernetes", Path: "/kube-versions", Here: r.Here(), Up: []ui.Target{clustersTarget},
		Means: "An operator of the installation offers versions, each with the bundle that hosts take it from.",
		Empty: len(found.Items) == 0, None: "No versions yet", NoneText: "Add one with kloigos kube-version create.", NoMatch: "No version matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "Offered"}, {Label: "May be upgraded to"}, {Label: "Bundle"}},
		Sort:  r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/clusters", Body: versionsPage(l, found.Items)})
}

func upgrades(v api.KubeVersion) string { return strings.Join(v.UpgradesTo, ", ") }
