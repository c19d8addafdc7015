package ansible

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kloigos/playbooks"
)

// TestMeasureTellsEachSample runs the playbook that is shipped, against this
// machine: each sample is told before the next one is taken, and what is not
// there is not told of.
func TestMeasureTellsEachSample(t *testing.T) {
	b := setup(t)
	if os.Geteuid() != 0 {
		t.Skip("the playbook becomes root: run this test as root")
	}
	dir := t.TempDir()
	for from, to := range map[string]string{
		"host_measure/playbook.yml": "playbook.yml", "library/kloigos_measure.py": "library/kloigos_measure.py",
		"roles/host_measure/tasks/main.yml": "roles/host_measure/tasks/main.yml", "roles/host_measure/meta/argument_specs.yml": "roles/host_measure/meta/argument_specs.yml",
	} {
		content, err := playbooks.Files.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.write(t, "bin/sudo", []byte("#!/bin/sh\nwhile [ $# -gt 1 ]; do case $1 in -u) shift 2 ;; -*) shift ;; *) break ;; esac; done\nexec \"$@\"\n"), 0o755)
	const mounted, missing = "6a2c8d9e-0000-4000-8000-00000000000a", "6a2c8d9e-0000-4000-8000-00000000000b"
	p := Play{
		Name: "host_measure", Bundle: dir, Hosts: []Host{b.host()}, Timeout: 2 * time.Minute,
		Vars: map[string]any{"host_measure_samples": []int{1, 2}, "host_measure_units": []map[string]any{
			{"id": mounted, "uid": 3999999, "mount": "/"},
			{"id": missing, "uid": 3999998, "mount": filepath.Join(dir, "{{ nothing }}")},
		}},
	}
	out, events := b.run(t, p)
	if out.Failure != nil {
		t.Fatalf("%+v", out.Failure)
	}
	var samples []time.Time
	items := 0
	for _, e := range events {
		switch {
		case e.Kind == EventResult:
			var told struct{ Units []map[string]any }
			if err := json.Unmarshal(e.Result, &told); err != nil || len(told.Units) != 2 {
				t.Fatalf("%s: %v", e.Result, err)
			}
			if use := told.Units[0]; use["id"] != mounted || len(use) != 3 || use["disk_used_bytes"].(float64) <= 0 || use["disk_bytes"].(float64) < use["disk_used_bytes"].(float64) {
				t.Errorf("mounted: %v", use)
			}
			if use := told.Units[1]; use["id"] != missing || len(use) != 1 {
				t.Errorf("missing: %v", use)
			}
			samples = append(samples, e.Time)
		case e.Kind == EventOK && strings.HasPrefix(e.Item, "sample "):
			items++
		}
	}
	if len(samples) != 2 || items != 2 || samples[1].Sub(samples[0]) < 2*time.Second {
		t.Errorf("samples at %v, %d turns", samples, items)
	}
	var last struct{ Units []json.RawMessage }
	if err := json.Unmarshal(out.Results["h1"], &last); err != nil || len(last.Units) != 2 {
		t.Errorf("the last result is %s, %v", out.Results["h1"], err)
	}
}
