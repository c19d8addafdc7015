package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
)

// NodesDraft is hosts as a person asks to have them in a cluster.
type NodesDraft struct {
	ControlPlane []string // hosts, by name or id
	Workers      []string
}

// AskAddNodes asks for the job that joins more hosts to a cluster.
func AskAddNodes(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Cluster], draft NodesDraft) (job uuid.UUID, err error) {
	c, present, err := changeable(ctx, tx, ref)
	if err != nil {
		return uuid.Nil, err
	}
	if err := c.CanGrow(); err != nil {
		return uuid.Nil, err
	}
	added, err := addNodes(ctx, tx, c, present, draft)
	if err != nil {
		return uuid.Nil, err
	}
	wanted := c.job(ClusterAddNodes.Name, slices.Concat(added, present))
	wanted.Draft = nodesPlan{Comes: comers(added)}
	return kinds.Ask(ctx, tx, wanted, c.entry("add_nodes", nil, map[string]any{"hosts": names(added)}))
}

// AskRemoveNode asks for the job that takes a node out of its cluster. confirm repeats its name.
func AskRemoveNode(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Node], confirm string) (job uuid.UUID, err error) {
	c, n, present, err := leaving(ctx, tx, ref, confirm)
	if err != nil {
		return uuid.Nil, err
	}
	wanted := c.job(ClusterRemoveNode.Name, present)
	wanted.Draft = nodesPlan{Leaves: n.ID}
	return kinds.Ask(ctx, tx, wanted, c.entry("remove_node", map[string]any{"node": n.Name, "role": n.Role}, nil))
}

// AskReplaceNode asks for the job that joins another host in the role of a node, and then takes the node out.
func AskReplaceNode(ctx context.Context, tx *intent.Tx, kinds *work.Registry, ref scope.Ref[Node], host, confirm string) (job uuid.UUID, err error) {
	c, n, present, err := leaving(ctx, tx, ref, confirm)
	if err != nil {
		return uuid.Nil, err
	}
	if err := c.CanGrow(); err != nil {
		return uuid.Nil, err
	}
	draft := NodesDraft{Workers: []string{host}}
	if n.Role == ControlPlane {
		draft = NodesDraft{ControlPlane: []string{host}}
	}
	added, err := addNodes(ctx, tx, c, present, draft)
	if err != nil {
		var bad *fault.Invalid
		if errors.As(err, &bad) {
			for i := range bad.Fields {
				bad.Fields[i].Field = "host"
			}
		}
		return uuid.Nil, err
	}
	told := c.entry("replace_node", map[string]any{"node": n.Name, "role": n.Role}, map[string]any{"node": added[0].Name})
	wanted := c.job(ClusterReplaceNode.Name, slices.Concat(added, present))
	wanted.Draft = nodesPlan{Comes: comers(added), Leaves: n.ID}
	return kinds.Ask(ctx, tx, wanted, told)
}

// changeable is a cluster that a job can change, with its nodes, held until the transaction ends.
func changeable(ctx context.Context, tx *intent.Tx, ref scope.Ref[Cluster]) (Cluster, []Node, error) {
	c, err := holdCluster(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Cluster{}, nil, err
	}
	if err := c.CanChange(); err != nil {
		return Cluster{}, nil, err
	}
	nodes, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return Cluster{}, nil, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	return c, nodes, nil
}

