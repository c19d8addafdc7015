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
	start := func() (api.Cluster, string, error) { return r.API.AddClusterNodes(r.Ctx, r.Param("id"), in, r.Once()) }
	return page.PlanOr(r, "add-cluster-nodes", r.Param("id"), in, start, "/clusters/"+r.Param("id"), func(status int, wrong ui.Problems) error {
		return draw(r, status, view{More: ui.Form{Values: url.Values{"host": {host}, "node_role": {role}}, Wrong: wrong}})
	})
}

func removeNode(r *page.Request) error {
	n, err := r.API.GetClusterNode(r.Ctx, r.Param("node"))
	if err != nil {
		return err
	}
	in := api.RemoveClusterNode{Confirm: n.Name}
	start := func() (api.ClusterNode, string, error) { return r.API.RemoveClusterNode(r.Ctx, n.ID, in, r.Once()) }
	return page.PlanOr(r, "remove-cluster-node", n.ID, in, start, "/clusters/"+r.Param("id"), nil)
}

// replaceNode puts another host in the place of a node.
func replaceNode(r *page.Request) error {
	node, in := r.Form("node"), api.ReplaceClusterNode{Host: r.Form("replacement"), Confirm: r.Form("confirm")}
	f := ui.Form{Values: url.Values{"node": {node}, "replacement": {in.Host}}}
	if r.Planning() { // nothing needs to be typed to look
		in.Confirm = node
	}
	start := func() (api.ClusterNode, string, error) { return r.API.ReplaceClusterNode(r.Ctx, node, in, r.Once()) }
	return page.PlanOr(r, "replace-cluster-node", node, in, start, "/clusters/"+r.Param("id"), func(status int, wrong ui.Problems) error {
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
