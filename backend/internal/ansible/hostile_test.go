package ansible

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hostileValues are what users may call things. Each would make the canary if anything ran it.
func hostileValues(canary string) []string {
	return []string{
		"{{ 7919*7907 }}", "{{ lookup('pipe', 'touch " + canary + "') }}", "{{ query('ansible.builtin.pipe', 'touch " + canary + "') }}",
		"{{ lookup('env', 'PATH') }}", "{% for x in [1] %}{{ lookup('pipe', 'touch " + canary + "') }}{% endfor %}", "{# x #}", "{% raw %}", "{{",
		"{{ ''.__class__.__mro__[1].__subclasses__() }}", "lookup('pipe', 'touch " + canary + "') == ''",
		"$(touch " + canary + ")", "`touch " + canary + "`", "; touch " + canary, "| touch " + canary, "& touch " + canary, "\ntouch " + canary + "\n",
		"-oProxyCommand=touch " + canary, "--upload-pack=touch " + canary, "-e @/etc/passwd", "@/etc/passwd", "a\r\nb", "\u202Etxt.exe", "<script>alert(1)</script>", `'"\`,
		"ansible_connection=local", "!unsafe x", "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  00", "%s%n", "../../../etc/passwd", "null", "yes", "1.0", "~",
		`{"__ansible_unsafe": "{{ 7919*7907 }}"}`, "{'__ansible_vault': 'x'}", "[1, 2", "# x", "a\tb", " ", "",
	}
}

// Hostile values go through the real Ansible to a real sshd, in every way that playbooks use values: nothing of them is
// ever evaluated, here or on the host, and each arrives byte for byte.
func TestHostileValuesAreOnlyText(t *testing.T) {
	b := setup(t)
	canary := filepath.Join(b.dir, "canary")
	values := hostileValues(canary)
	p := b.play("values.yml", map[string]any{"demo_dir": b.dir, "demo_values": values})
	p.Diff = true
	out, events := b.run(t, p)
	b.noCanary(t, canary)
	if f := out.Failure; f == nil || !strings.HasPrefix(f.Task, "Fail with {{ lookup(") || f.Message != strings.TrimSpace(cleanText(strings.Join(values, " "))) {
		t.Fatalf("the play did not come to its last task: %+v", f)
	}
	lines := func(values ...string) string { return strings.Join(values, "\n") + "\n" }
	mixed, last := "", values[len(values)-1]
	for _, v := range values {
		mixed += "before " + v + " after"
	}
	for name, want := range map[string]string{
		"template": lines(values...),
		"text":     strings.Join(values, "|"),
		"said":     strings.Replace(strings.Join(values, "\x00"), "~\x00", "", 1) + "\x00",
		"facts":    lines(append(slices.Clone(values), mixed, last, last, strings.Join(values, ""), mixed)...),
		"heard":    lines(append(slices.Clone(values), values...)...),
	} {
		got, err := os.ReadFile(filepath.Join(b.dir, name))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	var heard struct{ Echo []string }
	if err := json.Unmarshal(out.Results["h1"], &heard); err != nil || len(heard.Echo) != len(values) {
		t.Errorf("the result: %v, %d values", err, len(heard.Echo))
	}
	for _, e := range events {
		if strings.Contains(e.Message+e.Output+e.Item+e.Diff, "62615533") {
			t.Errorf("something was calculated: %+v", e)
		}
		checkClean(t, e)
	}
}

func (b *bed) noCanary(t *testing.T, canary string) {
	t.Helper()
	// Host and controller are one machine here, so this file is the canary of both.
	if _, err := os.Stat(canary); err == nil {
		t.Error("a value was run")
	}
	if err := filepath.WalkDir(b.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), "canary") {
			t.Errorf("there is %s", path)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// checkClean fails where an event holds what is never to be stored or shown.
func checkClean(t *testing.T, e Event) {
	t.Helper()
	for _, s := range []string{e.Play, e.Role, e.Task, e.Action, e.Host, e.Item, e.Message, e.Output, e.Diff} {
		if s != cleanText(s) {
			t.Errorf("not clean: %.300q", s)
		}
	}
	if len(e.Message) > maxMessage || len(e.Output) > maxOutput || len(e.Diff) > maxDiff || len(e.Task) > maxName || len(e.Item) > maxName {
		t.Errorf("an event is too large: %d, %d, %d, %d, %d bytes", len(e.Message), len(e.Output), len(e.Diff), len(e.Task), len(e.Item))
	}
}

// measured is what a backend in a process of its own tells of one run: events, each on a line, then the rest.
type measured struct {
	Event   *Event `json:",omitempty"`
	Outcome Outcome
	Before  int64 // bytes resident
	Peak    int64
}

// measureForTest runs the play of a file and tells what it cost this process.
func measureForTest(file string) int {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	var job backendJob
	if json.Unmarshal(raw, &job) != nil {
		return 1
	}
	r, err := NewRunner(Config{RunRoot: job.RunRoot})
	if err != nil {
		return 1
	}
	var m measured
	warm := job.Play // what the process needs once, it may have
	warm.Playbook, warm.Vars = "modules.yml", nil
	if _, err := r.Run(context.Background(), warm, func(Event) {}); err != nil {
		return 1
	}
	debug.SetGCPercent(20) // what is measured is what a flood makes it hold, not how long ago it last collected
	m.Before = resident()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			m.Peak = max(m.Peak, resident())
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	out := json.NewEncoder(os.Stdout)
	m.Outcome, err = r.Run(context.Background(), job.Play, func(e Event) { _ = out.Encode(measured{Event: &e}) })
	close(stop)
	<-stopped
	if err != nil || m.Before == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if out.Encode(m) != nil {
		return 1
	}
	return 0
}

// resident is the memory that this process has for itself, in bytes: without the pages of its program, which more code
// that is run brings in.
func resident() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	var kib int64
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}

// mostMemory is what a flood may make the backend hold beyond a run that is not one: a third of the 50 MB that the host
// sends here, and the same however much it sends.
const mostMemory = 16 << 20

// A host answers with 5 MB on one line, a million lines, binary, terminal escapes, markup, what is no answer at all, and
// a banner: the backend stays small, what it hands on is capped and clean, and the run comes to its end.
func TestHostileHostCostsLittle(t *testing.T) {
	b := setup(t)
	b.write(t, "banner", bytes.Repeat([]byte("\x1b]0;owned\a<script>{{ 7*7 }}\r\n"), 2000), 0o600)
	lie := "{{ lookup('pipe', 'touch " + filepath.Join(b.dir, "canary") + "') }}\x00\x1b[2J" + strings.Repeat("l", 2000)
	job, err := json.Marshal(map[string]any{"RunRoot": b.root, "Play": map[string]any{
		"Name": "flood", "Bundle": b.bundle, "Playbook": "flood.yml", "Hosts": []Host{b.host()}, "Vars": map[string]any{"demo_lie": lie},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "job.json", job, 0o600)
	backend := exec.Command("/proc/self/exe", measureArg, filepath.Join(b.dir, "job.json"))
	backend.Stderr = os.Stderr
	answer, err := backend.Output()
	if err != nil {
		t.Fatal(err)
	}
	var m measured
	var events []Event
	for told := json.NewDecoder(bytes.NewReader(answer)); told.More(); {
		m = measured{}
		if err := told.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Event != nil {
			events = append(events, *m.Event)
		}
	}
	total, tasks := 0, map[string]bool{}
	for _, e := range events {
		checkClean(t, e)
		total += len(e.Message) + len(e.Output) + len(e.Diff)
		if e.Kind == EventTaskStarted {
			tasks[e.Task] = true
		}
	}
	t.Logf("%d events with %d bytes; the backend grew by %.1f MiB", len(events), total, float64(m.Peak-m.Before)/(1<<20))
	if len(tasks) != 8 || total > 2<<20 {
		t.Errorf("%d tasks, %d bytes:\n%s", len(tasks), total, dump(events))
	}
	if m.Peak-m.Before > mostMemory {
		t.Errorf("the backend grew by %d MiB", (m.Peak-m.Before)>>20)
	}
	f := m.Outcome.Failure
	if f == nil || f.Code != CodePlaybookError && f.Code != CodeTaskFailed {
		t.Fatalf("failure %+v", f)
	}
	if f.Task != cleanText(f.Task) || f.Message != cleanText(f.Message) || len(f.Task) > maxName || len(f.Message) > maxMessage {
		t.Errorf("the failure is not fit to be stored: %d and %d bytes: %q", len(f.Task), len(f.Message), f)
	}
	b.noCanary(t, filepath.Join(b.dir, "canary"))
}
