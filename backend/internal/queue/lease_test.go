package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestHandedOverIsNotRenewed: a renewal that waited for the row, and comes behind the hand-over, would keep everyone else
// from the job for a whole lease.
func TestHandedOverIsNotRenewed(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	id := enqueue(s, job.HostDecommission{HostID: s.ReadyHost(site.HostSpec{}).ID})
	worker := uuid.New()
	var c store.Claim
	s.Tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(t.Context(), worker, time.Minute, 1)
		if len(claims) == 1 {
			c = claims[0]
		}
		return err
	})
	if c.ID != id || c.Begun == nil {
		t.Fatalf("claimed %+v", c)
	}
	renew := func() error {
		return s.DB.InTx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.RenewLease(t.Context(), id, c.Attempt, worker, time.Minute)
			return err
		})
	}
	if err := renew(); err != nil {
		t.Fatal(err)
	}
	s.Tx(func(tx *store.Tx) error { return tx.HandOver(t.Context(), id, c.Attempt, 0) })
	if err := renew(); !errors.Is(err, store.ErrLost) {
		t.Errorf("the lease of a job that was handed over is renewed: %v", err)
	}
	if got := takeOver(s); len(got) != 1 || got[0].ID != id || !got[0].HandedOver {
		t.Errorf("%+v", got)
	}
}

// TestLeaseIsGivenUpInTime: at three quarters of it, also where the last renewal was being waited for until then.
func TestLeaseIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	const lease = 6 * time.Second // renewed every second
	id := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	worker := uuid.New()
	s.Tx(func(tx *store.Tx) error { _, err := tx.ClaimJobs(t.Context(), worker, lease, 1); return err })
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	given := make(chan error, 1)
	work := func(ctx context.Context, _ store.Claim, _ *queue.Log) queue.Result {
		if _, err := conn.Exec(t.Context(), `BEGIN; SELECT id FROM jobs WHERE id = '`+id.String()+`' FOR UPDATE`); err != nil {
			given <- err
			return queue.Result{End: queue.HandOver}
		}
		<-ctx.Done()
		given <- context.Cause(ctx)
		return queue.Result{End: queue.HandOver}
	}
	q := queue.New(s.DB, work, queue.NewSignals(), queue.Config{Worker: worker, Lease: lease})
	begun := time.Now()
	go q.Attempt(t.Context(), t.Context(), store.Claim{ID: id, Attempt: 1, State: "running"})
	select {
	case err := <-given:
		if took := time.Since(begun); !errors.Is(err, queue.ErrLeaseLost) || took < lease*3/4 || took > lease*3/4+700*time.Millisecond {
			t.Errorf("after %s: %v", took, err)
		}
	case <-time.After(2 * lease):
		t.Error("it is never given up")
	}
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Error(err)
	}
}
