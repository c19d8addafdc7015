package kubehttp

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// nodes is the routes of nodes that are not those of every noun.
type nodes struct {
	httpapi.Noun[kube.Node, api.ClusterNode]
	handlers
}

func (h handlers) nodes() {
	n := nodes{httpapi.Noun[kube.Node, api.ClusterNode]{
		Server: h.server, Engine: h.Engine, Find: kube.FindNode, Present: presentNode, Version: func(n kube.Node) int64 { return n.Version },
	}, h}
	httpapi.Register(h.server, "list-cluster-nodes", h.listNodes, httpapi.Sorted(kube.NodeSorting))
	httpapi.Register(h.server, "get-cluster-node", n.Get)
	httpapi.Register(h.server, "remove-cluster-node", n.remove, httpapi.OrPlan[api.ClusterNode](h.server), httpapi.Example(api.RemoveClusterNode{Confirm: "fra1-051"}))
	httpapi.Register(h.server, "replace-cluster-node", n.replace, httpapi.OrPlan[api.ClusterNode](h.server), httpapi.Example(api.ReplaceClusterNode{Host: "fra1-053", Confirm: "fra1-051"}))
}

func (n nodes) remove(ctx context.Context, in *struct {
	httpapi.OnOf[api.RemoveClusterNode]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "remove-cluster-node", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Node]) (uuid.UUID, error) {
		return kube.AskRemoveNode(ctx, tx, n.Kinds, ref, in.Body.Confirm)
	})
}

// planOrStart makes a plan of an action on a node, or asks for its job.
func (n nodes) planOrStart(ctx context.Context, id string, how api.ListPlanning, route string, body any, ask func(*intent.Tx, scope.Ref[kube.Node]) (uuid.UUID, error)) (*httpapi.Planned, error) {
	of := httpapi.PlannedAction{Route: route, Body: body, Noun: kube.NodeNoun}
	return httpapi.PlanOrStartAbout(ctx, n.Noun, id, how, of, func(found kube.Node) string { return found.Name }, ask)
}

func (n nodes) replace(ctx context.Context, in *struct {
	httpapi.OnOf[api.ReplaceClusterNode]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "replace-cluster-node", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Node]) (uuid.UUID, error) {
		return kube.AskReplaceNode(ctx, tx, n.Kinds, ref, in.Body.Host, in.Body.Confirm)
	})
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
	can := n.MayLeave()
	return api.ClusterNode{
		ID: n.ID.String(), Cluster: n.Cluster, ClusterID: n.ClusterID.String(), HostID: n.HostID.String(), Name: n.Name, Role: n.Role, Address: n.Address,
		PodRange: n.PodRange, KubernetesVersion: cmp.Or(n.KubeVersion, n.ClusterVersion), CertificatesEnd: n.CertificatesEnd, State: string(n.State), StateMeans: kube.NodeLifecycle.Info(n.State).Means,
		Message: n.StateMessage, Version: n.Version, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
		Operations: []api.Operation{httpapi.OperationOf("remove", can), httpapi.OperationOf("replace", can)},
	}
}
