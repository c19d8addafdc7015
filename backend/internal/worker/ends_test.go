package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// TestEndsOfRealJobsShareATransaction: what jobs mean for their objects, and the ends of their steps, fit behind the
// ends of the jobs that are written together; none has to be written by itself.
func TestEndsOfRealJobsShareATransaction(t *testing.T) {
	t.Parallel()
	const n = 8
	p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
	for i := range n {
		p.register(fmt.Sprintf("h%d", i), true)
	}
	var done sync.WaitGroup
	done.Add(n)
	gate, inner := make(chan struct{}), p.Work()
	var said bytes.Buffer // read when the backend has stopped
	b := p.BackendWith(func(ctx context.Context, c store.Claim, log *queue.Log) queue.Result {
		result := inner(ctx, c, log)
		done.Done()
		<-gate
		return result
	}, queue.Config{Slots: n, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	done.Wait()
	// While the hosts are held, the first ends wait for them and the others gather.
	conn, err := pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	held, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), `SELECT id FROM hosts FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	close(gate)
	time.Sleep(100 * time.Millisecond)
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Stop()
	site.Await(t, "the backend's end", b.Stopped())
	if strings.Contains(said.String(), "one by one") || strings.Count(said.String(), "end=succeeded") != n {
		t.Errorf("%s", &said)
	}
	var jobs, steps, writes int
	err = conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state = 'succeeded') FROM jobs`).Scan(&jobs)
	if err == nil {
		err = conn.QueryRow(t.Context(), `SELECT count(*) FROM job_steps WHERE state = 'succeeded'`).Scan(&steps)
	}
	if err != nil || jobs != n || steps != 2*n {
		t.Errorf("%d jobs and %d steps went well: %v", jobs, steps, err)
	}
	if testkit.IsCockroach(t) {
		return // has no xmin
	}
	if err := conn.QueryRow(t.Context(), `SELECT count(DISTINCT xmin::TEXT) FROM jobs`).Scan(&writes); err != nil || writes == n {
		t.Errorf("%d transactions for %d ends: %v", writes, n, err)
	}
}
