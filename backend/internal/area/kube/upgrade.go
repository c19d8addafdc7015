package kube

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/rollout"
)

// maxLag is by how many minor versions a node may be behind the version that its cluster is upgraded to, before the upgrade. Kubernetes
// allows three; one is kept for the case that an upgrade stands still.
const maxLag = 2

// Workers of a cluster that are upgraded at the same time.
const (
	DefaultParallel = 1
	MaxParallel     = 10
)

// UpgradeDraft is an upgrade as a person asks for it.
type UpgradeDraft struct {
	To       string // name of a version
	Parallel int    // workers at the same time
	Now      bool   // also outside of the maintenance window
}

// UpgradeArgs are the arguments of the job of an upgrade.
type UpgradeArgs struct {
	Parallel int `json:"parallel"`
}

// UpgradePlan is what the job of an upgrade to one version would do.
type UpgradePlan struct {
	To      string
	Nodes   []UpgradeTurn
	Refused error // why nobody can ask for it now; nil if somebody can
}

// UpgradeTurn is when a node has its turn: one wave comes after the other.
type UpgradeTurn struct {
	Node
	From string
	Wave int
	Done bool // it has the version
}

// HasVersion is the version of Kubernetes on a node, as a job brought it.
func (n Node) HasVersion() string { return cmp.Or(n.KubeVersion, n.ClusterVersion) }

// Window is when automatic changes and upgrades of the cluster may begin.
func (c Cluster) Window() rollout.Window {
	var w rollout.Window
	_ = json.Unmarshal(c.MaintenanceWindow, &w) // an intent wrote it; nothing is always
	return w
}

// CanUpgrade tells why no upgrade of a cluster can be asked for now, whatever the version; nil if one can.
func (c Cluster) CanUpgrade() error {
	switch {
	case c.Hosted:
		return fault.Conflictf("hosted_control_plane", "The control plane of the cluster is hosted. Upgrade the hosted control plane.")
	case c.State == ClusterDegraded && c.TargetVersion != "":
		return nil // an upgrade that stands still goes on
	case c.State != ClusterActive:
		return fault.Conflictf("cluster_state", "The cluster is %s: %s. Only an active one is upgraded.", c.State, ClusterLifecycle.Info(c.State).Means)
	}
	return nil
}

// CanGrow tells why no node can be added to a cluster; nil if one can.
func (c Cluster) CanGrow() error {
	if err := c.CanChange(); err != nil {
		return err
	}
	if c.TargetVersion != "" {
		return fault.Conflictf("upgrade_unfinished", "The upgrade to %s is not finished. Retry its job, or ask for it again.", c.TargetVersion)
	}
	return nil
}

// mayUpgradeTo holds a version against the catalog and the one that a cluster has.
func (c Cluster) mayUpgradeTo(from, to Version) error {
	var bad fault.Invalid
	switch {
	case c.TargetVersion != "" && c.TargetVersion != to.Name:
		bad.Add("to", "The upgrade to %s is not finished. It comes first.", c.TargetVersion)
	case c.TargetVersion == to.Name:
	case !to.Active:
		bad.Add("to", "%s is not offered.", to.Name)
	case CompareVersions(to.Name, c.KubeVersion) <= 0:
		bad.Add("to", "The cluster has %s. Kubernetes goes to newer versions only.", c.KubeVersion)
	case !slices.Contains(from.UpgradesTo, to.Name) || minor(to.Name) > minor(from.Name)+1:
		bad.Add("to", "%s may not be upgraded to %s. One minor version at a time, as the catalog says.", c.KubeVersion, to.Name)
	}
	return bad.OrNil()
}

// nodesMayUpgrade tells which node keeps a cluster from its upgrade; nil if none does.
func (c Cluster) nodesMayUpgrade(nodes []Node, to string) error {
	for _, n := range nodes {
		switch {
		case n.HostState == HostLost:
			return fault.Conflictf("cluster_node_state", "The host of %s was declared lost. Remove the node first.", n.Name)
		case n.UpgradeSince != nil: // its upgrade goes on
		case n.State != NodeReady:
			return fault.Conflictf("cluster_node_state", "The node %s is %s: %s. Mend it or remove it first.", n.Name, n.State, NodeLifecycle.Info(n.State).Means)
		case minor(to)-minor(n.HasVersion()) > maxLag:
			return fault.Conflictf("version_skew", "The node %s has %s, too far behind %s. Replace it first.", n.Name, n.HasVersion(), to)
		}
	}
	return nil
}

// windowOpen tells that the maintenance window is closed, and until when; nil if it is open.
func (c Cluster) windowOpen(now time.Time) error {
	if opens := c.Window().Next(now); opens.After(now) {
		return fault.Conflictf("maintenance_window", "The maintenance window opens at %s. Ask for it then, or with now.", opens.UTC().Format(time.RFC3339))
	}
	return nil
}

// InWindow tells whether a change that nobody asked for may begin now.
func (c Cluster) InWindow(now time.Time) bool { return c.windowOpen(now) == nil }

// refuses tells why an upgrade can't be asked for; nil if it can.
func (d UpgradeDraft) refuses(c Cluster, nodes []Node, from, to Version, now time.Time) error {
	if err := c.CanUpgrade(); err != nil {
		return err
	}
	if err := c.mayUpgradeTo(from, to); err != nil {
		return err
	}
	if err := c.nodesMayUpgrade(nodes, to.Name); err != nil || d.Now {
		return err
	}
	return c.windowOpen(now)
}

// check returns a fault.Invalid with all mistakes.
func (d UpgradeDraft) check() error {
	var bad fault.Invalid
	if d.Parallel < 1 || d.Parallel > MaxParallel {
		bad.Add("parallel", "Use 1 to %d workers at the same time.", MaxParallel)
	}
	return bad.OrNil()
}

// turns puts the nodes of a cluster in order: the control planes one by one, then the workers.
func (d UpgradeDraft) turns(nodes []Node) (turns []UpgradeTurn) {
	wave, in := 0, 0
	for _, n := range nodes { // control planes first
		if n.Role == ControlPlane || in == 0 || in == d.Parallel {
			wave, in = wave+1, 0
		}
		if n.Role != ControlPlane {
			in++
		}
		turns = append(turns, UpgradeTurn{Node: n, From: n.HasVersion(), Wave: wave, Done: n.HasVersion() == d.To})
	}
	return turns
}

// UpgradePhase is how far the upgrade of one node is; "" before and after it.
type UpgradePhase string

// Phases of the upgrade of a node.
const (
	PhaseControlPlane UpgradePhase = "control_plane" // its static pods have the new version; only of control planes
	PhaseDraining     UpgradePhase = "draining"      // no new pods, and the others leave
	PhaseRestarted    UpgradePhase = "restarted"     // its kubelet has the new version and starts
)

// UpgradeWithin bounds the upgrade of one node, from its turn until it is ready.
const UpgradeWithin = time.Hour
