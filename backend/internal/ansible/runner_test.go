package ansible

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlayRunsAndTellsOfIt(t *testing.T) {
	b := setup(t)
	const secret, unused = "hunter2-\"quoted\"", "swordfish-that-nobody-prints"
	canary := filepath.Join(b.dir, "canary")
	text := "{{ lookup('pipe', 'touch " + canary + "') }}{% raw %}"
	p := b.play("", map[string]any{
		"demo_dir": b.dir, "demo_text": text, "demo_secret": secret, "demo_unused": []string{unused}, "demo_size": 1_000_000,
		"demo_list": []any{"{{ demo_secret }}", "two"},
	})
	p.Secrets = []string{secret, unused}
	p.Diff = true

	var log recorder
	keyLines := keySecrets(p.Hosts[0].PrivateKey)
	out, err := b.runner.Run(t.Context(), p, func(e Event) {
		log.add(e)
		for _, environ := range b.environments() {
			if strings.Contains(environ, canaryVariable) {
				t.Error("the backend's environment leaks into the run")
			}
		}
		for _, cmdline := range ansibleCommandLines() {
			for _, s := range append(keyLines, unused) {
				if strings.Contains(cmdline, s) {
					t.Errorf("a secret is in the arguments: %q", cmdline)
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Failure != nil {
		t.Fatalf("failed: %+v\n%s", out.Failure, log.text())
	}
	if want := (Stats{OK: 6, Changed: 2, Skipped: 1, Ignored: 1}); out.Stats["h1"] != want {
		t.Errorf("stats %+v, want %+v", out.Stats["h1"], want)
	}
	if out.Usage.MaxRSSBytes < 20<<20 || out.Usage.CPU < 50*time.Millisecond || out.Usage.Elapsed < out.Usage.CPU/8 {
		t.Errorf("usage %+v", out.Usage)
	}

	var result struct{ Filler, Echo string }
	if err := json.Unmarshal(out.Results["h1"], &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Filler) != 1_000_000 || result.Echo != text {
		t.Errorf("result has %d bytes and %q", len(result.Filler), result.Echo)
	}
	written, err := os.ReadFile(filepath.Join(b.dir, "out.txt"))
	if err != nil || string(written) != text+"\n" {
		t.Errorf("the host got %q, %v", written, err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a template in a variable was evaluated")
	}
	if all := log.text(); strings.Contains(all, "hunter2") || strings.Contains(all, unused) {
		t.Errorf("a secret is in the events:\n%s", all)
	}
	checkEvents(t, log.events)
}

func checkEvents(t *testing.T, events []Event) {
	t.Helper()
	var kinds []string
	for _, e := range events {
		if e.Kind == EventTaskStarted || e.Kind == EventOutput {
			continue
		}
		line := string(e.Kind) + " " + e.Task
		if e.Item != "" {
			line += " (" + e.Item + ")"
		}
		kinds = append(kinds, line)
		switch {
		case e.Task == "Write a file" && (e.Role != "demo" || e.Play != "Happy path" || e.Host != "h1" || !e.Changed || e.Action != "ansible.builtin.copy" || e.DurationMS < 1):
			t.Errorf("event %+v", e)
		case e.Task == "Write a file" && !strings.Contains(e.Diff, "+{{ lookup("):
			t.Errorf("no diff in %+v", e)
		case e.Task == "Hand the secret over" && (e.Output != "" || !strings.Contains(e.Message, "no_log")):
			t.Errorf("a task with no_log shows %+v", e)
		case e.Task == "Show it carelessly" && !strings.Contains(e.Output, "before [redacted] after"):
			t.Errorf("not redacted as expected: %+v", e)
		case e.Item == "two" && e.Output != "\x1b[31mred\x1b[0m loop two":
			t.Errorf("escapes are in %q", e.Output)
		}
	}
	want := []string{
		"play_started ", "changed Write a file", "ok Hand the secret over", "ok Show it carelessly",
		"ok Turn around ({{ demo_secret }})", "ok Turn around (two)", "ok Turn around", "skipped Never",
		"ignored Fail and be ignored", "result ", "ok Return", "finished ",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// ansibleCommandLines are the arguments of all processes of runs, which every user of the machine can read.
func ansibleCommandLines() []string {
	var lines []string
	for _, pid := range processIDs() {
		raw, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "cmdline"))
		if err == nil && len(raw) > 0 {
			lines = append(lines, string(raw))
		}
	}
	return lines
}

// environments are those of all processes of this bed's runs.
func (b *bed) environments() []string {
	var found []string
	for pid := range b.processes() {
		environ, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "environ"))
		found = append(found, string(environ))
	}
	return found
}

// A sink that is still busy when the play has long ended loses nothing.
func TestSlowSink(t *testing.T) {
	b := setup(t)
	var log recorder
	out, err := b.runner.Run(t.Context(), b.play("modules.yml", nil), func(e Event) {
		log.add(e)
		if e.Kind == EventPlayStarted {
			eventually(t, "the run is over", func() bool { return len(b.processes()) == 0 })
			time.Sleep(1200 * time.Millisecond)
		}
	})
	if err != nil || out.Failure != nil || out.Results["h1"] == nil || len(log.events) != 7 {
		t.Errorf("%+v, %v\n%s", out.Failure, err, log.text())
	}
}

func TestFailingTask(t *testing.T) {
	b := setup(t)
	out, events := b.run(t, b.play("fail.yml", nil))
	want := &Failure{Code: CodeTaskFailed, Host: "h1", Task: "Say why", Message: "non-zero return code\nthe disk is on fire"}
	if diff := cmp.Diff(want, out.Failure); diff != "" {
		t.Error(diff)
	}
	if len(out.Failures) != 1 {
		t.Errorf("failures %+v", out.Failures)
	}
	if s := out.Stats["h1"]; s.Rescued != 1 || s.Failed != 1 {
		t.Errorf("stats %+v", s)
	}
	if all := dump(events); strings.Contains(all, "Not reached") || !strings.Contains(all, "to stdout") {
		t.Errorf("events:\n%s", all)
	}
}

func TestBrokenPlaybook(t *testing.T) {
	b := setup(t)
	p := b.play("broken.yml", nil)
	p.Bundle, p.Unpack = "", func(dir string) error { return os.CopyFS(dir, os.DirFS(b.bundle)) }
	out, _ := b.run(t, p)
	if f := out.Failure; f == nil || f.Code != CodePlaybookError || !strings.Contains(f.Message, "no_such_role") {
		t.Errorf("failure %+v", f)
	}
}

// What cannot be run is an error, and leaves as little behind as a run.
func TestRunThatCannotStart(t *testing.T) {
	b := setup(t)
	broken := errors.New("the bundle is broken")
	p := b.play("", nil)
	p.Bundle, p.Unpack = "", func(string) error { return broken }
	if _, err := b.runner.Run(t.Context(), p, nil); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	gone, err := NewRunner(b.runner.config)
	if err != nil {
		t.Fatal(err)
	}
	gone.config.AnsibleBin = "/nonexistent/ansible-playbook"
	if _, err := gone.Run(t.Context(), b.play("", nil), nil); err == nil || !strings.Contains(err.Error(), "start ansible-playbook") {
		t.Errorf("got %v", err)
	}
	gone.config.SelfExe = "/nonexistent/kloigos-backend"
	if _, err := gone.Run(t.Context(), b.play("", nil), nil); err == nil || !strings.Contains(err.Error(), "start supervisor") {
		t.Errorf("got %v", err)
	}
	if _, err := NewRunner(Config{RunRoot: b.root, AnsibleBin: "no-such-ansible"}); err == nil {
		t.Error("a runner without Ansible was made")
	}
}

func TestUnreachableAndWrongKeys(t *testing.T) {
	b := setup(t)
	_, otherHostKey := newKey(t)
	otherKey, _ := newKey(t)
	play := b.play("modules.yml", nil)
	closed, changed, refused, fine := b.host(), b.host(), b.host(), b.host()
	closed.Name, closed.Port = "closed", freePort(t)
	// ssh shares a connection between equal targets, and known_hosts is one for all: so each case has its address.
	changed.Name, changed.Address, changed.HostKeys = "changed", "127.0.0.2", []string{otherHostKey}
	refused.Name, refused.Address, refused.PrivateKey = "refused", "127.0.0.3", otherKey
	play.Hosts = []Host{fine, closed, changed, refused}
	out, _ := b.run(t, play)
	codes, messages := map[string]FailureCode{}, map[string]string{}
	for _, f := range out.Failures {
		codes[f.Host], messages[f.Host] = f.Code, f.Message
	}
	want := map[string]FailureCode{"closed": CodeUnreachable, "changed": CodeHostKeyChanged, "refused": CodeLoginRefused}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("%s%v", diff, messages)
	}
	for host, words := range map[string]string{
		// The words are ssh's or, where Ansible has lost those, our own.
		"closed": "onnect", "refused": "Permission denied (publickey",
		"changed": "the host shows the ED25519 key SHA256:",
	} {
		if !strings.Contains(messages[host], words) || len(messages[host]) > 200 {
			t.Errorf("message of %s is %q", host, messages[host])
		}
	}
	if out.Results["h1"] == nil || out.Stats["h1"].OK != 2 {
		t.Errorf("the host that is fine: %s, %+v", out.Results["h1"], out.Stats["h1"])
	}
}

// A host must not change the inventory by its answer.
func TestHostileResult(t *testing.T) {
	b := setup(t)
	canary := filepath.Join(b.dir, "owned")
	b.write(t, "evil.sh", []byte("#!/bin/sh\ntouch "+canary+"\n"), 0o755)
	out, events := b.run(t, b.play("hostile.yml", map[string]any{"demo_dir": b.dir}))
	if _, err := os.Stat(canary); err == nil {
		t.Error("the host's answer ran a command on the controller")
	}
	if all := dump(events); !strings.Contains(all, "add_host") || out.Stats["h1"].OK != 2 {
		t.Errorf("this test would show nothing: %+v\n%s", out.Stats, all)
	}
	for _, e := range events {
		if e.Kind == EventFailed && (len(e.Output) > maxOutput || len(e.Output) < maxOutput/2 || !strings.Contains(e.Output, "bytes left out]")) {
			t.Errorf("%d bytes of output: %q", len(e.Output), tail(e.Output, 100))
		}
	}
	if f := out.Failure; f == nil || f.Code != CodeTaskFailed || f.Message != "non-zero return code\n?" {
		t.Errorf("failure %+v", f)
	}
}

func TestFence(t *testing.T) {
	b := setup(t)
	fenced := func(number int64) Play {
		p := b.play("modules.yml", nil)
		p.Hosts[0].Fence = &Fence{Incarnation: "11111111-2222-3333-4444-555555555555", Number: number, Run: "run-7"}
		return p
	}
	b.write(t, "fence-python", []byte(`#!/bin/sh
echo "$1 $2 $3" >>"$(dirname "$0")/fence.log"
[ "$2" -ge 5 ] || { echo "kloigos-fence: refused: token $2 is older than 5" >&2; exit 97; }
shift 3
exec /usr/bin/python3 "$@"
`), 0o755)
	out, _ := b.run(t, fenced(5))
	if out.Failure != nil {
		t.Fatalf("the holder is refused: %+v", out.Failure)
	}
	out, _ = b.run(t, fenced(4))
	if f := out.Failure; f == nil || f.Code != CodeFenced || f.Message != "kloigos-fence: refused: token 4 is older than 5" {
		t.Errorf("failure %+v", f)
	}
	log, err := os.ReadFile(filepath.Join(b.dir, "fence.log"))
	// One line for each module that was started, whatever interpreter it names.
	line := "11111111-2222-3333-4444-555555555555 N run-7\n"
	if want := strings.ReplaceAll(line+line, "N", "5") + strings.ReplaceAll(line, "N", "4"); err != nil || string(log) != want {
		t.Errorf("the fence saw %q, %v", log, err)
	}
}

// A run whose processes were killed by a newer holder sees a task that ended with 137, as one that ran out of memory
// does. The fence knows which it was.
func TestFenceThatKilledARun(t *testing.T) {
	b := setup(t)
	wrapper := func(second string) {
		b.write(t, "count", nil, 0o600)
		b.write(t, "fence-python", []byte(`#!/bin/sh
dir=$(dirname "$0")
echo >>"$dir/count"
[ "$(wc -l <"$dir/count")" -eq 1 ] && kill -9 $$
`+second+`
shift 3
exec /usr/bin/python3 "$@"
`), 0o755)
	}
	p := b.play("modules.yml", nil)
	p.Hosts[0].Fence = &Fence{Incarnation: "11111111-2222-3333-4444-555555555555", Number: 4, Run: "run-7"}
	wrapper(`echo "kloigos-fence: refused: token 4 is older than 5" >&2; exit 97`)
	out, _ := b.run(t, p)
	if f := out.Failure; f == nil || f.Code != CodeFenced || f.Message != "kloigos-fence: refused: token 4 is older than 5" || f.Task == "" {
		t.Errorf("killed by the fence: %+v", f)
	}
	wrapper("")
	out, _ = b.run(t, p)
	if f := out.Failure; f == nil || f.Code != CodeTaskFailed {
		t.Errorf("killed by something else: %+v", f)
	}
	if err := os.Remove(filepath.Join(b.dir, "fence-python")); err != nil {
		t.Fatal(err)
	}
	out, _ = b.run(t, p)
	if f := out.Failure; f == nil || f.Code != CodeNoFence {
		t.Errorf("no fence: %+v", f)
	}
}

// TestEndComesAsTheNewestHolder and starts nothing on the host.
func TestEndComesAsTheNewestHolder(t *testing.T) {
	b := setup(t)
	b.write(t, "fence-python", []byte(`#!/bin/sh
echo "$*" >>"$(dirname "$0")/fence.log"
[ "$2" -ge 5 ] || { echo "kloigos-fence: refused: token $2 is older than 5" >&2; exit 97; }
`), 0o755)
	host := b.play("modules.yml", nil).Hosts[0]
	if err := b.runner.End(t.Context(), host); !errors.Is(err, ErrInvalidPlay) {
		t.Errorf("without a fence: %v", err)
	}
	host.Fence = &Fence{Incarnation: "11111111-2222-3333-4444-555555555555", Number: 6, Run: "run-7"}
	if err := b.runner.End(t.Context(), host); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(b.dir, "fence.log"))
	if want := "11111111-2222-3333-4444-555555555555 6 run-7 -c pass\n"; err != nil || string(log) != want {
		t.Errorf("the fence saw %q, %v", log, err)
	}
	host.Fence.Number = 4
	if err := b.runner.End(t.Context(), host); err == nil || !strings.Contains(err.Error(), "token 4 is older") {
		t.Errorf("refused: %v", err)
	}
	_, other := newKey(t)
	host.HostKeys = []string{other}
	if err := b.runner.End(t.Context(), host); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("another key: %v", err)
	}
}

// A host that says no end of it when its fence is asked is hung up on: what it says is held in this process.
func TestFenceThatSaysNoEndOfIt(t *testing.T) {
	b := setup(t)
	b.write(t, "fence-python", []byte("#!/bin/sh\nexec yes kloigos-fence >&2\n"), 0o755)
	host := b.play("modules.yml", nil).Hosts[0]
	host.Fence = &Fence{Incarnation: "11111111-2222-3333-4444-555555555555", Number: 6, Run: "run-7"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := b.runner.End(ctx, host)
	if err == nil || ctx.Err() != nil || len(err.Error()) > 2*maxMessage {
		t.Errorf("%.200v, %v", err, ctx.Err())
	}
	if said, refused := refusedByFence(ctx, &host, filepath.Join(b.dir, "fence-python"), time.Minute); refused || len(said) != maxSaid || ctx.Err() != nil {
		t.Errorf("%d bytes, %v, %v", len(said), refused, ctx.Err())
	}
}

func TestSudoRefused(t *testing.T) {
	b := setup(t)
	// sshd puts this directory first on the PATH.
	b.write(t, "bin/sudo", []byte("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"), 0o755)
	out, _ := b.run(t, b.play("modules.yml", map[string]any{"demo_become_user": "daemon"}))
	if f := out.Failure; f == nil || f.Code != CodeSudoRefused || f.Message == "" {
		t.Errorf("failure %+v", f)
	}
}

// The words that our own connection finds must be right by themselves, because Ansible loses ssh's only at times.
func TestDiagnose(t *testing.T) {
	b := setup(t)
	_, otherHostKey := newKey(t)
	otherKey, _ := newKey(t)
	for _, c := range []struct {
		name   string
		change func(*Host)
		code   FailureCode
		words  string
	}{
		{"fine", func(*Host) {}, "", ""},
		{"closed", func(h *Host) { h.Port = freePort(t) }, CodeUnreachable, "connection refused"},
		{"other host key", func(h *Host) { h.HostKeys = []string{otherHostKey} }, CodeHostKeyChanged, "the ED25519 key SHA256:"},
		{"other key", func(h *Host) { h.PrivateKey = otherKey }, CodeLoginRefused, "Permission denied (publickey)"},
	} {
		h := b.host()
		c.change(&h)
		code, message, found := diagnose(t.Context(), &h, 10*time.Second)
		if code != c.code || found != (c.code != "") || !strings.Contains(message, c.words) {
			t.Errorf("%s: %q, %q, %v", c.name, code, message, found)
		}
	}
}
