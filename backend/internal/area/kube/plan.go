package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/work"
)

// What plans of jobs about clusters name, beside the nouns that have rows.
const (
	planHostKind   = "host"
	planMemberKind = "etcd_member"
	planNameKind   = "dns_record_set"
	planForgets    = "forget" // no step: what the end of a job deletes here
)

// scene is what a plan of a job about a cluster is made from.
type scene struct {
	work.Subject
	Cluster            // zero: the job makes it
	nodes   []Node     // control planes first
	hosts   []planHost // of the job
	changes []work.Change
}

// planned makes the plan of a kind. list adds what the job would do; its basis is what else the plan depends on.
func planned(list func(ctx context.Context, q db.Reader, s *scene) (basis any, err error)) *work.Plan {
	return &work.Plan{
		List: func(ctx context.Context, q db.Reader, subject work.Subject) (work.List, error) {
			s, err := loadScene(ctx, q, subject)
			if err != nil {
				return work.List{}, err
			}
			basis, err := list(ctx, q, &s)
			if err != nil {
				return work.List{}, err
			}
			sum, err := work.Digest(s.basis(), basis, s.changes)
			return work.List{Changes: s.changes, Digest: sum}, err
		},
		Hold: func(ctx context.Context, tx *db.Tx, s work.Subject) error {
			_, err := holdCluster(ctx, tx, s.Object(ClusterRole).ID)
			if errors.Is(err, fault.ErrNotFound) { // the action makes it
				return nil
			}
			return err
		},
	}
}

func loadScene(ctx context.Context, q db.Reader, subject work.Subject) (s scene, err error) {
	s.Subject = subject
	var ids []uuid.UUID
	for _, o := range subject.Objects {
		if o.Role == HostRole {
			ids = append(ids, o.ID)
		}
	}
	if s.hosts, err = planHosts(ctx, q, ids); err != nil {
		return s, err
	}
	s.Cluster, err = ClusterByID(ctx, q, subject.Object(ClusterRole).ID)
	if errors.Is(err, fault.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("load the cluster of a plan: %w", err)
	}
	if s.nodes, err = NodesOf(ctx, q, s.ID); err != nil {
		return s, fmt.Errorf("list the nodes of a plan: %w", err)
	}
	return s, nil
}

// basis is what every plan about a cluster depends on. Versions of rows do not count: a node that is well again is as it was.
func (s *scene) basis() any {
	type node struct {
		ID                uuid.UUID
		Role, KubeVersion string
		State             NodeState
		Phase             UpgradePhase
	}
	nodes := make([]node, len(s.nodes))
	for i, n := range s.nodes {
		nodes[i] = node{n.ID, n.Role, n.HasVersion(), n.State, n.UpgradePhase}
	}
	return []any{s.Cluster.ID, s.Cluster.State, s.Cluster.KubeVersion, s.Cluster.TargetVersion, s.Cluster.Window(), nodes, s.hosts, s.Draft}
}

func (s *scene) add(c ...work.Change) { s.changes = append(s.changes, c...) }

// nodesWithRole are the nodes of a role.
func (s *scene) nodesWithRole(role string) []Node {
	return slices.DeleteFunc(slices.Clone(s.nodes), func(n Node) bool { return n.Role != role })
}

// inWords tells what a node is, in a few words.
func (n Node) inWords() string {
	return strings.Join([]string{strings.ReplaceAll(n.Role, "_", " "), strings.ReplaceAll(string(n.State), "_", " "), n.HasVersion()}, ", ")
}

// cleaned is what taking Kubernetes off the host of a node means.
func (n Node) cleaned() string {
	if n.HostState == HostLost {
		return "its host was declared lost: nothing is done there"
	}
	return "Kubernetes is taken off its host"
}

// deletion lists what goes with a cluster.
func deletion(ctx context.Context, q db.Reader, s *scene) (any, error) {
	s.resets()
	for _, n := range s.nodesWithRole(ControlPlane) {
		s.add(work.Change{Task: ResetStep, Kind: NodeNoun, Name: n.Name, Action: work.Removes, Before: n.inWords(), Note: n.cleaned() + ", with the data of etcd"})
	}
	if err := s.forgetsNames(ctx, q); err != nil {
		return nil, err
	}
	return nil, s.forgets(ctx, q)
}

// resets lists the workers that Kubernetes is taken off.
func (s *scene) resets() {
	for _, n := range s.nodesWithRole(Worker) {
		s.add(work.Change{Task: ResetWorkersStep, Kind: NodeNoun, Name: n.Name, Action: work.Removes, Before: n.inWords(), Note: n.cleaned()})
	}
}

// forgetsNames lists the names of a cluster in zones, which go with it.
func (s *scene) forgetsNames(ctx context.Context, q db.Reader) error {
	names, err := planNames(ctx, q, s.ID)
	if err != nil {
		return err
	}
	for _, n := range names {
		s.add(work.Change{Task: planForgets, Kind: planNameKind, Name: n, Action: work.Removes, Note: "a policy takes it from the name servers as soon as the deletion begins"})
	}
	return nil
}

// forgets lists the rows that go with a cluster.
func (s *scene) forgets(ctx context.Context, q db.Reader) error {
	namespaces, err := NamespacesIn(ctx, q, s.ID)
	if err != nil {
		return fmt.Errorf("list the namespaces of a cluster: %w", err)
	}
	slices.SortFunc(namespaces, func(a, b Namespace) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range namespaces {
		s.add(work.Change{Task: planForgets, Kind: NamespaceNoun, Name: n.Name, Action: work.Removes, Note: "all that is in it goes with the cluster"})
	}
	bindings, err := bindingsOf(ctx, q, s.ID)
	if err != nil {
		return fmt.Errorf("list the bindings of a cluster: %w", err)
	}
	slices.SortFunc(bindings, func(a, b Binding) int { return strings.Compare(a.label(), b.label()) })
	for _, b := range bindings {
		s.add(work.Change{Task: planForgets, Kind: BindingNoun, Name: b.label(), Action: work.Removes})
	}
	snapshots, err := allSnapshotsOf(ctx, q, s.ID)
	if err != nil {
		return fmt.Errorf("list the snapshots of a cluster: %w", err)
	}
	slices.SortFunc(snapshots, func(a, b Snapshot) int { return a.BegunAt.Compare(b.BegunAt) })
	for _, one := range snapshots {
		s.add(work.Change{Task: planForgets, Kind: SnapshotNoun, Name: one.BegunAt.UTC().Format(time.RFC3339), Action: work.Removes, Note: "taken on " + one.Node})
	}
	s.add(work.Change{Task: planForgets, Kind: ClusterNoun, Name: s.Name, Action: work.Removes, Before: s.KubeVersion + " at " + s.Endpoint})
	return nil
}

// label names a binding among those of its cluster.
func (b Binding) label() string {
	if b.Namespace == "" {
		return b.Account + " as " + b.Role
	}
	return b.Account + " as " + b.Role + " in " + b.Namespace
}
