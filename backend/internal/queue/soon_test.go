package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
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
	// As intents do it.
	soon := func(takes time.Duration) (id uuid.UUID) {
		s.Tx(func(tx *store.Tx) (err error) {
			id, err = tx.Enqueue(t.Context(), s.Actor, domain.DefaultWorkspace, job.HostProbe{HostID: host})
			b.Queue.Soon()
			time.Sleep(takes)
			return err
		})
		return id
	}
	for i := range 20 {
		id := soon(time.Duration(i%2) * 5 * time.Millisecond)
		b.Queue.Wake()
		s.Ended(id, domain.JobSucceeded)
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
