package kube

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/secret"
)

// ClusterState says where a cluster is in its life.
type ClusterState string

// States of a cluster.
const (
	ClusterPending      ClusterState = "pending"
	ClusterCreating     ClusterState = "creating"
	ClusterActive       ClusterState = "active"
	ClusterDegraded     ClusterState = "degraded"
	ClusterChanging     ClusterState = "changing"
	ClusterFailed       ClusterState = "failed"
	ClusterDeleting     ClusterState = "deleting"
	ClusterDeleteFailed ClusterState = "delete_failed"
)

// What happens to a cluster.
const (
	CreateRequested lifecycle.Event = "create_requested"
	CreateSucceeded lifecycle.Event = "create_succeeded"
	CreateFailed    lifecycle.Event = "create_failed"
	HealthLost      lifecycle.Event = "health_lost"
	HealthBack      lifecycle.Event = "health_back"
	ChangeRequested lifecycle.Event = "change_requested"
	ChangeSucceeded lifecycle.Event = "change_succeeded"
	ChangeFailed    lifecycle.Event = "change_failed"
	DeleteRequested lifecycle.Event = "delete_requested"
	DeleteFailed    lifecycle.Event = "delete_failed"
)

// Longest times of jobs. A host takes minutes for its packages, and under emulation a control plane as many to start.
const (
	createWithin = 4 * time.Hour
	deleteWithin = 2 * time.Hour
	changeWithin = 12 * time.Hour
)

// ClusterLifecycle is the life of a cluster. It ends with the removal of its row.
var ClusterLifecycle = lifecycle.Lifecycle[ClusterState]{
	Noun: ClusterNoun, Initial: ClusterPending,
	States: []lifecycle.StateInfo[ClusterState]{
		{State: ClusterPending, Means: "asked for; its job has not begun"},
		{State: ClusterCreating, Means: "a job makes its control plane and joins its nodes", Deadline: createWithin},
		{State: ClusterActive, Means: "its API server answers and all nodes are ready"},
		{State: ClusterDegraded, Means: "its API server does not answer, a node is not ready, or a job that changed it failed; see its conditions", Failed: true},
		{State: ClusterChanging, Means: "a job changes its nodes, its version or its certificates", Deadline: changeWithin},
		{State: ClusterFailed, Means: "it could not be made; read the job, fix the cause, then retry the job or delete the cluster", Failed: true},
		{State: ClusterDeleting, Means: "a job takes Kubernetes off its hosts", Deadline: deleteWithin},
		{State: ClusterDeleteFailed, Means: "a host could not be cleaned; read the job, fix the cause, then delete the cluster again", Failed: true},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[ClusterState]{
		{From: []ClusterState{ClusterPending, ClusterFailed}, On: CreateRequested, To: ClusterCreating},
		{From: []ClusterState{ClusterCreating}, On: CreateSucceeded, To: ClusterActive},
		{From: []ClusterState{ClusterCreating}, On: CreateFailed, To: ClusterFailed},
		{From: []ClusterState{ClusterActive}, On: HealthLost, To: ClusterDegraded},
		{From: []ClusterState{ClusterDegraded}, On: HealthBack, To: ClusterActive},
		{From: []ClusterState{ClusterActive, ClusterDegraded}, On: ChangeRequested, To: ClusterChanging},
		{From: []ClusterState{ClusterChanging}, On: ChangeSucceeded, To: ClusterActive},
		{From: []ClusterState{ClusterChanging}, On: ChangeFailed, To: ClusterDegraded},
		{From: []ClusterState{ClusterActive, ClusterDegraded, ClusterFailed, ClusterDeleteFailed}, On: DeleteRequested, To: ClusterDeleting},
		{From: []ClusterState{ClusterDeleting}, On: DeleteFailed, To: ClusterDeleteFailed},
	}),
}

