package ansible

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadLinesGoesOnAfterAHugeOne(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "in halves": iotest.HalfReader,
	} {
		var got []string
		var lost []int64
		in := "first\n" + strings.Repeat("x", limit) + "\n" + strings.Repeat("y", limit+1) + "\n\nlast"
		err := readLines(wrap(strings.NewReader(in)), limit, func(l []byte) { got = append(got, string(l)) }, func(n int64) { lost = append(lost, n) })
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"first", strings.Repeat("x", limit), "last"}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(lost) != 1 || lost[0] != limit+1 {
			t.Errorf("%s: lost %v", name, lost)
		}
	}
	broken := errors.New("broken")
	if err := readLines(iotest.ErrReader(broken), 10, nil, nil); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func collect(t *testing.T, lines ...string) (*collector, []Event) {
	t.Helper()
	p := validPlay(t)
	p.Secrets = []string{"swordfish"}
	var events []Event
	c := newCollector(&p)
	c.sink = func(e Event) { events = append(events, e) }
	for _, l := range lines {
		c.line([]byte(l))
	}
	return c, events
}

const allFine = `{"kind":"stats","stats":{"h1":{"ok":2,"changed":1}}}`

func TestCollectorSurvivesHostileLines(t *testing.T) {
	t.Parallel()
	c, events := collect(t,
		`not json`, `{"kind":"sudo"}`, `[]`, `{"kind":"ok","time":"x"}`, `{"kind":"ok","time":1e300,"host":"h1"}`,
		`{"kind":"ok","host":"h1","message":"sword\u001b[2Jfish \u0000\ud800","task":"swordfish","output":"`+strings.Repeat(`\u0001`, 70_000)+strings.Repeat("o", 70_000)+`"}`,
		`{"kind":"result","host":"h1","result":"{\"a\":\"nul\\u0000 \\u001b[2Jx\",\"n\":12345678901234567890}"}`, allFine)
	out := c.outcome(superviseStatus{}, "")
	if out.Failure != nil || string(out.Results["h1"]) != `{"a":"nul x","n":12345678901234567890}` {
		t.Errorf("%+v %s", out.Failure, out.Results["h1"])
	}
	result, last := events[len(events)-1], events[len(events)-2]
	if result.Kind != EventResult || result.Host != "h1" || string(result.Result) != string(out.Results["h1"]) {
		t.Errorf("the result is told as %+v", result)
	}
	if last.Message != "[redacted] \ufffd" || last.Task != "[redacted]" || len(last.Output) > maxOutput {
		t.Errorf("%q, %q, %d bytes", last.Message, last.Task, len(last.Output))
	}
}

