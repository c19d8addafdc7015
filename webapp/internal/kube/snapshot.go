package kube

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

func mountSnapshots(r fiber.Router, a *page.App) {
	r.Post("/clusters/:id/snapshot", a.Page(takeSnapshot))
	r.Get("/clusters/:id/snapshots", a.Page(showPlan))
	r.Post("/clusters/:id/snapshots", a.Page(setPlan))
	r.Get("/cluster-snapshots", a.Page(listSnapshots))
	r.Get("/cluster-snapshots/:id", a.Page(showSnapshot))
	r.Post("/cluster-snapshots/:id/restore", a.Page(restoreSnapshot))
	r.Post("/cluster-snapshots/:id/delete", a.Page(removeSnapshot))
}

var snapshotsTarget = ui.Target{Href: "/cluster-snapshots", Label: "Snapshots"}

func listSnapshots(r *page.Request) error {
	var f api.ClusterSnapshotFilter
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListClusterSnapshots(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Snapshots", Path: "/cluster-snapshots", Here: r.Here(), Up: []ui.Target{clustersTarget},
		Means: "What etcd of a cluster had at a time: all objects of the cluster, its secrets among them. They are kept encrypted.",
		Empty: len(found.Items) == 0, None: "No snapshots yet", NoneText: "A cluster takes one when you ask for it, or on a schedule. Its page has both.", NoMatch: "No snapshot matches",
		Heads: []ui.Head{{Label: "Taken"}, {Label: "Cluster"}, {Label: "Control plane"}, {Label: "Version"}, {Label: "Size"}},
		Sort:  r.Sorter("-taken_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/clusters", Body: snapshotsPage(l, found.Items)})
}

type snapshotView struct {
	object.Detail
	Snapshot api.ClusterSnapshot
}

// snapshotName is how a page calls a snapshot, which has no name.
func snapshotName(s api.ClusterSnapshot) string {
	return s.Cluster + " of " + s.BegunAt.UTC().Format("2006-01-02 15:04")
}

