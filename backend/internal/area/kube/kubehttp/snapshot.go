package kubehttp

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// snapshotRoutes is the routes of snapshots that are not those of every noun.
type snapshotRoutes struct {
	httpapi.Noun[kube.Snapshot, api.ClusterSnapshot]
	handlers
}

func (n snapshotRoutes) restore(ctx context.Context, in *struct {
	httpapi.OnOf[api.RestoreClusterSnapshot]
	api.ListPlanning
},
) (*httpapi.Planned, error) {
	s, ref, err := kube.FindSnapshot(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	of := httpapi.PlannedAction{Route: "restore-cluster-snapshot", Body: in.Body, Noun: kube.SnapshotNoun, ID: s.ID, Name: s.Cluster + " of " + s.BegunAt.UTC().Format(time.RFC3339)}
	return httpapi.PlanOrStart(ctx, n.Noun, in.ListPlanning, of, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		job, err = kube.AskRestore(ctx, tx, n.Kinds, ref, kube.RestoreDraft{Confirm: in.Body.Confirm, Without: in.Body.Without, EndpointMoved: in.Body.EndpointMoved})
		return s.ID, job, err
	})
}

func (h handlers) snapshots() {
	n := snapshotRoutes{httpapi.Noun[kube.Snapshot, api.ClusterSnapshot]{
		Server: h.server, Engine: h.Engine, Find: kube.FindSnapshot, Present: presentSnapshot, Version: func(s kube.Snapshot) int64 { return s.Version },
	}, h}
	httpapi.Register(h.server, "list-cluster-snapshots", h.listSnapshots, httpapi.Sorted(kube.SnapshotSorting))
	httpapi.Register(h.server, "get-cluster-snapshot", n.Get)
	httpapi.Register(h.server, "restore-cluster-snapshot", n.restore, httpapi.OrPlan[api.ClusterSnapshot](h.server), httpapi.Example(api.RestoreClusterSnapshot{Confirm: "apps"}))
	httpapi.Register(h.server, "delete-cluster-snapshot", n.Delete(kube.DeleteSnapshot))
}

func (h handlers) listSnapshots(ctx context.Context, in *struct{ api.ClusterSnapshotFilter }) (*httpapi.Object[api.Page[api.ClusterSnapshot]], error) {
	return httpapi.PageOf(h.server, "list-cluster-snapshots", in.PageQuery, nil, kube.SnapshotSorting,
		func(after *db.Position, limit int) ([]kube.Snapshot, error) {
			return kube.Snapshots(ctx, h.server.DB().Reader, kube.SnapshotFilter{WorkspaceID: httpapi.Workspace(ctx), Sort: in.Sort, After: after, Limit: limit})
		},
		presentSnapshot)
}

func presentSnapshot(s kube.Snapshot) api.ClusterSnapshot {
	out := api.ClusterSnapshot{
		ID: s.ID.String(), Cluster: s.Cluster, ClusterID: s.ClusterID.String(), Node: s.Node, KubernetesVersion: s.KubeVersion, Size: s.Size, Stored: s.Stored,
		SHA256: s.SHA256, ControlPlanes: s.Planes, Lost: s.Lost, BegunAt: s.BegunAt, Version: s.Version, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Operations: []api.Operation{httpapi.OperationOf("restore", s.CanRestore()), httpapi.OperationOf("delete", nil)},
	}
	if s.TakenAt != nil {
		out.TakenAt = *s.TakenAt
	}
	return out
}

// snapshots is the routes about snapshots that a cluster has.
func (n clusters) snapshots() {
	httpapi.Register(n.server, "take-cluster-snapshot", n.snapshot)
	httpapi.Register(n.server, "set-cluster-snapshots", httpapi.Update(n.Noun, setSnapshots), httpapi.Example(api.SetClusterSnapshots{Hours: 24, Keep: 7, Days: 30}))
}

func (n clusters) snapshot(ctx context.Context, in *httpapi.ByID) (*httpapi.Accepted[api.Cluster], error) {
	_, ref, err := kube.FindCluster(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return n.Started(ctx, ref, func(tx *intent.Tx) (uuid.UUID, error) { return kube.AskSnapshot(ctx, tx, n.Kinds, ref) })
}

func setSnapshots(ctx context.Context, tx *intent.Tx, ref scope.Ref[kube.Cluster], version int64, body api.SetClusterSnapshots) error {
	return kube.SetSnapshotPlan(ctx, tx, ref, version, kube.SnapshotPlan{Hours: body.Hours, Keep: cmp.Or(body.Keep, 7), Days: cmp.Or(body.Days, 30)})
}