// addNodes inserts the nodes that a draft asks for.
func addNodes(ctx context.Context, tx *intent.Tx, c Cluster, present []Node, draft NodesDraft) ([]Node, error) {
	var bad fault.Invalid
	if len(draft.ControlPlane)+len(draft.Workers) == 0 {
		bad.Add("workers", "Name at least one host.")
	}
	if len(present)+len(draft.ControlPlane)+len(draft.Workers) > MaxNodes {
		bad.Add("workers", "A cluster is made of at most %d hosts.", MaxNodes)
	}
	checkMoreControlPlanes(&bad, c, present, len(draft.ControlPlane))
	if err := bad.OrNil(); err != nil {
		return nil, err
	}
	added, err := chosen(ctx, tx, ClusterDraft{KubeVersion: c.KubeVersion, ControlPlane: draft.ControlPlane, Workers: draft.Workers}, false)
	if err != nil {
		return nil, err
	}
	pods, err := netip.ParsePrefix(c.PodRange)
	if err != nil {
		return nil, fmt.Errorf("read the range of pods of cluster %s: %w", c.ID, err)
	}
	free := freeRanges(pods, present)
	for _, n := range added {
		if len(free) == 0 {
			bad.Add("workers", "%s has no free /%d for %s.", pods, nodeBits, n.Name)
			return nil, bad.OrNil()
		}
		inUse := fault.Conflictf("host_in_use", "The host %s is a node of another cluster.", n.Name)
		if err := tx.One(ctx, inUse, sqlInsertNode, n.ID, c.WorkspaceID, c.ID, n.HostID, n.Name, n.Role, free[0].String(), NodeLifecycle.Initial); err != nil {
			return nil, fmt.Errorf("insert a node: %w", err)
		}
		free = free[1:]
		tx.Touch(NodeNoun, n.ID)
	}
	return added, nil
}

// checkMoreControlPlanes: an endpoint that is the address of one control plane does not lead to others.
func checkMoreControlPlanes(bad *fault.Invalid, c Cluster, present []Node, more int) {
	if more == 0 {
		return
	}
	n := more
	for _, one := range present {
		if one.Role != ControlPlane {
			continue
		}
		n++
		if host, _, _ := strings.Cut(c.Endpoint, ":"); host == one.Address {
			bad.Add("control_plane", "The endpoint %s is the address of %s alone. Only a cluster with a load-balanced name or a virtual address can have more control planes.", c.Endpoint, one.Name)
		}
	}
	if n > MaxControlPlanes {
		bad.Add("control_plane", "A cluster has at most %d control planes.", MaxControlPlanes)
	}
}

// freeRanges are the ranges of pods that no node has, as many as a cluster can need.
func freeRanges(pods netip.Prefix, present []Node) (free []netip.Prefix) {
	for i := range min(1<<(nodeBits-pods.Bits()), 2*MaxNodes) {
		one := podRangeOf(pods, i)
		taken := false
		for _, n := range present {
			taken = taken || n.PodRange == one.String()
		}
		if !taken {
			free = append(free, one)
		}
	}
	return free
}

// leaving marks a node as one that a job takes out of its cluster. It also returns all nodes of the cluster: a job gives back only
// hosts that are among its objects.
func leaving(ctx context.Context, tx *intent.Tx, ref scope.Ref[Node], confirm string) (Cluster, Node, []Node, error) {
	n, err := NodeByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return Cluster{}, Node{}, nil, err
	}
	c, err := holdCluster(ctx, tx.Tx, n.ClusterID)
	if err != nil {
		return Cluster{}, Node{}, nil, err
	}
	if err := c.CanChange(); err != nil {
		return Cluster{}, Node{}, nil, err
	}
	if confirm != n.Name {
		var bad fault.Invalid
		bad.Add("confirm", "Type the name of the node, %s.", n.Name)
		return Cluster{}, Node{}, nil, bad.OrNil()
	}
	others, err := NodesOf(ctx, tx.Reader, c.ID)
	if err != nil {
		return Cluster{}, Node{}, nil, fmt.Errorf("list the nodes of a cluster: %w", err)
	}
	if err := n.CanLeave(others); err != nil {
		return Cluster{}, Node{}, nil, err
	}
	return c, n, others, MoveNode(ctx, tx.Tx, n.ID, NodeIsLeaving, "")
}

// ForgetNode removes a node whose host is clean, or lost.
func ForgetNode(ctx context.Context, tx *db.Tx, node uuid.UUID) error {
	tx.Touch(NodeNoun, node)
	if err := tx.One(ctx, movedMeanwhile(NodeNoun), sqlForgetNode, node); err != nil {
		return fmt.Errorf("forget a node: %w", err)
	}
	return nil
}
