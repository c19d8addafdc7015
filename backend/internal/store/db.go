package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
	crdbpgx "github.com/cockroachdb/cockroach-go/v2/crdb/crdbpgxv5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/crdb/nodes"
)

// ErrCommitUnknown says that the connection broke while a COMMIT was under
// way: the transaction may have been applied or not. An idempotency key, or a
// look at the rows, settles it.
var ErrCommitUnknown = errors.New("the answer to COMMIT was lost")

// ErrLost says that a job's attempt is no longer the caller's: its lease ran
// out and another worker took it over, or it was ended.
var ErrLost = errors.New("the job's lease is lost")

var errNotBegun = errors.New("begin: the connection was dead")

// statement is SQL, or a piece of it, that was there when the program was
// compiled: a constant becomes one by itself. Text that comes together at run
// time does not, except in list, the one place that converts.
type statement string

// querier is what a pool and a transaction have in common.
type querier struct {
	conn interface {
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
		SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	}
}

func (q querier) Query(ctx context.Context, sql statement, args ...any) (pgx.Rows, error) {
	return q.conn.Query(ctx, string(sql), args...)
}

func (q querier) QueryRow(ctx context.Context, sql statement, args ...any) pgx.Row {
	return q.conn.QueryRow(ctx, string(sql), args...)
}

// Reads is everything that can be read, inside a transaction or outside.
type Reads struct {
	q         querier
	artifacts *artifacts
}

// DB is the database.
type DB struct {
	Reads
	pool      *pgxpool.Pool
	cockroach bool
	version   string
	retries   func() // told of every retry of a transaction; may be nil
	unknown   func() // told of every COMMIT whose answer was lost; may be nil
}

// Tx is one transaction: all that can be written.
type Tx struct {
	Reads
	tx interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	}
	unsorted bool // see PrepareClaim
}

// postgres tells whether it is one of PostgreSQL's.
func (tx *Tx) postgres() bool {
	_, is := tx.tx.(*beginning)
	return is
}

// Option sets something of a DB that only few need.
type Option func(*pgxpool.Config)

// WithTracer lets something watch every statement that is sent.
func WithTracer(t pgx.QueryTracer) Option {
	return func(cfg *pgxpool.Config) { cfg.ConnConfig.Tracer = t }
}

// ReadsOnly is for who only reads: a standby will do, if the URL names one.
func ReadsOnly() Option {
	return func(cfg *pgxpool.Config) {
		if parsed, err := pgx.ParseConfig(cfg.ConnString()); err == nil {
			cfg.ConnConfig.ValidateConnect = parsed.ValidateConnect
		}
	}
}

// HalfAsMany is for a second pool of a process, beside one that has as many
// connections as the URL says.
func HalfAsMany() Option {
	return func(cfg *pgxpool.Config) { cfg.MaxConns = max(2, cfg.MaxConns/2) }
}

// Open connects and looks once what database it is.
func Open(ctx context.Context, url string, options ...Option) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database URL can't be read") // pgx's text may hold the password
	}
	if !strings.Contains(url, "pool_max_conns=") { // pgx would take 4, or as many as there are cores
		cfg.MaxConns = max(cfg.MaxConns, 16)
	}
	nodes.Prepare(cfg.ConnConfig)
	cfg.BeforeConnect = nodes.Spread
	if cfg.PingTimeout == 0 {
		cfg.PingTimeout = nodes.PingTimeout
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := errors.Join(limitIdle(ctx, conn), lockWhatIsReturned(ctx, conn)); err != nil {
			return err
		}
		conn.TypeMap().RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}})
		return nil
	}
	for _, o := range options {
		o(cfg)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := &DB{Reads: Reads{querier{pool}, &artifacts{}}, pool: pool}
	if err := pool.QueryRow(ctx, `SELECT version()`).Scan(&db.version); err != nil {
		pool.Close()
		return nil, fmt.Errorf("ask the database for its version: %w", err)
	}
	db.cockroach = strings.Contains(db.version, "CockroachDB")
	return db, nil
}

