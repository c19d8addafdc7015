package kubehttp

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

func (n clusters) upgrades() {
	httpapi.Register(n.server, "get-cluster-upgrades", n.plans)
	httpapi.Register(n.server, "upgrade-cluster", n.upgrade, httpapi.OrPlan[api.Cluster](n.server), httpapi.Example(api.UpgradeCluster{To: "v1.37.0", Parallel: 2}))
	httpapi.Register(n.server, "set-cluster-window", httpapi.Update(n.Noun, setWindow), httpapi.Example(api.SetClusterWindow{Days: []string{"sat", "sun"}, From: "22:00", To: "04:00"}))
}

func (n clusters) plans(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.ClusterUpgrades], error) {
	c, _, err := kube.FindCluster(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	plans, err := kube.PlanUpgrades(ctx, n.server.DB().Reader, c)
	if err != nil {
		return nil, err
	}
	out := api.ClusterUpgrades{From: c.KubeVersion, Plans: []api.ClusterUpgradePlan{}}
	if opens := c.Window().Next(time.Now()); opens.After(time.Now()) {
		out.WindowOpensAt = &opens
	}
	for _, p := range plans {
		may := httpapi.OperationOf("upgrade", p.Refused)
		one := api.ClusterUpgradePlan{To: p.To, Allowed: may.Allowed, Prevents: may.Prevents, Nodes: []api.ClusterUpgradeTurn{}}
		for _, t := range p.Nodes {
			one.Nodes = append(one.Nodes, api.ClusterUpgradeTurn{Name: t.Name, Role: t.Role, From: t.From, Wave: t.Wave, Done: t.Done})
		}
		out.Plans = append(out.Plans, one)
	}
	return &httpapi.Object[api.ClusterUpgrades]{Body: out}, nil
}

func (n clusters) upgrade(ctx context.Context, in *struct {
	httpapi.OnOf[api.UpgradeCluster]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "upgrade-cluster", in.Body, func(tx *intent.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskUpgrade(ctx, tx, n.Kinds, ref, kube.UpgradeDraft{To: in.Body.To, Parallel: cmp.Or(in.Body.Parallel, kube.DefaultParallel), Now: in.Body.Now})
	})
}

func setWindow(ctx context.Context, tx *intent.Tx, ref scope.Ref[kube.Cluster], version int64, body api.SetClusterWindow) error {
	return kube.SetWindow(ctx, tx, ref, version, rollout.Window{Days: body.Days, From: body.From, To: body.To})
}

// presentWindow is nil where the window is always open.
func presentWindow(w rollout.Window) *api.MaintenanceWindow {
	if w.From == "" && len(w.Days) == 0 {
		return nil
	}
	return &api.MaintenanceWindow{Days: w.Days, From: w.From, To: w.To}
}

func (n clusters) renew(ctx context.Context, in *struct {
	httpapi.ByID
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	return n.planOrStart(ctx, in.ID, in.ListPlanning, "renew-cluster-certificates", nil, func(tx *intent.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskRenew(ctx, tx, n.Kinds, ref)
	})
}
