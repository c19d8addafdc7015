package policy_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

// A database whose clock goes back by an hour has rows that lie an hour ahead.
// They are moved here instead, which is the same to it.
func TestTheDatabasesClockWentBack(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 8)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3", "4", "5", "6"}})
	var jobs []uuid.UUID
	for range 6 {
		_, id, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, id)
	}
	fresh, tried, waits, waitsLong, orphan, alive := jobs[0], jobs[1], jobs[2], jobs[3], jobs[4], jobs[5]
	later := func(id uuid.UUID, attempt int, wait string) {
		t.Helper()
		sql(s, `UPDATE jobs SET attempt = $2, run_after = now() + $3::INTERVAL WHERE id = $1`, id, attempt, wait)
	}
	leased := func(id uuid.UUID, lease string) {
		t.Helper()
		sql(s, `UPDATE jobs SET state = 'running', attempt = 1, worker_id = gen_random_uuid(), started_at = now(), lease_expires_at = now() + $2::INTERVAL WHERE id = $1`, id, lease)
	}
	later(fresh, 0, "1 hour")
	later(tried, 12, "1 hour")
	later(waits, 3, "8 seconds")
	later(waitsLong, 12, "600 seconds")
	leased(orphan, "1 hour")
	leased(alive, "10 minutes")
	sql(s, `INSERT INTO login_failures (name_hash, failures, last_at, blocked_until)
	        VALUES ('\x01', 20, now() + INTERVAL '1 hour', now() + INTERVAL '1 hour'), ('\x02', 20, now(), now() + INTERVAL '64 seconds')`)

	if n := run(s, policy.Retention{}, "clock_went_back"); n != 4 {
		t.Errorf("%d were set right, want two jobs, a lease and a name", n)
	}
	if n := run(s, policy.Retention{}, "clock_went_back"); n != 0 {
		t.Errorf("%d were set right again", n)
	}
	for id, ready := range map[uuid.UUID]int{fresh: 1, tried: 1, waits: 0, waitsLong: 0} {
		if n := count(s, `SELECT count(*) FROM jobs WHERE id = $1 AND run_after <= now()`, id); n != ready {
			t.Errorf("job %s after attempt %d can be claimed: %d, want %d", id, s.Job(id).Attempt, n, ready)
		}
	}
	if n := count(s, `SELECT count(*) FROM jobs WHERE id = $1 AND lease_expires_at BETWEEN now() + INTERVAL '30 seconds' AND now() + INTERVAL '1 minute'`, orphan); n != 1 {
		t.Error("the lease of the dead does not end within a minute, or ended at once: one that is alive has no time to renew it")
	}
	if n := count(s, `SELECT count(*) FROM jobs WHERE id = $1 AND lease_expires_at > now() + INTERVAL '9 minutes'`, alive); n != 1 {
		t.Error("a lease as long as one can be was cut short")
	}
	if n := count(s, `SELECT count(*) FROM login_failures WHERE blocked_until <= now()`); n != 1 {
		t.Errorf("%d names can be tried again, want one", n)
	}
	// What was set right goes on as ever.
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, orphan)
	s.Backend()
	for _, id := range []uuid.UUID{fresh, tried, orphan} {
		s.Ended(id, domain.JobSucceeded)
	}
}

// The policy knows how long a job waits for its next try at most.
func TestNoBackoffIsTakenForAClock(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{})
	_, id, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	for attempt := 1; attempt <= 40; attempt++ {
		var longest time.Duration
		for range 20 {
			longest = max(longest, queue.Backoff(attempt))
		}
		sql(s, `UPDATE jobs SET attempt = $2, run_after = now() + $3::INT8 * INTERVAL '1 millisecond' WHERE id = $1`, id, attempt, longest.Milliseconds())
		if n := run(s, policy.Retention{}, "clock_went_back"); n != 0 {
			t.Fatalf("after attempt %d a wait of %s counts as one that a clock made", attempt, longest)
		}
	}
}
