package store

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit"
)

// However a log is cut into chunks, and whichever of them have no outline of
// their own, its outline is the same.
func TestAnOutlineIsMadeOfThoseOfChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Custom(func(t *rapid.T) LogEntry {
			return LogEntry{
				Kind: rapid.SampledFrom([]string{"task_started", "task_started", "ok", "ok", "changed", "failed", "skipped", "output", "note"}).Draw(t, "kind"),
				Task: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "task"), Host: rapid.SampledFrom([]string{"h1", "h2", "h3"}).Draw(t, "host"),
				Item: rapid.SampledFrom([]string{"", "", "i"}).Draw(t, "item"), DurationMS: rapid.Int64Range(0, 9).Draw(t, "duration"),
			}
		})
		entries := rapid.SliceOfN(entry, 0, 40).Draw(t, "entries")
		for i := range entries {
			entries[i].Sequence = int64(i + 1)
		}
		var got Outline
		for rest := entries; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			packed, err := outlineOf(rest[:n]).packed()
			if err != nil {
				t.Fatal(err)
			}
			if len(packed) > 0 {
				if err := got.mergePacked([]logOutline{{Outline: packed}}); err != nil {
					t.Fatal(err)
				}
			}
			rest = rest[n:]
		}
		if d := cmp.Diff(outlineOf(entries), got); d != "" {
			t.Fatal(d)
		}
	})
}

// runningJob is a job in its first attempt.
func runningJob(t *testing.T, db *opened) uuid.UUID {
	t.Helper()
	id := uuid.New()
	if err := db.InTx(t.Context(), func(tx *Tx) error { return tx.EnsureDefaultScopes(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	if _, err := db.pool.Exec(t.Context(), `
		INSERT INTO jobs (id, workspace_id, kind, args, state, priority, deadline_at, attempt, max_attempts, requested_by, lease_expires_at, worker_id)
		VALUES ($1, $2, 'host_probe', '{}', 'running', 0, now(), 1, 1, 'ada', now(), $1)`, id, domain.DefaultWorkspace); err != nil {
		t.Fatal(err)
	}
	return id
}

// logReads counts the rows of logs that are read, and those with their lines.
type logReads struct{ rows, whole atomic.Int64 }

type sentKey struct{}

func (r *logReads) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, sentKey{}, q.SQL)
}

func (r *logReads) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	sql, _ := ctx.Value(sentKey{}).(string)
	if !strings.Contains(sql, "FROM job_log") {
		return
	}
	r.rows.Add(q.CommandTag.RowsAffected())
	if strings.Contains(sql, "l.entries") {
		r.whole.Add(q.CommandTag.RowsAffected())
	}
}

// The outline of a million lines is read from as few rows as it has tasks, and
// none of the lines is decoded: they could not be.
func TestTheOutlineOfAMillionLines(t *testing.T) {
	t.Parallel()
	read := &logReads{}
	db := open(t, testkit.MigratedURL(t), WithTracer(read))
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	id, next := runningJob(t, db), int64(1)
	tell := func(entries ...LogEntry) {
		t.Helper()
		for i := range entries {
			entries[i].Sequence, entries[i].Attempt = next, 1
			next++
		}
		if err := db.InTx(t.Context(), func(tx *Tx) error { return tx.AppendLog(t.Context(), id, 1, entries) }); err != nil {
			t.Fatal(err)
		}
	}
	lines := make([]LogEntry, 200)
	for i := range lines {
		lines[i] = LogEntry{Kind: "output", Output: "a line"}
	}
	const tasks, chunksOfATask = 50, 100
	want := Outline{Hosts: []string{"h1"}, Counts: map[string]int{"ok": tasks}}
	for n := range tasks {
		name := fmt.Sprint("Task ", n)
		task := OutlineTask{Sequence: next, Attempt: 1, Task: name, Announced: true}
		tell(LogEntry{Kind: "task_started", Task: name}, LogEntry{Kind: "output", Output: "begun"})
		tell(lines...)
		// As many more chunks as a play takes long, each a copy of the last one.
		exec(`INSERT INTO job_log (job_id, first_seq, last_seq, attempt, entries, outline)
		      SELECT l.job_id, l.first_seq + 200 * n, l.last_seq + 200 * n, l.attempt, l.entries, l.outline
		        FROM job_log l, generate_series(1, $2) AS n WHERE l.job_id = $1 AND l.last_seq = $3`, id, chunksOfATask-1, next-1)
		next += 200 * (chunksOfATask - 1)
		task.Results = []OutlineResult{{Host: "h1", Kind: "ok", Sequence: next, DurationMS: 5}}
		tell(LogEntry{Kind: "ok", Task: name, Host: "h1", DurationMS: 5})
		want.Tasks = append(want.Tasks, task)
	}
	want.Last = next - 1
	exec(`UPDATE job_log SET entries = 'unreadable'::BYTEA WHERE job_id = $1`, id)
	read.rows.Store(0)
	read.whole.Store(0)
	got, err := db.JobOutline(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if rows := read.rows.Load(); rows > 2*tasks+1 || read.whole.Load() > 0 {
		t.Errorf("%d rows were read, %d with their lines, of a log of %d lines with %d tasks", rows, read.whole.Load(), want.Last, tasks)
	}
}

// Chunks that were written before there were outlines are read themselves, in
// whatever order they lie among others.
func TestTheOutlineOfAnOldLog(t *testing.T) {
	t.Parallel()
	db := open(t, testkit.MigratedURL(t))
	id := runningJob(t, db)
	var all []LogEntry
	for n := range 300 {
		kind := []string{"task_started", "ok", "output"}[n%3]
		all = append(all, LogEntry{Sequence: int64(n + 1), Attempt: 1, Kind: kind, Task: fmt.Sprint("Task ", n/3), Host: fmt.Sprint("h", n%2)})
	}
	for rest := all; len(rest) > 0; rest = rest[4:] { // 75 chunks, cut anywhere
		if err := db.InTx(t.Context(), func(tx *Tx) error { return tx.AppendLog(t.Context(), id, 1, rest[:4]) }); err != nil {
			t.Fatal(err)
		}
	}
	want := outlineOf(all)
	want.Last = int64(len(all))
	for _, old := range []string{"first_seq < 150", "first_seq % 3 = 0", "true"} {
		if _, err := db.pool.Exec(t.Context(), `UPDATE job_log SET outline = NULL WHERE job_id = $1 AND `+old, id); err != nil {
			t.Fatal(err)
		}
		got, err := db.JobOutline(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", old, d)
		}
	}
}
