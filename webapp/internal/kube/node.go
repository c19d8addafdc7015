package kube

import (
	"context"
	"net/url"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// hosts are those that can be nodes, as far as whoever asks may see them.
func hosts(ctx context.Context, r *page.Request) (all []ui.Choice, err error) {
	found, err := r.API.ListHosts(ctx, api.HostFilter{State: "ready", PageQuery: api.PageQuery{Limit: 200}})
	for _, h := range found.Items {
		if h.Purpose == "kubernetes" {
			all = append(all, ui.Choice{Value: h.Name, Label: h.Name})
		}
	}
	return all, page.Optional(err)
}

func addNodes(r *page.Request) error {
	host, role := r.Form("host"), r.Form("node_role")
	in := api.AddClusterNodes{Workers: []string{host}}
	if role == "control_plane" {
		in = api.AddClusterNodes{ControlPlane: []string{host}}
	}
	if r.Planning() {
		p, err := r.API.PlanOf(r.Ctx, "add-cluster-nodes", r.Param("id"), in)
		if err == nil {
			return r.GoPlan(p, nil)
		}
		return wrongNodes(r, host, role, err)
	}
	_, job, err := r.API.AddClusterNodes(r.Ctx, r.Param("id"), in, r.Once())
	if err == nil {
		return r.GoJob(job, "/clusters/"+r.Param("id"), "")
	}
	return wrongNodes(r, host, role, err)
}

// wrongNodes shows the cluster with what is wrong with a host that was to become a node.
func wrongNodes(r *page.Request, host, role string, err error) error {
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return draw(r, status, view{More: ui.Form{Values: url.Values{"host": {host}, "node_role": {role}}, Wrong: wrong}})
	})
}

func removeNode(r *page.Request) error {
	n, err := r.API.GetClusterNode(r.Ctx, r.Param("node"))
	if err != nil {
		return err
	}
	if r.Planning() {
		return r.GoPlan(r.API.PlanOf(r.Ctx, "remove-cluster-node", n.ID, api.RemoveClusterNode{Confirm: n.Name}))
	}
	_, job, err := r.API.RemoveClusterNode(r.Ctx, n.ID, api.RemoveClusterNode{Confirm: n.Name}, r.Once())
	if err != nil {
		return err
	}
	return r.GoJob(job, "/clusters/"+r.Param("id"), "")
}

// replaceNode puts another host in the place of a node.
func replaceNode(r *page.Request) error {
	node, in := r.Form("node"), api.ReplaceClusterNode{Host: r.Form("replacement"), Confirm: r.Form("confirm")}
	f := ui.Form{Values: url.Values{"node": {node}, "replacement": {in.Host}}}
	var err error
	if r.Planning() { // nothing needs to be typed to look
		in.Confirm = node
		var p api.Plan
		if p, err = r.API.PlanOf(r.Ctx, "replace-cluster-node", node, in); err == nil {
			return r.GoPlan(p, nil)
		}
	} else {
		var job string
		if _, job, err = r.API.ReplaceClusterNode(r.Ctx, node, in, r.Once()); err == nil {
			return r.GoJob(job, "/clusters/"+r.Param("id"), "")
		}
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return draw(r, status, view{Other: f})
	})
}

// leaving are the nodes that can be taken out of the cluster now.
func (v view) leaving() (all []ui.Choice) {
	for _, n := range v.Nodes {
		if removable(n) {
			all = append(all, ui.Choice{Value: n.Name, Label: n.Name})
		}
	}
	return all
}
