package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A change of a playbook, and a file that comes or goes, ask for the test on VMs again; tests do not.
func TestTriedKnowsWhatChanged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tried := func(why string, want bool) {
		t.Helper()
		if got, err := Tried(root); err != nil || got != want {
			t.Errorf("%s: %t, %v", why, got, err)
		}
	}
	if _, err := Tried(root); err == nil {
		t.Error("a tree without the files")
	}
	for _, pattern := range metByVMs {
		put(strings.ReplaceAll(pattern, "*", "a"), pattern)
	}
	tried("never", false)
	digest, err := TriedDigest(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteTried(root, digest, "upgrade worker"); err != nil {
		t.Fatal(err)
	}
	tried("just so", true)
	put("rig/kube/tried_test.go", "a test")
	tried("with another test", true)
	put("playbooks/roles/kubeadm_init/tasks/main.yml", "---")
	tried("with another role", false)
}

// The patterns name files of this tree.
func TestTriedFilesAreThere(t *testing.T) {
	t.Parallel()
	if _, err := TriedDigest("../.."); err != nil {
		t.Error(err)
	}
}
