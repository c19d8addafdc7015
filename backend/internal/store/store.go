package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// Reads is everything that can be read, inside a transaction or outside.
type Reads struct {
	q         db.Reader
	artifacts *artifacts
}

// Source is what reads.
func (r Reads) Source() db.Reader { return r.q }

// DB is the database.
type DB struct {
	*db.DB
	Reads
}

// Tx is one transaction: all that can be written.
type Tx struct {
	*db.Tx
	Reads
}

// Open connects and looks once what database it is.
func Open(ctx context.Context, url string, options ...db.Option) (*DB, error) {
	opened, err := db.Open(ctx, url, options...)
	if err != nil {
		return nil, err
	}
	return &DB{opened, Reads{opened.Reader, &artifacts{}}}, nil
}

// InTx runs f in one transaction and commits. f may run more than once.
func (d *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	return d.DB.InTx(ctx, func(tx *db.Tx) error { return f(d.Over(tx)) })
}

// Over is a transaction of the kernel, with what can be written here.
func (d *DB) Over(tx *db.Tx) *Tx { return &Tx{Tx: tx, Reads: Reads{tx.Reader, d.artifacts}} }

// Snapshot runs f on one unchanging picture of the database, and writes
// nothing. f may run more than once.
func (d *DB) Snapshot(ctx context.Context, f func(Reads) error) error {
	return d.DB.Snapshot(ctx, func(r db.Reader) error { return f(Reads{r, d.artifacts}) })
}

// ErrLost says that a job's attempt is no longer the caller's: its lease ran
// out and another worker took it over, or it was ended.
var ErrLost = work.ErrLost

// On CockroachDB at SERIALIZABLE, FOR UPDATE locks all rows that were read of a
// table, also those that a join or a NOT EXISTS then leaves out, and others pass
// those over with SKIP LOCKED. With this it locks what the statement returns. A
// statement that reads by an index what it returns does without: there it would
// only read, and wait, more.
const (
	sqlLockReturned = `SET LOCAL optimizer_use_lock_op_for_serializable = on`
	sqlLockRead     = `SET LOCAL optimizer_use_lock_op_for_serializable = off`
)

// The kernel's words, under the names that callers of this package use until
// their nouns are areas of their own.
type (
	// Position is where a page of a list ends.
	Position = db.Position
	// Sorting is the orders that a list can be read in.
	Sorting[R any] = db.Sorting[R]
	// Option sets something of a DB that only few need.
	Option = db.Option
	// Connections is how the pool stands.
	Connections = db.Connections
)

// ErrCommitUnknown says that the answer to COMMIT was lost.
var ErrCommitUnknown = db.ErrCommitUnknown

// Unavailable tells whether an error means that the database can't be reached
// or takes no work now.
func Unavailable(err error) bool { return db.Unavailable(err) }

// WithTracer lets something watch every statement that is sent.
func WithTracer(t pgx.QueryTracer) Option { return db.WithTracer(t) }

// ReadsOnly is for who only reads.
func ReadsOnly() Option { return db.ReadsOnly() }

// HalfAsMany is for a second pool of a process.
func HalfAsMany() Option { return db.HalfAsMany() }
