package kube

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

var namespaceTones = states.Tones{"kept": ui.Good, "deleting": ui.Busy}

func mountNamespaces(r fiber.Router, a *page.App) {
	r.Get("/cluster-namespaces", a.Page(listNamespaces))
	r.Get("/cluster-namespaces/new", a.Page(showNewNamespace))
	r.Post("/cluster-namespaces/new", a.Page(createNamespace))
	r.Get("/cluster-namespaces/:id", a.Page(showNamespace))
	r.Get("/cluster-namespaces/:id/edit", a.Page(showEditNamespace))
	r.Post("/cluster-namespaces/:id/edit", a.Page(changeNamespace))
	r.Post("/cluster-namespaces/:id/delete", a.Page(removeNamespace))
	r.Post("/cluster-namespaces/:id/leave", a.Page(leaveNamespace))
}

var namespacesTarget = ui.Target{Href: "/cluster-namespaces", Label: "Namespaces"}

func listNamespaces(r *page.Request) error {
	f := api.ClusterNamespaceFilter{State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListClusterNamespaces(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Namespaces", Path: "/cluster-namespaces", Here: r.Here(), Up: []ui.Target{clustersTarget},
		Means: "Kloigos keeps these namespaces in the cluster, with a quota and with limits for containers that name none.",
		New:   ui.Target{Href: "/cluster-namespaces/new", Label: "Add a namespace"}, Filters: namespaceFilters(f), Filtered: f.State != "", Empty: len(found.Items) == 0,
		None: "No namespaces yet", NoneText: "Add one for each team or application, with the quota that it may use.", NoMatch: "No namespace matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Cluster"}, {Label: "Quota"}, {Label: "Labels"}},
		Sort:  r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/clusters", Body: namespacesPage(l, found.Items)})
}

