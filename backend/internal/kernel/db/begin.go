package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// beginning is a transaction whose BEGIN, and on CockroachDB its savepoint, is
// sent together with its first statement, which saves round trips. Where there is
// no statement there is no transaction.
type beginning struct {
	pool      *pgxpool.Pool
	cockroach bool
	conn      *pgxpool.Conn // nil until the first statement
	tx        pgx.Tx        // nil until it is sent
}

// send sends BEGIN, the savepoint and what is queued behind them. Both have been
// answered then; where they were not, the results are closed.
func (t *beginning) send(ctx context.Context, queued ...*pgx.QueuedQuery) (answers pgx.BatchResults, err error) {
	b := &pgx.Batch{}
	if t.cockroach {
		b.BeginTx(pgx.TxOptions{IsoLevel: pgx.Serializable})
		b.Queue(restartPoint)
	} else {
		b.BeginTx(pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	}
	b.QueuedQueries = append(b.QueuedQueries, queued...)
	if t.conn, err = t.pool.Acquire(ctx); err == nil {
		answers = t.conn.SendBatch(ctx, b)
		t.tx = answers.Tx()
		_, err = answers.Exec()
		if err == nil && t.cockroach {
			_, err = answers.Exec()
		}
		if err == nil {
			return answers, nil
		}
		_ = answers.Close()
	}
	if notBegun(ctx, err) {
		return nil, fmt.Errorf("%w: %w", errNotBegun, err)
	}
	return nil, fmt.Errorf("begin: %w", err)
}

func queue(sql string, args []any) *pgx.QueuedQuery {
	return (&pgx.Batch{}).Queue(sql, args...)
}

func (t *beginning) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if t.tx != nil {
		return t.tx.Exec(ctx, sql, args...)
	}
	answers, err := t.send(ctx, queue(sql, args))
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := answers.Exec()
	if closed := answers.Close(); err == nil {
		err = closed
	}
	return tag, err
}

func (t *beginning) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if t.tx != nil {
		return t.tx.Query(ctx, sql, args...)
	}
	answers, err := t.send(ctx, queue(sql, args))
	if err != nil {
		return nil, err
	}
	rows, err := answers.Query()
	if err != nil {
		_ = answers.Close()
		return nil, err
	}
	return &firstRows{Rows: rows, answers: answers}, nil
}

func (t *beginning) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.tx != nil {
		return t.tx.QueryRow(ctx, sql, args...)
	}
	rows, err := t.Query(ctx, sql, args...)
	return firstRow{rows, err}
}

// SendBatch is for batches whose answers are read by their own functions, when
// the result is closed.
func (t *beginning) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if t.tx != nil {
		return t.tx.SendBatch(ctx, b)
	}
	answers, err := t.send(ctx, b.QueuedQueries...)
	if err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	return answers
}

// commit does nothing where nothing was sent.
func (t *beginning) commit(ctx context.Context) error {
	if t.tx == nil {
		return nil
	}
	defer t.conn.Release()
	return commitError(t.tx.Commit(ctx))
}

// rollBack gives the connection back also where something panicked before all
// was sent or read: the pool closes one that isn't idle.
func (t *beginning) rollBack(ctx context.Context) {
	if t.tx != nil {
		rollBack(ctx, t.tx)
	}
	if t.conn != nil {
		t.conn.Release()
	}
}

// firstRows are those of the first statement. The connection is ready for the
// next one when they are closed, which the last of them does.
type firstRows struct {
	pgx.Rows
	answers pgx.BatchResults
	closed  error
}

func (r *firstRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *firstRows) Close() {
	r.Rows.Close()
	if err := r.answers.Close(); r.closed == nil {
		r.closed = err
	}
}

func (r *firstRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.closed
}

// firstRow is the row of the first statement.
type firstRow struct {
	rows pgx.Rows
	err  error
}

func (r firstRow) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(into...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
