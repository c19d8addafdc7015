package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

func (h Hosted) entry(action string, before, after map[string]any) audit.Entry {
	return audit.Entry{
		Workspace: h.WorkspaceID, Action: HostedNoun + "." + action, ObjectKind: HostedNoun, ObjectID: h.ID, ObjectName: h.Cluster, Before: before, After: after,
	}
}

// job is a job about a hosted control plane, its cluster and the hosts of nodes.
func (h Hosted) job(kind string, nodes []Node) work.New {
	n := work.New{Kind: kind, Objects: []work.Object{
		{Role: ClusterRole, Noun: ClusterNoun, ID: h.ClusterID, Name: h.Cluster}, {Role: HostedRole, Noun: HostedNoun, ID: h.ID, Name: h.Cluster},
	}}
	for _, node := range nodes {
		n.Objects = append(n.Objects, work.Object{Role: HostRole, Noun: hostNoun, ID: node.HostID, Name: node.Name})
	}
	return n
}

// CreateHosted makes the cluster of the workspace of the call, with its control plane in a management cluster of a pool, and asks
// for the job that carries it out. All names that the job uses are in rows before it begins.
func CreateHosted(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, kinds *work.Registry, draft HostedDraft) (hosted, job uuid.UUID, err error) {
	pods, services, err := draft.check()
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	in, err := keepWorkspace(ctx, tx.Tx, tx.Call().Workspace)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	if in.Type != workspaceType {
		return uuid.Nil, uuid.Nil, fault.Conflictf("workspace_type", "The workspace %s is of type %s. A cluster needs a workspace of type %s.", in.Name, in.Type, workspaceType)
	}
	nodes, err := chosen(ctx, tx, ClusterDraft{Name: draft.Name, KubeVersion: draft.KubeVersion, Workers: draft.Workers}, true)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	m, slot, err := place(ctx, tx.Tx, draft.Pool, draft.KubeVersion)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	c := Cluster{
		ID: uuid.New(), WorkspaceID: tx.Call().Workspace, Name: draft.Name, KubeVersion: draft.KubeVersion, Endpoint: m.HostedEndpoint(slot),
		PodRange: pods.String(), ServiceRange: services.String(), State: ClusterLifecycle.Initial,
	}
	if c.AdminKeySealed, err = newKey(keys, c.ID); err != nil { // until the cluster has one of its own
		return uuid.Nil, uuid.Nil, err
	}
	if err := insert(ctx, tx, c, nodes, pods); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	h := Hosted{
		ID: uuid.New(), WorkspaceID: c.WorkspaceID, ClusterID: c.ID, Cluster: c.Name, KubeVersion: c.KubeVersion, ManagementID: m.ID, Pool: m.Pool, Slot: slot,
		Namespace: NamespaceOf(c.ID), Replicas: draft.Replicas, Konnectivity: draft.Konnectivity, CoreDNS: draft.CoreDNS, State: HostedLifecycle.Initial,
	}
	if h.Port, h.KonnectivityPort = m.Ports(slot); h.Port == 0 {
		return uuid.Nil, uuid.Nil, errors.New("the control plane got no port")
	}
	if err := insertHosted(ctx, tx, h); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	facts := h.facts()
	facts["hosts"] = names(nodes)
	wanted := h.job(HostedCreate.Name, nodes)
	wanted.Draft = hostedPlan{
		nodesPlan: nodesPlan{Comes: comers(nodes), Name: c.Name, Version: c.KubeVersion, PodRange: c.PodRange, ServiceRange: c.ServiceRange},
		Pool:      h.Pool, Replicas: h.Replicas, Konnectivity: h.Konnectivity, CoreDNS: h.CoreDNS,
	}
	job, err = kinds.Ask(ctx, tx, wanted, h.entry("create", nil, facts))
	return h.ID, job, err
}

func insertHosted(ctx context.Context, tx *intent.Tx, h Hosted) error {
	if _, err := tx.Exec(ctx, sqlInsertHosted, h.ID, h.WorkspaceID, h.ClusterID, h.ManagementID, h.Slot, h.Namespace, h.Replicas, h.Konnectivity, h.CoreDNS,
		h.Port, h.KonnectivityPort, h.State); err != nil {
		return fmt.Errorf("insert a hosted control plane: %w", err)
	}
	tx.Touch(HostedNoun, h.ID)
	return nil
}

