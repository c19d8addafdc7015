// Package lint owns what ansible-lint says of a version of a playbook.
//
// It refuses to lint anything that did not come out of the database, where only what has passed the gate is: the
// linter itself templates a little and lets Ansible check the syntax. It runs it behind the wall, where there is nothing
// but the version and the linter, no network, and an end to its time, memory and output. Where there is no wall, it does
// not run it.
package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/wall"
)

const (
	timeout     = 3 * time.Minute
	maxMemory   = 1 << 30 // bytes of address space
	maxCPU      = 120     // seconds
	maxWritten  = 64 << 20
	maxOutput   = 4 << 20
	maxFindings = 500
	maxMessage  = 500

	searchPath = "/usr/local/bin:/usr/bin:/bin"

	// Modules lie in library/ beside the playbooks and belong to no collection.
	lintConfig = `profile: production
offline: true
kinds:
  - playbook: "playbook.yml"
  - playbook: "bootstrap.yml"
`
	// One line per value reads better than folded templates; ansible-lint asks for the last three.
	yamlConfig = `extends: default
rules:
  line-length: {max: 160}
  comments: {min-spaces-from-content: 1}
  braces: {max-spaces-inside: 1}
  octal-values: {forbid-implicit-octal: true, forbid-explicit-octal: true}
`
)

// Linter runs ansible-lint.
type Linter struct {
	program string // "" if it can't be run
	missing string // why, for whoever looks at a version
	timeout time.Duration
}

// New looks for ansible-lint on this machine, and for the wall to run it behind.
func New(ctx context.Context) *Linter {
	l := &Linter{timeout: timeout, missing: "ansible-lint is not installed."}
	for _, dir := range filepath.SplitList(searchPath) {
		program := filepath.Join(dir, "ansible-lint")
		if unix.Access(program, unix.X_OK) != nil {
			continue
		}
		if err := wall.Check(ctx); err != nil {
			l.missing = "ansible-lint is not run: " + short(err.Error())
			return l
		}
		l.program, l.missing = program, ""
		return l
	}
	return l
}

// Able tells whether ansible-lint can be run.
func (l *Linter) Able() bool { return l.program != "" }

// Missing is why ansible-lint can't be run.
func (l *Linter) Missing() string { return l.missing }

// Lint looks at an artifact. What goes wrong is a result too; only the end of ctx is an error.
func (l *Linter) Lint(ctx context.Context, content []byte) (domain.Lint, error) {
	if !l.Able() {
		return domain.Lint{State: domain.LintUnavailable, Message: l.missing}, nil
	}
	out := domain.Lint{State: domain.LintFailed}
	fail := func(format string, args ...any) (domain.Lint, error) {
		out.Message = fmt.Sprintf(format, args...)
		return out, ctx.Err()
	}
	dir, err := os.MkdirTemp("", "kloigos-lint-")
	if err != nil {
		return fail("No private directory could be made.")
	}
	defer os.RemoveAll(dir)
	unpacked := filepath.Join(dir, "bundle")
	if err := prepare(content, unpacked); err != nil {
		return fail("The version could not be unpacked.")
	}
	version, _, err := l.run(ctx, dir, unpacked, "--version")
	if err != nil {
		return fail("ansible-lint does not run here: %s", short(err.Error()))
	}
	out.Tool = tool(version)
	answer, complaint, err := l.run(ctx, dir, unpacked, "--offline", "--nocolor", "-q", "-f", "codeclimate")
	var exit *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fail("ansible-lint did not end within %s.", l.timeout)
	case errors.As(err, &exit) && exit.ExitCode() == 2: // it has something to say
	case err != nil:
		return fail("ansible-lint failed (%s): %s", err, short(lastLine(complaint)))
	}
	findings, err := parse(answer, unpacked)
	if err != nil {
		return fail("What ansible-lint said can't be read: %s", short(lastLine(complaint)))
	}
	out.State, out.Findings = domain.LintDone, findings
	return out, nil
}

