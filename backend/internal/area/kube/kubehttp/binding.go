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
)

func (h handlers) bindings() {
	n := httpapi.Noun[kube.Binding, api.ClusterBinding]{
		Server: h.server, Engine: h.Engine, Find: kube.FindBinding, Present: presentBinding, Version: func(b kube.Binding) int64 { return b.Version },
	}
	httpapi.Register(h.server, "list-cluster-bindings", h.listBindings, httpapi.Sorted(kube.BindingSorting))
	httpapi.Register(h.server, "create-cluster-binding", httpapi.Create(n, h.createBinding), httpapi.Created, httpapi.Example(api.CreateClusterBinding{
		Cluster: "apps", Account: "ada", Role: kube.Editor,
	}))
	httpapi.Register(h.server, "get-cluster-binding", n.Get)
	httpapi.Register(h.server, "delete-cluster-binding", n.Delete(kube.DeleteBinding))
}

func (h handlers) listBindings(ctx context.Context, in *struct{ api.ClusterBindingFilter }) (*httpapi.Object[api.Page[api.ClusterBinding]], error) {
	return httpapi.PageOf(h.server, "list-cluster-bindings", in.PageQuery, []string{in.Role}, kube.BindingSorting,
		func(after *db.Position, limit int) ([]kube.Binding, error) {
			return kube.Bindings(ctx, h.server.DB().Reader, kube.BindingFilter{
				WorkspaceID: httpapi.Workspace(ctx), Role: in.Role, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentBinding)
}

func (h handlers) createBinding(ctx context.Context, b api.CreateClusterBinding) (func(context.Context, *intent.Tx) (uuid.UUID, error), error) {
	_, cluster, err := kube.FindCluster(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), b.Cluster)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.BadField("cluster", "There is no such cluster.")
	}
	return func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := kube.CreateBinding(ctx, tx, cluster, b.Account, b.Role, b.Namespace)
		return made.ID, err
	}, err
}

func presentBinding(b kube.Binding) api.ClusterBinding {
	return api.ClusterBinding{
		ID: b.ID.String(), Cluster: b.Cluster, ClusterID: b.ClusterID.String(), AccountID: b.AccountID.String(), Account: b.Account,
		User: kube.User(b.AccountID), Role: b.Role, Namespace: b.Namespace, Version: b.Version, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}
}
