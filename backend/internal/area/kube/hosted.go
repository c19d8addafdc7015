package kube

import (
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
)

// HostedNoun is a control plane that runs in a management cluster.
const HostedNoun = "hosted_control_plane"

// HostedState says where a hosted control plane is in its life.
type HostedState string

// States of a hosted control plane.
const (
	HostedPending      HostedState = "pending"
	HostedCreating     HostedState = "creating"
	HostedReady        HostedState = "ready"
	HostedChanging     HostedState = "changing"
	HostedAsleep       HostedState = "asleep"
	HostedDegraded     HostedState = "degraded"
	HostedFailed       HostedState = "failed"
	HostedDeleting     HostedState = "deleting"
	HostedDeleteFailed HostedState = "delete_failed"
)

// What happens to a hosted control plane, beside what happens to its cluster.
const (
	HostedChangeRequested lifecycle.Event = "hosted_change_requested"
	HostedChangeSucceeded lifecycle.Event = "hosted_change_succeeded"
	HostedChangeFailed    lifecycle.Event = "hosted_change_failed"
	HostedFellAsleep      lifecycle.Event = "fell_asleep"
)

const hostedChangeWithin = 2 * time.Hour

// HostedLifecycle is the life of a hosted control plane. It ends with the removal of its row.
var HostedLifecycle = lifecycle.Lifecycle[HostedState]{
	Noun: HostedNoun, Initial: HostedPending,
	States: []lifecycle.StateInfo[HostedState]{
		{State: HostedPending, Means: "asked for; its job has not begun"},
		{State: HostedCreating, Means: "a job makes it in the management cluster", Deadline: createWithin},
		{State: HostedReady, Means: "it runs in the management cluster; its API server answered when it was made or changed"},
		{State: HostedChanging, Means: "a job upgrades it, puts it to sleep or wakes it", Deadline: hostedChangeWithin},
		{State: HostedAsleep, Means: "it has no replicas; what the cluster is told stays in the data store, and pods on the workers go on without it"},
		{State: HostedDegraded, Means: "a job could not change it; read the job, fix the cause, then ask for the change again", Failed: true},
		{State: HostedFailed, Means: "it could not be made; read the job, fix the cause, then retry the job or delete it", Failed: true},
		{State: HostedDeleting, Means: "a job takes it out of the management cluster", Deadline: deleteWithin},
		{State: HostedDeleteFailed, Means: "it could not be taken out of the management cluster; read the job, fix the cause, then delete it again", Failed: true},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[HostedState]{
		{From: []HostedState{HostedPending, HostedFailed}, On: CreateRequested, To: HostedCreating},
		{From: []HostedState{HostedCreating}, On: CreateSucceeded, To: HostedReady},
		{From: []HostedState{HostedCreating}, On: CreateFailed, To: HostedFailed},
		{From: []HostedState{HostedReady, HostedDegraded, HostedAsleep}, On: HostedChangeRequested, To: HostedChanging},
		{From: []HostedState{HostedChanging}, On: HostedChangeSucceeded, To: HostedReady},
		{From: []HostedState{HostedChanging}, On: HostedFellAsleep, To: HostedAsleep},
		{From: []HostedState{HostedChanging}, On: HostedChangeFailed, To: HostedDegraded},
		{From: []HostedState{HostedReady, HostedDegraded, HostedAsleep, HostedFailed, HostedDeleteFailed}, On: DeleteRequested, To: HostedDeleting},
		{From: []HostedState{HostedDeleting}, On: DeleteFailed, To: HostedDeleteFailed},
	}),
}

// Hosted is one row of kube_hosted, with what its cluster and its management cluster are.
type Hosted struct {
	ID               uuid.UUID   `db:"id"`
	WorkspaceID      uuid.UUID   `db:"workspace_id"`
	ClusterID        uuid.UUID   `db:"cluster_id"`
	Cluster          string      `db:"cluster"` // its name, and that of the control plane
	KubeVersion      string      `db:"kube_version"`
	ManagementID     uuid.UUID   `db:"management_cluster_id"`
	Pool             string      `db:"pool"`
	Slot             int64       `db:"slot"`
	Namespace        string      `db:"namespace"`
	Replicas         int64       `db:"replicas"`
	Konnectivity     bool        `db:"konnectivity"`
	CoreDNS          bool        `db:"core_dns"`
	Port             int64       `db:"port"`
	KonnectivityPort int64       `db:"konnectivity_port"`
	TargetVersion    string      `db:"target_version"`
	State            HostedState `db:"state"`
	StateMessage     string      `db:"state_message"`
	Version          int64       `db:"version"`
	CreatedAt        time.Time   `db:"created_at"`
	UpdatedAt        time.Time   `db:"updated_at"`
}

