package worker_test

import (
	"io/fs"
	"testing"

	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/worker"
	"kloigos/playbooks"
)

// What Kloigos brings itself goes through the gate that playbooks from outside go through, with no exception.
func TestPackagedPlaybooksPassTheGate(t *testing.T) {
	t.Parallel()
	judges := judge.New("ansible-playbook")
	t.Cleanup(judges.Close)
	for _, j := range domain.JointTable {
		if j.Checks { // has no playbook of its own
			continue
		}
		t.Run(j.Playbook, func(t *testing.T) {
			t.Parallel()
			c, ok := worker.Contract(j.Playbook)
			if !ok {
				t.Fatalf("no contract for the playbook of %s", j.Kind)
			}
			for file := range c.Entries {
				if _, err := fs.Stat(playbooks.Files, j.Playbook+"/"+file); err != nil {
					t.Errorf("the contract wants %s: %v", file, err)
				}
			}
			b, err := bundle.Build(playbooks.Files, j.Playbook)
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
			again, err := bundle.Pack(j.Playbook, files)
			if err != nil || again.TreeSHA256 != b.TreeSHA256 || again.SHA256 != b.SHA256 {
				t.Fatalf("packed again it is %s, not %s: %v", again.SHA256, b.SHA256, err)
			}
		})
	}
}
