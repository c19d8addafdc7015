package kube

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"
)

// HostedRole is the hosted control plane that a job is about.
const HostedRole = "hosted_control_plane"

// Steps of the jobs about hosted control planes, beside those of clusters on hosts.
const (
	HostStep        = "host_control_plane"
	HostReadyStep   = "control_plane_ready"
	AccessStep      = "access"
	ApplyStep       = "apply"
	AsleepStep      = "asleep"
	RemovePlaneStep = "remove_control_plane"
)

const (
	// planeWithin bounds how long the management cluster may take: it pulls images.
	planeWithin = 20 * time.Minute
	apiWithin   = 15 * time.Minute
)

// HostedCreate is the job that makes a cluster whose control plane runs in a management cluster.
var HostedCreate = work.Kind{
	Name:  "hosted_cluster_create",
	Means: "makes a control plane in a management cluster and joins hosts to it as workers",
	Steps: []work.Step{
		{Name: HostStep, Means: "look at the management cluster, and make the namespace and the control plane in it", Within: apiWithin},
		{Name: HostReadyStep, Means: "wait until Kamaji calls the control plane ready", Within: planeWithin},
		{Name: AccessStep, Means: "take over the authority of the cluster and our own access, sealed", Within: apiWithin},
		{Name: APIStep, Means: "wait until the API server itself answers, with the version that was asked for, and set up the access of accounts", Within: apiWithin},
		{Name: PrepareStep, Means: "bring container runtime, binaries and images to every host, one after the other", Within: playsWithin},
		{Name: WorkersStep, Means: "join the workers, one after the other, each with a token of its own", Within: playsWithin},
		{Name: RoutesStep, Means: "tell every host how the pods of the others are reached", Within: playsWithin},
		{Name: ReadyStep, Means: "wait until the cluster calls every node ready", Within: 15 * time.Minute},
	},
	Deadline:  createWithin,
	Locks:     []string{ClusterRole},
	Playbooks: []string{PreparePlaybook, JoinPlaybook},
	Plan:      planned(hostedCreation),

	Start:   []work.Move{{Role: ClusterRole, On: CreateRequested}, {Role: HostedRole, On: CreateRequested}},
	Success: []work.Move{{Role: ClusterRole, On: CreateSucceeded}, {Role: HostedRole, On: CreateSucceeded}},
	Failure: []work.Move{{Role: ClusterRole, On: CreateFailed}, {Role: HostedRole, On: CreateFailed}},
}

// HostedDelete is the job that takes Kubernetes off the workers, and the control plane out of its management cluster.
var HostedDelete = work.Kind{
	Name:  "hosted_cluster_delete",
	Means: "takes Kubernetes off the workers, and the control plane with its data out of the management cluster",
	Steps: []work.Step{
		{Name: ResetWorkersStep, Means: "take Kubernetes off the workers", Within: playsWithin},
		{Name: RemovePlaneStep, Means: "delete the control plane, what Kamaji made for it, and its namespace; wait until they are gone", Within: planeWithin},
	},
	Deadline:  deleteWithin,
	Locks:     []string{ClusterRole},
	Playbooks: []string{ResetPlaybook},
	Plan:      plannedHosted(hostedDeletion),

	Start:   []work.Move{{Role: ClusterRole, On: DeleteRequested}, {Role: HostedRole, On: DeleteRequested}},
	Failure: []work.Move{{Role: ClusterRole, On: DeleteFailed}, {Role: HostedRole, On: DeleteFailed}},
}

// hostedChange is a job that changes a control plane and waits until it is so.
func hostedChange(name, means string, plan *work.Plan, waits ...work.Step) work.Kind {
	return work.Kind{
		Name: name, Means: means,
		Steps:    append([]work.Step{{Name: ApplyStep, Means: "tell the management cluster", Within: apiWithin}}, waits...),
		Deadline: hostedChangeWithin, Locks: []string{ClusterRole}, Plan: plan,
		Start:   []work.Move{{Role: HostedRole, On: HostedChangeRequested}},
		Success: []work.Move{{Role: HostedRole, On: HostedChangeSucceeded}},
		Failure: []work.Move{{Role: HostedRole, On: HostedChangeFailed}},
	}
}

var (
	waitForPlane = work.Step{Name: HostReadyStep, Means: "wait until Kamaji calls the control plane ready", Within: planeWithin}
	waitForAPI   = work.Step{Name: APIStep, Means: "wait until the API server itself answers with its version", Within: apiWithin}

	// HostedUpgrade is the job that brings a control plane to another version. Its workers stay as they are.
	HostedUpgrade = hostedChange("hosted_control_plane_upgrade", "brings a hosted control plane to another version; its workers stay as they are",
		plannedHosted(hostedUpgrading), waitForPlane, waitForAPI)
	// HostedWake is the job that gives a control plane its replicas back.
	HostedWake = hostedChange("hosted_control_plane_wake", "gives a hosted control plane its replicas back", plannedHosted(hostedWaking), waitForPlane, waitForAPI)
	// HostedSleep is the job that takes a control plane's replicas away.
	HostedSleep = sleep()
)

func sleep() work.Kind {
	k := hostedChange("hosted_control_plane_sleep", "takes the replicas of a hosted control plane away; its data stays", plannedHosted(hostedFallingAsleep),
		work.Step{Name: AsleepStep, Means: "wait until no replica is left", Within: planeWithin})
	k.Success = []work.Move{{Role: HostedRole, On: HostedFellAsleep}}
	return k
}

// HostedKinds are all kinds of jobs about hosted control planes.
func HostedKinds() []work.Kind {
	return []work.Kind{HostedCreate, HostedDelete, HostedUpgrade, HostedSleep, HostedWake}
}

// HostedJobs is what jobs know of hosted control planes.
var HostedJobs = work.Noun{
	Name: HostedNoun,
	Move: func(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
		return moveHosted(ctx, tx, id, on, message)
	},
}
