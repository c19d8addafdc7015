package iam

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

var (
	validPrice    = regexp.MustCompile(`^[0-9]{1,10}(\.[0-9]{1,8})?$`)
	validCurrency = regexp.MustCompile(`^[A-Z]{3}$`)
)

// A line for each day and usage record that meet. Days are those of UTC, whatever the session's time zone is.
const sqlUsage = `
SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()`

// UsageSorting is the order of usage.
var UsageSorting = db.Sorting[UsageLine]{
	{Name: "day", Columns: []db.Column{db.ByTime("d.day"), db.ByID("r.id")}, At: func(l UsageLine) db.Position {
		return db.Position{Time: l.Day, ID: l.ID}
	}},
}

// UsageFilter says whose usage of which days is listed.
type UsageFilter struct {
	Scope       Scope
	First, Last time.Time // days
	Sort        string
	After       *db.Position
	Limit       int
}

// Usage lists what was in use, a line for each day and allocation.
func Usage(ctx context.Context, q db.Reader, f UsageFilter) ([]UsageLine, error) {
	l := db.NewList(sqlUsage, f.First, f.Last).And("r.organization_id = ?", f.Scope.OrganizationID)
	switch f.Scope.Kind {
	case ProjectNoun:
		l.And("r.project_id = ?", f.Scope.ID)
	case WorkspaceNoun:
		l.And("r.workspace_id = ?", f.Scope.ID)
	}
	return UsageSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlPrice = `
SELECT c.id, c.resource, CAST(c.price AS TEXT) AS price, c.currency, c.begins_at, c.created_by, c.created_at,
       CASE WHEN c.begins_at > now() THEN 'later'
            WHEN EXISTS (SELECT 1
                           FROM prices n
                          WHERE n.resource = c.resource AND n.begins_at > c.begins_at AND n.begins_at <= now()) THEN 'past'
            ELSE 'in_force' END AS state
  FROM prices c
 WHERE true`

// Prices lists all prices: by resource, the latest first.
func Prices(ctx context.Context, q db.Reader) ([]Price, error) {
	return db.Collect[Price](ctx, q, sqlPrice+" ORDER BY c.resource, c.begins_at DESC")
}

// PriceByID returns a price.
func PriceByID(ctx context.Context, q db.Reader, id uuid.UUID) (Price, error) {
	return db.First[Price](ctx, q, fault.ErrNotFound, sqlPrice+" AND c.id = $1", id)
}

const sqlInsertPrice = `
INSERT INTO prices (id, resource, price, currency, begins_at, created_by)
VALUES ($1, $2, CAST($3::TEXT AS NUMERIC), $4, $5, $6)
ON CONFLICT (resource, begins_at) DO NOTHING`

const sqlDeletePrice = `
DELETE FROM prices
 WHERE id = $1 AND begins_at > now()`

// What each workspace of an organization had in use between two moments, as amount times seconds.
const sqlUsedSeconds = `
SELECT p.name AS project, w.name AS workspace, CAST(sum(s.seconds) AS TEXT) AS units, CAST(sum(s.seconds * s.cpus) AS TEXT) AS cpus,
       CAST(sum(s.seconds * s.memory_bytes) AS TEXT) AS memory, CAST(sum(s.seconds * s.volume_bytes) AS TEXT) AS volume
  FROM (SELECT r.project_id, r.workspace_id, r.cpus, r.memory_bytes, r.volume_bytes,
               CAST(extract(epoch FROM least(coalesce(r.to_at, now()), $3::TIMESTAMPTZ) - greatest(r.from_at, $2::TIMESTAMPTZ)) AS NUMERIC) AS seconds
          FROM usage_records r
         WHERE r.organization_id = $1 AND r.from_at < $3 AND coalesce(r.to_at, now()) > $2) s
  JOIN projects p ON p.id = s.project_id
  JOIN workspaces w ON w.id = s.workspace_id
 GROUP BY p.name, w.name
 ORDER BY p.name, w.name`

// StatementOf adds up what an organization used in a month. A price that changes within it divides the month. With totals
// alone, lines name neither project nor workspace.
func StatementOf(ctx context.Context, q db.Reader, organization uuid.UUID, month, now time.Time, totals bool) (Statement, error) {
	end := month.AddDate(0, 1, 0)
	made := Statement{Month: month, Over: !now.Before(end)}
	prices, err := Prices(ctx, q)
	if err != nil {
		return made, fmt.Errorf("read prices: %w", err)
	}
	begins := []time.Time{month}
	for _, p := range prices {
		if p.BeginsAt.After(month) && p.BeginsAt.Before(end) {
			begins = append(begins, p.BeginsAt)
		}
	}
	slices.SortFunc(begins, time.Time.Compare)
	begins = slices.CompactFunc(begins, time.Time.Equal)
	for i, from := range begins {
		to := end
		if i+1 < len(begins) {
			to = begins[i+1]
		}
		used, err := db.Collect[usedSeconds](ctx, q, sqlUsedSeconds, organization, from, to)
		if err != nil {
			return made, fmt.Errorf("add up usage: %w", err)
		}
		made.add(used, pricesAt(prices, from), from, totals)
	}
	made.close()
	return made, nil
}

// pricesAt are the prices that count at a moment; the list has the latest first.
func pricesAt(prices []Price, at time.Time) map[string]Price {
	found := map[string]Price{}
	for _, p := range prices {
		if _, ok := found[p.Resource]; !ok && !p.BeginsAt.After(at) {
			found[p.Resource] = p
		}
	}
	return found
}
