package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Backend is one row of backends: a process, as an operator sees it.
type Backend struct {
	ID        uuid.UUID `db:"id"`
	Name      string    `db:"name"` // host name and process id
	Version   string    `db:"version"`
	Roles     string    `db:"roles"`   // comma-separated
	Slots     *int      `db:"slots"`   // jobs that it runs at once, at most; nil if it does not tell
	Running   int       `db:"running"` // jobs that are its own now
	StartedAt time.Time `db:"started_at"`
	SeenAt    time.Time `db:"seen_at"`
	Alive     bool      `db:"alive"` // seen within the last 30 s
}

const sqlBackends = `
SELECT b.id, b.name, b.version, b.roles, b.slots, COALESCE(r.running, 0) AS running, b.started_at, b.seen_at,
       b.seen_at > now() - INTERVAL '30 seconds' AS alive
  FROM backends b
  LEFT JOIN (SELECT j.worker_id, count(*) AS running FROM jobs j WHERE j.lease_expires_at IS NOT NULL GROUP BY j.worker_id) AS r ON r.worker_id = b.id
 WHERE b.seen_at > now() - INTERVAL '1 day'
 ORDER BY alive DESC, b.started_at DESC, b.id
 LIMIT 200`

// Backends lists the backends that were seen within a day, those that are alive
// first, however often another one was started; then newest first.
func (r Reads) Backends(ctx context.Context) ([]Backend, error) {
	return db.Collect[Backend](ctx, r.q, sqlBackends)
}

// The statement does not see the row that it writes, so the others are counted.
const sqlSeenBackend = `
WITH seen AS (
    INSERT INTO backends (id, name, version, roles, slots)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE
       SET seen_at = now()
    RETURNING id
)
SELECT count(*) FILTER (WHERE b.id < $1) AS rank, count(*) + 1 AS workers, now() AS at
  FROM backends b
 WHERE b.id <> $1 AND b.seen_at > now() - INTERVAL '30 seconds' AND position('worker' IN b.roles) > 0`

// Place is where a worker stands among those that are alive, all of which order
// themselves alike.
type Place struct {
	Rank    int       `db:"rank"`    // from 0
	Workers int       `db:"workers"` // itself included
	At      time.Time `db:"at"`      // the database's time
}

// SeenBackend says that a backend is there, called at its start and every 10 s,
// and returns its place, for one that is a worker. One statement by itself: a
// second one of the same would do no harm.
func (d *DB) SeenBackend(ctx context.Context, b Backend) (Place, error) {
	return db.First[Place](ctx, d.q, domain.ErrNotFound, sqlSeenBackend, b.ID, b.Name, b.Version, b.Roles, b.Slots)
}

const sqlGoneBackend = `
UPDATE backends
   SET seen_at = seen_at - INTERVAL '30 seconds'
 WHERE id = $1`

// GoneBackend says that a backend has stopped in good order. The row stays:
// jobs name it as their worker.
func (tx *Tx) GoneBackend(ctx context.Context, id uuid.UUID) error {
	_, err := tx.Exec(ctx, sqlGoneBackend, id)
	return err
}

const sqlSetting = `
SELECT s.value
  FROM settings s
 WHERE s.name = $1`

// Setting returns a value of settings; nil if it was never set.
func (r Reads) Setting(ctx context.Context, name string) ([]byte, error) {
	var value []byte
	err := r.q.QueryRow(ctx, sqlSetting, name).Scan(&value)
	if db.IsNoRows(err) {
		return nil, nil
	}
	return value, err
}

const sqlSetSetting = `
INSERT INTO settings (name, value)
VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE
   SET value = excluded.value`

// SetSetting sets a value of settings.
func (tx *Tx) SetSetting(ctx context.Context, name string, value []byte) error {
	if _, err := tx.Exec(ctx, sqlSetSetting, name, value); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

const sqlAppliedMigrations = `
SELECT m.version_id
  FROM schema_migrations m
 WHERE m.is_applied AND m.version_id > 0
 ORDER BY m.version_id`

// AppliedMigrations returns the versions of the migrations that the database
// has; none if it was never migrated.
func (r Reads) AppliedMigrations(ctx context.Context) ([]int64, error) {
	rows, err := r.q.Query(ctx, sqlAppliedMigrations)
	if err != nil {
		return nil, fmt.Errorf("read the applied migrations: %w", err)
	}
	defer rows.Close()
	var versions []int64
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return nil, fmt.Errorf("read the applied migrations: %w", err)
		}
		versions = append(versions, v)
	}
	if err := rows.Err(); err != nil {
		if db.SQLState(err) == "42P01" { // there is no such table
			return nil, nil
		}
		return nil, errors.Join(errors.New("read the applied migrations"), err)
	}
	return versions, nil
}
