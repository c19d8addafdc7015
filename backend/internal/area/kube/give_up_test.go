package kube

import (
	"strings"
	"testing"
)

// The quorum is gone where the members that are not lost are no majority. Workers, and control planes that never joined, have no voice.
func TestWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ planes, lost, want string }{
		{"abc", "", ""},
		{"abc", "a", ""},
		{"abc", "ab", "--without a --without b --confirm apps"},
		{"abc", "abc", "no control plane is left"},
		{"abcde", "ab", ""},
		{"abcde", "abc", "--without a --without b --without c --confirm apps"},
		{"ab", "b", "--without b --confirm apps"},
		{"a", "a", "no control plane is left"},
		{"abP", "b", "--without b --without P --confirm apps"},
		{"aPP", "", ""},
		{"abcw", "aw", ""},
		{"", "", ""},
	} {
		var nodes []Node
		for _, name := range strings.Split(c.planes, "") {
			n := Node{Name: name, Role: ControlPlane, State: NodeReady, HostState: hostReady}
			switch name {
			case "P":
				n.State = NodePrepared
			case "w":
				n.Role = Worker
			}
			if strings.Contains(c.lost, name) {
				n.HostState = HostLost
			}
			nodes = append(nodes, n)
		}
		if got := WayOut("apps", nodes); !strings.HasSuffix(strings.TrimSuffix(got, ". Make the cluster anew."), c.want) || c.want == "" && got != "" {
			t.Errorf("%s without %s: %q", c.planes, c.lost, got)
		}
	}
}