func TestCollectorCapsTheRun(t *testing.T) {
	t.Parallel()
	line := `{"kind":"ok","host":"h1","output":"` + strings.Repeat("o", maxOutput-10) + `"}`
	lines := make([]string, maxRunBytes/maxOutput+10)
	for i := range lines {
		lines[i] = line
	}
	_, events := collect(t, lines...)
	total := 0
	for _, e := range events {
		total += len(e.Output)
	}
	if len(events) != len(lines) || total > maxRunBytes+maxOutput {
		t.Errorf("%d events with %d bytes", len(events), total)
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	failed := `{"kind":"failed","host":"h1","task":"T","role":"r","message":"msg","stderr":"why\n"}`
	for _, c := range []struct {
		name    string
		lines   []string
		status  superviseStatus
		stopped FailureCode
		want    *Failure
	}{
		{"fine", []string{allFine}, superviseStatus{}, "", nil},
		{"failed", []string{failed, `{"kind":"stats","stats":{"h1":{"failures":1}}}`}, superviseStatus{Exit: 2}, "", &Failure{Code: CodeTaskFailed, Host: "h1", Role: "r", Task: "T", Message: "msg\nwhy"}},
		{"rescued", []string{failed, `{"kind":"stats","stats":{"h1":{"rescued":1}}}`}, superviseStatus{}, "", nil},
		{"failed, then killed", []string{failed}, superviseStatus{Signal: 9}, "", &Failure{Code: CodeTaskFailed, Host: "h1", Role: "r", Task: "T", Message: "msg\nwhy"}},
		{"failed, went on, then killed", []string{failed, `{"kind":"task_started","task":"U","role":"r"}`}, superviseStatus{Signal: 9}, "", &Failure{Code: CodeKilled, Role: "r", Task: "U", Message: "ansible-playbook was killed by signal 9"}},
		{"its ssh killed", []string{`{"kind":"failed","host":"h1","task":"T","role":"r","message":"MODULE FAILURE","killed":true}`, `{"kind":"stats","stats":{"h1":{"failures":1}}}`}, superviseStatus{Exit: 2}, "", &Failure{Code: CodeKilled, Host: "h1", Role: "r", Task: "T", Message: "the ssh that ran the task was killed"}},
		{"refused by a role", []string{`{"kind":"failed","host":"h1","task":"T","role":"r","message":"refused (identity_taken): the account alice has UID 5001"}`, `{"kind":"stats","stats":{"h1":{"failures":1}}}`}, superviseStatus{Exit: 2}, "", &Failure{Code: CodeIdentityTaken, Host: "h1", Role: "r", Task: "T", Message: "the account alice has UID 5001"}},
		{"refused with a code of the host's own", []string{`{"kind":"failed","host":"h1","task":"T","role":"r","message":"refused (host_key_changed): x"}`, `{"kind":"stats","stats":{"h1":{"failures":1}}}`}, superviseStatus{Exit: 2}, "", &Failure{Code: CodeTaskFailed, Host: "h1", Role: "r", Task: "T", Message: "refused (host_key_changed): x"}},
		{"killed", nil, superviseStatus{Signal: 9}, "", &Failure{Code: CodeKilled, Message: "ansible-playbook was killed by signal 9"}},
		{"no statistics", nil, superviseStatus{}, "", &Failure{Code: CodePlaybookError, Message: "ansible-playbook ended without its statistics"}},
		{"not on every host", []string{`{"kind":"stats","stats":{"other":{"ok":1}}}`}, superviseStatus{}, "", &Failure{Code: CodePlaybookError, Message: "no task was run on host h1"}},
		{"nothing but a code", []string{allFine}, superviseStatus{Exit: 4}, "", &Failure{Code: CodePlaybookError, Message: "ansible-playbook ended with 4"}},
		{"result is too large", []string{`{"kind":"result","host":"h1","message":"kloigos_result has 2 bytes"}`, allFine}, superviseStatus{}, "", &Failure{Code: CodePlaybookError, Message: "host h1: kloigos_result has 2 bytes"}},
		{"result is no JSON", []string{`{"kind":"result","host":"h1","result":"{\"a\":NaN}"}`, allFine}, superviseStatus{}, "", &Failure{Code: CodePlaybookError, Message: "host h1: kloigos_result is not valid JSON"}},
		{"cancelled", []string{`{"kind":"task_started","task":"T","role":"r"}`}, superviseStatus{Stopped: true, Signal: 15}, CodeCancelled, &Failure{Code: CodeCancelled, Role: "r", Task: "T", Message: "the run was cancelled"}},
		{"cancelled after its end", []string{allFine}, superviseStatus{Stopped: true}, CodeCancelled, nil},
	} {
		col, _ := collect(t, c.lines...)
		out := col.outcome(c.status, c.stopped)
		if diff := cmp.Diff(c.want, out.Failure); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind EventKind
		text string
		want FailureCode
	}{
		{EventUnreachable, "ssh: connect to host x port 22: Connection timed out", CodeUnreachable},
		{EventFailed, "MODULE FAILURE\nkloigos-fence: cannot check: older run run-5-a does not end", CodeFenceUnchecked},
		{EventFailed, "MODULE FAILURE\nkloigos-fence: cannot check: the log cannot be written", CodeTaskFailed},
		{EventFailed, "MODULE FAILURE\nkloigos-fence: cannot check: no fence state here, or not root", CodeNoFence},
		{EventUnreachable, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", CodeHostKeyChanged},
		{EventUnreachable, "No ED25519 host key is known for x and you have requested strict checking.\nHost key verification failed.", CodeHostKeyChanged},
		{EventUnreachable, "Unable to negotiate with 1.2.3.4 port 22: no matching host key type found. Their offer: ssh-rsa", CodeHostKeyChanged},
		{EventUnreachable, "admin@x: Permission denied (publickey).", CodeLoginRefused},
		{EventFailed, "MODULE FAILURE\n\nkloigos-fence: refused: token 3 is older than 4", CodeFenced},
		{EventFailed, "Failed to get information on remote file (/x): kloigos-fence: refused: incarnation", CodeFenced},
		{EventFailed, "Missing sudo password", CodeSudoRefused},
		{EventFailed, "admin is not in the sudoers file.", CodeSudoRefused},
		{EventFailed, "cat: /x: Permission denied", CodeTaskFailed},
		{EventFailed, "Timeout (12s) waiting for privilege escalation prompt: ", CodeUnreachable},
		{EventFailed, "it said: Timeout (12s) waiting for privilege escalation prompt: ", CodeTaskFailed},
		// A task's own words about keys are no statement about the connection.
		{EventFailed, "Host key verification failed.", CodeTaskFailed},
	} {
		if got := classify(c.kind, c.text); got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.kind, c.text, got, c.want)
		}
	}
}