// Cluster is one row of kube_clusters.
type Cluster struct {
	ID               uuid.UUID    `db:"id"`
	WorkspaceID      uuid.UUID    `db:"workspace_id"`
	Name             string       `db:"name"`
	KubeVersion      string       `db:"kube_version"`
	TargetVersion    string       `db:"target_version"` // that it is being upgraded to; "" outside of an upgrade
	Endpoint         string       `db:"endpoint"`
	PodRange         string       `db:"pod_range"`
	ServiceRange     string       `db:"service_range"`
	State            ClusterState `db:"state"`
	StateMessage     string       `db:"state_message"`
	AdminKeySealed   []byte       `db:"admin_key_sealed"`
	AdminCertificate string       `db:"admin_certificate"` // PEM
	CA               string       `db:"ca"`                // PEM
	Nodes            int64        `db:"nodes"`
	Ready            int64        `db:"ready"`  // of the nodes
	Hosted           bool         `db:"hosted"` // its control plane runs in a management cluster

	OIDCIssuer       string     `db:"oidc_issuer"` // "" for no provider
	OIDCClientID     string     `db:"oidc_client_id"`
	OIDCUsername     string     `db:"oidc_username_claim"`
	OIDCGroups       string     `db:"oidc_groups_claim"`
	BreakGlassBy     string     `db:"break_glass_by"`
	BreakGlassReason string     `db:"break_glass_reason"`
	BreakGlassUntil  *time.Time `db:"break_glass_until"` // nil: nobody ever had a file of an administrator

	MaintenanceWindow json.RawMessage `db:"maintenance_window"` // see Window

	SnapshotHours   int64      `db:"snapshot_hours"` // see Plan
	SnapshotKeep    int64      `db:"snapshot_keep"`
	SnapshotDays    int64      `db:"snapshot_days"`
	SnapshotAskedAt *time.Time `db:"snapshot_asked_at"` // by its policy; nil: never

	Version   int64     `db:"version"`
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// APIPort is where an API server listens if nobody says otherwise.
const APIPort = "6443"

// The ranges of a cluster if nobody says otherwise.
const (
	DefaultPodRange     = "10.244.0.0/16"
	DefaultServiceRange = "10.96.0.0/16"
)

// nodeBits is the length of the prefix of the pods of one node.
const nodeBits = 24

// MaxNodes bounds the hosts of a cluster that is asked for.
const MaxNodes = 50

// ClusterDraft is a cluster as a person asks for it.
type ClusterDraft struct {
	Name         string
	KubeVersion  string   // name or id
	ControlPlane []string // hosts, by name or id
	Workers      []string
	Endpoint     string // host, address, or either with a port; empty for the address of the control plane
	PodRange     string
	ServiceRange string
	OIDC         OIDC
}

var (
	clusterName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)
	dnsName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
)

// check returns the ranges, or a fault.Invalid with all mistakes.
func (d ClusterDraft) check() (pods, services netip.Prefix, err error) {
	var bad fault.Invalid
	if !clusterName.MatchString(d.Name) {
		bad.Add("name", "Use 1 to 40 lower-case letters, digits and -; begin with a letter, and end with a letter or a digit.")
	}
	checkControlPlanes(&bad, len(d.ControlPlane), d.Endpoint)
	if all := slices.Concat(d.ControlPlane, d.Workers); len(all) > MaxNodes {
		bad.Add("workers", "A cluster is made of at most %d hosts.", MaxNodes)
	}
	pods = checkRange(&bad, "pod_range", d.PodRange, 8, nodeBits)
	services = checkRange(&bad, "service_range", d.ServiceRange, 12, 24)
	if pods.IsValid() && services.IsValid() && pods.Overlaps(services) {
		bad.Add("service_range", "%s overlaps the range of the pods.", services)
	}
	if pods.IsValid() && len(d.ControlPlane)+len(d.Workers) > 1<<(nodeBits-pods.Bits()) {
		bad.Add("pod_range", "%s has no /%d for each of the %d hosts.", pods, nodeBits, len(d.ControlPlane)+len(d.Workers))
	}
	if d.Endpoint != "" {
		_, err := ParseEndpoint(d.Endpoint)
		bad.Check("endpoint", err)
	}
	d.OIDC.checked(&bad)
	return pods, services, bad.OrNil()
}

