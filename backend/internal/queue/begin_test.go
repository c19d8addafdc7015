package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

func begun(claims []store.Claim, id uuid.UUID) *store.Begun {
	return claims[slices.IndexFunc(claims, func(c store.Claim) bool { return c.ID == id })].Begun
}

// TestClaimBeginsWhatNeedsItsHost: the first step with the host's lock, of one
// job a host; what only reads begins by itself.
func TestClaimBeginsWhatNeedsItsHost(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	a, b := s.ReadyHost(site.HostSpec{}).ID, s.ReadyHost(site.HostSpec{}).ID
	one, two := enqueue(s, job.HostDecommission{HostID: a}), enqueue(s, job.HostDecommission{HostID: a})
	probe, other := enqueue(s, job.HostProbe{HostID: b}), enqueue(s, job.HostDecommission{HostID: b})

	claims := claim(s, time.Minute, 10)
	if len(claims) != 3 || begun(claims, probe) != nil || begun(claims, other) == nil || begun(claims, one) == nil || s.Job(two).State != domain.JobQueued {
		t.Fatalf("%+v", claims)
	}
	first := begun(claims, other)
	if step := s.Job(other).Steps[0]; step.State != domain.StepRunning || step.Attempt != 1 || step.StartedAt == nil || step.Position != first.Position {
		t.Errorf("the step is %+v", step)
	}
	if step := s.Job(probe).Steps[0]; step.State == domain.StepRunning {
		t.Errorf("the probe's step is %+v", step)
	}

	// The lock goes with the attempt; the next one's number is higher.
	s.Tx(func(tx *store.Tx) error { return tx.RequeueJob(t.Context(), other, 1, 0, nil) })
	claims = claim(s, time.Minute, 10)
	if again := begun(claims, other); len(claims) != 1 || again == nil || again.Number <= first.Number || s.Job(other).Steps[0].Attempt != 2 {
		t.Errorf("the first was %+v, then %+v", first, claims)
	}
}

// attemptOf is what an attempt of a job begins with, by questions of its own, after
// which its playbook is known.
func attemptOf(t *testing.T, s *site.Site, id uuid.UUID) (store.Attempt, error) {
	t.Helper()
	j := s.Job(id)
	return s.DB.Attempt(t.Context(), store.Claim{ID: id, HostID: j.HostID, PlaybookVersionID: j.PlaybookVersionID})
}

// TestClaimGoesOnWhereARowDoesNotFit: a host that this version does not
// understand fails its own job, and keeps no other from being claimed.
func TestClaimGoesOnWhereARowDoesNotFit(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	strange, plain := s.ReadyHost(site.HostSpec{}).ID, s.ReadyHost(site.HostSpec{}).ID
	one, two := enqueue(s, job.HostDecommission{HostID: strange}), enqueue(s, job.HostDecommission{HostID: plain})
	if _, err := attemptOf(t, s, two); err != nil {
		t.Fatal(err)
	}
	sql(s, `UPDATE hosts SET facts = '"x"' WHERE id = $1`, strange)
	claims := claim(s, time.Minute, 10)
	if len(claims) != 2 || begun(claims, one) == nil || begun(claims, two) == nil {
		t.Fatalf("%+v", claims)
	}
	for _, c := range claims {
		if _, err := s.DB.Attempt(t.Context(), c); (err == nil) != (c.ID == two) {
			t.Errorf("the attempt of %s reads its job with %v", c.ID, err)
		}
	}
}

// TestClaimWaitsForNoHost: a lock that is being written, by the end of another
// job, does not keep a claim from the jobs of all other hosts.
func TestClaimWaitsForNoHost(t *testing.T) {
	t.Parallel()
	if testkit.IsCockroach(t) {
		t.Skip("a claim reads whether the host is held, and there a read waits for whoever has locked the row")
	}
	s := site.New(t)
	held, free := s.ReadyHost(site.HostSpec{}).ID, s.ReadyHost(site.HostSpec{}).ID
	waits, goesOn := enqueue(s, job.HostDecommission{HostID: held}), enqueue(s, job.HostDecommission{HostID: free})
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `SELECT host_id FROM host_locks WHERE host_id = $1 FOR UPDATE`, held); err != nil {
		t.Fatal(err)
	}
	claimed := make(chan []store.Claim, 1)
	go func() { claimed <- claim(s, time.Minute, 10) }()
	select {
	case claims := <-claimed:
		if len(claims) != 2 || begun(claims, waits) != nil || begun(claims, goesOn) == nil {
			t.Errorf("%+v", claims)
		}
	case <-time.After(10 * time.Second):
		t.Error("the claim waits for the host's lock")
	}
}
