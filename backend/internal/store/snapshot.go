package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Snapshot runs f on one unchanging picture of the database, and writes
// nothing. f may run more than once.
func (db *DB) Snapshot(ctx context.Context, f func(Reads) error) error {
	level := pgx.RepeatableRead
	if db.cockroach {
		level = pgx.Serializable
	}
	for try := 1; ; try++ {
		err := pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: level, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return f(Reads{querier{tx}, db.artifacts})
		})
		if err == nil || !retryable(err) || try == maxTries {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(time.Duration(try) * 10 * time.Millisecond):
		}
	}
}