// MaxControlPlanes bounds the members of etcd: more of them make it slower, and no safer.
const MaxControlPlanes = 7

// checkControlPlanes: etcd needs more than half of its members, so that an even number is no safer than one less.
func checkControlPlanes(bad *fault.Invalid, n int, endpoint string) {
	switch {
	case n == 0:
		bad.Add("control_plane", "Name at least one host.")
	case n > MaxControlPlanes || n%2 == 0:
		bad.Add("control_plane", "Name 1, 3, 5 or 7 hosts. An even number survives no more failures than one host less.")
	case n > 1 && endpoint == "":
		bad.Add("endpoint", "Several control planes need a name or an address that leads to all of them.")
	}
}

// checkRange reads a private range of IPv4 whose prefix has a length between two bounds.
func checkRange(bad *fault.Invalid, field, text string, least, most int) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !p.Addr().Is4() || p != p.Masked():
		bad.Add(field, "Use a range of IPv4 such as %s.", DefaultPodRange)
	case p.Bits() < least || p.Bits() > most:
		bad.Add(field, "Use a prefix from /%d to /%d.", least, most)
	case !p.Addr().IsPrivate():
		bad.Add(field, "Use a private range: within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16.")
	default:
		return p
	}
	return netip.Prefix{}
}

// ParseEndpoint adds the port to an endpoint and checks its form.
func ParseEndpoint(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), APIPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("The port must be from 1 to 65535.") //nolint:revive,staticcheck // a sentence for a person
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" || !a.Is4() {
			return "", fmt.Errorf("Use an IPv4 address or a name.") //nolint:revive,staticcheck // a sentence for a person
		}
		return net.JoinHostPort(a.String(), port), nil
	}
	if !dnsName.MatchString(host) || len(host) > 253 {
		return "", fmt.Errorf("Use a name in lower case or an IPv4 address, with a port if it is not %s.", APIPort) //nolint:revive,staticcheck // a sentence for a person
	}
	return net.JoinHostPort(host, port), nil
}

// podRangeOf is the range of the pods of the nth node.
func podRangeOf(pods netip.Prefix, n int) netip.Prefix {
	a := pods.Addr().As4()
	number := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	number += uint32(n) << (32 - nodeBits)
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)}), nodeBits)
}

// CanDelete tells why a cluster cannot be deleted in its state; nil if it can.
func (c Cluster) CanDelete() error {
	_, err := ClusterLifecycle.Next(c.State, DeleteRequested)
	return err
}

// Serves tells whether the cluster is expected to answer.
func (c Cluster) Serves() bool {
	return c.State == ClusterActive || c.State == ClusterDegraded || c.State == ClusterChanging
}

// CanConnect tells why nobody gets a kubeconfig now; nil if people do.
func (c Cluster) CanConnect() error {
	if !c.Serves() {
		return fault.Conflictf("cluster_state", "The cluster is %s: %s.", c.State, ClusterLifecycle.Info(c.State).Means)
	}
	return nil
}

var errHosted = fault.Conflictf("hosted_control_plane", "The control plane of the cluster is hosted. Its nodes stay those that it was made with.")

// CanChange tells why no job can change a cluster now; nil if one can.
func (c Cluster) CanChange() error {
	if c.Hosted {
		return errHosted
	}
	_, err := ClusterLifecycle.Next(c.State, ChangeRequested)
	return err
}

// OpenAdminKey returns the private key (PEM) of our own access to a cluster.
func (c Cluster) OpenAdminKey(keys *secret.Keyset) ([]byte, error) {
	plain, err := keys.Open(c.AdminKeySealed, sealedFor(c.ID))
	if err != nil {
		return nil, fmt.Errorf("open the key of cluster %s: %w", c.ID, err)
	}
	return plain, nil
}

// facts are what an event tells of a cluster: no secrets.
func (c Cluster) facts() map[string]any {
	return map[string]any{
		"name": c.Name, "kubernetes_version": c.KubeVersion, "endpoint": c.Endpoint, "pod_range": c.PodRange, "service_range": c.ServiceRange, "state": c.State,
		"oidc_issuer": c.OIDCIssuer,
	}
}
