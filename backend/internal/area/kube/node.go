package kube

import (
	"time"

	"github.com/google/uuid"

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
	NodeLeft     NodeState = "left"
)

// What happens to a node.
const (
	NodeWasPrepared lifecycle.Event = "prepared"
	NodeHasJoined   lifecycle.Event = "joined"
	NodeIsReady     lifecycle.Event = "ready"
	NodeIsNotReady  lifecycle.Event = "not_ready"
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
		{State: NodeLeft, Means: "Kubernetes was taken off its host"},
	},
	Transitions: []lifecycle.Transition[NodeState]{
		{From: NodePending, On: NodeWasPrepared, To: NodePrepared},
		{From: NodePrepared, On: NodeHasJoined, To: NodeJoined},
		{From: NodeJoined, On: NodeIsReady, To: NodeReady},
		{From: NodeReady, On: NodeIsNotReady, To: NodeNotReady},
		{From: NodeNotReady, On: NodeIsReady, To: NodeReady},
		{From: NodePending, On: NodeHasLeft, To: NodeLeft},
		{From: NodePrepared, On: NodeHasLeft, To: NodeLeft},
		{From: NodeJoined, On: NodeHasLeft, To: NodeLeft},
		{From: NodeReady, On: NodeHasLeft, To: NodeLeft},
		{From: NodeNotReady, On: NodeHasLeft, To: NodeLeft},
	},
}

// Node is one row of kube_nodes with what its host is.
type Node struct {
	ID           uuid.UUID `db:"id"`
	WorkspaceID  uuid.UUID `db:"workspace_id"`
	ClusterID    uuid.UUID `db:"cluster_id"`
	Cluster      string    `db:"cluster"` // its name
	HostID       uuid.UUID `db:"host_id"`
	Name         string    `db:"name"`
	Role         string    `db:"role"`
	Address      string    `db:"address"` // of the uplink of its host; the one that it is registered with if none was seen
	HostState    string    `db:"host_state"`
	PodRange     string    `db:"pod_range"`
	State        NodeState `db:"state"`
	StateMessage string    `db:"state_message"`
	TokenID      string    `db:"token_id"`
	Version      int64     `db:"version"`
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at"`
}

// HostLost is the state of a host whose machine is off for good.
const HostLost = "lost"
