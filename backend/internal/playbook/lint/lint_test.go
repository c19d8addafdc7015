package lint

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/playbook"
	"kloigos/playbooks"
)

func installed(t *testing.T) *Linter {
	t.Helper()
	l := New()
	if !l.Able() {
		t.Skip("ansible-lint is not installed; inventory/install-packages lint")
	}
	return l
}

func bundleOf(t *testing.T, name string, change map[string]string) []byte {
	t.Helper()
	b, err := playbook.Build(playbooks.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	files, err := playbook.All(b.Content, playbook.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range change {
		files[path] = []byte(text)
	}
	if b, err = playbook.Pack(name, files); err != nil {
		t.Fatal(err)
	}
	return b.Content
}

// The real ansible-lint finds nothing in a packaged playbook, and says where it
// finds something.
func TestLint(t *testing.T) {
	t.Parallel()
	l := installed(t)
	clean, err := l.Lint(t.Context(), bundleOf(t, "host_probe", nil))
	if err != nil || clean.State != domain.LintDone || len(clean.Findings) > 0 || !strings.HasPrefix(clean.Tool, "ansible-lint ") {
		t.Errorf("%+v, %v", clean, err)
	}
	tasks := "---\n- name: read it\n  kloigos_probe:\n- ansible.builtin.debug:\n    msg: \"{{x}}\"\n"
	found, err := l.Lint(t.Context(), bundleOf(t, "host_probe", map[string]string{"roles/host_probe/tasks/main.yml": tasks}))
	if err != nil || found.State != domain.LintDone {
		t.Fatalf("%+v, %v", found, err)
	}
	want := map[string]int{"name[casing]": 2, "name[missing]": 4, "jinja[spacing]": 5}
	for _, f := range found.Findings {
		if line, ok := want[f.Rule]; ok && f.Path == "roles/host_probe/tasks/main.yml" && f.Line == line && f.Message != "" && f.Severity != "" {
			delete(want, f.Rule)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v in %+v", want, found.Findings)
	}
	broken, err := l.Lint(t.Context(), []byte("no artifact"))
	if err != nil || broken.State != domain.LintFailed || broken.Message == "" {
		t.Errorf("%+v, %v", broken, err)
	}
}

// program makes a Linter of a shell script.
func program(t *testing.T, script string) *Linter {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ansible-lint")
	syscall.ForkLock.RLock() // or a process that starts meanwhile holds the file, and it can't be run (ETXTBSY)
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Linter{program: file, timeout: 20 * time.Second}
}

// What is run has nothing of the backend's environment, a directory of its own, and no network.
func TestLintRunsApart(t *testing.T) {
	t.Setenv("KLOIGOS_SECRET", "hunter2")
	l := program(t, `test "$1" = --version && { echo "ansible-lint 9.9"; exit 0; }
{ env; pwd; stat -c '%a' "$HOME"; ulimit -v; ls -a; } | tr '\n' ' ' | tr -d '"\\' | { read -r all; echo "[{\"check_name\": \"seen\", \"description\": \"$(echo "$all" | cut -c1-2000)\"}]"; }
exit 2`)
	content := bundleOf(t, "host_probe", nil)
	got, err := l.Lint(t.Context(), content)
	if err != nil || got.State != domain.LintDone || got.Tool != "ansible-lint 9.9" || len(got.Findings) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if said := got.Findings[0].Message; strings.Contains(said, "hunter2") || !strings.Contains(said, "HOME=") || strings.Contains(said, os.Getenv("HOME")+" ") {
		t.Errorf("it saw %s", said)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "kloigos-lint-*"))
	for _, dir := range left {
		if strings.Contains(got.Findings[0].Message, dir) {
			t.Errorf("%s is still there", dir)
		}
	}
}

func TestLintThatGoesWrong(t *testing.T) {
	t.Parallel()
	content := bundleOf(t, "host_probe", nil)
	const version = `test "$1" = --version && { echo "ansible-lint 9.9"; exit 0; }` + "\n"
	for name, c := range map[string]struct{ script, why string }{
		"fails":           {version + "echo 'ERROR: \033[31mno such \007profile' >&2; exit 3", "no such profile"},
		"says nothing":    {version + "exit 2", "can't be read"},
		"says no JSON":    {version + "echo '<html>'; exit 0", "can't be read"},
		"without an end":  {version + "yes", "signal"},
		"does not run":    {"exit 127", "does not run here"},
		"speaks for ever": {version + "head -c 10000000 /dev/zero; exit 0", "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := program(t, c.script)
			if name == "without an end" {
				l.timeout, c.why = time.Second, "did not end within"
			}
			got, err := l.Lint(t.Context(), content)
			if err != nil || got.State != domain.LintFailed || !strings.Contains(got.Message, c.why) || strings.ContainsAny(got.Message, "\x1b\x07") {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	none := &Linter{timeout: time.Second}
	if got, err := none.Lint(t.Context(), content); err != nil || got.State != domain.LintUnavailable || got.Message == "" {
		t.Errorf("%+v, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := program(t, version+"exit 0").Lint(ended, content); err == nil {
		t.Error("the end of the backend is taken for a result")
	}
}
