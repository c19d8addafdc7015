package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Counted is up to where items are counted.
const Counted = 10_000

// Standing is how a policy stands.
type Standing struct {
	Policy      string     `db:"policy"`
	Items       int64      `db:"items"`   // at most Counted
	Failing     int64      `db:"failing"` // at most Counted
	OldestDue   *time.Time `db:"oldest_due"`
	NextDue     *time.Time `db:"next_due"`
	LastStarted *time.Time `db:"last_started"` // these are of the item with the id of zeros
	LastEnded   *time.Time `db:"last_ended"`
	LastOutcome string     `db:"last_outcome"`
	LastChanged int64      `db:"last_changed"`
	LastError   string     `db:"last_error"`
	Running     bool       `db:"running"`
	Now         time.Time  `db:"now"`
}

const sqlStandings = `
SELECT p.policy, statement_timestamp() AS now,
       (SELECT count(*) FROM (SELECT 1 FROM reconcile_items i WHERE i.policy = p.policy LIMIT 10000) AS counted) AS items,
       (SELECT count(*) FROM (SELECT 1 FROM reconcile_items i WHERE i.policy = p.policy AND i.failures > 0 LIMIT 10000) AS counted) AS failing,
       (SELECT i.due_at
          FROM reconcile_items i
         WHERE i.policy = p.policy
           AND ` + claimable + `
         ORDER BY i.due_at
         LIMIT 1) AS oldest_due,
       (SELECT i.due_at
          FROM reconcile_items i
         WHERE i.policy = p.policy
         ORDER BY i.due_at
         LIMIT 1) AS next_due,
       z.last_started, z.last_ended, COALESCE(z.last_outcome, '') AS last_outcome, COALESCE(z.last_changed, 0) AS last_changed,
       COALESCE(z.last_error, '') AS last_error, COALESCE(z.lease_until > statement_timestamp(), false) AS running
  FROM unnest($1::TEXT[]) AS p (policy)
  LEFT JOIN reconcile_items z ON z.policy = p.policy AND z.object_id = '00000000-0000-0000-0000-000000000000'`

// Standings tells how some policies stand, by name.
func Standings(ctx context.Context, r db.Reader, policies []string) (map[string]Standing, error) {
	all, err := db.Collect[Standing](ctx, r, sqlStandings, policies)
	if err != nil {
		return nil, fmt.Errorf("read how policies stand: %w", err)
	}
	by := map[string]Standing{}
	for _, s := range all {
		by[s.Policy] = s
	}
	return by, nil
}

// StoredItem is one row of reconcile_items.
type StoredItem struct {
	Policy      string     `db:"policy"`
	ObjectID    uuid.UUID  `db:"object_id"`
	DueAt       time.Time  `db:"due_at"`
	Running     bool       `db:"running"`
	Token       int64      `db:"token"`
	TokenDone   int64      `db:"token_done"`
	Failures    int        `db:"failures"`
	LastStarted *time.Time `db:"last_started"`
	LastEnded   *time.Time `db:"last_ended"`
	LastOutcome string     `db:"last_outcome"`
	LastChanged int64      `db:"last_changed"`
	LastError   string     `db:"last_error"`
}

const sqlItem = `
SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true`

// ItemSorting is the orders that items can be listed in.
var ItemSorting = db.Sorting[StoredItem]{
	{Name: "due_at", Columns: []db.Column{db.ByTime("i.due_at"), db.ByID("i.object_id")}, At: func(i StoredItem) db.Position {
		return db.Position{Time: i.DueAt, ID: i.ObjectID}
	}},
	{Name: "object", Columns: []db.Column{db.ByID("i.object_id")}, At: func(i StoredItem) db.Position { return db.Position{ID: i.ObjectID} }},
}

// ItemFilter narrows a list of items.
type ItemFilter struct {
	Policy   string
	ObjectID *uuid.UUID
	Failing  bool
	Sort     string // one of ItemSorting; "" for the first
	After    *db.Position
	Limit    int
}

// Items lists items of one policy.
func Items(ctx context.Context, r db.Reader, f ItemFilter) ([]StoredItem, error) {
	sql, sort := f.list()
	return ItemSorting.Read(ctx, r, sql, sort, f.After, f.Limit)
}

func (f ItemFilter) list() (*db.List, string) {
	l := db.NewList(sqlItem).And("i.policy = ?", f.Policy)
	if f.ObjectID != nil {
		l.And("i.object_id = ?", *f.ObjectID)
	}
	if f.Failing {
		l.And("i.failures > 0")
	}
	return l, f.Sort
}
