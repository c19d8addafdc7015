package kube

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"
)

// Roles of the objects of jobs.
const (
	ClusterRole = "cluster"
	HostRole    = "host"
)

// Steps of the jobs about clusters.
const (
	PrepareStep      = "prepare"
	NameStep         = "dns_name"
	ControlPlaneStep = "control_plane"
	MembersStep      = "control_planes"
	APIStep          = "api"
	WorkersStep      = "workers"
	RoutesStep       = "routes"
	ReadyStep        = "ready"
	ResetWorkersStep = "reset_workers"
	ResetStep        = "reset_control_plane"
)

// The playbooks that the jobs of clusters play.
const (
	PreparePlaybook = "kube_prepare"
	InitPlaybook    = "kubeadm_init"
	JoinPlaybook    = "kubeadm_join"
	ResetPlaybook   = "kubeadm_reset"
	EtcdPlaybook    = "kube_etcd"
)

// playsWithin bounds how long a step with plays waits for its hosts, which other jobs may hold.
const playsWithin = time.Hour

// nameWithin is how long the name servers of a zone may take to have the name of a cluster.
const nameWithin = 15 * time.Minute

// ClusterCreate is the job that makes a cluster. Its first steps change hosts, each under the host's fence.
var ClusterCreate = work.Kind{
	Name:  "cluster_create",
	Means: "prepares hosts, makes the control plane of a cluster and joins its workers",
	Steps: []work.Step{
		{Name: PrepareStep, Means: "bring container runtime, binaries and images to every host, one after the other", Within: playsWithin},
		{Name: NameStep, Means: "if the endpoint is the name that a zone gives to the cluster, wait until the name servers have it", Within: nameWithin},
		{Name: ControlPlaneStep, Means: "make the control plane, and let it sign our own certificate", Within: playsWithin},
		{Name: APIStep, Means: "wait until the API server answers, and set up the access of accounts", Within: 15 * time.Minute},
		{Name: MembersStep, Means: "join the other control planes, one after the other, each a member of etcd", Within: playsWithin},
		{Name: WorkersStep, Means: "join the workers, one after the other, each with a token of its own", Within: playsWithin},
		{Name: RoutesStep, Means: "tell every host how the pods of the others are reached", Within: playsWithin},
		{Name: ReadyStep, Means: "wait until the cluster calls every node ready", Within: 15 * time.Minute},
	},
	Deadline:  createWithin,
	Locks:     []string{ClusterRole},
	Playbooks: []string{PreparePlaybook, InitPlaybook, JoinPlaybook, EtcdPlaybook},
	Plan:      planned(creation),

	Start:   []work.Move{{Role: ClusterRole, On: CreateRequested}},
	Success: []work.Move{{Role: ClusterRole, On: CreateSucceeded}},
	Failure: []work.Move{{Role: ClusterRole, On: CreateFailed}},
}

// ClusterDelete is the job that takes Kubernetes off the hosts of a cluster, the control plane last, and then forgets it.
var ClusterDelete = work.Kind{
	Name:  "cluster_delete",
	Means: "takes Kubernetes off the hosts of a cluster and deletes the cluster",
	Steps: []work.Step{
		{Name: ResetWorkersStep, Means: "take Kubernetes off the workers", Within: playsWithin},
		{Name: ResetStep, Means: "take Kubernetes off the control planes; this deletes the data of the cluster", Within: playsWithin},
	},
	Deadline:  deleteWithin,
	Locks:     []string{ClusterRole},
	Playbooks: []string{ResetPlaybook},
	Plan:      planned(deletion),

	Start:   []work.Move{{Role: ClusterRole, On: DeleteRequested}},
	Failure: []work.Move{{Role: ClusterRole, On: DeleteFailed}},
}

// ClusterJobs is what jobs know of clusters.
var ClusterJobs = work.Noun{
	Name: ClusterNoun,
	Move: func(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
		return moveCluster(ctx, tx, id, on, message)
	},
}

// job is a job about a cluster and the hosts of its nodes.
func (c Cluster) job(kind string, nodes []Node) work.New {
	n := work.New{Kind: kind, Objects: []work.Object{{Role: ClusterRole, Noun: ClusterNoun, ID: c.ID, Name: c.Name}}}
	for _, node := range nodes {
		n.Objects = append(n.Objects, work.Object{Role: HostRole, Noun: hostNoun, ID: node.HostID, Name: node.Name})
	}
	return n
}

// Judge moves a cluster as its policy found it: degraded with the causes, or active again. It writes only what differs, or
// it would make its own policy due for ever.
func Judge(ctx context.Context, tx *db.Tx, cluster uuid.UUID, cause string) (changed bool, err error) {
	c, err := holdCluster(ctx, tx, cluster)
	if err != nil {
		return false, err
	}
	switch {
	case cause != "" && c.State == ClusterActive:
		return true, moveCluster(ctx, tx, cluster, HealthLost, cause)
	case cause == "" && c.State == ClusterDegraded:
		return true, moveCluster(ctx, tx, cluster, HealthBack, "")
	}
	return false, nil
}