// place chooses a management cluster of a pool: active, not known to be ill, new enough, with a free slot; the one with the most
// room first. Its row is held until the transaction ends, so that nobody else takes the slot.
func place(ctx context.Context, tx *db.Tx, pool, version string) (Management, int64, error) {
	all, err := managementsOf(ctx, tx.Reader, pool)
	if err != nil {
		return Management{}, 0, fmt.Errorf("look for a management cluster: %w", err)
	}
	var bad fault.Invalid
	reasons := map[string]bool{}
	for _, m := range all {
		if m, err = holdManagement(ctx, tx, m.ID); errors.Is(err, fault.ErrNotFound) {
			continue
		} else if err != nil {
			return Management{}, 0, fmt.Errorf("hold a management cluster: %w", err)
		}
		if why := m.refuses(version); why != "" {
			reasons[why] = true
			continue
		}
		slot, err := freeSlot(ctx, tx, m)
		if errors.Is(err, fault.ErrNotFound) {
			reasons["one has no room left"] = true
			continue
		}
		return m, slot, err
	}
	if len(all) == 0 {
		bad.Add("pool", "The installation has no management cluster in the pool %s.", pool)
		return Management{}, 0, bad.OrNil()
	}
	why := make([]string, 0, len(reasons))
	for reason := range reasons {
		why = append(why, reason)
	}
	slices.Sort(why)
	return Management{}, 0, fault.Conflictf("no_management_cluster", "No management cluster of the pool %s takes a control plane of %s now: %s.", pool, version, strings.Join(why, ", "))
}

// refuses says why a management cluster takes no control plane of a version now; "" if it does. It names no management cluster:
// that is the operator's business.
func (m Management) refuses(version string) string {
	switch {
	case !m.Active:
		return "one is not active"
	case m.Takes(version) != nil: // first what waiting does not mend
		return "one has a Kamaji that takes nothing newer than " + m.NewestVersion
	case m.Healthy != nil && !*m.Healthy:
		return "one is not healthy"
	}
	return ""
}

// UpgradeHosted asks for the job that brings a control plane to a version that the catalog allows. Workers stay as they are: a
// kubelet may be older than its API server, and never newer.
func UpgradeHosted(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Hosted], to string) (job uuid.UUID, err error) {
	h, err := holdHosted(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	if err := h.CanUpgrade(); err != nil {
		return uuid.Nil, err
	}
	if err := mayUpgrade(ctx, tx.Tx, h, to); err != nil {
		return uuid.Nil, err
	}
	return askHosted(ctx, tx, kinds, h, HostedUpgrade.Name, to, "upgrade")
}

// mayUpgrade holds a version against the catalog, the management cluster and the version that is there. The one that is there may
// be asked for again: that mends an upgrade that failed.
func mayUpgrade(ctx context.Context, tx *db.Tx, h Hosted, to string) error {
	var bad fault.Invalid
	into, err := keepVersion(ctx, tx, to)
	if errors.Is(err, fault.ErrNotFound) {
		bad.Add("kubernetes_version", "The catalog has no such version.")
		return bad.OrNil()
	}
	if err != nil {
		return fmt.Errorf("look for a version of Kubernetes: %w", err)
	}
	now, err := FindVersion(ctx, tx.Reader, h.KubeVersion)
	if err != nil {
		return fmt.Errorf("look for the version of the cluster: %w", err)
	}
	m, err := ManagementByID(ctx, tx.Reader, h.ManagementID)
	if err != nil {
		return fmt.Errorf("look for the management cluster: %w", err)
	}
	again := to == h.KubeVersion && h.State == HostedDegraded
	switch {
	case again:
	case !into.Active:
		bad.Add("kubernetes_version", "%s is not offered.", to)
	case CompareVersions(to, h.KubeVersion) <= 0:
		bad.Add("kubernetes_version", "The control plane has %s. Kubernetes goes to newer versions only.", h.KubeVersion)
	case !slices.Contains(now.UpgradesTo, to):
		bad.Add("kubernetes_version", "%s may not be upgraded to %s. One minor version at a time, as the catalog says.", h.KubeVersion, to)
	}
	if err := m.Takes(to); err != nil {
		bad.Add("kubernetes_version", "The newest version that Kamaji takes there is %s.", m.NewestVersion)
	}
	return bad.OrNil()
}

// SleepHosted asks for the job that takes a control plane's replicas away.
func SleepHosted(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Hosted]) (job uuid.UUID, err error) {
	h, err := holdHosted(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	if err := h.CanSleep(); err != nil {
		return uuid.Nil, err
	}
	return askHosted(ctx, tx, kinds, h, HostedSleep.Name, "", "sleep")
}

// WakeHosted asks for the job that gives a control plane its replicas back.
func WakeHosted(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Hosted]) (job uuid.UUID, err error) {
	h, err := holdHosted(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	if err := h.CanWake(); err != nil {
		return uuid.Nil, err
	}
	return askHosted(ctx, tx, kinds, h, HostedWake.Name, "", "wake")
}

func askHosted(ctx context.Context, tx *intent.Tx, kinds *work.Registry, h Hosted, kind, target, action string) (uuid.UUID, error) {
	c, err := ClusterByID(ctx, tx.Reader, h.ClusterID)
	if err != nil {
		return uuid.Nil, err
	}
	if err := c.CanConnect(); err != nil { // its own job changes it
		return uuid.Nil, err
	}
	if err := setTarget(ctx, tx.Tx, h.ID, target); err != nil {
		return uuid.Nil, err
	}
	after := h.facts()
	if target != "" {
		after["kubernetes_version"] = target
	}
	wanted := h.job(kind, nil)
	wanted.Draft = upgradePlan{To: target}
	return kinds.Ask(ctx, tx, wanted, h.entry(action, h.facts(), after))
}

func setTarget(ctx context.Context, tx *db.Tx, hosted uuid.UUID, version string) error {
	tx.Touch(HostedNoun, hosted)
	if _, err := tx.Exec(ctx, sqlSetTarget, hosted, version); err != nil {
		return fmt.Errorf("note the version of an upgrade: %w", err)
	}
	return nil
}

// SetUpgraded notes that a control plane has the version that it was upgraded to.
func SetUpgraded(ctx context.Context, tx *db.Tx, h Hosted) error {
	if h.TargetVersion == "" {
		return nil
	}
	tx.Touch(ClusterNoun, h.ClusterID)
	if _, err := tx.Exec(ctx, sqlSetKubeVersion, h.ClusterID, h.TargetVersion); err != nil {
		return fmt.Errorf("note the version of a cluster: %w", err)
	}
	return setTarget(ctx, tx, h.ID, "")
}

// DeleteHosted asks for the job that takes a cluster with a hosted control plane away. confirm repeats its name.
func DeleteHosted(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Hosted], version int64, confirm string) (job uuid.UUID, err error) {
	h, err := holdHosted(ctx, tx.Tx, ref.ID())
	if err != nil {
		return uuid.Nil, err
	}
	c, err := holdCluster(ctx, tx.Tx, h.ClusterID)
	if err != nil {
		return uuid.Nil, err
	}
	if err := errors.Join(fault.CheckVersion("hosted control plane", h.Version, version), h.CanDelete(), c.CanDelete()); err != nil {
		return uuid.Nil, err
	}
	if confirm != c.Name {
		var bad fault.Invalid
		bad.Add("confirm", "Type the name of the cluster, %s.", c.Name)
		return uuid.Nil, bad.OrNil()
	}
	nodes, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return uuid.Nil, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	return kinds.Ask(ctx, tx, h.job(HostedDelete.Name, nodes), h.entry("delete", h.facts(), nil))
}

