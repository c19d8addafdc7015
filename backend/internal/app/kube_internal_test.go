package app

import (
	"testing"

	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/playbooks"
)

// The playbooks of clusters go through the gate that playbooks from outside go through, and take what their jobs give.
func TestPlaybooksOfClustersPassTheGate(t *testing.T) {
	t.Parallel()
	judges := judge.New("ansible-playbook")
	t.Cleanup(judges.Close)
	for name := range kubework.Playbooks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, ok := contract(name)
			if !ok || len(c.Entries) == 0 {
				t.Fatal("no contract")
			}
			b, err := bundle.Build(playbooks.Files, name)
			if err != nil {
				t.Fatal(err)
			}
			files, err := bundle.Open(b.Content, bundle.UploadLimits)
			if err != nil {
				t.Fatal(err)
			}
			if err := bundle.Gate(t.Context(), judges, files, c); err != nil {
				t.Fatal(err)
			}
		})
	}
}
