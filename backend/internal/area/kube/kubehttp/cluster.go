package kubehttp

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// clusters is the routes of clusters that are not those of every noun.
type clusters struct {
	httpapi.Noun[kube.Cluster, api.Cluster]
	handlers
}

func (h handlers) clusters() {
	n := clusters{httpapi.Noun[kube.Cluster, api.Cluster]{
		Server: h.server, Engine: h.Engine, Find: kube.FindCluster, Present: presentCluster, Version: func(c kube.Cluster) int64 { return c.Version },
	}, h}
	httpapi.Register(h.server, "list-clusters", h.listClusters, httpapi.Sorted(kube.ClusterSorting))
	httpapi.Register(h.server, "create-cluster", n.create, httpapi.OrPlan[api.Cluster](h.server), httpapi.Example(api.CreateCluster{
		Name: "apps", KubernetesVersion: "v1.36.3", ControlPlane: []string{"fra1-050"}, Workers: []string{"fra1-051", "fra1-052"},
	}))
	httpapi.Register(h.server, "get-cluster", n.Get)
	httpapi.Register(h.server, "delete-cluster", n.remove, httpapi.OrPlan[api.Cluster](h.server), httpapi.Example(api.DeleteCluster{Confirm: "apps"}))
	httpapi.Register(h.server, "add-cluster-nodes", n.addNodes, httpapi.OrPlan[api.Cluster](h.server), httpapi.Example(api.AddClusterNodes{Workers: []string{"fra1-053"}}))
	n.upgrades()
	n.snapshots()
	httpapi.Register(h.server, "renew-cluster-certificates", n.renew, httpapi.OrPlan[api.Cluster](h.server))
	httpapi.Register(h.server, "break-glass", n.breakGlass, httpapi.Example(api.BreakGlass{Reason: "The nodes do not come back, and nobody with a role is there."}))
	httpapi.Register(h.server, "issue-kubeconfig", n.issue, httpapi.Example(api.IssueKubeconfig{Hours: 1}))
}

