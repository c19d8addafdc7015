package kube

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
)

// Steps of a restore.
const (
	CheckPlanesStep  = "check_control_planes"
	SendPartsStep    = "send_parts"
	MakeDataStep     = "make_data"
	ExchangeStep     = "exchange"
	StartStep        = "start"
	RestartNodesStep = "restart_kubelets"
	RemoveLostStep   = "remove_lost"
	NodesBackStep    = "nodes_back"
)

// ClusterRestore is the job that puts the etcd of a cluster back to a snapshot. Nothing stops before every control plane has the whole snapshot
// and etcdutl has made a data directory of it. Nothing starts on new data before all have it in its place.
var ClusterRestore = change("cluster_restore", "puts etcd back to a snapshot: what the cluster was told since then is gone", []string{EtcdPlaybook, PreparePlaybook, ResetPlaybook}, planned(restoring), []work.Step{
	{Name: CheckPlanesStep, Means: "ask every control plane whether a restore can work there, and for the versions of its etcd", Within: playsWithin},
	{Name: SendPartsStep, Means: "send the snapshot to every control plane, in parts", Within: playsWithin},
	{Name: MakeDataStep, Means: "make a data directory of it on each, for all members together", Within: playsWithin},
	{Name: ExchangeStep, Means: "stop the static pods of all control planes, then put the new data in the place of the old", Within: playsWithin},
	{Name: StartStep, Means: "start the static pods of all, and wait until etcd has exactly these members and all are well", Within: playsWithin},
	{Name: APIStep, Means: "wait until the API server answers, and set up the access of accounts", Within: 15 * time.Minute},
	{Name: RemoveLostStep, Means: "take the control planes that are given up out of the cluster, and their routes off the others; nothing if there are none", Within: playsWithin},
	{Name: RestartNodesStep, Means: "restart the kubelets, which may know newer things than etcd", Within: playsWithin},
	{Name: NodesBackStep, Means: "wait until the cluster calls every node ready", Within: 15 * time.Minute},
})

// RestoreDraft is a restore as a person asks for it.
type RestoreDraft struct {
	Confirm string   // repeats the name of the cluster
	Without []string // control planes that are given up, by name or id
	// EndpointMoved says that the address of the endpoint, which was that of one of them, leads to another control plane by now.
	EndpointMoved bool
}

// RestoreArgs are the arguments of a restore.
type RestoreArgs struct {
	Snapshot uuid.UUID   `json:"snapshot"`
	Without  []uuid.UUID `json:"without,omitempty"` // nodes
}

// CanRestore tells why a cluster can't be put back to a snapshot, without the control planes that can be given up; nil if it can.
func (s Snapshot) CanRestore() error { return s.canRestore(s.Lost, false) }

func (s Snapshot) canRestore(without []string, endpointMoved bool) error {
	if _, err := ClusterLifecycle.Next(s.ClusterState, ChangeRequested); err != nil {
		return err
	}
	if err := s.survives(without, endpointMoved); err != nil {
		return err
	}
	switch {
	case minorOf(s.KubeVersion) != minorOf(s.ClusterVersion) || s.TargetVersion != "":
		return fault.Conflictf("restore_version", "The snapshot is of %s, and the cluster has %s or is being upgraded. Only one of the same minor version is restored.", s.KubeVersion, s.ClusterVersion)
	}
	return nil
}

// minorOf is the version without its last number.
func minorOf(version string) string {
	return version[:max(strings.LastIndexByte(version, '.'), 0)]
}

// AskRestore asks for the job that puts a cluster back to a snapshot, on all of its control planes that are not given up.
func AskRestore(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Snapshot], draft RestoreDraft) (job uuid.UUID, err error) {
	s, err := SnapshotByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	c, err := holdCluster(ctx, tx.Tx, s.ClusterID)
	if err != nil {
		return uuid.Nil, err
	}
	nodes, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return uuid.Nil, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	if s, err = SnapshotByID(ctx, tx.Reader, s.ID); err != nil { // anew: nobody changes its cluster any more
		return uuid.Nil, err
	}
	stay, gone, err := giveUp(nodes, draft.Without)
	if err != nil {
		return uuid.Nil, err
	}
	if err := s.canRestore(names(gone), draft.EndpointMoved); err != nil {
		return uuid.Nil, err
	}
	if draft.Confirm != c.Name {
		var bad fault.Invalid
		bad.Add("confirm", "Type the name of the cluster, %s. etcd and the API server stop on all control planes: %s.%s", c.Name, strings.Join(names(stay), ", "), leaveForGood(gone))
		return uuid.Nil, bad.OrNil()
	}
	wanted := c.job(ClusterRestore.Name, nodes)
	args := RestoreArgs{Snapshot: s.ID, Without: ids(gone)}
	wanted.Args, wanted.Draft = args, args
	facts := map[string]any{"snapshot": s.ID, "stops": names(stay), "begun_at": s.BegunAt.UTC().Format(time.RFC3339), "sha256": s.SHA256}
	if len(gone) > 0 {
		facts["without"] = names(gone)
	}
	return kinds.Ask(ctx, tx, wanted, c.entry("restore", nil, facts))
}
