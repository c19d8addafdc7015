package ansible

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckTellsEachChange: one entry for each thing, from modules that say it
// themselves and from those that don't; and nothing is changed.
func TestCheckTellsEachChange(t *testing.T) {
	b := setup(t)
	b.write(t, "there", []byte("before\n"), 0o600)
	p := b.play("changes.yml", map[string]any{"demo_dir": b.dir, "demo_text": "{{ 7*7 }}\n"})
	p.Secrets = []string{"hunter2"}
	p.Check, p.Diff = true, true
	out, events := b.run(t, p)
	if out.Failure != nil {
		t.Fatalf("failed: %+v\n%s", out.Failure, dump(events))
	}
	var got []Change
	for _, e := range events {
		if e.Kind == EventChange {
			if e.Task == "" || e.Host != "h1" || e.Play != "Changes" {
				t.Errorf("a change of nothing: %+v", e)
			}
			got = append(got, *e.Change)
		}
	}
	in := func(name string) string { return filepath.Join(b.dir, name) }
	want := []Change{
		{Kind: "volume", Name: "vg/cu01", Action: "create", After: "1024 bytes\n"},
		{Kind: "file", Name: "/etc/gnp<script>", Action: "change", Before: "red\n", Note: "[redacted]-and-more"},
		{Kind: "task", Name: "Say it itself", Action: "follows", Note: "the address 10.0.0.9"},
		{Kind: "task", Name: "Say it itself", Action: "stops", Note: "the disk is in use"},
		{Kind: "file", Name: in("made"), Action: "create", After: "{{ 7*7 }}\n"},
		{Kind: "file", Name: in("there"), Action: "change", Before: "before\n", After: "after\n"},
		{Kind: "file", Name: in("there"), Action: "remove"},
		{Kind: "user", Name: "kloigos-nobody-has-this", Action: "create"},
		{Kind: "task", Name: "Keep a secret", Action: "change", Note: "hidden, because the task has no_log"},
		{Kind: "directory", Name: in("one"), Action: "create"},
		{Kind: "directory", Name: in("two"), Action: "create"},
		{Kind: "task", Name: "Depend on what is missing", Action: "follows", Note: "there is no such group"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, name := range []string{"made", "secret", "one", "two"} {
		if _, err := os.Stat(in(name)); err == nil {
			t.Errorf("a check made %s", name)
		}
	}
	if text, err := os.ReadFile(in("there")); err != nil || string(text) != "before\n" {
		t.Errorf("a check changed a file: %q, %v", text, err)
	}

	p.Check = false
	p.Playbook = "modules.yml"
	_, events = b.run(t, p)
	for _, e := range events {
		if e.Kind == EventChange {
			t.Errorf("a real run tells of changes to come: %+v", e.Change)
		}
	}
}
