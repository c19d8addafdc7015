package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// snapshotPolicy is the policy that asks for snapshots and expires them.
const snapshotPolicy = "cluster_snapshots"

// SetSnapshotPlan changes when snapshots of a cluster are taken by themselves, and which are kept.
func SetSnapshotPlan(ctx context.Context, tx *intent.Tx, ref scope.Ref[Cluster], version int64, plan SnapshotPlan) error {
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("cluster", c.Version, version); err != nil {
		return err
	}
	if err := plan.check(); err != nil {
		return err
	}
	if c.Hosted {
		return errHostedEtcd
	}
	tx.Touch(ClusterNoun, c.ID)
	if err := tx.One(ctx, fault.ErrNotFound, sqlSetSnapshotPlan, c.ID, plan.Hours, plan.Keep, plan.Days); err != nil {
		return fmt.Errorf("change when snapshots are taken: %w", err)
	}
	return tx.Event(ctx, c.entry("set_snapshots", c.Plan().facts(), plan.facts()))
}

// snapshotJob is a job that takes a snapshot on one of the control planes. Where the quorum is gone, it does so only if alone allows it.
func (c Cluster) snapshotJob(ctx context.Context, tx *db.Tx, alone bool) (job work.New, gone []string, err error) {
	nodes, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return work.New{}, nil, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	gone = QuorumGone(nodes)
	var planes []Node
	for _, n := range nodes {
		if n.Role == ControlPlane {
			planes = append(planes, n)
		}
	}
	wanted := c.job(ClusterSnapshot.Name, planes)
	wanted.Args = SnapshotArgs{Snapshot: uuid.New(), Alone: alone && len(gone) > 0}
	return wanted, gone, nil
}

// AskSnapshot asks for the job that takes a snapshot of the etcd of a cluster.
func AskSnapshot(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Cluster]) (job uuid.UUID, err error) {
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	if err := c.CanSnapshot(); err != nil {
		return uuid.Nil, err
	}
	wanted, gone, err := c.snapshotJob(ctx, tx.Tx, true)
	if err != nil {
		return uuid.Nil, err
	}
	var facts map[string]any
	if len(gone) > 0 {
		facts = map[string]any{"without": gone}
	}
	return kinds.Ask(ctx, tx, wanted, c.entry("snapshot", nil, facts))
}

// SnapshotDue asks for a snapshot on behalf of a policy, if the plan of the cluster wants one and none was asked for within the last hour.
func SnapshotDue(ctx context.Context, tx *db.Tx, kinds *work.Registry, cluster uuid.UUID) (asked bool, err error) {
	c, err := holdCluster(ctx, tx, cluster)
	if err != nil {
		return false, err
	}
	taken, err := SnapshotsOf(ctx, tx.Reader, cluster)
	if err != nil {
		return false, fmt.Errorf("list the snapshots of a cluster: %w", err)
	}
	if !c.wantsSnapshot(Newest(taken), time.Now()) {
		return false, nil
	}
	wanted, _, err := c.snapshotJob(ctx, tx, false)
	if err != nil {
		return false, err
	}
	tx.Touch(ClusterNoun, c.ID)
	if err := tx.One(ctx, fault.ErrNotFound, sqlSnapshotAsked, c.ID); err != nil {
		return false, fmt.Errorf("note that a snapshot was asked for: %w", err)
	}
	actor := audit.Actor{Kind: audit.Policy, Name: snapshotPolicy}
	job, err := kinds.Enqueue(ctx, tx, actor.Name, c.WorkspaceID, wanted)
	if err != nil {
		return false, err
	}
	told := c.entry("snapshot", nil, nil)
	told.JobID = job
	return true, audit.Append(ctx, tx, actor, told)
}

// wantsSnapshot says whether a cluster can take a snapshot, its plan wants one, and none was asked for a short while ago.
func (c Cluster) wantsSnapshot(newest *Snapshot, now time.Time) bool {
	asked := c.SnapshotAskedAt != nil && now.Sub(*c.SnapshotAskedAt) < snapshotPatience
	return c.CanSnapshot() == nil && c.Plan().Stale(newest, now, 0) && !asked
}

// Newest is the first of the snapshots of a cluster; nil for none.
func Newest(taken []Snapshot) *Snapshot {
	if len(taken) == 0 {
		return nil
	}
	return &taken[0]
}

