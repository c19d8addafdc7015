package kubehttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (h handlers) namespaces() {
	n := httpapi.Noun[kube.Namespace, api.ClusterNamespace]{
		Server: h.server, Engine: h.Engine, Find: kube.FindNamespace, Present: presentNamespace, Version: func(n kube.Namespace) int64 { return n.Version },
	}
	httpapi.Register(h.server, "list-cluster-namespaces", h.listNamespaces, httpapi.Sorted(kube.NamespaceSorting))
	httpapi.Register(h.server, "create-cluster-namespace", httpapi.Create(n, h.createNamespace), httpapi.Created, httpapi.Example(api.CreateClusterNamespace{
		Cluster: "apps", Name: "shop", QuotaCPU: "4", QuotaMemory: "8Gi", QuotaPods: 50,
	}))
	httpapi.Register(h.server, "get-cluster-namespace", n.Get)
	pods := int64(100)
	httpapi.Register(h.server, "change-cluster-namespace", httpapi.Update(n, changeNamespace), httpapi.Example(api.ChangeClusterNamespace{QuotaPods: &pods}))
	httpapi.Register(h.server, "delete-cluster-namespace", httpapi.Update(n,
		func(ctx context.Context, tx *intent.Tx, ref scope.Ref[kube.Namespace], version int64, b api.DeleteClusterNamespace) error {
			return kube.DeleteNamespace(ctx, tx, ref, version, b.Confirm, b.Leave)
		}), httpapi.Example(api.DeleteClusterNamespace{Confirm: "shop"}))
}

func (h handlers) listNamespaces(ctx context.Context, in *struct{ api.ClusterNamespaceFilter }) (*httpapi.Object[api.Page[api.ClusterNamespace]], error) {
	return httpapi.PageOf(h.server, "list-cluster-namespaces", in.PageQuery, []string{in.State}, kube.NamespaceSorting,
		func(after *db.Position, limit int) ([]kube.Namespace, error) {
			return kube.Namespaces(ctx, h.server.DB().Reader, kube.NamespaceFilter{
				WorkspaceID: httpapi.Workspace(ctx), State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentNamespace)
}

func (h handlers) createNamespace(ctx context.Context, b api.CreateClusterNamespace) (func(context.Context, *intent.Tx) (uuid.UUID, error), error) {
	_, cluster, err := kube.FindCluster(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), b.Cluster)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.BadField("cluster", "There is no such cluster.")
	}
	return func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := kube.CreateNamespace(ctx, tx, cluster, kube.NamespaceDraft{
			Name: b.Name, Labels: b.Labels, QuotaCPU: b.QuotaCPU, QuotaMemory: b.QuotaMemory, QuotaPods: b.QuotaPods, QuotaStorage: b.QuotaStorage,
			DefaultCPU: b.DefaultCPU, DefaultMemory: b.DefaultMemory, Adopt: b.Adopt,
		})
		return made.ID, err
	}, err
}

func changeNamespace(ctx context.Context, tx *intent.Tx, ref scope.Ref[kube.Namespace], version int64, b api.ChangeClusterNamespace) error {
	return kube.ChangeNamespace(ctx, tx, ref, version, func(d *kube.NamespaceDraft) {
		set(&d.Labels, b.Labels)
		set(&d.QuotaCPU, b.QuotaCPU)
		set(&d.QuotaMemory, b.QuotaMemory)
		set(&d.QuotaPods, b.QuotaPods)
		set(&d.QuotaStorage, b.QuotaStorage)
		set(&d.DefaultCPU, b.DefaultCPU)
		set(&d.DefaultMemory, b.DefaultMemory)
		set(&d.Adopt, b.Adopt)
	})
}

var namespaceMeans = map[string]string{
	kube.NamespaceKept:     "its policy keeps namespace, quota and limits in the cluster",
	kube.NamespaceDeleting: "it is being deleted in the cluster, and goes here once it is gone there",
}

func presentNamespace(n kube.Namespace) api.ClusterNamespace {
	out := api.ClusterNamespace{
		ID: n.ID.String(), Cluster: n.Cluster, ClusterID: n.ClusterID.String(), Name: n.Name, Labels: n.Labels, QuotaCPU: n.QuotaCPU, QuotaMemory: n.QuotaMemory,
		QuotaPods: n.QuotaPods, QuotaStorage: n.QuotaStorage, DefaultCPU: n.DefaultCPU, DefaultMemory: n.DefaultMemory, Adopt: n.Adopt, State: n.State(),
		StateMeans: namespaceMeans[n.State()], Version: n.Version, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
	}
	for _, name := range []string{"change", "delete"} {
		var prevents error
		if n.DeletingAt != nil {
			prevents = fault.Conflictf("cluster_namespace_state", "The namespace is being deleted.")
		}
		out.Operations = append(out.Operations, httpapi.OperationOf(name, prevents))
	}
	return out
}