func (h handlers) listClusters(ctx context.Context, in *struct{ api.ClusterFilter }) (*httpapi.Object[api.Page[api.Cluster]], error) {
	return httpapi.PageOf(h.server, "list-clusters", in.PageQuery, []string{in.State}, kube.ClusterSorting,
		func(after *db.Position, limit int) ([]kube.Cluster, error) {
			return kube.Clusters(ctx, h.server.DB().Reader, kube.ClusterFilter{
				WorkspaceID: httpapi.Workspace(ctx), State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentCluster)
}

func (n clusters) create(ctx context.Context, in *struct {
	httpapi.BodyOf[api.CreateCluster]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	b := in.Body
	of := httpapi.PlannedAction{Route: "create-cluster", Body: b, Noun: kube.ClusterNoun, Name: b.Name}
	return httpapi.PlanOrStart(ctx, n.Noun, in.ListPlanning, of, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		return kube.CreateCluster(ctx, tx, n.Keys, n.Kinds, kube.ClusterDraft{
			Name: b.Name, KubeVersion: b.KubernetesVersion, ControlPlane: b.ControlPlane, Workers: b.Workers, Endpoint: b.Endpoint,
			PodRange: cmp.Or(b.PodRange, kube.DefaultPodRange), ServiceRange: cmp.Or(b.ServiceRange, kube.DefaultServiceRange),
			OIDC: kube.OIDC{Issuer: b.OIDCIssuer, ClientID: b.OIDCClientID, UsernameClaim: b.OIDCUsernameClaim, GroupsClaim: b.OIDCGroupsClaim},
		})
	})
}

func (n clusters) remove(ctx context.Context, in *struct {
	httpapi.ChangeOf[api.DeleteCluster]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "delete-cluster", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskDelete(ctx, tx, n.Kinds, ref, version, in.Body.Confirm)
	})
}

// planOrStart makes a plan of an action on a cluster, or asks for its job.
func (n clusters) planOrStart(ctx context.Context, id string, how api.ListPlanning, route string, body any, ask func(*intent.Tx, scope.Ref[kube.Cluster]) (uuid.UUID, error)) (*httpapi.Planned, error) {
	of := httpapi.PlannedAction{Route: route, Body: body, Noun: kube.ClusterNoun}
	return httpapi.PlanOrStartAbout(ctx, n.Noun, id, how, of, func(c kube.Cluster) string { return c.Name }, ask)
}

func (n clusters) addNodes(ctx context.Context, in *struct {
	httpapi.OnOf[api.AddClusterNodes]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "add-cluster-nodes", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskAddNodes(ctx, tx, n.Kinds, ref, kube.NodesDraft{ControlPlane: in.Body.ControlPlane, Workers: in.Body.Workers})
	})
}

// issue has the cluster sign a certificate, writes the event, and only then hands it out: no certificate goes out untold.
func (n clusters) issue(ctx context.Context, in *httpapi.OnOf[api.IssueKubeconfig]) (*httpapi.Object[api.Kubeconfig], error) {
	c, ref, err := kube.FindCluster(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	if err := c.CanConnect(); err != nil {
		return nil, err
	}
	account, _ := httpapi.BearerOf(ctx)
	binding, err := kube.BindingOf(ctx, n.server.DB().Reader, c.ID, account)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, fault.Conflictf("no_cluster_binding", "You have no role in the cluster %s. Whoever may give you one adds a binding first.", c.Name)
	}
	if err != nil {
		return nil, err
	}
	credential, err := n.Issue(ctx, c, kube.User(account), time.Duration(max(in.Body.Hours, 1))*time.Hour)
	if err != nil {
		return nil, err
	}
	made, err := n.Once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		return ref.ID(), uuid.Nil, kube.NoteIssued(ctx, tx, c, binding, credential)
	})
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		return nil, httpapi.SecretShown("kubeconfig of cluster", c.ID)
	}
	file, err := kube.Kubeconfig(c, credential)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Kubeconfig]{Body: api.Kubeconfig{
		Cluster: c.Name, User: credential.User, Role: binding.Role, ExpiresAt: credential.Ends, Kubeconfig: string(file),
	}}, nil
}

func presentCluster(c kube.Cluster) api.Cluster {
	var glass *api.OpenGlass
	if c.OpenGlass() {
		glass = &api.OpenGlass{By: c.BreakGlassBy, Reason: c.BreakGlassReason, Until: *c.BreakGlassUntil}
	}
	var plan *api.ClusterSnapshots
	if !c.Hosted {
		plan = &api.ClusterSnapshots{Hours: c.SnapshotHours, Keep: c.SnapshotKeep, Days: c.SnapshotDays}
	}
	return api.Cluster{
		Snapshots: plan, BreakGlass: glass, OIDCIssuer: c.OIDCIssuer, OIDCClientID: c.OIDCClientID, OIDCUsernameClaim: c.OIDCUsername, OIDCGroupsClaim: c.OIDCGroups,
		ID: c.ID.String(), Workspace: c.WorkspaceID.String(), Name: c.Name, KubernetesVersion: c.KubeVersion, TargetVersion: c.TargetVersion, MaintenanceWindow: presentWindow(c.Window()), Endpoint: c.Endpoint,
		PodRange: c.PodRange, ServiceRange: c.ServiceRange, State: string(c.State), StateMeans: kube.ClusterLifecycle.Info(c.State).Means,
		Message: c.StateMessage, CA: c.CA, Nodes: c.Nodes, NodesReady: c.Ready, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("kubeconfig", c.CanConnect()), httpapi.OperationOf("break_glass", c.CanConnect()), httpapi.OperationOf("upgrade", c.CanUpgrade()), httpapi.OperationOf("renew_certificates", c.CanChange()),
			httpapi.OperationOf("snapshot", c.CanSnapshot()), httpapi.OperationOf("add_nodes", c.CanGrow()), httpapi.OperationOf("delete", c.CanDelete()),
		},
	}
}
