package kube

import (
	"time"

	"kloigos/backend/internal/kernel/work"
)

// Steps of the jobs that change a cluster.
const (
	DrainStep  = "drain"
	RemoveStep = "remove"
	// ResetHostStep was ResetStep in jobs that an older backend asked for: both names have a handler, so that those go on.
	ResetHostStep = "reset_host"
)

// The steps that bring nodes, and those that take them away.
var (
	joins = []work.Step{
		{Name: PrepareStep, Means: "bring container runtime, binaries and images to every new host, one after the other", Within: playsWithin},
		{Name: MembersStep, Means: "join new control planes, one after the other, each a member of etcd", Within: playsWithin},
		{Name: WorkersStep, Means: "join new workers, one after the other, each with a token of its own", Within: playsWithin},
	}
	leaves = []work.Step{
		{Name: DrainStep, Means: "keep new pods off the node and evict those that are there, as far as their disruption budgets allow", Within: drainWithin},
		{Name: RemoveStep, Means: "take the node out of etcd and out of the cluster", Within: playsWithin},
		{Name: ResetHostStep, Means: "take Kubernetes off its host", Within: playsWithin},
	}
	settles = []work.Step{
		{Name: RoutesStep, Means: "tell every host how the pods of the others are reached", Within: playsWithin},
		{Name: ReadyStep, Means: "wait until the cluster calls every node ready", Within: 15 * time.Minute},
	}
)

// drainWithin is how long a node may take to be empty.
const drainWithin = 30 * time.Minute

// The kinds of jobs that change which nodes a cluster has. Each leaves the cluster degraded where it fails, and can be retried.
var (
	ClusterAddNodes = change("cluster_add_nodes", "joins more hosts to a cluster",
		[]string{PreparePlaybook, JoinPlaybook, EtcdPlaybook}, planned(growth), joins, settles)
	ClusterRemoveNode = change("cluster_remove_node", "drains a node, takes it out of its cluster and takes Kubernetes off its host",
		[]string{PreparePlaybook, ResetPlaybook, EtcdPlaybook}, planned(shrinking), leaves, settles)
	ClusterReplaceNode = change("cluster_replace_node", "puts another host in the place of a node, and takes the node out of the cluster",
		[]string{PreparePlaybook, JoinPlaybook, ResetPlaybook, EtcdPlaybook}, planned(shrinking), joins, leaves, settles)
)

// change is a kind of job that changes a cluster that is there.
func change(name, means string, playbooks []string, plan *work.Plan, steps ...[]work.Step) work.Kind {
	k := work.Kind{
		Name: name, Means: means, Deadline: changeWithin, Locks: []string{ClusterRole}, Playbooks: playbooks, Plan: plan,
		Start:   []work.Move{{Role: ClusterRole, On: ChangeRequested}},
		Success: []work.Move{{Role: ClusterRole, On: ChangeSucceeded}},
		Failure: []work.Move{{Role: ClusterRole, On: ChangeFailed}},
	}
	for _, some := range steps {
		k.Steps = append(k.Steps, some...)
	}
	return k
}

// Kinds are all jobs about clusters.
func Kinds() []work.Kind {
	return []work.Kind{ClusterCreate, ClusterDelete, ClusterAddNodes, ClusterRemoveNode, ClusterReplaceNode, ClusterUpgrade, ClusterRenew, ClusterSnapshot, ClusterRestore}
}
