package kube

import (
	"fmt"
	"time"
)

// Bounds of what is offered about nodes that are not ready (machine health checks of the Cluster API).
const (
	// RemedyAfter is how long a node is not ready before somebody is told to do something about it.
	RemedyAfter = 10 * time.Minute
	// remedyMost is the share of the nodes, in percent, above which nothing is offered: the fault is elsewhere then.
	remedyMost = 40
)

// Remedy is what to do about one node that is not ready.
type Remedy struct {
	Node   Node
	Action string // a sentence: what to do, or what has to come first
	May    bool   // it may be replaced
}

// Remedies decides about the nodes that are not ready for long enough. tooMany: so many are that replacing them is no remedy, and no
// action is offered.
func Remedies(nodes []Node, since map[string]time.Time, now time.Time) (all []Remedy, tooMany bool) {
	members := 0
	for _, n := range nodes {
		if !n.InCluster() {
			continue
		}
		members++
		if from, unready := since[n.Name]; unready && now.Sub(from) >= RemedyAfter {
			all = append(all, Remedy{Node: n})
		}
	}
	tooMany = len(all)*100 > members*remedyMost
	for i := range all {
		r := &all[i]
		switch err := r.Node.CanLeave(nodes); {
		case tooMany:
			r.Action = "Find the common cause first: so many nodes at once are not replaced."
		case err != nil:
			r.Action = "It is not replaced: " + err.Error()
		case r.Node.HostState == HostLost:
			r.May, r.Action = true, fmt.Sprintf("Its host is lost. Replace it: kloigos cluster-node replace %s --host HOST --confirm %s", r.Node.Name, r.Node.Name)
		default:
			r.May, r.Action = true, fmt.Sprintf("Restart its host, or replace it: kloigos cluster-node replace %s --host HOST --confirm %s", r.Node.Name, r.Node.Name)
		}
	}
	return all, tooMany
}

// skewMost is by how many minor versions a kubelet may be older than its API server.
const skewMost = 3

// Skew tells why a kubelet does not go together with an API server; "" if it does, or if a version is none of the usual ones.
func Skew(server, kubelet string) string {
	s, k := minor(server), minor(kubelet)
	switch {
	case s < 0 || k < 0:
		return ""
	case k > s:
		return fmt.Sprintf("its kubelet %s is newer than the API server %s.", kubelet, server)
	case s-k > skewMost:
		return fmt.Sprintf("its kubelet %s is more than %d minor versions older than the API server %s.", kubelet, skewMost, server)
	}
	return ""
}
