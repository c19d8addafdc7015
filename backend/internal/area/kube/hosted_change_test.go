package kube

import (
	"errors"
	"testing"
)

// The jobs that change nodes run plays on a control plane of the cluster. A hosted one is on none of its hosts.
func TestNodesOfHostedControlPlanesStay(t *testing.T) {
	t.Parallel()
	for _, hosted := range []bool{true, false} {
		c := Cluster{State: ClusterActive, Hosted: hosted}
		n := Node{Role: Worker, ClusterState: ClusterActive, ControlPlanes: 1}
		if hosted {
			n.ControlPlanes = 0
		}
		for _, err := range []error{c.CanChange(), n.MayLeave()} {
			if errors.Is(err, errHosted) != hosted || !hosted && err != nil {
				t.Errorf("hosted %t: %v", hosted, err)
			}
		}
	}
}
