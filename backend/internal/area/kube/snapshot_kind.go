package kube

import (
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/work"
)

// Steps of the job that takes a snapshot.
const (
	TakeStep         = "take"
	BringPartsStep   = "bring_parts"
	CheckPartsStep   = "check_parts"
	ForgetPartsStep  = "forget"
	takeWithin       = 2 * time.Hour
	snapshotPatience = time.Hour // that a plan gives to a job before the snapshot counts as late, and before it asks again
)

// SnapshotArgs are the arguments of a job about a snapshot.
type SnapshotArgs struct {
	Snapshot uuid.UUID `json:"snapshot"`
	// Alone allows one from a member of etcd that is left without a quorum, see QuorumGone. Only a person asks for that: the policy would let it
	// take the place of older ones.
	Alone bool `json:"alone,omitempty"`
}

// ClusterSnapshot is the job that takes a snapshot of etcd. It changes nothing in the cluster, which keeps its state.
var ClusterSnapshot = work.Kind{
	Name:  "cluster_snapshot",
	Means: "takes a snapshot of etcd on a control plane and keeps it here, encrypted",
	Steps: []work.Step{
		{Name: TakeStep, Means: "take a snapshot on a control plane whose member of etcd is well", Within: playsWithin},
		{Name: BringPartsStep, Means: "bring it here in parts, each encrypted", Within: playsWithin},
		{Name: CheckPartsStep, Means: "read all parts again and compare the whole with what the host took"},
		{Name: ForgetPartsStep, Means: "delete it on the host", Within: playsWithin},
	},
	Deadline:  takeWithin,
	Locks:     []string{ClusterRole},
	Playbooks: []string{EtcdPlaybook},
}
