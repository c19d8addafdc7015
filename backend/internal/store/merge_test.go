package store

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit"
)

// A list of all jobs is put together of those that have ended and those that
// haven't: both ways through it, in each order, each job is there once.
func TestJobsAreListedWhetherTheyEndedOrNot(t *testing.T) {
	t.Parallel()
	db := open(t, testkit.MigratedURL(t))
	const all = 23
	for i := range all {
		id := runningJob(t, db)
		kind := []domain.JobKind{domain.KindHostProbe, domain.KindUnitAllocate, domain.KindHostDecommission}[i%3]
		state, ended := "running", any(nil)
		if i%4 != 0 {
			state, ended = "succeeded", time.Now()
		}
		// Some at the same time, so that the id decides.
		_, err := db.pool.Exec(t.Context(), `UPDATE jobs SET kind = $2, state = $3, finished_at = $4, lease_expires_at = CASE WHEN $3 = 'running' THEN now() END, created_at = now() - $5::INT8 * INTERVAL '1 minute' WHERE id = $1`,
			id, kind, state, ended, i/2)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, sort := range JobSorting.Names() {
		var wanted []uuid.UUID
		whole, err := db.Jobs(t.Context(), JobFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, Limit: 100})
		if err != nil || len(whole) != all {
			t.Fatalf("%s: %d of %d jobs, %v", sort, len(whole), all, err)
		}
		for i, j := range whole {
			wanted = append(wanted, j.ID)
			if i > 0 && !slices.Equal(ids(JobSorting.Merge(sort, nil, 2, []Job{j}, whole[i-1:i])), ids(whole[i-1:i+1])) {
				t.Errorf("%s: job %d does not come behind the one before it", sort, i)
			}
		}
		for _, back := range []bool{false, true} {
			if got := walk(t, db, sort, back); !slices.Equal(got, wanted) {
				t.Errorf("%s, backwards %t: %d jobs, in another order than all at once", sort, back, len(got))
			}
		}
	}
}

func ids(jobs []Job) (ids []uuid.UUID) {
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// walk reads the jobs four at a time, from one end or the other.
func walk(t *testing.T, db *opened, sort string, back bool) (ids []uuid.UUID) {
	t.Helper()
	var after *Position
	if back { // from behind the last
		whole, err := db.Jobs(t.Context(), JobFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		last := whole[len(whole)-1]
		ids = []uuid.UUID{last.ID}
		at := JobSorting.At(sort, last)
		at.Back, after = true, &at
	}
	for range 100 {
		page, err := db.Jobs(t.Context(), JobFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, After: after, Limit: 4})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return ids
		}
		var got []uuid.UUID
		for _, j := range page {
			got = append(got, j.ID)
		}
		at := JobSorting.At(sort, page[len(page)-1])
		if back {
			ids, at = append(got, ids...), JobSorting.At(sort, page[0])
			at.Back = true
		} else {
			ids = append(ids, got...)
		}
		after = &at
	}
	t.Fatal("the list has no end")
	return nil
}

// TestAJobThatIsGivenBackStaysInItsList: it goes from the jobs that run to those
// that wait, which lie in another index.
func TestAJobThatIsGivenBackStaysInItsList(t *testing.T) {
	t.Parallel()
	db := open(t, testkit.MigratedURL(t))
	id := runningJob(t, db)
	stop, end := context.WithCancel(t.Context())
	moving := make(chan error, 1)
	go func() {
		for stop.Err() == nil {
			for _, sql := range []string{
				`UPDATE jobs SET state = 'queued', lease_expires_at = NULL, worker_id = NULL WHERE id = $1`,
				`UPDATE jobs SET state = 'running', lease_expires_at = now(), worker_id = gen_random_uuid() WHERE id = $1`,
			} {
				if _, err := db.pool.Exec(t.Context(), sql, id); err != nil {
					moving <- err
					return
				}
			}
		}
		moving <- nil
	}()
	seen := map[domain.JobState]int{}
	for range 300 {
		jobs, err := db.Jobs(t.Context(), JobFilter{WorkspaceID: domain.DefaultWorkspace, State: "active", Limit: 9})
		if err != nil || len(jobs) != 1 {
			t.Errorf("%d jobs, %v", len(jobs), err)
			break
		}
		seen[jobs[0].State]++
	}
	end()
	if err := <-moving; err != nil {
		t.Error(err)
	}
	if !t.Failed() && len(seen) != 2 {
		t.Errorf("the job never moved: %v", seen)
	}
}
