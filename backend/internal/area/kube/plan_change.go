package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/work"
)

// comer is a host that becomes a node.
type comer struct {
	Host uuid.UUID `json:"host"`
	Name string    `json:"name"`
	Role string    `json:"role"`
}

// nodesPlan is what plans list by that change the nodes of a cluster.
type nodesPlan struct {
	Comes  []comer   `json:"comes,omitempty"`
	Leaves uuid.UUID `json:"leaves,omitzero"` // a node
	// Of a cluster that is not there yet.
	Name         string `json:"name,omitempty"`
	Version      string `json:"version,omitempty"`
	Endpoint     string `json:"endpoint,omitempty"`
	PodRange     string `json:"pod_range,omitempty"`
	ServiceRange string `json:"service_range,omitempty"`
}

func comers(nodes []Node) (all []comer) {
	for _, n := range nodes {
		all = append(all, comer{n.HostID, n.Name, n.Role})
	}
	return all
}

func withRole(all []comer, role string) []comer {
	return slices.DeleteFunc(slices.Clone(all), func(c comer) bool { return c.Role != role })
}

// creation lists what makes a cluster.
func creation(_ context.Context, _ db.Reader, s *scene) (any, error) {
	var of nodesPlan
	if err := s.Read(&of); err != nil {
		return nil, err
	}
	s.prepares(of.Comes, of.Version)
	planes := withRole(of.Comes, ControlPlane)
	s.add(
		work.Change{Task: ControlPlaneStep, Kind: ClusterNoun, Name: of.Name, Action: work.Creates, After: of.Version + " at " + of.Endpoint, Note: "pods in " + of.PodRange + ", services in " + of.ServiceRange},
		work.Change{Task: ControlPlaneStep, Kind: NodeNoun, Name: planes[0].Name, Action: work.Creates, After: "control plane, " + of.Version, Note: "the first member of etcd"},
	)
	s.joins(planes[1:], of.Version, 1)
	s.joinWorkers(of.Comes, of.Version)
	if len(of.Comes) > 1 {
		for _, c := range of.Comes {
			s.routed(c.Name)
		}
	}
	return nil, nil
}

// growth lists what joins hosts to a cluster.
func growth(_ context.Context, _ db.Reader, s *scene) (any, error) {
	var of nodesPlan
	if err := s.Read(&of); err != nil {
		return nil, err
	}
	s.arrivals(of.Comes)
	s.routes(of, uuid.Nil)
	return nil, nil
}

func (s *scene) arrivals(comes []comer) {
	s.prepares(comes, s.KubeVersion)
	s.joins(withRole(comes, ControlPlane), s.KubeVersion, len(s.members()))
	s.joinWorkers(comes, s.KubeVersion)
}

// shrinking lists what takes a node out of a cluster, or puts another host in its place first.
func shrinking(_ context.Context, _ db.Reader, s *scene) (any, error) {
	var of nodesPlan
	if err := s.Read(&of); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.nodes, func(n Node) bool { return n.ID == of.Leaves })
	if at < 0 {
		return nil, fault.ErrNotFound
	}
	s.arrivals(of.Comes)
	n := s.nodes[at]
	if n.HostState == HostLost {
		s.add(work.Change{Task: DrainStep, Kind: NodeNoun, Name: n.Name, Action: work.Changes, Before: n.inWords(), Note: "its host was declared lost: nothing runs there"})
	} else {
		s.add(work.Change{Task: DrainStep, Kind: NodeNoun, Name: n.Name, Action: work.Changes, Before: n.inWords(), Note: "takes no new pods, and its pods are evicted as far as their disruption budgets allow"})
	}
	if members := s.members(); slices.Contains(names(members), n.Name) {
		left := len(members) - 1 + len(withRole(of.Comes, ControlPlane))
		s.add(work.Change{Task: RemoveStep, Kind: planMemberKind, Name: n.Name, Action: work.Removes, Note: quorum(left)})
	}
	s.add(
		work.Change{Task: RemoveStep, Kind: NodeNoun, Name: n.Name, Action: work.Removes, Before: n.inWords()},
		work.Change{Task: ResetHostStep, Kind: planHostKind, Name: n.Name, Action: work.Changes, Note: n.cleaned()},
	)
	s.routes(of, n.ID)
	return nil, nil
}

// members are the control planes that are members of etcd.
func (s *scene) members() []Node {
	return slices.DeleteFunc(s.nodesWithRole(ControlPlane), func(n Node) bool { return n.State == NodePending || n.State == NodePrepared || n.State == NodeLeft })
}

// quorum says how many members etcd has then, and how many of them have to be well.
func quorum(members int) string {
	return fmt.Sprintf("etcd has %d then, of which %d have to be well", members, members/2+1)
}

func (s *scene) prepares(comes []comer, version string) {
	for _, c := range comes {
		s.add(work.Change{Task: PrepareStep, Kind: planHostKind, Name: c.Name, Action: work.Changes, Note: "container runtime, programs and images of " + version + " are installed"})
	}
}

// joins lists control planes that join etcd, which has some members by then.
func (s *scene) joins(planes []comer, version string, members int) {
	for i, c := range planes {
		s.add(
			work.Change{Task: MembersStep, Kind: planMemberKind, Name: c.Name, Action: work.Creates, Note: quorum(members + i + 1)},
			work.Change{Task: MembersStep, Kind: NodeNoun, Name: c.Name, Action: work.Creates, After: "control plane, " + version},
		)
	}
}

func (s *scene) joinWorkers(comes []comer, version string) {
	for _, c := range withRole(comes, Worker) {
		s.add(work.Change{Task: WorkersStep, Kind: NodeNoun, Name: c.Name, Action: work.Creates, After: "worker, " + version})
	}
}