func showSnapshot(r *page.Request) error {
	s, err := r.API.GetClusterSnapshot(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := snapshotView{Snapshot: s}
	if v.View, err = object.Load(r.Ctx, r, "cluster_snapshot", s.ID, api.JobFilter{Object: s.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{clustersTarget, {Href: "/clusters/" + s.ClusterID, Label: s.Cluster}, snapshotsTarget}, snapshotName(s), "/cluster-snapshots/"+s.ID
	v.Tone, v.State, v.Means = ui.Good, "kept", "all of it is here, and was read again after it came"
	v.Operations = page.Operations(s.Operations, []ui.Operation{
		{Name: "restore", Label: "Restore", What: restoreText(s), Action: v.Here + "/restore" + without(s), Danger: true, Plan: true, Confirm: s.Cluster, Typed: "the name of the cluster"},
		{Name: "delete", Label: "Delete", What: "Deletes the snapshot. Nothing brings it back.", Action: v.Here + "/delete", Danger: true, Confirm: s.Cluster, Typed: "the name of the cluster", Version: s.Version},
	})
	return r.Show(page.View{Title: v.Name, Nav: "/clusters", Body: snapshotPage(v)})
}

// restoreText says what a restore stops, before anybody confirms it.
func restoreText(s api.ClusterSnapshot) string {
	text := "Puts etcd of the cluster back to this snapshot. What the cluster was told since then is gone. etcd, the API server and the other static pods stop on " +
		strings.Join(stays(s), ", ") + ": the cluster has no control plane for minutes, and pods run on."
	if len(s.Lost) > 0 {
		text += " It gives up for good: " + strings.Join(s.Lost, ", ") + ". They leave the cluster, and their machines must never start again."
	}
	return text
}

// stays are the control planes that a restore is on.
func stays(s api.ClusterSnapshot) []string {
	return slices.DeleteFunc(slices.Clone(s.ControlPlanes), func(name string) bool { return slices.Contains(s.Lost, name) })
}

// without is the query that names the control planes that the page said are given up: those and no others are.
func without(s api.ClusterSnapshot) string {
	if len(s.Lost) == 0 {
		return ""
	}
	return "?" + url.Values{"without": {strings.Join(s.Lost, " ")}}.Encode()
}

func removeSnapshot(r *page.Request) error {
	s, err := r.API.GetClusterSnapshot(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if r.Form("confirm") != s.Cluster {
		return r.Go("/cluster-snapshots/"+s.ID, "snapshot-kept")
	}
	if err := r.API.DeleteClusterSnapshot(r.Ctx, s.ID, r.IfSeen()); err != nil {
		return err
	}
	return r.Go("/cluster-snapshots", "snapshot-deleted")
}

func restoreSnapshot(r *page.Request) error {
	if r.Planning() { // nothing needs to be typed to look
		s, err := r.API.GetClusterSnapshot(r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		return r.GoPlan(r.API.PlanOf(r.Ctx, "restore-cluster-snapshot", s.ID, api.RestoreClusterSnapshot{Confirm: s.Cluster, Without: strings.Fields(r.Query("without"))}))
	}
	s, job, err := r.API.RestoreClusterSnapshot(r.Ctx, r.Param("id"), api.RestoreClusterSnapshot{Confirm: r.Form("confirm"), Without: strings.Fields(r.Query("without"))}, r.Once())
	if err != nil {
		return err
	}
	return r.GoJob(job, "/clusters/"+s.ClusterID, "")
}

func takeSnapshot(r *page.Request) error {
	_, job, err := r.API.TakeClusterSnapshot(r.Ctx, r.Param("id"), r.Once())
	if err != nil {
		return err
	}
	return r.GoJob(job, "/clusters/"+r.Param("id"), "")
}

func showPlan(r *page.Request) error {
	c, err := r.API.GetCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := ui.Form{Version: strconv.FormatInt(c.Version, 10), Values: url.Values{"hours": {"24"}, "keep": {"7"}, "days": {"30"}}}
	if p := c.Snapshots; p != nil && p.Hours > 0 {
		f.Values = url.Values{"hours": {strconv.FormatInt(p.Hours, 10)}, "keep": {strconv.FormatInt(p.Keep, 10)}, "days": {strconv.FormatInt(p.Days, 10)}}
	}
	return drawPlan(r, fiber.StatusOK, c, f)
}

func drawPlan(r *page.Request, status int, c api.Cluster, f ui.Form) error {
	at := "/clusters/" + c.ID
	f.Up = []ui.Target{clustersTarget, {Href: at, Label: c.Name}}
	f.Title, f.Action, f.Submit, f.Cancel, f.Fields = "Snapshots of "+c.Name, at+"/snapshots", "Save", at, []string{"hours", "keep", "days"}
	return r.Show(page.View{Title: f.Title, Nav: "/clusters", Status: status, Body: planPage(f)})
}

func setPlan(r *page.Request) error {
	c, err := r.API.GetCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	var in api.SetClusterSnapshots
	f := ui.Form{Version: r.Form("version"), Values: url.Values{}}
	for name, into := range map[string]*int64{"hours": &in.Hours, "keep": &in.Keep, "days": &in.Days} {
		f.Values.Set(name, r.Form(name))
		if *into, err = strconv.ParseInt(r.Form(name), 10, 64); err != nil {
			f.Wrong.Fields = append(f.Wrong.Fields, ui.FieldProblem{Field: name, Message: "Use a number."})
		}
	}
	if f.Wrong.Any() {
		return drawPlan(r, fiber.StatusUnprocessableEntity, c, f)
	}
	if _, err = r.API.SetClusterSnapshots(r.Ctx, c.ID, in, r.IfSeen()); err == nil {
		return r.Go("/clusters/"+c.ID, "snapshots-set")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawPlan(r, status, c, f)
	})
}

// planText says when snapshots are taken.
func planText(p api.ClusterSnapshots) string {
	if p.Hours == 0 {
		return "when they are asked for"
	}
	return fmt.Sprintf("every %d hours", p.Hours)
}
