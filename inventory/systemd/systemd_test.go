// Package systemd owns the units of the services. It is files and the test that has systemd read them.
package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var units = []string{"kloigos-backend.service", "kloigos-webapp.service", "../../crdb/cockroach.service"}

// TestSystemdTakesTheUnits, without a word of warning. The programs that they
// start are not on this machine, so others stand in for them.
func TestSystemdTakesTheUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	program := regexp.MustCompile(`(?m)^ExecStart=\S+`)
	args := []string{"verify", "--man=no", "--recursive-errors=no"}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.Base(unit))
		if err := os.WriteFile(file, program.ReplaceAll(text, []byte("ExecStart=/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	said, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
	var ours []string
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, dir) { // not of the machine's own units
			ours = append(ours, line)
		}
	}
	if err != nil || len(ours) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, said)
	}
	// What it would say of a unit that is wrong.
	wrong := filepath.Join(dir, "wrong.service")
	if err := os.WriteFile(wrong, []byte("[Service]\nExecStart=/bin/true\nTimeoutStopSecs=60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, _ := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", wrong).CombinedOutput(); !strings.Contains(string(said), "TimeoutStopSecs") {
		t.Errorf("a wrong unit would not be noticed: %s", said)
	}
}

// TestUnitsAreConfined: what systemd itself finds exposed in them, as far as it
// can say so without starting them.
func TestUnitsAreConfined(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for _, unit := range units[:2] {
		file, err := filepath.Abs(unit)
		if err != nil {
			t.Fatal(err)
		}
		// The threshold is in tenths: 0 is the most confined, 100 the least. A backend builds the wall around its plays, for which
		// it makes namespaces and mounts (docs/security.md, "The wall").
		threshold := "--threshold=20"
		if unit == "kloigos-backend.service" {
			threshold = "--threshold=29"
		}
		said, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", threshold, file).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", unit, err, said)
		}
	}
}

// TestStopTimeoutsFit: systemd must not kill what the service itself gives time to.
func TestStopTimeoutsFit(t *testing.T) {
	t.Parallel()
	for unit, must := range map[string]struct {
		least time.Duration
		lines []string
	}{
		// 30 s for running tasks, 10 s for answers (backend/internal/app).
		"kloigos-backend.service": {40 * time.Second, []string{"KillMode=mixed", "OOMPolicy=continue", "Restart=always", "StartLimitIntervalSec=0"}},
		"kloigos-webapp.service":  {10 * time.Second, []string{"Restart=always", "StartLimitIntervalSec=0"}},
	} {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s says nothing of its end", unit)
		}
		if has, _ := time.ParseDuration(string(m[1]) + "s"); has <= must.least {
			t.Errorf("%s is killed after %s", unit, has)
		}
		for _, line := range must.lines {
			if !strings.Contains(string(text), "\n"+line+"\n") {
				t.Errorf("%s lacks %s", unit, line)
			}
		}
	}
}
