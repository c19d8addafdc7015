// Package db owns the database: the pool, transactions that may run twice, reads
// that are retried, lists and their pages. It knows no noun. Statements are
// constants of the program, so that all SQL can be checked before it runs.
package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"
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

var errNotBegun = errors.New("begin: the connection was dead")

// Statement is SQL, or a piece of it, that was there when the program was
// compiled: a constant becomes one by itself. Text that comes together at run
// time does not, except in list, the one place that converts.
type Statement string

// DB is the database.
type DB struct {
	Reader
	pool      *pgxpool.Pool
	cockroach bool
	version   string
	retryFor  time.Duration
	retries   func() // told of every retry of a transaction or a read; may be nil
	unknown   func() // told of every COMMIT whose answer was lost; may be nil
	twice     bool
	last      []func(context.Context, *Tx) error // see BeforeCommit
}

// Tx is one transaction: all that can be written.
type Tx struct {
	Reader
	tx interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	}
	touched map[Object]struct{} // see Touch
}

// Postgres tells whether it is one of PostgreSQL's.
func (tx *Tx) Postgres() bool {
	t, is := tx.tx.(*beginning)
	return is && !t.cockroach
}

// Cockroach tells whether it is one of CockroachDB's.
func (tx *Tx) Cockroach() bool {
	t, is := tx.tx.(*beginning)
	return is && t.cockroach
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
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		nodes.Renew(c, url)
		return nodes.Spread(ctx, c)
	}
	if cfg.PingTimeout == 0 {
		cfg.PingTimeout = nodes.PingTimeout
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := limitIdle(ctx, conn); err != nil {
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
	db := &DB{pool: pool, retryFor: retryFor}
	if err := pool.QueryRow(ctx, `SELECT version()`).Scan(&db.version); err != nil {
		pool.Close()
		return nil, fmt.Errorf("ask the database for its version: %w", err)
	}
	if err := nodes.CheckVersion(db.version); err != nil {
		pool.Close()
		return nil, err
	}
	db.cockroach = nodes.IsCockroach(db.version)
	db.Reader = Reader{conn: pool}
	if db.cockroach {
		db.again = db
	}
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

// TryTwice refuses every transaction once, when it is about to commit, for tests
// of what runs in one: it may run twice.
func (db *DB) TryTwice() { db.twice = true }

// refusedOnce is f, whose first success does not count.
func refusedOnce(f func(*Tx) error) func(*Tx) error {
	refused := false
	return func(tx *Tx) error {
		err := f(tx)
		if err == nil && !refused {
			refused = true
			return &pgconn.PgError{Severity: "ERROR", Code: serializationFailure, Message: "refused once, for a test"}
		}
		return err
	}
}

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

// How long something that meets others is tried: so often, with PostgreSQL, which refuses rarely, and for so long with
// CockroachDB, where any of it may be refused.
const (
	maxTries = 20
	retryFor = 10 * time.Second
)

// InTx runs f in one transaction and commits. f may run more than once, so it
// only talks to the database and assigns. Errors that f returns are wrapped,
// never replaced, or a retry is not recognised.
//
// On CockroachDB it is the vendor's retry loop at SERIALIZABLE, with the pauses
// and the bound of restarting. On PostgreSQL that loop must not be used (it takes
// RELEASE for the commit and retries inside an old snapshot): here each try is a
// fresh BEGIN at READ COMMITTED.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	var err error
	f = db.ended(ctx, f)
	if db.twice {
		f = refusedOnce(f)
	}
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

// tries runs something whole, a transaction or a read, until it is not refused for what others do.
func (db *DB) tries(ctx context.Context, whole func() error) error {
	begun := time.Now()
	for try := 1; ; try++ {
		err := whole()
		if err == nil || !retryable(err) || !db.cockroach && try == maxTries || db.cockroach && time.Since(begun) >= db.retryFor {
			return err
		}
		if err := db.pause(ctx, try, err); err != nil {
			return err
		}
	}
}

// pause waits before the next try: exponentially longer, up to a quarter of a second, and at random, so that those who
// met do not meet again.
func (db *DB) pause(ctx context.Context, try int, why error) error {
	if db.retries != nil {
		db.retries()
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w, while waiting to retry: %w", ctx.Err(), why)
	case <-time.After(time.Duration(rand.Int64N(int64(time.Millisecond) << min(try, 8)))):
		return nil
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
	err := f(&Tx{Reader: Reader{conn: tx}, tx: tx})
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

// Codes of errors that mean something of their own here.
const (
	serializationFailure = "40001"
	ambiguous            = "40003" // a transaction whose end is not known
	// uncategorized is CockroachDB's for what comes from below SQL: a node that it can't reach, a connection that it ends
	// since its transaction stood still. What is wrong with a statement has another.
	uncategorized = "XXUUU"
)

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
	case errors.As(err, &pg) && (pg.Severity == "FATAL" || pg.Severity == "PANIC" || pg.Code == ambiguous || pg.Code == uncategorized):
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	case errors.As(err, &pg), errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrTxClosed):
		return fmt.Errorf("commit: %w", err)
	default:
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
}

func retryable(err error) bool {
	s := SQLState(err)
	// A pooled connection that died while idle is noticed at BEGIN at the latest.
	return s == serializationFailure || s == "40P01" || errors.Is(err, errNotBegun)
}

// SQLState is the five characters by which the database names an error; "" of
// another error.
func SQLState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// UniqueViolation tells whether err is a second row under a unique key, and
// which constraint or index it is.
func UniqueViolation(err error) (constraint string, ok bool) {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" {
		return pg.ConstraintName, true
	}
	return "", false
}

// Exec sends a statement and returns how many rows it changed.
func (tx *Tx) Exec(ctx context.Context, sql Statement, args ...any) (int64, error) {
	tag, err := tx.tx.Exec(ctx, string(sql), args...)
	return tag.RowsAffected(), err
}

// One runs a statement that must touch exactly one row.
func (tx *Tx) One(ctx context.Context, ifNone error, sql Statement, args ...any) error {
	n, err := tx.Exec(ctx, sql, args...)
	if err != nil {
		return err
	}
	if n == 0 {
		return ifNone
	}
	return nil
}

// Collect reads all rows of a statement.
func Collect[T any](ctx context.Context, q Reader, sql Statement, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return AppendRows([]T{}, rows)
}

// First reads the first row of a statement; ifNone if there is none.
func First[T any](ctx context.Context, q Reader, ifNone error, sql Statement, args ...any) (T, error) {
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

// IsNoRows tells whether a row was asked for and there was none.
func IsNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// OrNull is the id as an argument: NULL for uuid.Nil.
func OrNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// IDsBehind lists the rows of a table behind an id, $1, and at most $2 of them: "SELECT id FROM table" + IDsBehind.
const IDsBehind = " WHERE id > $1 ORDER BY id LIMIT $2"

// IDs reads the column id of all rows of a statement. An error begins with doing, for example "list the zones that are due".
func IDs(ctx context.Context, q Reader, doing string, sql Statement, args ...any) ([]uuid.UUID, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	rows, err := Collect[row](ctx, q, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, nil
}
