package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit"
)

// What is missing is named, and keeps nothing else from being read: the end of
// a job is written on what is there.
func TestAttemptReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	db := open(t, testkit.MigratedURL(t))
	id, missing := runningJob(t, db), uuid.New()
	a, err := db.Attempt(t.Context(), Claim{ID: id, HostID: &missing, UnitID: &missing, PlaybookVersionID: &missing})
	if a.Job.ID != id {
		t.Errorf("the job itself was not read: %+v", a.Job)
	}
	if !errors.Is(err, domain.ErrNotFound) {
		t.Errorf("it ended with %v, not with what is missing", err)
	}
	for _, what := range []string{"load host", "load unit", "load the organization's key", "load playbook"} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q is not in the error: %v", what, err)
		}
	}
}
