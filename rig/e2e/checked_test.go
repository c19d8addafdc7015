//go:build e2e || e2e_network || e2e_steady

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kloigos/rig/demo"
)

// checked sets up what ./task demo sets up and looks at it as --check does, a subtest for each line.
func checked(t *testing.T, options demo.Options, checks func(*demo.Installation) []demo.Check) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kloigos-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: its parents are closed to the user that PostgreSQL runs as.
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	options.Out, options.In, options.Dir, options.Webapps, options.Check, options.SkipPackages = t.Output(), strings.NewReader(""), dir, 2, true, true
	options.UnitNetwork = "host" // TestNetworks changes it
	installation, err := demo.Up(t.Context(), options)
	if err != nil {
		showLogs(t, dir)
		t.Fatal(err)
	}
	var failed []string
	t.Cleanup(func() {
		if t.Failed() {
			installation.KeepHostJournal()
		}
		if err := installation.Down(); err != nil {
			t.Errorf("stop the installation: %v", err)
		}
		if t.Failed() {
			showLogs(t, dir)
			t.Logf("--- failed\n%s", strings.Join(failed, "\n")) // again, since the end of a log is what is read first
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, check := range checks(installation) {
		t.Run(check.Name, func(t *testing.T) {
			if err := check.Run(t.Context()); err != nil {
				t.Error(err)
				failed = append(failed, check.Name+": "+err.Error())
			}
		})
	}
}

// showLogs shows the end of what each program said, for a failure in CI, where nobody can look.
func showLogs(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "vm", "logs", "*.log"))
	if err != nil {
		t.Error(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		limit := 4000
		if strings.HasPrefix(filepath.Base(file), "host") {
			limit = 40000
		}
		t.Logf("--- %s\n%s", filepath.Base(file), text[max(0, len(text)-limit):])
	}
}