func prepare(content []byte, unpacked string) error {
	if err := os.Mkdir(unpacked, 0o700); err != nil {
		return err
	}
	if err := bundle.Unpack(content, unpacked, bundle.DefaultLimits); err != nil {
		return err
	}
	// The gate lets no file of a name like these through.
	for name, text := range map[string]string{".ansible-lint": lintConfig, ".yamllint": yamlConfig} {
		if err := os.WriteFile(filepath.Join(unpacked, name), []byte("---\n"+text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// run runs ansible-lint to its end, behind the wall, and everything that it started with it.
func (l *Linter) run(ctx context.Context, dir, unpacked string, args ...string) (answer, complaint []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	// The wall ends with the thread that has built it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spec := wall.Spec{
		ReadOnly: wall.Program(l.program), Writable: []string{dir}, Dir: unpacked,
		Limits: wall.Limits{Memory: maxMemory, CPU: maxCPU, Written: maxWritten},
	}
	cmd, err := wall.Command(ctx, spec, []string{
		"PATH=" + searchPath, "HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1",
		"ANSIBLE_HOME=" + filepath.Join(dir, "ansible"), "ANSIBLE_LOCAL_TEMP=" + dir, "ANSIBLE_CONFIG=" + filepath.Join(dir, "none.cfg"),
		"ANSIBLE_LIBRARY=" + filepath.Join(unpacked, "library"), "ANSIBLE_MODULE_UTILS=" + filepath.Join(unpacked, "module_utils"), "ANSIBLE_ROLES_PATH=" + filepath.Join(unpacked, "roles"),
	}, append([]string{l.program}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	var stdout, stderr limited
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	pid := cmd.Process.Pid
	_ = unix.Setpriority(unix.PRIO_PGRP, pid, 19) // nobody waits for it, and plays run beside it
	err = cmd.Wait()
	_ = syscall.Kill(-pid, syscall.SIGKILL) // what it left
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil && (stdout.over || stderr.over) {
		err = fmt.Errorf("it said more than %d bytes", maxOutput)
	}
	return stdout.kept.Bytes(), stderr.kept.Bytes(), err
}

// limited keeps the beginning of what is written to it. The buffer is not embedded: it would be read into past Write.
type limited struct {
	kept bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := maxOutput - l.kept.Len()
	l.over = l.over || len(p) > room
	_, _ = l.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}

// issue is one entry of ansible-lint's form codeclimate.
type issue struct {
	Rule        string `json:"check_name"`
	Severity    string `json:"severity"`
	Description string `json:"description"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin json.RawMessage `json:"begin"` // a number, or {line, column}
		} `json:"lines"`
		Positions struct {
			Begin struct {
				Line int `json:"line"`
			} `json:"begin"`
		} `json:"positions"`
	} `json:"location"`
	Content struct {
		Body string `json:"body"`
	} `json:"content"`
}

func (i issue) line() int {
	var n int
	if json.Unmarshal(i.Location.Lines.Begin, &n) == nil && n > 0 {
		return n
	}
	return i.Location.Positions.Begin.Line
}

func parse(answer []byte, unpacked string) ([]domain.LintFinding, error) {
	var issues []issue
	if err := json.Unmarshal(answer, &issues); err != nil {
		return nil, err
	}
	findings := []domain.LintFinding{}
	for _, i := range issues {
		if len(findings) == maxFindings {
			findings = append(findings, domain.LintFinding{Rule: "more", Message: fmt.Sprintf("%d further findings are not kept.", len(issues)-maxFindings)})
			break
		}
		message := i.Description
		if i.Content.Body != "" {
			message += " " + i.Content.Body
		}
		path := strings.TrimPrefix(strings.TrimPrefix(i.Location.Path, unpacked), "/")
		findings = append(findings, domain.LintFinding{Rule: short(i.Rule), Severity: short(i.Severity), Path: short(path), Line: i.line(), Message: short(message)})
	}
	return findings, nil
}

var (
	escape      = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	toolVersion = regexp.MustCompile(`ansible-lint ([0-9][0-9a-z.]*)`)
)

func tool(version []byte) string {
	if m := toolVersion.FindSubmatch(escape.ReplaceAll(version, nil)); m != nil {
		return "ansible-lint " + string(m[1])
	}
	return "ansible-lint"
}

// short is a text of the linter as it can be stored: no control characters, and not without end.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !strconv.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(escape.ReplaceAllString(s, ""), ""))
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "..."
	}
	return strings.TrimSpace(s)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
