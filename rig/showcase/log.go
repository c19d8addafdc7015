package showcase

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"kloigos/backend/api"
)

const chunkLines = 250 // entries of one chunk of a log

// log collects what a job told, as a worker's log would: numbered, in chunks.
type log struct {
	job     uuid.UUID
	attempt int
	step    string
	at      time.Time
	host    string // that it is about
	story   story
	last    int64
	open    []api.LogEntry
	rows    [][]any // of job_log, in the order of logColumns
}

var logColumns = []string{"job_id", "first_seq", "last_seq", "attempt", "entries", "outline"}

func newLog(job uuid.UUID, kind, host string, at time.Time, step string) *log {
	return &log{job: job, attempt: 1, step: step, at: at, host: host, story: storyOf(kind)}
}

func (l *log) add(e api.LogEntry) {
	l.last++
	l.at = l.at.Add(max(time.Duration(e.DurationMS), 4) * time.Millisecond)
	e.Sequence, e.Attempt, e.Step, e.Time = l.last, l.attempt, l.step, l.at
	l.open = append(l.open, e)
	if len(l.open) == chunkLines {
		l.close()
	}
}

func (l *log) close() {
	if len(l.open) == 0 {
		return
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, e := range l.open {
		_ = encoder.Encode(e) // plain data into memory
	}
	l.rows = append(l.rows, []any{l.job, l.open[0].Sequence, l.last, l.attempt, compress(lines.Bytes()), outlined(l.open)})
	l.open = nil
}

var encoder, _ = zstd.NewWriter(nil) // fails for bad options only; there are none

func compress(plain []byte) []byte { return encoder.EncodeAll(plain, nil) }

// task is one task of the plays that are told of here.
type task struct{ role, name, action string }

var tasks = []task{
	{"host_initialize", "Install the packages that units need", "ansible.builtin.apt"},
	{"host_initialize", "Make the volume group", "community.general.lvg"},
	{"host_initialize", "Keep the system on its own CPUs", "ansible.builtin.template"},
	{"host_initialize", "Put the fence in place", "ansible.builtin.copy"},
	{"unit_volume", "Make the volume", "community.general.lvol"},
	{"unit_volume", "Make the file system", "community.general.filesystem"},
	{"unit_volume", "Mount the volume", "ansible.posix.mount"},
	{"unit_slice", "Write the slice of the unit", "ansible.builtin.template"},
	{"unit_slice", "Write the firewall of the unit", "ansible.builtin.template"},
	{"unit_slice", "Load the AppArmor profile", "ansible.builtin.template"},
}

const aDiff = `--- before: /etc/systemd/system/%[1]s.slice
+++ after: /etc/systemd/system/%[1]s.slice
@@ -1,7 +1,8 @@
 [Slice]
-AllowedCPUs=1-2
+AllowedCPUs=1-3
 AllowedMemoryNodes=0
-MemoryHigh=3800M
-MemoryMax=4G
+MemoryHigh=5700M
+MemoryMax=6G
+TasksMax=2048
 CPUAccounting=yes
`

const aFailure = "\x1b[31mfatal\x1b[0m: [%s]: \x1b[1m%s\x1b[0m\n  %s\n"

// play tells of the beginning of a play.
func (l *log) play(name string) { l.add(api.LogEntry{Kind: "play_started", Play: name}) }

// task tells of one task on one host, with a line for each item of its loop, if any, before the task's own.
func (l *log) task(t task, host, kind string, items int) {
	l.add(api.LogEntry{Kind: "task_started", Role: t.role, Task: t.name, Action: t.action})
	one := api.LogEntry{Role: t.role, Task: t.name, Action: t.action, Host: host}
	for i := range items {
		e := one
		e.Kind, e.Item, e.DurationMS = []string{"ok", "changed", "ok", "skipped"}[i%4], fmt.Sprintf("%s-cu%02d", host, i+1), int64(20+i%90)
		e.Changed = e.Kind == "changed"
		if e.Changed {
			e.Diff = fmt.Sprintf(aDiff, e.Item)
		}
		l.add(e)
	}
	one.Kind, one.Changed, one.DurationMS = kind, kind == "changed", int64(120+len(t.name)*13)
	switch kind {
	case "changed":
		one.Diff = fmt.Sprintf(aDiff, host)
	case "skipped":
		one.Message = "the condition does not hold"
	case "failed":
		one.Message = l.story.why + ": " + l.story.more
		one.Output = fmt.Sprintf(aFailure, host, l.story.why, l.story.more)
	case "ok":
		one.Output = strings.Repeat("Reading package lists... Done\n", len(t.name)%3)
	}
	l.add(one)
}

// told is the log of a whole job that ended in one state.
func (l *log) told(host, state string) {
	l.play(l.story.play)
	for i, t := range l.story.tasks {
		kind := []string{"ok", "changed", "ok", "skipped", "changed"}[(i+int(l.job[0]))%5]
		if kind == "changed" && t.role == "host_probe" { // a probe changes nothing
			kind = "ok"
		}
		if i == l.story.fails && state == "failed" {
			l.task(t, host, "failed", 0)
			break
		}
		items := i % 3
		if t.role == "host_probe" {
			items = 0
		}
		l.task(t, host, kind, items)
	}
	l.add(api.LogEntry{Kind: "finished", Message: map[string]string{"failed": "failed", "cancelled": "cancelled by a person"}[state]})
	l.close()
}

// toldAtLength is a log of so many lines, with a failure that was ignored in its middle and the one that counts at its end.
func (l *log) toldAtLength(host string, lines int) {
	l.play("Prepare the host and its units")
	for n := 0; l.last < int64(lines-4); n++ {
		t := tasks[n%len(tasks)]
		t.name = fmt.Sprintf("%s (%d)", t.name, n+1)
		items := min(118, lines-4-int(l.last)-2)
		kind := []string{"ok", "changed", "ok", "ok", "skipped"}[n%5]
		if int(l.last) < lines/2 && int(l.last)+items+2 >= lines/2 {
			kind = "ignored"
		}
		l.task(t, host, kind, max(items, 0))
	}
	l.task(tasks[4], host, "failed", 0)
	l.add(api.LogEntry{Kind: "finished", Message: "failed"})
	l.close()
}
