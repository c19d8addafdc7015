package kube

import (
	"strings"
	"testing"
	"time"
)

// Nodes are offered for replacement only while few are ill, and never a member of etcd that the others need.
func TestRemedies(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cluster := func(controlPlanes, workers int) (nodes []Node) {
		for i := range controlPlanes + workers {
			n := Node{Name: string(rune('a' + i)), Role: ControlPlane, State: NodeReady}
			n.ID[0] = byte(i + 1)
			if i >= controlPlanes {
				n.Role = Worker
			}
			nodes = append(nodes, n)
		}
		return nodes
	}
	for _, c := range []struct {
		name    string
		nodes   []Node
		ill     string
		minutes int
		want    string // of each node that is told of: + may be replaced, - may not
		tooMany bool
	}{
		{"nobody", cluster(1, 4), "", 20, "", false},
		{"one worker", cluster(1, 4), "b", 20, "+", false},
		{"not for long", cluster(1, 4), "b", 9, "", false},
		{"40 %", cluster(1, 4), "bc", 20, "++", false},
		{"more than 40 %", cluster(1, 4), "bcd", 20, "---", true},
		{"the only control plane", cluster(1, 4), "a", 20, "-", false},
		{"one of three", cluster(3, 2), "a", 20, "+", false},
		{"two of three", cluster(3, 4), "ab", 20, "--", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			since := map[string]time.Time{}
			for i, n := range c.nodes {
				if strings.Contains(c.ill, n.Name) {
					since[n.Name], c.nodes[i].State = now.Add(-time.Duration(c.minutes)*time.Minute), NodeNotReady
				}
			}
			all, tooMany := Remedies(c.nodes, since, now)
			got := ""
			for _, r := range all {
				if r.Action == "" {
					t.Errorf("%s without an action", r.Node.Name)
				}
				if r.May {
					got += "+"
				} else {
					got += "-"
				}
			}
			if got != c.want || tooMany != c.tooMany {
				t.Errorf("%q, too many: %t; want %q, %t", got, tooMany, c.want, c.tooMany)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server, kubelet string
		fits            bool
	}{{"v1.36.3", "v1.36.3", true}, {"v1.36.3", "v1.33.0", true}, {"v1.36.3", "v1.32.9", false}, {"v1.36.3", "v1.37.0", false}, {"v1.36.3", "", true}} {
		if why := Skew(c.server, c.kubelet); (why == "") != c.fits {
			t.Errorf("%s with %s: %q", c.kubelet, c.server, why)
		}
	}
}