// routes lists the hosts whose routes to the pods of others change.
func (s *scene) routes(of nodesPlan, without uuid.UUID) {
	for _, n := range s.nodes {
		if n.ID != without && n.InCluster() && n.HostState != HostLost {
			s.routed(n.Name)
		}
	}
	for _, c := range of.Comes {
		s.routed(c.Name)
	}
}

func (s *scene) routed(name string) {
	s.add(work.Change{Task: RoutesStep, Kind: planHostKind, Name: name, Action: work.Changes, Note: "its routes lead to the pods of these nodes"})
}

// upgradePlan is what the plan of an upgrade lists by.
type upgradePlan struct {
	To       string `json:"to"`
	Parallel int    `json:"parallel"`
}

// upgrading lists the turns of the nodes.
func upgrading(_ context.Context, _ db.Reader, s *scene) (any, error) {
	var of upgradePlan
	if err := s.Read(&of); err != nil {
		return nil, err
	}
	turns := UpgradeDraft{To: of.To, Parallel: of.Parallel}.turns(s.nodes)
	for _, t := range turns {
		if !t.Done {
			s.add(work.Change{Task: BringStep, Kind: planHostKind, Name: t.Name, Action: work.Changes, Note: "programs and images of " + of.To + " are brought; nothing runs them yet"})
		}
	}
	for _, t := range turns {
		task, note := UpgradeWorkersStep, fmt.Sprintf("wave %d, drained", t.Wave)
		if t.Role == ControlPlane {
			task = UpgradePlanesStep
		}
		switch {
		case t.Done:
			note = "it has the version already"
		case len(s.nodes) == 1:
			note = fmt.Sprintf("wave %d; the only node keeps its pods, and is not drained", t.Wave)
		}
		s.add(work.Change{Task: task, Kind: NodeNoun, Name: t.Name, Action: work.Changes, Before: t.From, After: of.To, Note: note})
	}
	s.add(work.Change{Task: UpgradeFinishedStep, Kind: ClusterNoun, Name: s.Name, Action: work.Changes, Before: s.KubeVersion, After: of.To})
	return nil, nil
}

// renewal lists the control planes whose certificates are renewed.
func renewal(_ context.Context, _ db.Reader, s *scene) (any, error) {
	for _, n := range s.nodesWithRole(ControlPlane) {
		c := work.Change{Task: RenewStep, Kind: NodeNoun, Name: n.Name, Action: work.Changes, Note: "certificates that end within 300 days are renewed, and its static pods restart"}
		if n.CertificatesEnd != nil {
			c.Before = "the first ends at " + n.CertificatesEnd.UTC().Format(time.RFC3339)
		}
		s.add(c)
	}
	return nil, nil
}

// restoring lists what a restore stops, and what differs between the snapshot and the rows.
func restoring(ctx context.Context, q db.Reader, s *scene) (any, error) {
	var of RestoreArgs
	if err := s.Read(&of); err != nil {
		return nil, err
	}
	from, err := SnapshotByID(ctx, q, of.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("load the snapshot of a plan: %w", err)
	}
	taken := from.BegunAt.UTC().Format(time.RFC3339)
	var gone []Node
	for _, n := range s.nodesWithRole(ControlPlane) {
		if slices.Contains(of.Without, n.ID) {
			gone = append(gone, n)
			continue
		}
		s.add(work.Change{Task: ExchangeStep, Kind: planMemberKind, Name: n.Name, Action: work.Changes, Before: "now", After: taken, Note: "etcd, the API server and all other static pods stop meanwhile"})
	}
	if err := s.keptBindings(ctx, q, from); err != nil {
		return nil, err
	}
	for _, n := range gone {
		s.add(work.Change{Task: RemoveLostStep, Kind: NodeNoun, Name: n.Name, Action: work.Removes, Before: n.inWords(), Note: "it is given up"})
	}
	for _, n := range s.nodes {
		note := "its kubelet restarts"
		if n.CreatedAt.After(from.BegunAt) {
			note += "; it joined after the snapshot, and registers again"
		}
		if !slices.Contains(of.Without, n.ID) {
			s.add(work.Change{Task: RestartNodesStep, Kind: NodeNoun, Name: n.Name, Action: work.Changes, Note: note})
		}
	}
	return []any{from.SHA256}, s.keptNamespaces(ctx, q, from)
}

// keptNamespaces lists the namespaces that a cluster gets back by rows that are newer than a snapshot.
func (s *scene) keptNamespaces(ctx context.Context, q db.Reader, from Snapshot) error {
	namespaces, err := NamespacesIn(ctx, q, s.ID)
	if err != nil {
		return fmt.Errorf("list the namespaces of a cluster: %w", err)
	}
	slices.SortFunc(namespaces, func(a, b Namespace) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range namespaces {
		if n.CreatedAt.After(from.BegunAt) {
			s.add(work.Change{Task: NodesBackStep, Kind: NamespaceNoun, Name: n.Name, Action: work.Changes, Note: "made after the snapshot: its policy makes it again, without what was in it"})
		}
	}
	return nil
}

// keptBindings lists the bindings that a cluster gets back by rows that are newer than a snapshot.
func (s *scene) keptBindings(ctx context.Context, q db.Reader, from Snapshot) error {
	bindings, err := bindingsOf(ctx, q, s.ID)
	if err != nil {
		return fmt.Errorf("list the bindings of a cluster: %w", err)
	}
	slices.SortFunc(bindings, func(a, b Binding) int { return strings.Compare(a.label(), b.label()) })
	for _, b := range bindings {
		if b.CreatedAt.After(from.BegunAt) {
			s.add(work.Change{Task: APIStep, Kind: BindingNoun, Name: b.label(), Action: work.Changes, Note: "made after the snapshot: it is kept, as its row says"})
		}
	}
	return nil
}
