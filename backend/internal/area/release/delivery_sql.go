package release

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlDelivery = `
SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true`

// DeliveryByID returns a delivery.
func DeliveryByID(ctx context.Context, q db.Reader, id uuid.UUID) (Delivery, error) {
	return db.First[Delivery](ctx, q, fault.ErrNotFound, sqlDelivery+" AND d.id = $1", id)
}

// FindDelivery finds a delivery by its id or its name. It is in no workspace.
func FindDelivery(ctx context.Context, q db.Reader, text string) (Delivery, scope.Ref[Delivery], error) {
	find := func() (Delivery, error) {
		if id, err := uuid.Parse(text); err == nil {
			return DeliveryByID(ctx, q, id)
		}
		return db.First[Delivery](ctx, q, fault.ErrNotFound, sqlDelivery+" AND d.name = $1", text)
	}
	d, err := find()
	if err != nil {
		return Delivery{}, scope.Ref[Delivery]{}, err
	}
	return d, scope.Found[Delivery](d.ID, uuid.Nil), nil
}

// DeliverySorting is the orders that deliveries can be listed in.
var DeliverySorting = db.Sorting[Delivery]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("d.created_at"), db.ByID("d.id")}, At: func(d Delivery) db.Position {
		return db.Position{Time: d.CreatedAt, ID: d.ID}
	}},
	{Name: "name", Columns: []db.Column{db.ByText("d.name")}, At: func(d Delivery) db.Position { return db.Position{Text: d.Name} }},
}

// DeliveryFilter narrows a list of deliveries.
type DeliveryFilter struct {
	State string
	Sort  string // one of DeliverySorting; "" for the first
	After *db.Position
	Limit int
}

// Deliveries lists deliveries.
func Deliveries(ctx context.Context, q db.Reader, f DeliveryFilter) ([]Delivery, error) {
	l := db.NewList(sqlDelivery).AndIf(f.State, "r.state = ?")
	return DeliverySorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlOpenDeliveries = `
SELECT d.id
  FROM release_deliveries d
 WHERE d.open AND d.id > $1
 ORDER BY d.id
 LIMIT $2`

// OpenDeliveries lists the ids of deliveries that have not ended, behind one of them, ascending.
func OpenDeliveries(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list deliveries of releases", sqlOpenDeliveries, after, limit)
}

const sqlInsertDelivery = `
INSERT INTO release_deliveries (id, name, version)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING`

const sqlSetOpen = `
UPDATE release_deliveries
   SET open = $2
 WHERE id = $1 AND open <> $2`

// A backend is called after its machine and process: 'backend-1/4711'.
const sqlMachines = `
SELECT split_part(b.name, '/', 1) AS name, array_agg(DISTINCT b.version) AS versions, max(b.started_at) AS since, now() AS now
  FROM backends b
 WHERE b.seen_at > now() - INTERVAL '30 seconds'
 GROUP BY 1
 ORDER BY 1
 LIMIT 1000`

// Machines are those on which backends are alive, by name.
func Machines(ctx context.Context, q db.Reader) ([]Machine, error) {
	all, err := db.Collect[Machine](ctx, q, sqlMachines)
	if err != nil {
		return nil, fmt.Errorf("list machines of backends: %w", err)
	}
	for _, m := range all {
		slices.Sort(m.Versions)
	}
	return all, nil
}

const sqlInsertWebApps = `
INSERT INTO release_web_apps (delivery_id, target_id, url)
SELECT $1, b.id, b.url
  FROM unnest($2::UUID[], $3::TEXT[]) AS b (id, url)`

const sqlWebApps = `
SELECT a.target_id, a.url, a.runs, a.problem, a.since, now() AS now
  FROM release_web_apps a
 WHERE a.delivery_id = $1
 ORDER BY a.url`

// WebApps are those of a delivery, as they answered last.
func WebApps(ctx context.Context, q db.Reader, delivery uuid.UUID) ([]WebApp, error) {
	all, err := db.Collect[WebApp](ctx, q, sqlWebApps, delivery)
	if err != nil {
		return nil, fmt.Errorf("list web apps of delivery %s: %w", delivery, err)
	}
	return all, nil
}

const sqlAnswered = `
UPDATE release_web_apps
   SET runs = CASE WHEN $4 = '' THEN $3 ELSE runs END, problem = $4, since = now()
 WHERE delivery_id = $1 AND target_id = $2 AND (runs <> $3 OR problem <> $4)`

// Answered notes what a web app told: its version, or why it told none. What it told before stays as it was then.
func Answered(ctx context.Context, tx *db.Tx, delivery, target uuid.UUID, runs, problem string) error {
	if _, err := tx.Exec(ctx, sqlAnswered, delivery, target, runs, problem); err != nil {
		return fmt.Errorf("note what a web app of delivery %s told: %w", delivery, err)
	}
	return nil
}

// Faults of Kloigos itself since a time: a condition whose fault is 'ours', or a job that failed with the code internal.
const sqlNewFault = `
SELECT COALESCE((SELECT c.noun || ' ' || c.type || ': ' || c.message
                   FROM conditions c
                  WHERE c.status = 'false' AND c.fault = 'ours' AND c.since > $1 AND c.since < now() - INTERVAL '15 seconds'
                  ORDER BY c.since LIMIT 1),
                (SELECT j.kind || ' failed: ' || COALESCE(j.error->>'message', '')
                   FROM jobs j
                  WHERE j.state = 'failed' AND j.finished_at > $1 AND j.error->>'code' = 'internal'
                  ORDER BY j.finished_at LIMIT 1), '') AS fault`

// newFault is the first thing that became wrong of Kloigos itself since a time; "" for none.
func newFault(ctx context.Context, q db.Reader, since time.Time) (string, error) {
	type row struct {
		Fault string `db:"fault"`
	}
	found, err := db.First[row](ctx, q, fault.ErrNotFound, sqlNewFault, since)
	if err != nil {
		return "", fmt.Errorf("look for new faults: %w", err)
	}
	return found.Fault, nil
}
