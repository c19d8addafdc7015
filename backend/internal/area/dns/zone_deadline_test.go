package dns

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// age moves the last change of a zone, and the end of its jobs, into the past.
func (p *place) age(t *testing.T, zone uuid.UUID, by string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "UPDATE dns_zones SET updated_at = now() - $2::INTERVAL WHERE id = $1", zone, by); err != nil {
		t.Fatal(err)
	}
}

// TestALostSynchronizationEnds: a zone that is being synchronized by no job fails after minutes, and can then be synchronized again.
func TestALostSynchronizationEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone := p.zone(t, draftZone("lost.example.org"))
	move := func(tx *db.Tx) error { return MoveZone(t.Context(), tx, zone.ID, SyncStarted, "") }
	if err := p.InTx(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	policy := reconcile.InFlight(p.DB, []reconcile.Deadlines{ZonesInFlight()})[0]
	run := func(item reconcile.Item) reconcile.Outcome {
		t.Helper()
		item.ObjectID = zone.ID
		out, err := policy.Run(t.Context(), item)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := run(reconcile.Item{}); out.Changed != 0 || out.Conditions[0].Status != reconcile.True || out.Again > 3*time.Minute {
		t.Errorf("what has just begun is lost: %+v", out)
	}
	p.age(t, zone.ID, "5 minutes")
	out := run(reconcile.Item{Observe: true})
	if out.Changed != 0 || len(out.Conditions) != 1 || out.Conditions[0].Reason != "no_job" || !strings.Contains(out.Conditions[0].Message, "asked for again") {
		t.Errorf("observed: %+v", out)
	}
	if out := run(reconcile.Item{}); out.Changed != 1 || !out.AtRest {
		t.Errorf("ended: %+v", out)
	}
	ended, err := ZoneByID(t.Context(), p.Reader, zone.ID)
	if err != nil || ended.State != ZoneFailed || !strings.Contains(ended.StateMessage, "with no job at work on it since") || ended.CanSync() != nil {
		t.Errorf("%+v, %v", ended, err)
	}
	if out := run(reconcile.Item{}); out.Changed != 0 {
		t.Errorf("ended twice: %+v", out)
	}
}