// NewSnapshot is a snapshot that a host has taken, with a key of its own. It is not whole before all of its parts are here.
func NewSnapshot(keys *secret.Keyset, c Cluster, id uuid.UUID, node string, begun time.Time, t TakenSnapshot) (Snapshot, error) {
	sealed, err := newSnapshotKey(keys, id)
	return Snapshot{
		ID: id, WorkspaceID: c.WorkspaceID, ClusterID: c.ID, Cluster: c.Name, Node: node, KubeVersion: c.KubeVersion, KeySealed: sealed,
		Size: t.Size, Stored: t.Stored, Parts: t.Parts, SHA256: t.SHA256, BegunAt: begun,
	}, err
}

// BeginSnapshot writes the row of a snapshot, before its first part comes. What an attempt before left of it goes.
func BeginSnapshot(ctx context.Context, tx *db.Tx, s Snapshot) error {
	if err := DropSnapshot(ctx, tx, s.ID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, sqlInsertSnapshot, s.ID, s.WorkspaceID, s.ClusterID, s.Node, s.KubeVersion, s.KeySealed, s.Size, s.Stored, s.Parts, s.SHA256, s.BegunAt)
	if err != nil {
		return fmt.Errorf("insert a snapshot: %w", err)
	}
	return nil
}

// PutPart keeps a part of a snapshot, encrypted. It can be repeated.
func PutPart(ctx context.Context, tx *db.Tx, snapshot uuid.UUID, number int64, sealed []byte) error {
	if _, err := tx.Exec(ctx, sqlPutPart, snapshot, number, sealed); err != nil {
		return fmt.Errorf("keep part %d of a snapshot: %w", number, err)
	}
	return nil
}

// FinishSnapshot makes a snapshot visible whose parts were all read again. It wakes the policies of its cluster.
func FinishSnapshot(ctx context.Context, tx *db.Tx, by audit.Actor, job uuid.UUID, s Snapshot) error {
	tx.Touch(SnapshotNoun, s.ID)
	tx.Touch(ClusterNoun, s.ClusterID)
	if err := tx.One(ctx, movedMeanwhile(SnapshotNoun), sqlFinishSnapshot, s.ID); err != nil {
		return fmt.Errorf("finish a snapshot: %w", err)
	}
	told := s.entry("create", nil, s.facts())
	told.JobID = job
	return audit.Append(ctx, tx, by, told)
}

// DropSnapshot removes a snapshot with its parts. One that is gone already is gone.
func DropSnapshot(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	tx.Touch(SnapshotNoun, id)
	for _, sql := range []db.Statement{sqlDeleteSnapshotParts, sqlDeleteSnapshot} {
		if _, err := tx.Exec(ctx, sql, id); err != nil {
			return fmt.Errorf("delete a snapshot: %w", err)
		}
	}
	return nil
}

// DeleteSnapshot deletes a snapshot.
func DeleteSnapshot(ctx context.Context, tx *intent.Tx, ref scope.Ref[Snapshot], version int64) error {
	s, err := SnapshotByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return err
	}
	if err := fault.CheckVersion("snapshot", s.Version, version); err != nil {
		return err
	}
	if err := DropSnapshot(ctx, tx.Tx, s.ID); err != nil {
		return err
	}
	tx.Touch(ClusterNoun, s.ClusterID) // its policy may have to take another
	return tx.Event(ctx, s.entry("delete", s.facts(), nil))
}

// ExpireSnapshots removes the snapshots of a cluster that its plan no longer keeps, with an event for each. It also removes the unfinished
// ones that failed jobs left; nobody saw those, so there is no event.
func ExpireSnapshots(ctx context.Context, tx *db.Tx, cluster uuid.UUID) (gone int, err error) {
	c, err := holdCluster(ctx, tx, cluster)
	if err != nil {
		return 0, err
	}
	taken, err := SnapshotsOf(ctx, tx.Reader, cluster)
	if err != nil {
		return 0, fmt.Errorf("list the snapshots of a cluster: %w", err)
	}
	expired := c.Plan().Expired(taken, time.Now())
	if c.State == ClusterChanging {
		expired = nil // a job may restore one of them
	}
	for _, s := range expired {
		if err := DropSnapshot(ctx, tx, s.ID); err != nil {
			return 0, err
		}
		if err := audit.Append(ctx, tx, audit.Actor{Kind: audit.Policy, Name: snapshotPolicy}, s.entry("expire", s.facts(), nil)); err != nil {
			return 0, err
		}
	}
	left, err := db.IDs(ctx, tx.Reader, "list snapshots that failed", sqlLeftSnapshots, cluster, ClusterSnapshot.Name)
	if err != nil {
		return 0, err
	}
	for _, id := range left {
		if err := DropSnapshot(ctx, tx, id); err != nil {
			return 0, err
		}
	}
	return len(expired) + len(left), nil
}
