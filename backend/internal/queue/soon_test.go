package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// TestClaimBegunBeforeItsJob: a claim that began while a job was being
// committed finds it; one that waited for nothing keeps no other from being
// found. No look of the queue's own helps.
func TestClaimBegunBeforeItsJob(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	b := s.BackendWith(func(context.Context, store.Claim, *queue.Log) queue.Result { return queue.Result{End: queue.Succeeded} },
		queue.Config{Poll: time.Hour})
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	begun := 0 // claims that were seen to wait in a transaction while their job was not committed
	// As intents do it.
	soon := func(takes time.Duration) (id uuid.UUID) {
		s.Tx(func(tx *store.Tx) (err error) {
			id, err = tx.Enqueue(t.Context(), s.Actor, domain.DefaultWorkspace, job.HostProbe{HostID: host})
			b.Queue.Soon()
			if time.Sleep(takes); takes == 0 || testkit.IsCockroach(t) {
				return err
			}
			var open int
			if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`).Scan(&open); err != nil {
				t.Error(err)
			}
			begun += min(max(open-1, 0), 1) // one is the job's own
			return err
		})
		return id
	}
	for i := range 20 {
		id := soon(time.Duration(i%2) * 5 * time.Millisecond)
		b.Queue.Wake()
		s.Ended(id, domain.JobSucceeded)
	}
	if begun == 0 && !testkit.IsCockroach(t) {
		t.Error("no claim began before its job was committed")
	}
	id := soon(2 * queue.SoonWithin) // slower than a claim waits for
	b.Queue.Wake()
	s.Ended(id, domain.JobSucceeded)

	b.Queue.Soon() // and that was not committed
	first, second := soon(0), soon(0)
	b.Queue.Wake()
	s.Ended(first, domain.JobSucceeded)
	b.Queue.Wake()
	s.Ended(second, domain.JobSucceeded)
}