// Bounds of the replicas of a control plane.
const (
	DefaultReplicas = 2
	maxReplicas     = 9
)

// HostedDraft is a cluster with a hosted control plane as a person asks for it.
type HostedDraft struct {
	Name         string
	KubeVersion  string
	Pool         string
	Workers      []string // hosts, by name or id
	PodRange     string
	ServiceRange string
	Replicas     int64
	Konnectivity bool
	CoreDNS      bool
}

// check returns the ranges, or a fault.Invalid with all mistakes.
func (d HostedDraft) check() (pods, services netip.Prefix, err error) {
	var bad fault.Invalid
	if !clusterName.MatchString(d.Name) {
		bad.Add("name", "Use 1 to 40 lower-case letters, digits and -; begin with a letter, and end with a letter or a digit.")
	}
	if len(d.Workers) > MaxNodes {
		bad.Add("workers", "A cluster is made of at most %d hosts.", MaxNodes)
	}
	if d.Replicas < 1 || d.Replicas > maxReplicas {
		bad.Add("replicas", "Use a number from 1 to %d.", maxReplicas)
	}
	pods = checkRange(&bad, "pod_range", d.PodRange, 8, nodeBits)
	services = checkRange(&bad, "service_range", d.ServiceRange, 12, 24)
	if pods.IsValid() && services.IsValid() && pods.Overlaps(services) {
		bad.Add("service_range", "%s overlaps the range of the pods.", services)
	}
	if pods.IsValid() && len(d.Workers) > 1<<(nodeBits-pods.Bits()) {
		bad.Add("pod_range", "%s has no /%d for each of the %d hosts.", pods, nodeBits, len(d.Workers))
	}
	return pods, services, bad.OrNil()
}

// NamespaceOf is the namespace of a cluster's control plane. It is known before anything is made.
func NamespaceOf(cluster uuid.UUID) string { return "kloigos-" + cluster.String() }

// HostedEndpoint is where the API server of a control plane will answer; "" if only its load balancer will tell.
func (m Management) HostedEndpoint(slot int64) string {
	if m.Address == "" {
		return ""
	}
	port, _ := m.Ports(slot)
	return net.JoinHostPort(m.Address, strconv.FormatInt(port, 10))
}

func (h Hosted) can(on lifecycle.Event) error {
	_, err := HostedLifecycle.Next(h.State, on)
	return err
}

// CanUpgrade tells why a control plane can't be upgraded in its state; nil if it can.
func (h Hosted) CanUpgrade() error {
	if h.State == HostedAsleep {
		return fault.Conflictf("hosted_control_plane_asleep", "The control plane sleeps. Wake it first.")
	}
	return h.can(HostedChangeRequested)
}

// CanSleep tells why a control plane can't be put to sleep in its state; nil if it can.
func (h Hosted) CanSleep() error {
	if h.State == HostedAsleep {
		return fault.Conflictf("hosted_control_plane_asleep", "The control plane sleeps already.")
	}
	return h.can(HostedChangeRequested)
}

// CanWake tells why a control plane can't be woken in its state; nil if it can.
func (h Hosted) CanWake() error {
	if h.State == HostedReady {
		return fault.Conflictf("hosted_control_plane_awake", "The control plane is awake.")
	}
	return h.can(HostedChangeRequested)
}

// CanDelete tells why a control plane can't be deleted in its state; nil if it can.
func (h Hosted) CanDelete() error { return h.can(DeleteRequested) }

// At rest, or on its way: nobody expects the API server of such a control plane to answer.
func (h Hosted) Quiet() bool { return h.State != HostedReady && h.State != HostedDegraded }

// facts are what an event tells of a hosted control plane.
func (h Hosted) facts() map[string]any {
	return map[string]any{
		"cluster": h.Cluster, "kubernetes_version": h.KubeVersion, "pool": h.Pool, "management_cluster": h.ManagementID, "namespace": h.Namespace,
		"replicas": h.Replicas, "konnectivity": h.Konnectivity, "core_dns": h.CoreDNS, "state": h.State,
	}
}
