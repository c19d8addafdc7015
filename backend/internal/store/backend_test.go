package store

import (
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/testkit"
)

// TestAliveBackendsAreListed however often another one was started since.
func TestAliveBackendsAreListed(t *testing.T) {
	t.Parallel()
	db := open(t, testkit.MigratedURL(t))
	old := uuid.New()
	if _, err := db.SeenBackend(t.Context(), Backend{ID: old, Name: "old", Version: "1", Roles: "worker"}); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`UPDATE backends SET started_at = now() - INTERVAL '3 hours'`,
		`INSERT INTO backends (id, name, version, roles, started_at, seen_at)
		 SELECT gen_random_uuid(), 'ends at once', '1', 'worker', now() - INTERVAL '10 minutes', now() - INTERVAL '9 minutes' FROM generate_series(1, 250) AS n`,
	} {
		if _, err := db.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	all, err := db.Backends(t.Context())
	if err != nil || len(all) != 200 || all[0].ID != old || !all[0].Alive || all[1].Alive {
		t.Errorf("%v, %d of them, first %+v", err, len(all), all[0])
	}
}
