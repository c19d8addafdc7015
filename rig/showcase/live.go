package showcase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
)

// often is how often lines that are told live are written, as a worker does.
const often = 200 * time.Millisecond

// seenEach is how often the workers are seen; without that they count as gone after 30 s.
const seenEach = 5 * time.Second

// live tells more of a running job until it is stopped. A small showcase has no running job: its workers only stay alive.
type live struct {
	conn  *pgx.Conn
	end   context.CancelFunc
	ended chan error
}

func tell(conn *pgx.Conn, l *log, rate int) *live {
	ctx, cancel := context.WithCancel(context.Background())
	t := &live{conn: conn, end: cancel, ended: make(chan error, 1)}
	go func() { t.ended <- t.run(ctx, l, rate) }()
	return t
}

func (t *live) run(ctx context.Context, l *log, rate int) error {
	tick := time.NewTicker(often)
	defer tick.Stop()
	begun, from, n := time.Now(), int64(0), 0
	if l != nil {
		from = l.last
	}
	var seen time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if time.Since(seen) > seenEach {
			seen = time.Now()
			if err := t.seeWorkers(ctx); err != nil {
				return err
			}
		}
		if l == nil {
			continue
		}
		due := int64(time.Since(begun).Seconds() * float64(rate))
		for l.last-from < due {
			if n%40 == 0 {
				l.add(api.LogEntry{Kind: "task_started", Role: "unit_volume", Task: fmt.Sprintf("Make volume (%d)", n/40+1)})
			}
			kind := []string{"ok", "changed", "ok", "skipped"}[n%4]
			l.add(api.LogEntry{Kind: kind, Task: fmt.Sprintf("Make volume (%d)", n/40+1), Role: "unit_volume", Host: l.host, Item: fmt.Sprintf("cu%02d", n%40+1), DurationMS: int64(n%70 + 5)})
			n++
		}
		l.close()
		if len(l.rows) == 0 {
			continue
		}
		if _, err := t.conn.CopyFrom(ctx, pgx.Identifier{"job_log"}, logColumns, pgx.CopyFromRows(l.rows)); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("tell more of the running job: %w", err)
		}
		l.rows = nil
	}
}

// seeWorkers keeps the backends that hold the running jobs alive.
func (t *live) seeWorkers(ctx context.Context) error {
	if _, err := t.conn.Exec(ctx, "UPDATE backends SET seen_at = now() WHERE roles LIKE '%worker%'"); err != nil && ctx.Err() == nil {
		return fmt.Errorf("keep the workers alive: %w", err)
	}
	return nil
}

func (t *live) stop() error {
	t.end()
	return errors.Join(<-t.ended, t.conn.Close(context.Background()))
}
