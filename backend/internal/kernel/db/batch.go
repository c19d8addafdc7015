package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/kernel/fault"
)

// Batch is questions that are sent together.
type Batch struct {
	pgx     pgx.Batch
	errs    []error
	missing []error // rows that are not there
}

// Ask adds a question with one row as its answer; what says what failed, where
// it does.
func Ask[T any](b *Batch, what string, into *T, sql Statement, args ...any) {
	b.Add(what, sql, args, func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
		return err
	})
}

// AskAll adds one with any number of rows.
func AskAll[T any](b *Batch, what string, into *[]T, sql Statement, args ...any) {
	b.Add(what, sql, args, func(rows pgx.Rows) (err error) {
		*into, err = AppendRows([]T{}, rows)
		return err
	})
}

// Add adds a question whose rows read takes. A row that is missing does not keep the others from being read.
func (b *Batch) Add(what string, sql Statement, args []any, read func(pgx.Rows) error) {
	b.pgx.Queue(string(sql), args...).Query(func(rows pgx.Rows) error {
		err := read(rows)
		switch {
		case IsNoRows(err):
			b.missing = append(b.missing, fmt.Errorf("%s: %w", what, fault.ErrNotFound))
		case err != nil:
			b.errs = append(b.errs, fmt.Errorf("%s: %w", what, err))
		}
		return nil
	})
}

// Send sends it and reads the answers; a row that is missing is an error.
func (q Reader) Send(ctx context.Context, b *Batch) error {
	err := q.tries(ctx, func() error {
		b.errs, b.missing = nil, nil
		err := q.conn.SendBatch(ctx, b.copied()).Close()
		return errors.Join(append(b.errs, err)...)
	})
	return errors.Join(append(b.missing, err)...)
}

// copied makes a batch for one sending. The driver writes into it what it has prepared on its connection, so a second
// sending, which may use another connection, needs a fresh one.
func (b *Batch) copied() *pgx.Batch {
	sent := &pgx.Batch{}
	for _, asked := range b.pgx.QueuedQueries {
		sent.Queue(asked.SQL, asked.Arguments...).Fn = asked.Fn
	}
	return sent
}

// Queue adds a statement without an answer.
func (b *Batch) Queue(sql Statement, args ...any) { b.pgx.Queue(string(sql), args...) }

// Missing are the rows that were asked for and are not there.
func (b *Batch) Missing() []error { return b.missing }
