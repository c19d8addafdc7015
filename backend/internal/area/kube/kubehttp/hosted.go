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
	"kloigos/backend/internal/kernel/work"
)

// planes is the routes of hosted control planes that are not those of every noun.
type planes struct {
	httpapi.Noun[kube.Hosted, api.HostedControlPlane]
	hosting
}

func (h hosting) planes() {
	n := planes{httpapi.Noun[kube.Hosted, api.HostedControlPlane]{
		Server: h.server, Engine: h.HostedParts.Engine, Find: kube.FindHosted, Present: presentHosted, Version: func(p kube.Hosted) int64 { return p.Version },
	}, h}
	httpapi.Register(h.server, "list-hosted-control-planes", n.list, httpapi.Sorted(kube.HostedSorting))
	httpapi.Register(h.server, "create-hosted-control-plane", n.create, httpapi.OrPlan[api.HostedControlPlane](h.server), httpapi.Example(api.CreateHostedControlPlane{
		Name: "apps", KubernetesVersion: "v1.30.2", Pool: "default", Workers: []string{"fra1-051", "fra1-052"},
	}))
	httpapi.Register(h.server, "get-hosted-control-plane", n.Get)
	httpapi.Register(h.server, "upgrade-hosted-control-plane", n.upgrade, httpapi.OrPlan[api.HostedControlPlane](h.server), httpapi.Example(api.UpgradeHostedControlPlane{KubernetesVersion: "v1.30.2"}))
	httpapi.Register(h.server, "sleep-hosted-control-plane", n.starts("sleep-hosted-control-plane", kube.SleepHosted), httpapi.OrPlan[api.HostedControlPlane](h.server))
	httpapi.Register(h.server, "wake-hosted-control-plane", n.starts("wake-hosted-control-plane", kube.WakeHosted), httpapi.OrPlan[api.HostedControlPlane](h.server))
	httpapi.Register(h.server, "delete-hosted-control-plane", n.remove, httpapi.OrPlan[api.HostedControlPlane](h.server), httpapi.Example(api.DeleteCluster{Confirm: "apps"}))
}

func (n planes) list(ctx context.Context, in *struct{ api.HostedControlPlaneFilter }) (*httpapi.Object[api.Page[api.HostedControlPlane]], error) {
	return httpapi.PageOf(n.server, "list-hosted-control-planes", in.PageQuery, []string{in.State}, kube.HostedSorting,
		func(after *db.Position, limit int) ([]kube.Hosted, error) {
			return kube.HostedPlanes(ctx, n.server.DB().Reader, kube.HostedFilter{
				WorkspaceID: httpapi.Workspace(ctx), State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentHosted)
}

func (n planes) create(ctx context.Context, in *struct {
	httpapi.BodyOf[api.CreateHostedControlPlane]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	b := in.Body
	of := httpapi.PlannedAction{Route: "create-hosted-control-plane", Body: b, Noun: kube.HostedNoun, Name: b.Name}
	return httpapi.PlanOrStart(ctx, n.Noun, in.ListPlanning, of, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		return kube.CreateHosted(ctx, tx, n.HostedParts.Keys, n.HostedParts.Kinds, kube.HostedDraft{
			Name: b.Name, KubeVersion: b.KubernetesVersion, Pool: cmp.Or(b.Pool, kube.DefaultPool), Workers: b.Workers,
			PodRange: cmp.Or(b.PodRange, kube.DefaultPodRange), ServiceRange: cmp.Or(b.ServiceRange, kube.DefaultServiceRange),
			Replicas: cmp.Or(b.Replicas, kube.DefaultReplicas), Konnectivity: b.Konnectivity == nil || *b.Konnectivity, CoreDNS: b.CoreDNS == nil || *b.CoreDNS,
		})
	})
}

// planOrStart makes a plan of an action on a hosted control plane, or asks for its job.
func (n planes) planOrStart(ctx context.Context, id string, how api.ListPlanning, route string, body any, ask func(*intent.Tx, scope.Ref[kube.Hosted]) (uuid.UUID, error)) (*httpapi.Planned, error) {
	of := httpapi.PlannedAction{Route: route, Body: body, Noun: kube.HostedNoun}
	return httpapi.PlanOrStartAbout(ctx, n.Noun, id, how, of, func(h kube.Hosted) string { return h.Cluster }, ask)
}

func (n planes) upgrade(ctx context.Context, in *struct {
	httpapi.OnOf[api.UpgradeHostedControlPlane]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "upgrade-hosted-control-plane", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
		return kube.UpgradeHosted(ctx, tx, n.HostedParts.Kinds, ref, in.Body.KubernetesVersion)
	})
}

type asksHosted func(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[kube.Hosted]) (job uuid.UUID, err error)

type startHosted struct {
	httpapi.ByID
	api.ListPlanning
}

// starts is the handler of a job without a body.
func (n planes) starts(route string, ask asksHosted) func(context.Context, *startHosted) (*httpapi.Planned, error) {
	return func(ctx context.Context, in *startHosted) (*httpapi.Planned, error) {
		return n.planOrStart(ctx, in.ID, in.ListPlanning, route, nil, func(tx *intent.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
			return ask(ctx, tx, n.HostedParts.Kinds, ref)
		})
	}
}

func (n planes) remove(ctx context.Context, in *struct {
	httpapi.ChangeOf[api.DeleteCluster]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "delete-hosted-control-plane", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Hosted]) (uuid.UUID, error) {
		return kube.DeleteHosted(ctx, tx, n.HostedParts.Kinds, ref, version, in.Body.Confirm)
	})
}

func presentHosted(h kube.Hosted) api.HostedControlPlane {
	return api.HostedControlPlane{
		ID: h.ID.String(), Cluster: h.Cluster, ClusterID: h.ClusterID.String(), Pool: h.Pool, Namespace: h.Namespace, KubernetesVersion: h.KubeVersion,
		TargetVersion: h.TargetVersion, Replicas: h.Replicas, Konnectivity: h.Konnectivity, CoreDNS: h.CoreDNS, State: string(h.State),
		StateMeans: kube.HostedLifecycle.Info(h.State).Means, Message: h.StateMessage, Version: h.Version, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("upgrade", h.CanUpgrade()), httpapi.OperationOf("sleep", h.CanSleep()), httpapi.OperationOf("wake", h.CanWake()),
			httpapi.OperationOf("delete", h.CanDelete()),
		},
	}
}