// moveHosted moves a hosted control plane on an event. message says why, where the event is a failure.
func moveHosted(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
	h, err := holdHosted(ctx, tx, id)
	if err != nil {
		return err
	}
	state, err := HostedLifecycle.Next(h.State, on)
	if err != nil {
		return err
	}
	tx.Touch(HostedNoun, id)
	tx.Touch(ClusterNoun, h.ClusterID)
	if err := tx.One(ctx, movedMeanwhile(HostedNoun), sqlMoveHosted, id, h.State, state, message); err != nil {
		return fmt.Errorf("move a hosted control plane: %w", err)
	}
	return nil
}

// Access is what our own access to a cluster with a hosted control plane needs.
type Access struct {
	Endpoint    string
	CA          string // PEM
	Certificate string // PEM
	Key         []byte // PEM
}

// SetHostedAccess keeps our own access to a cluster, its key sealed.
func SetHostedAccess(ctx context.Context, tx *db.Tx, keys *secret.Keyset, cluster uuid.UUID, a Access) error {
	sealed, err := keys.Seal(a.Key, sealedFor(cluster))
	if err != nil {
		return fmt.Errorf("seal the key of a cluster: %w", err)
	}
	tx.Touch(ClusterNoun, cluster)
	if err := tx.One(ctx, fault.ErrNotFound, sqlSetHostedAccess, cluster, a.Endpoint, a.CA, a.Certificate, sealed); err != nil {
		return fmt.Errorf("keep the access to a cluster: %w", err)
	}
	return nil
}

// ForgetHosted removes a cluster whose control plane is gone from its management cluster, and whose hosts are clean.
func ForgetHosted(ctx context.Context, tx *db.Tx, h Hosted) error {
	tx.Touch(HostedNoun, h.ID)
	tx.Touch(ManagementNoun, h.ManagementID)
	if err := tx.One(ctx, movedMeanwhile(HostedNoun), sqlDeleteHosted, h.ID); err != nil {
		return fmt.Errorf("forget a hosted control plane: %w", err)
	}
	return Forget(ctx, tx, h.ClusterID)
}
