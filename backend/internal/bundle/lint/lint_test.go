package lint

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit"
	"kloigos/playbooks"
)

func installed(t *testing.T) *Linter {
	t.Helper()
	l := New(t.Context())
	if !l.Able() {
		t.Skip("ansible-lint is not installed; inventory/install-packages lint")
	}
	return l
}

func bundleOf(t *testing.T, name string, change map[string]string) []byte {
	t.Helper()
	b, err := bundle.Build(playbooks.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	files, err := bundle.All(b.Content, bundle.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range change {
		files[path] = []byte(text)
	}
	if b, err = bundle.Pack(name, files); err != nil {
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

// What is run has nothing of the backend's environment and a directory of its own.
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

// Code that a version brings into the linter finds no keyset, no socket of the database, no environment of the backend
// and no network, though this process has them all.
func TestLintSeesNothingOfTheBackend(t *testing.T) {
	t.Setenv("KLOIGOS_SECRET", "hunter2")
	keyset := filepath.Join(t.TempDir(), "keyset.json")
	if err := os.WriteFile(keyset, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	sockets, err := os.MkdirTemp("", "kl")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(sockets)
	database, err := net.Listen("unix", filepath.Join(sockets, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	l := program(t, fmt.Sprintf(`test "$1" = --version && { echo "ansible-lint 9.9"; exit 0; }
exec /usr/bin/python3 - <<'END'
import json, os, socket
def seen(name, fn):
    try:
        fn()
        return name
    except OSError:
        return 'no ' + name
print(json.dumps([{'check_name': 'seen', 'description': ', '.join([
    seen('keyset', lambda: open(%q)), seen('environment', lambda: open('/proc/%d/environ')),
    seen('database', lambda: socket.socket(socket.AF_UNIX).connect(%q)),
    seen('network', lambda: socket.create_connection(('127.0.0.1', %d), 5)),
    seen('bundle', lambda: open('playbook.yml'))])}]))
END
`, keyset, os.Getpid(), database.Addr().String(), api.Addr().(*net.TCPAddr).Port))
	got, err := l.Lint(t.Context(), bundleOf(t, "host_probe", nil))
	if err != nil || len(got.Findings) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if said := got.Findings[0].Message; said != "no keyset, no environment, no database, no network, bundle" {
		t.Error(said)
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
	none := &Linter{timeout: time.Second, missing: "ansible-lint is not there."}
	if got, err := none.Lint(t.Context(), content); err != nil || got.State != domain.LintUnavailable || got.Message == "" {
		t.Errorf("%+v, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := program(t, version+"exit 0").Lint(ended, content); err == nil {
		t.Error("the end of the backend is taken for a result")
	}
}

// Where bubblewrap is missing nothing is linted, and the version says why.
func TestNothingIsLintedWithoutBubblewrap(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/ansible-lint"); err != nil {
		t.Skip("ansible-lint is not installed; inventory/install-packages lint")
	}
	if !testkit.WithoutBubblewrap(t) {
		return
	}
	l := New(t.Context())
	got, err := l.Lint(t.Context(), bundleOf(t, "host_probe", nil))
	if err != nil || l.Able() || got.State != domain.LintUnavailable || !strings.Contains(got.Message, "bubblewrap is not installed") || got.Message != l.Missing() {
		t.Errorf("able: %t, %+v, %v", l.Able(), got, err)
	}
}
