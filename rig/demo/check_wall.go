package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// wallCheckDir is where the tests lie on the VM.
	wallCheckDir = "usr/local/lib/kloigos-check"
	unitDir      = "etc/systemd/system"
	unitName     = "kloigos-backend.service"
)

// wallTests are those that run under the shipped unit: code in a play and in the linter looks for what is a backend's.
var wallTests = map[string]string{
	"./backend/internal/ansible":     "TestPlaySeesNothingOfTheBackend",
	"./backend/internal/bundle/lint": "TestLintSeesNothingOfTheBackend",
}

// wallNeeds is this machine's Ansible and bubblewrap, for the VM has no registry of packages to wait for.
var wallNeeds = []string{
	"usr/bin/bwrap", "usr/bin/ansible-playbook", "usr/lib/python3/dist-packages/ansible", "usr/lib/python3/dist-packages/yaml",
	"usr/lib/python3/dist-packages/jinja2", "usr/lib/python3/dist-packages/[Jj]inja2-*", "usr/lib/python3/dist-packages/markupsafe", "usr/lib/python3/dist-packages/packaging",
	"usr/lib/python3/dist-packages/resolvelib", "usr/lib/python3/dist-packages/cryptography", "usr/lib/python3/dist-packages/_cffi_backend*.so",
}

// wall has code in a play and in the linter look for the keyset, the backend's environment, the socket of its database and
// the rest, under the shipped unit and as its user. The VM, whose kernel is Debian's, is no host of anybody any more.
func (c *checker) wall(ctx context.Context) error {
	stage := c.i.path("wall")
	if err := c.i.stageWallCheck(ctx, stage); err != nil {
		return err
	}
	pack := []string{"-cz", "--owner=0", "--group=0", "-C", stage, "etc", "usr", "-C", "/"}
	for _, pattern := range wallNeeds {
		found, err := filepath.Glob("/" + pattern)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("/%s is not there: this check takes Debian's Ansible to the VM (inventory/install-packages e2e)", pattern)
		}
		for _, file := range found {
			pack = append(pack, strings.TrimPrefix(file, "/"))
		}
	}
	packed, err := exec.CommandContext(ctx, "tar", pack...).Output()
	if err != nil {
		return fmt.Errorf("pack the check: %w", err)
	}
	ssh := exec.CommandContext(ctx, "ssh", c.i.VM.SSHArgs(
		"sudo tar -C / -xzp --no-overwrite-dir && { id kloigos >/dev/null 2>&1 || sudo useradd --system kloigos; } && sudo systemctl daemon-reload && sudo systemctl start "+unitName+
			"; code=$?; sudo journalctl -u "+unitName+" -o cat --no-pager; exit $code")...)
	ssh.Stdin = bytes.NewReader(packed)
	said, err := ssh.CombinedOutput()
	if err != nil {
		return fmt.Errorf("under the shipped unit: %w: %s", err, said)
	}
	for _, test := range wallTests {
		if !bytes.Contains(said, []byte("--- PASS: "+test)) {
			return fmt.Errorf("%s was not run: %s", test, said)
		}
	}
	return nil
}

// stageWallCheck lays out what the VM gets beside this machine's programs: the shipped unit, told to run the tests in place
// of a backend, and what it reads.
func (i *Installation) stageWallCheck(ctx context.Context, stage string) error {
	shipped, err := os.ReadFile(filepath.Join(i.options.Root, "inventory", "systemd", unitName))
	if err != nil {
		return fmt.Errorf("read the shipped unit: %w", err)
	}
	dropIn := "[Service]\nType=oneshot\nRestart=no\nWorkingDirectory=/" + wallCheckDir + "\nExecStart=\n"
	for from, test := range wallTests {
		name := filepath.Base(from) + ".test"
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-o", filepath.Join(stage, wallCheckDir, name), from)
		cmd.Dir, cmd.Env = i.options.Root, append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go test -c: %w\n%s", err, said)
		}
		dropIn += fmt.Sprintf("ExecStart=/%s/%s -test.v -test.run ^%s$$\n", wallCheckDir, name, test)
	}
	for name, text := range map[string]string{
		filepath.Join(unitDir, unitName):                    string(shipped),
		filepath.Join(unitDir, unitName+".d", "check.conf"): dropIn,
		"etc/kloigos/keyset.json":                           "a secret of the service",
		"etc/kloigos/backend.env":                           "KLOIGOS_TEST_CANARY=a secret of the service\n",
	} {
		file, mode := filepath.Join(stage, name), os.FileMode(0o644)
		if strings.HasPrefix(name, "etc/kloigos/") {
			mode = 0o600
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), mode)); err != nil {
			return fmt.Errorf("stage the check: %w", err)
		}
	}
	bundle := "testdata/bundle"
	if err := os.RemoveAll(filepath.Join(stage, wallCheckDir, bundle)); err != nil {
		return fmt.Errorf("stage the check: %w", err)
	}
	return os.CopyFS(filepath.Join(stage, wallCheckDir, bundle), os.DirFS(filepath.Join(i.options.Root, "backend/internal/ansible", bundle)))
}
