package kubehttp

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// HostedParts is what the routes of management clusters and hosted control planes are made with.
type HostedParts struct {
	Engine intent.Engine
	Keys   *secret.Keyset
	Kinds  *work.Registry
	// Rule says where management clusters may be.
	Rule egress.Rule
	// Check looks at a management cluster. why is a sentence; "" if all is well.
	Check func(ctx context.Context, m kube.Management) (version, why string, err error)
}

type hosting struct {
	HostedParts
	handlers
}

// HostedRoutes registers the routes of management clusters and hosted control planes.
func HostedRoutes(parts HostedParts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := hosting{parts, handlers{Parts{Engine: parts.Engine, Keys: parts.Keys, Kinds: parts.Kinds}, s}}
		h.managements()
		h.planes()
	}
}

// exampleKubeconfig stands in the description of requests.
const exampleKubeconfig = "apiVersion: v1\nkind: Config\n..."

func (h hosting) managements() {
	httpapi.Register(h.server, "list-management-clusters", h.listManagements, httpapi.Sorted(kube.ManagementSorting))
	httpapi.Register(h.server, "create-management-cluster", h.createManagement, httpapi.Created, httpapi.Example(api.CreateManagementCluster{
		Name: "mgmt-1", Kubeconfig: exampleKubeconfig, Pool: "default", Capacity: 100,
	}))
	httpapi.Register(h.server, "get-management-cluster", h.getManagement)
	httpapi.Register(h.server, "change-management-cluster", h.changeManagement, httpapi.Example(map[string]any{"active": false}))
	httpapi.Register(h.server, "delete-management-cluster", h.deleteManagement)
	httpapi.Register(h.server, "check-management-cluster", h.checkManagement)
}

func (h hosting) listManagements(ctx context.Context, in *struct{ api.ManagementClusterFilter }) (*httpapi.Object[api.Page[api.ManagementCluster]], error) {
	return httpapi.PageOf(h.server, "list-management-clusters", in.PageQuery, []string{in.Pool}, kube.ManagementSorting,
		func(after *db.Position, limit int) ([]kube.Management, error) {
			return kube.Managements(ctx, h.server.DB().Reader, kube.ManagementFilter{Pool: in.Pool, Sort: in.Sort, After: after, Limit: limit})
		},
		func(m kube.Management) api.ManagementCluster { return presentManagement(ctx, m) })
}

func (h hosting) getManagement(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.ManagementCluster], error) {
	m, _, err := kube.FindManagement(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.ManagementCluster]{ETag: httpapi.ETag(m.Version), Body: presentManagement(ctx, m)}, nil
}

func (h hosting) createManagement(ctx context.Context, in *httpapi.BodyOf[api.CreateManagementCluster]) (*httpapi.Versioned[api.ManagementCluster], error) {
	b := in.Body
	draft := kube.ManagementDraft{
		Name: b.Name, Kubeconfig: b.Kubeconfig, Pool: cmp.Or(b.Pool, kube.DefaultPool), Active: b.Active == nil || *b.Active,
		DataStore: cmp.Or(b.DataStore, kube.DefaultDataStore), NewestVersion: cmp.Or(b.NewestVersion, kube.DefaultNewestVersion),
		ServiceType: cmp.Or(b.ServiceType, kube.LoadBalancer), Address: b.Address, FirstPort: cmp.Or(b.FirstPort, kube.DefaultFirstPort),
		Capacity: cmp.Or(b.Capacity, kube.DefaultCapacity),
	}
	made, err := h.onCatalog(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		m, err := kube.CreateManagement(ctx, tx, h.HostedParts.Keys, h.Rule, draft)
		return m.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.getManagement(ctx, &httpapi.ByID{ID: made.Object.String()})
}

func (h hosting) changeManagement(ctx context.Context, in *httpapi.ChangeOf[api.ChangeManagementCluster]) (*httpapi.Versioned[api.ManagementCluster], error) {
	b := in.Body
	id, err := h.onManagement(ctx, in.Change, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[kube.Management], version int64) error {
		return kube.ChangeManagement(ctx, tx, h.HostedParts.Keys, h.Rule, ref, version, func(d *kube.ManagementDraft) {
			set(&d.Kubeconfig, b.Kubeconfig)
			set(&d.Pool, b.Pool)
			set(&d.Active, b.Active)
			set(&d.DataStore, b.DataStore)
			set(&d.NewestVersion, b.NewestVersion)
			set(&d.ServiceType, b.ServiceType)
			set(&d.Address, b.Address)
			set(&d.FirstPort, b.FirstPort)
			set(&d.Capacity, b.Capacity)
			if d.ServiceType != kube.LoadBalancer && d.FirstPort == 0 {
				d.FirstPort = kube.DefaultFirstPort
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return h.getManagement(ctx, &httpapi.ByID{ID: id.String()})
}

func (h hosting) deleteManagement(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	_, err := h.onManagement(ctx, *in, kube.DeleteManagement)
	return nil, err
}

// onManagement runs one intent on a management cluster.
func (h hosting) onManagement(ctx context.Context, in httpapi.Change, do func(ctx context.Context, tx *intent.Tx, ref scope.Ref[kube.Management], version int64) error) (uuid.UUID, error) {
	_, ref, err := kube.FindManagement(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return uuid.Nil, err
	}
	version, err := in.Version()
	if err != nil {
		return uuid.Nil, err
	}
	_, err = h.onCatalog(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), do(ctx, tx, ref, version)
	})
	return ref.ID(), err
}

func (h hosting) checkManagement(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.ManagementCheck], error) {
	m, _, err := kube.FindManagement(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return nil, err
	}
	version, why, err := h.Check(ctx, m)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.ManagementCheck]{Body: api.ManagementCheck{Healthy: why == "", Message: why, KubernetesVersion: version}}, nil
}

func presentManagement(ctx context.Context, m kube.Management) api.ManagementCluster {
	out := api.ManagementCluster{
		ID: m.ID.String(), Name: m.Name, Pool: m.Pool, Active: m.Active, Server: m.Server, DataStore: m.DataStore, NewestVersion: m.NewestVersion,
		ServiceType: m.ServiceType, Address: m.Address, FirstPort: m.FirstPort, Capacity: m.Capacity, Hosted: m.Hosted, Healthy: m.Healthy, Message: m.Message,
		KubernetesVersion: m.KubeVersion, SeenAt: m.SeenAt, Version: m.Version, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
	for _, of := range []struct {
		name, permission string
		prevents         error
	}{
		{"check", "installation.management_cluster:read", nil},
		{"change", "installation.management_cluster:update", nil},
		{"delete", "installation.management_cluster:delete", m.CanDelete()},
	} {
		prevents := of.prevents
		if !httpapi.AccessOf(ctx).At(of.permission, scope.Place{}) {
			prevents = fault.Conflictf("forbidden", "You do not have the permission %s.", of.permission)
		}
		out.Operations = append(out.Operations, httpapi.OperationOf(of.name, prevents))
	}
	return out
}
