package kubehttp

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
)

func (h handlers) nodes() {
	n := httpapi.Noun[kube.Node, api.ClusterNode]{
		Server: h.server, Engine: h.Engine, Find: kube.FindNode, Present: presentNode, Version: func(n kube.Node) int64 { return n.Version },
	}
	httpapi.Register(h.server, "list-cluster-nodes", h.listNodes, httpapi.Sorted(kube.NodeSorting))
	httpapi.Register(h.server, "get-cluster-node", n.Get)
}

func (h handlers) listNodes(ctx context.Context, in *struct{ api.ClusterNodeFilter }) (*httpapi.Object[api.Page[api.ClusterNode]], error) {
	return httpapi.PageOf(h.server, "list-cluster-nodes", in.PageQuery, []string{in.State}, kube.NodeSorting,
		func(after *db.Position, limit int) ([]kube.Node, error) {
			return kube.Nodes(ctx, h.server.DB().Reader, kube.NodeFilter{
				WorkspaceID: httpapi.Workspace(ctx), State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentNode)
}

func presentNode(n kube.Node) api.ClusterNode {
	return api.ClusterNode{
		ID: n.ID.String(), Cluster: n.Cluster, ClusterID: n.ClusterID.String(), HostID: n.HostID.String(), Name: n.Name, Role: n.Role, Address: n.Address,
		PodRange: n.PodRange, State: string(n.State), StateMeans: kube.NodeLifecycle.Info(n.State).Means, Message: n.StateMessage, Version: n.Version,
		CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
	}
}
