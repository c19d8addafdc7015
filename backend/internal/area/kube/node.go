package kube

import (
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
)

// Roles of nodes.
const (
	ControlPlane = "control_plane"
	Worker       = "worker"
)

// NodeState says how far a host is as a node of its cluster.
type NodeState string

// States of a node.
const (
	NodePending  NodeState = "pending"
	NodePrepared NodeState = "prepared"
	NodeJoined   NodeState = "joined"
	NodeReady    NodeState = "ready"
	NodeNotReady NodeState = "not_ready"
	NodeLeaving  NodeState = "leaving"
	NodeLeft     NodeState = "left"
)

// What happens to a node.
const (
	NodeWasPrepared lifecycle.Event = "prepared"
	NodeHasJoined   lifecycle.Event = "joined"
	NodeIsReady     lifecycle.Event = "ready"
	NodeIsNotReady  lifecycle.Event = "not_ready"
	NodeIsLeaving   lifecycle.Event = "leaving"
	NodeHasLeft     lifecycle.Event = "left"
)

// NodeLifecycle is the life of a node. It ends with the removal of its row.
var NodeLifecycle = lifecycle.Lifecycle[NodeState]{
	Noun: NodeNoun, Initial: NodePending,
	States: []lifecycle.StateInfo[NodeState]{
		{State: NodePending, Means: "nothing of Kubernetes is on its host yet"},
		{State: NodePrepared, Means: "its host has the container runtime and the programs of Kubernetes"},
		{State: NodeJoined, Means: "it has joined, and the cluster has not called it ready yet"},
		{State: NodeReady, Means: "the cluster calls it ready"},
		{State: NodeNotReady, Means: "the cluster does not call it ready, or does not know it", Failed: true},
		{State: NodeLeaving, Means: "a job drains it, and takes it out of the cluster"},
		{State: NodeLeft, Means: "Kubernetes was taken off its host"},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[NodeState]{
		{From: []NodeState{NodePending}, On: NodeWasPrepared, To: NodePrepared},
		{From: []NodeState{NodePrepared}, On: NodeHasJoined, To: NodeJoined},
		{From: []NodeState{NodeJoined}, On: NodeIsReady, To: NodeReady},
		{From: []NodeState{NodeReady}, On: NodeIsNotReady, To: NodeNotReady},
		{From: []NodeState{NodeNotReady}, On: NodeIsReady, To: NodeReady},
		{From: []NodeState{NodePending, NodePrepared, NodeJoined, NodeReady, NodeNotReady}, On: NodeIsLeaving, To: NodeLeaving},
		{From: []NodeState{NodeLeaving, NodePending, NodePrepared, NodeJoined, NodeReady, NodeNotReady}, On: NodeHasLeft, To: NodeLeft},
	}),
}

// Node is one row of kube_nodes with what its host is.
type Node struct {
	ID             uuid.UUID    `db:"id"`
	WorkspaceID    uuid.UUID    `db:"workspace_id"`
	ClusterID      uuid.UUID    `db:"cluster_id"`
	Cluster        string       `db:"cluster"` // its name
	ClusterVersion string       `db:"cluster_version"`
	ClusterState   ClusterState `db:"cluster_state"`
	ControlPlanes  int64        `db:"control_planes"` // of the cluster
	HostID         uuid.UUID    `db:"host_id"`
	Name           string       `db:"name"`
	Role           string       `db:"role"`
	Address        string       `db:"address"` // of the uplink of its host; the one that it is registered with if none was seen
	HostState      string       `db:"host_state"`
	PodRange       string       `db:"pod_range"`
	State          NodeState    `db:"state"`
	StateMessage   string       `db:"state_message"`
	TokenID        string       `db:"token_id"`
	KubeVersion    string       `db:"kube_version"` // as a job brought it; "" for that of the cluster
	UpgradePhase   UpgradePhase `db:"upgrade_phase"`
	UpgradeSince   *time.Time   `db:"upgrade_since"`

	CertificatesEnd *time.Time `db:"certificates_end"` // the first of a control plane; nil: not known

	Version   int64     `db:"version"`
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// HostLost is the state of a host whose machine is off for good.
const HostLost = "lost"

// InCluster tells whether the cluster knows the node, as far as our jobs go: it has joined, and was not taken out.
func (n Node) InCluster() bool {
	return n.State == NodeJoined || n.State == NodeReady || n.State == NodeNotReady
}

// MayLeave tells why no job can take the node out of its cluster, as far as its own row says; nil if one can.
func (n Node) MayLeave() error {
	if _, err := ClusterLifecycle.Next(n.ClusterState, ChangeRequested); err != nil {
		return err
	}
	if n.ControlPlanes == 0 {
		return errHosted
	}
	if n.Role == ControlPlane && n.ControlPlanes == 1 {
		return KeepsQuorum(n.Name, 0, 0, true)
	}
	return nil
}

// CanLeave tells why no job can take the node out of its cluster; nil if one can. others are all nodes of the cluster.
func (n Node) CanLeave(others []Node) error {
	if n.State == NodeLeft {
		return fault.Conflictf("cluster_node_state", "The node %s has left.", n.Name)
	}
	if n.Role != ControlPlane || n.State == NodePending || n.State == NodePrepared {
		return nil
	}
	var members, ready int
	for _, other := range others {
		if other.ID == n.ID || other.Role != ControlPlane || !other.InCluster() {
			continue
		}
		members++
		if other.State == NodeReady && other.HostState != HostLost {
			ready++
		}
	}
	return KeepsQuorum(n.Name, members, ready, n.State == NodeReady && n.HostState != HostLost)
}

// KeepsQuorum tells whether etcd goes on without one of its members: members are the others, ready those of them that are well,
// and well is whether the one itself is. etcd decides by more than half: on the removal of all members as they are before it,
// and afterwards of those that are left.
func KeepsQuorum(name string, members, ready int, well bool) error {
	now := ready
	if well {
		now++
	}
	switch {
	case members == 0:
		return fault.Conflictf("etcd_quorum", "%s is the only control plane: it holds the data of the cluster. Delete the cluster instead.", name)
	case now < (members+1)/2+1:
		return fault.Conflictf("etcd_quorum", "%d of %d members of etcd are well. They can't decide on the removal of %s.", now, members+1, name)
	case ready < members/2+1:
		return fault.Conflictf("etcd_quorum", "Without %s, %d of %d members of etcd would be well. Mend the others first.", name, ready, members)
	}
	return nil
}