const sqlLimitIdle = `
SELECT set_config('idle_in_transaction_session_timeout', '10s', false)
 WHERE current_setting('idle_in_transaction_session_timeout') IN ('0', '0s')`

// limitIdle has the database end a transaction in which nothing happens: it was
// left by a process that hangs, or whose machine is gone, and whatever it has
// locked waits for it, with all who want that. A limit that an operator gave the
// role, the database or the URL counts instead.
func limitIdle(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, sqlLimitIdle)
	return err
}

const sqlLockWhatIsReturned = `SET optimizer_use_lock_op_for_serializable = on`

// lockWhatIsReturned has FOR UPDATE lock the rows that a statement returns. At
// SERIALIZABLE CockroachDB locks all that it has read for them otherwise, which
// others then pass over with SKIP LOCKED.
func lockWhatIsReturned(ctx context.Context, conn *pgx.Conn) error {
	if conn.PgConn().ParameterStatus("crdb_version") == "" {
		return nil
	}
	_, err := conn.Exec(ctx, sqlLockWhatIsReturned)
	if sqlState(err) == "42704" { // of before 23.2, which does not know it
		return nil
	}
	return err
}

// Close closes all connections.
func (db *DB) Close() { db.pool.Close() }

// Version is what the database says of itself.
func (db *DB) Version() string { return db.version }

// Cockroach tells whether it is a CockroachDB.
func (db *DB) Cockroach() bool { return db.cockroach }

// OnRetry sets a function that is told of every retry of a transaction.
func (db *DB) OnRetry(f func()) { db.retries = f }

// OnCommitUnknown sets a function that is told of every transaction that ends
// with ErrCommitUnknown.
func (db *DB) OnCommitUnknown(f func()) { db.unknown = f }

// Connections is how the pool stands.
type Connections struct {
	Used, Idle, Max int32
	Waits           int64 // how often, so far, one had to be waited for
	Acquired        int64 // how often, so far, one was taken
}

// Connections tells how the pool stands now.
func (db *DB) Connections() Connections {
	s := db.pool.Stat()
	return Connections{Used: s.AcquiredConns(), Idle: s.IdleConns(), Max: s.MaxConns(), Waits: s.EmptyAcquireCount(), Acquired: s.AcquireCount()}
}

// Ping asks the database for an answer.
func (db *DB) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }

const maxTries = 20

// InTx runs f in one transaction and commits. f may run more than once, so it
// only talks to the database and assigns. Where it does more, it undoes what a
// try before it did (queue's claims), or it may be done for nothing (intent's
// Soon, a hint). Errors that f returns are wrapped,
// never replaced, or a retry is not recognised.
//
// On CockroachDB it is the vendor's retry loop at SERIALIZABLE. On PostgreSQL
// that loop must not be used (it takes RELEASE for the commit and retries
// inside an old snapshot): here each try is a fresh BEGIN at READ COMMITTED.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	var err error
	if db.cockroach {
		err = db.cockroachTx(ctx, f)
	} else {
		err = db.tries(ctx, func() error { return db.postgresTx(ctx, f) })
	}
	if db.unknown != nil && errors.Is(err, ErrCommitUnknown) {
		db.unknown()
	}
	return err
}

