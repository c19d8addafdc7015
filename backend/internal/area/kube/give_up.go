package kube

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// MayBeGivenUp tells whether a restore may leave the control plane out: its machine is off for good, or it never was a whole member of etcd. Any
// other may still have the old data, and could answer with it.
func (n Node) MayBeGivenUp() bool {
	return n.HostState == HostLost || n.State == NodePending || n.State == NodePrepared || n.State == NodeLeft
}

// giveUp divides the control planes among nodes into those that stay and those that a person gives up, by name or id.
func giveUp(nodes []Node, without []string) (stay, gone []Node, err error) {
	var bad fault.Invalid
	for _, text := range without {
		at := slices.IndexFunc(nodes, func(n Node) bool { return n.Role == ControlPlane && (n.Name == text || n.ID.String() == text) })
		if at < 0 {
			bad.Add("without", "The cluster has no control plane %s.", text)
		} else if n := nodes[at]; !n.MayBeGivenUp() {
			bad.Add("without", "%s is %s, and its host is %s. Only a control plane that never joined, or whose host was declared lost, can be given up.", n.Name, n.State, n.HostState)
		}
	}
	for _, n := range nodes {
		switch {
		case n.Role != ControlPlane:
		case slices.Contains(without, n.Name) || slices.Contains(without, n.ID.String()):
			gone = append(gone, n)
		default:
			stay = append(stay, n)
		}
	}
	return stay, gone, bad.OrNil()
}

// survives tells why the control planes that are left can't take a restore; nil if they can.
func (s Snapshot) survives(without []string, endpointMoved bool) error {
	given := func(name string) bool { return slices.Contains(without, name) }
	missing := slices.DeleteFunc(slices.Clone(s.Away), given)
	host, _, _ := net.SplitHostPort(s.Endpoint) // ParseEndpoint made it
	switch at := slices.Index(s.LostAt, host); {
	case len(slices.DeleteFunc(slices.Clone(s.Planes), given)) == 0:
		return fault.Conflictf("restore_host", "No control plane is left. The keys of the cluster were on them alone.")
	case len(missing) > 0:
		text := fmt.Sprintf("The restore needs every control plane that is not given up. Not in the cluster, lost or unreachable: %s.", strings.Join(missing, ", "))
		if lost := slices.DeleteFunc(slices.Clone(s.Lost), given); len(lost) > 0 {
			text += fmt.Sprintf(" Can be given up: --without %s.", strings.Join(lost, " --without "))
		}
		return fault.Conflictf("restore_host", "%s", text)
	case at >= 0 && given(s.Lost[at]) && !endpointMoved:
		return fault.Conflictf("restore_endpoint", "The endpoint %s is the address of %s, which is given up. Give it to a control plane that is left, then ask for the restore with endpoint_moved.", s.Endpoint, s.Lost[at])
	}
	return nil
}

// leaveForGood is what a person confirms about control planes that are given up; "" for none.
func leaveForGood(gone []Node) string {
	if len(gone) == 0 {
		return ""
	}
	return fmt.Sprintf(" Given up for good: %s.", strings.Join(names(gone), ", "))
}

func ids(nodes []Node) (all []uuid.UUID) {
	for _, n := range nodes {
		all = append(all, n.ID)
	}
	return all
}

// QuorumGone names the members of etcd whose hosts were declared lost, where so many are that the others can never decide again; nil
// otherwise.
func QuorumGone(nodes []Node) (lost []string) {
	members := 0
	for _, n := range nodes {
		if n.Role != ControlPlane || n.State == NodePending || n.State == NodePrepared || n.State == NodeLeft {
			continue
		}
		members++
		if n.HostState == HostLost {
			lost = append(lost, n.Name)
		}
	}
	if members-len(lost) > members/2 {
		return nil
	}
	return lost
}

// WayOut says what to do about a cluster of that name whose quorum is gone with lost members; "" if it is not gone.
func WayOut(cluster string, nodes []Node) string {
	lost := QuorumGone(nodes)
	switch {
	case len(lost) == 0:
		return ""
	case !slices.ContainsFunc(nodes, func(n Node) bool { return n.Role == ControlPlane && !n.MayBeGivenUp() }):
		return fmt.Sprintf("etcd lost its quorum for good: the hosts of %s were declared lost, and no control plane is left. Make the cluster anew.", strings.Join(lost, ", "))
	}
	without := nodes[:0:0]
	for _, n := range nodes {
		if n.Role == ControlPlane && n.MayBeGivenUp() {
			without = append(without, n)
		}
	}
	return fmt.Sprintf("etcd lost its quorum for good: the hosts of %s were declared lost. Restore a snapshot on the control planes that are left: kloigos cluster-snapshot restore ID --without %s --confirm %s",
		strings.Join(lost, ", "), strings.Join(names(without), " --without "), cluster)
}
