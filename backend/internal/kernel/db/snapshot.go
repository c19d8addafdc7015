package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Snapshot runs f on one unchanging picture of the database, and writes
// nothing. f may run more than once.
func (db *DB) Snapshot(ctx context.Context, f func(Reader) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	if db.cockroach {
		options.IsoLevel = pgx.Serializable
	}
	return db.tries(ctx, func() error {
		begun := false
		err := pgx.BeginTxFunc(ctx, db.pool, options, func(tx pgx.Tx) error {
			begun = true
			return f(Reader{conn: tx})
		})
		if !begun && notBegun(ctx, err) {
			return fmt.Errorf("%w: %w", errNotBegun, err)
		}
		return err
	})
}
