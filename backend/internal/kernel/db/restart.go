package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
)

// What the vendor's retry loop sends, and what is sent for it.
const (
	leastRestarts = 5

	restartPoint = "SAVEPOINT cockroach_restart"
	restartEnd   = "RELEASE SAVEPOINT cockroach_restart"
	restartAgain = "ROLLBACK TO SAVEPOINT cockroach_restart"

	sqlRestartEnd = restartEnd + "; COMMIT"
)

// restarting is a transaction on CockroachDB, as the vendor's retry loop drives
// it. BEGIN and the savepoint go with the first statement, and COMMIT, which only
// says that nothing else comes, with the release of the savepoint, which commits:
// a transaction of one statement takes two round trips. Before it begins anew it
// waits, at random and exponentially longer, and after retryFor no more.
//
// Where the database answers late, a few tries may take longer than that, so it
// begins anew some times at least.
type restarting struct {
	*beginning
	db       *DB
	until    time.Time
	restarts int
	refusal  error // of the last try
}

var _ crdb.Tx = (*restarting)(nil)

func (db *DB) cockroachTx(ctx context.Context, f func(*Tx) error) error {
	until := time.Now().Add(db.retryFor)
	return db.tries(ctx, func() error { return db.cockroachTry(ctx, until, f) })
}

func (db *DB) cockroachTry(ctx context.Context, until time.Time, f func(*Tx) error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("begin: %w", ctx.Err())
	}
	t := &restarting{beginning: &beginning{pool: db.pool, cockroach: true}, db: db, until: until}
	err := crdb.ExecuteInTx(crdb.WithMaxRetries(ctx, 0), t, func() error {
		err := f(&Tx{Reader: Reader{conn: t.beginning}, tx: t.beginning})
		if err == nil && ctx.Err() != nil { // the release is not sent, so nothing about it is unknown
			err = fmt.Errorf("commit: %w", ctx.Err())
		}
		t.refusal = err
		return err
	})
	var ended *crdb.AmbiguousCommitError // says so of whatever met the release
	if errors.As(err, &ended) {
		err = ended.Unwrap()
	}
	if SQLState(err) == ambiguous && !errors.Is(err, ErrCommitUnknown) {
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
	return err
}

// Exec implements crdb.Tx.
func (t *restarting) Exec(ctx context.Context, sql string, _ ...any) error {
	switch sql {
	case restartPoint: // goes with the first statement
		return nil
	case restartEnd:
		return t.end(ctx)
	case restartAgain:
		return t.restart(ctx)
	}
	return fmt.Errorf("the retry loop sends %q", sql)
}

func (t *restarting) end(ctx context.Context) error {
	if t.tx == nil { // no statement, no transaction
		return nil
	}
	answers := t.conn.Conn().PgConn().Exec(ctx, sqlRestartEnd)
	released := false
	for answers.NextResult() {
		_, err := answers.ResultReader().Close()
		released = released || err == nil
	}
	if err := answers.Close(); !released { // what comes of COMMIT behind it does not matter
		t.refusal = commitError(err)
		return t.refusal
	}
	return nil
}

func (t *restarting) restart(ctx context.Context) error {
	if time.Now().After(t.until) && t.restarts >= leastRestarts {
		return fmt.Errorf("met others for %s: %w", t.db.retryFor, t.refusal)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w, while waiting to retry: %w", ctx.Err(), t.refusal)
	}
	if t.tx != nil { // else f made the refusal up
		if _, err := t.tx.Exec(ctx, restartAgain); err != nil {
			return err
		}
	}
	if t.restarts++; t.restarts > 1 {
		return t.db.pause(ctx, t.restarts, t.refusal)
	}
	if t.db.retries != nil { // whoever was met has mostly committed: no pause
		t.db.retries()
	}
	return nil
}

// Commit implements crdb.Tx. It is called once the savepoint was released.
func (t *restarting) Commit(context.Context) error {
	if t.conn != nil {
		t.conn.Release()
	}
	return nil
}

// Rollback implements crdb.Tx.
func (t *restarting) Rollback(ctx context.Context) error {
	t.rollBack(ctx)
	return nil
}