// tries runs a whole transaction, until it is not refused for what others do.
func (db *DB) tries(ctx context.Context, transaction func() error) error {
	for try := 1; ; try++ {
		err := transaction()
		if err == nil || !retryable(err) || try == maxTries {
			return err
		}
		if db.retries != nil {
			db.retries()
		}
		pause := time.Duration(rand.Int64N(int64(time.Millisecond) << min(try, 8)))
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, while waiting to retry: %w", ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

func (db *DB) cockroachTx(ctx context.Context, f func(*Tx) error) error {
	for try := 1; ; try++ {
		ran := false
		err := db.cockroachTry(ctx, func(tx *Tx) error {
			ran = true
			return f(tx)
		})
		if ran || try == maxTries || !notBegun(ctx, err) {
			return err
		}
	}
}

// notBegun tells whether BEGIN met a connection that was dead: nothing was
// done, and another one may do. Not if none can be made, which takes long.
func notBegun(ctx context.Context, err error) bool {
	var answered *pgconn.PgError
	var connect *pgconn.ConnectError
	var preparing pgx.ErrPreprocessingBatch
	if errors.As(err, &preparing) && !Unavailable(err) { // an argument that can't be encoded, say
		return false
	}
	return err != nil && ctx.Err() == nil && !errors.As(err, &connect) &&
		(!errors.As(err, &answered) || answered.Severity == "FATAL") // the server's last word on a connection that it ends
}

func (db *DB) cockroachTry(ctx context.Context, f func(*Tx) error) error {
	tries := 0
	err := crdbpgx.ExecuteTx(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
		if tries++; tries > 1 && db.retries != nil {
			db.retries()
		}
		return f(&Tx{Reads: Reads{querier{tx}, db.artifacts}, tx: tx})
	})
	var ambiguous *crdb.AmbiguousCommitError
	if errors.As(err, &ambiguous) || sqlState(err) == "40003" {
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
	return err
}

func (db *DB) postgresTx(ctx context.Context, f func(*Tx) error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("begin: %w", ctx.Err())
	}
	tx := &beginning{pool: db.pool}
	returned := false
	defer func() {
		if !returned { // f panicked; without this the connection would never come back to the pool
			tx.rollBack(ctx)
		}
	}()
	err := f(&Tx{Reads: Reads{querier{tx}, db.artifacts}, tx: tx})
	returned = true
	if err == nil && ctx.Err() != nil { // no COMMIT is sent, so nothing about it is unknown
		err = fmt.Errorf("commit: %w", ctx.Err())
	}
	if err != nil {
		tx.rollBack(ctx)
		return err
	}
	return tx.commit(ctx)
}

func rollBack(ctx context.Context, tx pgx.Tx) {
	rollback, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = tx.Rollback(rollback) // the connection is dropped if this fails, which rolls back too
}

// commitError tells a COMMIT that the server refused, or never saw, from one
// whose answer never came. A server that ends the connection instead of
// answering (FATAL) may have committed before: PostgreSQL does so, for one,
// when it is shut down while it waits for a standby. The driver's own word that
// nothing was sent (SafeToRetry) is not taken: it also gives it for a connection
// that broke behind the COMMIT (tried).
func commitError(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pg) && (pg.Severity == "FATAL" || pg.Severity == "PANIC"):
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	case errors.As(err, &pg), errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrTxClosed):
		return fmt.Errorf("commit: %w", err)
	default:
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
}

func retryable(err error) bool {
	s := sqlState(err)
	// A pooled connection that died while idle is noticed at BEGIN at the latest.
	return s == "40001" || s == "40P01" || errors.Is(err, errNotBegun)
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// uniqueViolation tells whether err is a second row under a unique key, and
// which constraint or index it is.
func uniqueViolation(err error) (constraint string, ok bool) {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" {
		return pg.ConstraintName, true
	}
	return "", false
}

func (tx *Tx) exec(ctx context.Context, sql statement, args ...any) (int64, error) {
	tag, err := tx.tx.Exec(ctx, string(sql), args...)
	return tag.RowsAffected(), err
}

// one runs a statement that must touch exactly one row.
func (tx *Tx) one(ctx context.Context, ifNone error, sql statement, args ...any) error {
	n, err := tx.exec(ctx, sql, args...)
	if err != nil {
		return err
	}
	if n == 0 {
		return ifNone
	}
	return nil
}

func collect[T any](ctx context.Context, q querier, sql statement, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return appendRows([]T{}, rows)
}

func first[T any](ctx context.Context, q querier, ifNone error, sql statement, args ...any) (T, error) {
	var none T
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return none, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
	if errors.Is(err, pgx.ErrNoRows) {
		return none, ifNone
	}
	return v, err
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
