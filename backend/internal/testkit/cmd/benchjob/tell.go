package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
)

// entry is the nth thing that a play tells: most are a line, one in ten has the output of a command. The digest keeps
// them from being more alike than those of a real play.
func entry(n int) store.LogEntry {
	sum := sha256.Sum256([]byte(fmt.Sprint(n)))
	digest := hex.EncodeToString(sum[:])
	e := store.LogEntry{
		Step: "play", Kind: []string{"ok", "changed", "skipped"}[n%3], Play: "Set a compute unit up", Role: "kloigos_unit",
		Task: fmt.Sprintf("Write the unit's file %d", n%40), Action: "ansible.builtin.template", Host: "bench-00001",
		Item: "/etc/kloigos/units/" + digest[:12], Changed: n%3 == 1, DurationMS: int64(n % 900),
	}
	if n%10 == 0 {
		e.Message = "written, checksum " + digest
		e.Output = strings.Repeat("line "+digest[:20]+" of what a command wrote\n", 8)
	}
	return e
}

// entries are so many from the nth on, counted from 0.
func entries(from, n int) []store.LogEntry {
	all := make([]store.LogEntry, n)
	for i := range all {
		all[i] = entry(from + i)
	}
	return all
}

// tell runs one job through the queue and says its id. For each line of standard input, how many entries and how many
// of them a second (0: as fast as it goes), it tells so many more and says how long that took, from the first of them
// until all are stored. The job ends with standard input; then its log is read back.
func tell(ctx context.Context, db *store.DB) error {
	worker, err := appear(ctx, db)
	if err != nil {
		return err
	}
	id, err := enqueue(ctx, db)
	if err != nil {
		return err
	}
	stop, end := context.WithCancel(ctx)
	defer end()
	signals := queue.NewSignals()
	t := talk{db: db, in: bufio.NewScanner(os.Stdin)}
	work := func(ctx context.Context, c store.Claim, log *queue.Log) queue.Result {
		defer end()
		id = c.ID // beside others of this program, any of their jobs
		stored, forget := signals.Watch(c.ID)
		defer forget()
		t.failed = t.run(ctx, c.ID, log, stored)
		return queue.Result{End: queue.Succeeded, Outcome: "told"}
	}
	queue.New(db, work, signals, queue.Config{Worker: worker, Slots: 1, Logger: slog.New(slog.DiscardHandler)}).Run(stop, ctx)
	if t.failed != nil {
		return t.failed
	}
	return check(ctx, db, id, t.told)
}

// talk is what one job tells.
type talk struct {
	db     *store.DB
	in     *bufio.Scanner
	told   int
	failed error
}

func (t *talk) run(ctx context.Context, id uuid.UUID, log *queue.Log, stored <-chan struct{}) error {
	if err := say(map[string]any{"job": id}); err != nil {
		return err
	}
	for t.in.Scan() {
		var more, pace int
		if _, err := fmt.Sscan(t.in.Text(), &more, &pace); err != nil {
			return fmt.Errorf("read what to tell: %w", err)
		}
		rows := entries(t.told, more)
		begun := time.Now()
		for n, e := range rows {
			if pace > 0 {
				time.Sleep(time.Until(begun.Add(time.Duration(n) * time.Second / time.Duration(pace))))
			}
			log.Add(e)
		}
		t.told += more
		if err := await(ctx, t.db, id, int64(t.told), stored); err != nil {
			return err
		}
		if err := say(map[string]any{"seconds": time.Since(begun).Seconds()}); err != nil {
			return err
		}
	}
	return t.in.Err()
}

// await waits until so many entries are stored.
func await(ctx context.Context, db *store.DB, id uuid.UUID, count int64, stored <-chan struct{}) error {
	for {
		last, err := db.LastSequence(ctx, id)
		if err != nil || last >= count {
			return err
		}
		select {
		case <-stored:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// check reads the log back: each entry once, in order, as it was told.
func check(ctx context.Context, db *store.DB, id uuid.UUID, count int) error {
	for n := 0; n < count; {
		some, err := db.JobLog(ctx, id, int64(n), 2000)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return fmt.Errorf("%d of %d entries were stored", n, count)
		}
		for _, e := range some {
			want := entry(n)
			if n++; e.Sequence != int64(n) || e.Attempt != 1 || e.Item != want.Item || e.Output != want.Output {
				return fmt.Errorf("entry %d is %+v", n, e)
			}
		}
	}
	return nil
}

var columns = []string{
	"job_id", "attempt", "sequence", "step", "time", "kind", "play", "role", "task", "action", "item", "host", "changed",
	"message", "output", "diff", "duration_ms",
}

// copyRows brings the same entries into a table, a row each, with one COPY.
func copyRows(ctx context.Context, url string, count int) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `
CREATE TABLE bench_log (
    job_id UUID, attempt INT4, sequence INT8, step TEXT, time TIMESTAMPTZ, kind TEXT, play TEXT, role TEXT, task TEXT, action TEXT,
    item TEXT, host TEXT, changed BOOL, message TEXT, output TEXT, diff TEXT, duration_ms INT8,
    PRIMARY KEY (job_id, attempt, sequence)
)`)
	if err != nil {
		return fmt.Errorf("make a table: %w", err)
	}
	id, rows := uuid.New(), entries(0, count)
	begun := time.Now()
	n, err := conn.CopyFrom(ctx, pgx.Identifier{"bench_log"}, columns, pgx.CopyFromSlice(count, func(n int) ([]any, error) {
		e := rows[n]
		return []any{
			id, 1, int64(n + 1), e.Step, time.Now(), e.Kind, e.Play, e.Role, e.Task, e.Action, e.Item, e.Host, e.Changed,
			e.Message, e.Output, e.Diff, e.DurationMS,
		}, nil
	}))
	took := time.Since(begun)
	if err != nil || n != int64(count) {
		return fmt.Errorf("copied %d of %d rows: %w", n, count, err)
	}
	if _, err := conn.Exec(ctx, `DROP TABLE bench_log`); err != nil {
		return fmt.Errorf("remove the table: %w", err)
	}
	return say(map[string]any{"seconds": took.Seconds()})
}