// quotaOf is the quota of a namespace in words.
func quotaOf(n api.ClusterNamespace) string {
	var all []string
	add := func(value, unit string) {
		if value != "" && value != "0" {
			all = append(all, value+" "+unit)
		}
	}
	add(n.QuotaCPU, "CPU")
	add(n.QuotaMemory, "memory")
	add(strconv.FormatInt(n.QuotaPods, 10), "pods")
	add(n.QuotaStorage, "storage")
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

type namespaceView struct {
	object.Detail
	Namespace api.ClusterNamespace
	Key       string
}

func showNamespace(r *page.Request) error {
	n, err := r.API.GetClusterNamespace(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := namespaceView{Namespace: n, Key: page.NewKey()}
	if v.View, err = object.Load(r.Ctx, r, "cluster_namespace", n.ID, api.JobFilter{Object: n.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{clustersTarget, {Href: "/clusters/" + n.ClusterID, Label: n.Cluster}, namespacesTarget}, n.Name, "/cluster-namespaces/"+n.ID
	v.Tone, v.State, v.Means = namespaceTones.Of(n.State), n.State, n.StateMeans
	v.Operations = page.Operations(n.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes quota, limits and labels.", Href: v.Here + "/edit", Main: true},
		{Name: "delete", Label: "Delete", What: "Deletes the namespace with all that is in it.", Action: v.Here + "/delete", Danger: true, Confirm: n.Name, Typed: "the name", Version: n.Version},
	})
	return r.Show(page.View{Title: n.Name, Nav: "/clusters", Body: namespacePage(v)})
}

var namespaceFields = []string{"quota_cpu", "quota_memory", "quota_pods", "quota_storage", "default_cpu", "default_memory", "labels"}

// typedNamespace is what was typed, as it was typed.
func typedNamespace(r *page.Request) ui.Form {
	f := ui.Form{Values: url.Values{}}
	for _, name := range append([]string{"cluster", "name", "adopt"}, namespaceFields...) {
		f.Values.Set(name, r.Form(name))
	}
	return f
}

// numbersOf reads what is no text in the form.
func numbersOf(f *ui.Form) (pods int64, labels map[string]string) {
	f.Wrong = ui.Problems{}
	if text := f.Values.Get("quota_pods"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			f.Wrong.Fields = append(f.Wrong.Fields, ui.FieldProblem{Field: "quota_pods", Message: "Use a number."})
		}
		pods = n
	}
	labels, err := page.Labels(f.Values.Get("labels"))
	if err != nil {
		f.Wrong.Fields = append(f.Wrong.Fields, ui.FieldProblem{Field: "labels", Message: err.Error()})
	}
	return pods, labels
}

func showNewNamespace(r *page.Request) error {
	return drawNewNamespace(r, fiber.StatusOK, ui.Form{Values: url.Values{"cluster": {r.Query("cluster")}}})
}

type namespaceForm struct {
	ui.Form
	Clusters []ui.Choice // none where the namespace is there
}

func drawNewNamespace(r *page.Request, status int, f ui.Form) error {
	v := namespaceForm{Form: f}
	v.Up, v.Title, v.Action, v.Submit, v.Cancel = []ui.Target{clustersTarget, namespacesTarget}, "Add a namespace", "/cluster-namespaces/new", "Add", "/cluster-namespaces"
	v.Key, v.Fields = page.NewKey(), append([]string{"cluster", "name", "adopt"}, namespaceFields...)
	found, err := r.API.ListClusters(r.Ctx, api.ClusterFilter{PageQuery: api.PageQuery{Limit: 200}})
	if err != nil {
		return err
	}
	for _, c := range found.Items {
		v.Clusters = append(v.Clusters, ui.Choice{Value: c.Name, Label: c.Name})
	}
	return r.Show(page.View{Title: v.Title, Nav: "/clusters", Status: status, Body: namespaceFormPage(v)})
}

func createNamespace(r *page.Request) error {
	f := typedNamespace(r)
	pods, labels := numbersOf(&f)
	if f.Wrong.Any() {
		return drawNewNamespace(r, fiber.StatusUnprocessableEntity, f)
	}
	t := f.Values.Get
	made, err := r.API.CreateClusterNamespace(r.Ctx, api.CreateClusterNamespace{
		Cluster: t("cluster"), Name: t("name"), Labels: labels, QuotaCPU: t("quota_cpu"), QuotaMemory: t("quota_memory"), QuotaPods: pods, QuotaStorage: t("quota_storage"),
		DefaultCPU: t("default_cpu"), DefaultMemory: t("default_memory"), Adopt: t("adopt") != "",
	}, r.Once())
	if err == nil {
		return r.Go("/cluster-namespaces/"+made.ID, "namespace-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNewNamespace(r, status, f)
	})
}

func showEditNamespace(r *page.Request) error {
	n, err := r.API.GetClusterNamespace(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		labels = append(labels, key+"="+n.Labels[key])
	}
	f := ui.Form{Version: strconv.FormatInt(n.Version, 10), Values: url.Values{
		"quota_cpu": {n.QuotaCPU}, "quota_memory": {n.QuotaMemory}, "quota_storage": {n.QuotaStorage}, "default_cpu": {n.DefaultCPU}, "default_memory": {n.DefaultMemory},
		"labels": {strings.Join(labels, ", ")},
	}}
	if n.QuotaPods > 0 {
		f.Values.Set("quota_pods", strconv.FormatInt(n.QuotaPods, 10))
	}
	if n.Adopt {
		f.Values.Set("adopt", "on")
	}
	return drawEditNamespace(r, fiber.StatusOK, n, f)
}

func drawEditNamespace(r *page.Request, status int, n api.ClusterNamespace, f ui.Form) error {
	at := "/cluster-namespaces/" + n.ID
	f.Up = []ui.Target{clustersTarget, namespacesTarget, {Href: at, Label: n.Name}}
	f.Title, f.Action, f.Submit, f.Cancel, f.Fields = "Edit "+n.Name, at+"/edit", "Save", at, append([]string{"adopt"}, namespaceFields...)
	return r.Show(page.View{Title: f.Title, Nav: "/clusters", Status: status, Body: namespaceFormPage(namespaceForm{Form: f})})
}

func changeNamespace(r *page.Request) error {
	n, err := r.API.GetClusterNamespace(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := typedNamespace(r)
	f.Version = r.Form("version")
	pods, labels := numbersOf(&f)
	if f.Wrong.Any() {
		return drawEditNamespace(r, fiber.StatusUnprocessableEntity, n, f)
	}
	if labels == nil {
		labels = map[string]string{}
	}
	text := func(name string) *string { value := f.Values.Get(name); return &value }
	adopt := f.Values.Get("adopt") != ""
	_, err = r.API.ChangeClusterNamespace(r.Ctx, n.ID, api.ChangeClusterNamespace{
		Labels: &labels, QuotaCPU: text("quota_cpu"), QuotaMemory: text("quota_memory"), QuotaPods: &pods, QuotaStorage: text("quota_storage"),
		DefaultCPU: text("default_cpu"), DefaultMemory: text("default_memory"), Adopt: &adopt,
	}, r.IfSeen())
	if err == nil {
		return r.Go("/cluster-namespaces/"+n.ID, "namespace-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawEditNamespace(r, status, n, f)
	})
}

func removeNamespace(r *page.Request) error {
	_, err := r.API.DeleteClusterNamespace(r.Ctx, r.Param("id"), api.DeleteClusterNamespace{Confirm: r.Form("confirm")}, r.IfSeen())
	if err != nil {
		return err
	}
	return r.Go("/cluster-namespaces/"+r.Param("id"), "namespace-deleted")
}

func leaveNamespace(r *page.Request) error {
	n, err := r.API.GetClusterNamespace(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if _, err := r.API.DeleteClusterNamespace(r.Ctx, n.ID, api.DeleteClusterNamespace{Confirm: n.Name, Leave: true}, r.Once()); err != nil {
		return fmt.Errorf("let go of a namespace: %w", err)
	}
	return r.Go("/cluster-namespaces", "namespace-left")
}
