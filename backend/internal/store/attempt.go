package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
)

// Subject is what a job is about; what it isn't about is empty.
type Subject struct {
	Host       Host
	Unit       Unit
	Allocation Allocation
	Plan       Plan // that the job makes, or that it is bound to
}

// Attempt is all that an attempt of a job begins with.
type Attempt struct {
	Job Job
	Subject
	Playbook []byte          // the artifact of its version; see PlaybookContent
	Key      OrganizationKey // of the host's organization
}

// Attempt reads everything that an attempt begins with, in one round trip,
// since a play waits for it. What it could read is there also with an error.
// Where the claim has read it already, that is returned.
func (r Reads) Attempt(ctx context.Context, c Claim) (a Attempt, err error) {
	if c.read != nil {
		return *c.read, nil
	}
	b := &batch{}
	b.askAttempt(c, &a, r.artifacts)
	return a, r.q.sendBatch(ctx, b)
}

func (b *batch) askAttempt(c Claim, into *Attempt, known *artifacts) {
	ask(b, "load job", &into.Job, sqlJob+" AND j.id = $1", c.ID)
	b.askSubject(c.Subject(), &into.Subject)
	if c.HostID != nil {
		ask(b, "load the organization's key", &into.Key, sqlKeyOfHost, *c.HostID)
	}
	if c.PlaybookVersionID == nil {
		return
	}
	version := *c.PlaybookVersionID
	if c.PlanID == nil { // a job that is bound to a plan looks whether it is still what it was
		into.Playbook = known.get(version)
	}
	if into.Playbook != nil {
		return
	}
	b.add("load playbook", sqlPlaybookContent, []any{version}, func(rows pgx.Rows) (err error) {
		into.Playbook, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
		known.put(version, into.Playbook)
		return err
	})
}

// Subject reads what a job is about.
func (r Reads) Subject(ctx context.Context, of job.Subject) (s Subject, err error) {
	b := &batch{}
	b.askSubject(of, &s)
	return s, r.q.sendBatch(ctx, b)
}

func (b *batch) askSubject(of job.Subject, into *Subject) {
	if of.HostID != uuid.Nil {
		ask(b, "load host", &into.Host, sqlHost+" AND h.id = $1", of.HostID)
	}
	if of.UnitID != uuid.Nil {
		ask(b, "load unit", &into.Unit, sqlUnit+" AND u.id = $1", of.UnitID)
	}
	if of.AllocationID != uuid.Nil {
		ask(b, "load allocation", &into.Allocation, sqlAllocation+" AND a.id = $1", of.AllocationID)
	}
	if of.PlanID != uuid.Nil {
		ask(b, "load plan", &into.Plan, sqlPlan+" AND p.id = $2", true, of.PlanID)
	}
}

// batch is questions that are sent together.
type batch struct {
	pgx     pgx.Batch
	errs    []error
	missing []error // rows that are not there
}

// ask adds a question with one row as its answer; what says what failed, where
// it does.
func ask[T any](b *batch, what string, into *T, sql statement, args ...any) {
	b.add(what, sql, args, func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
		return err
	})
}

// askAll adds one with any number of rows.
func askAll[T any](b *batch, what string, into *[]T, sql statement, args ...any) {
	b.add(what, sql, args, func(rows pgx.Rows) (err error) {
		*into, err = appendRows([]T{}, rows)
		return err
	})
}

// A row that is missing does not keep the others from being read.
func (b *batch) add(what string, sql statement, args []any, read func(pgx.Rows) error) {
	b.pgx.Queue(string(sql), args...).Query(func(rows pgx.Rows) error {
		err := read(rows)
		switch {
		case isNoRows(err):
			b.missing = append(b.missing, fmt.Errorf("%s: %w", what, domain.ErrNotFound))
		case err != nil:
			b.errs = append(b.errs, fmt.Errorf("%s: %w", what, err))
		}
		return nil
	})
}

// sendBatch sends it and reads the answers; a row that is missing is an error.
func (q querier) sendBatch(ctx context.Context, b *batch) error {
	err := q.trySending(ctx, b)
	return errors.Join(append(b.missing, err)...)
}

// trySending is sendBatch where rows may be missing.
func (q querier) trySending(ctx context.Context, b *batch) error {
	return q.tries(ctx, func() error {
		b.errs, b.missing = nil, nil
		err := q.conn.SendBatch(ctx, b.copied()).Close()
		return errors.Join(append(b.errs, err)...)
	})
}

// copied is what is sent of a batch that may be sent again, over another connection: the driver notes in it how that one
// has prepared each of its statements.
func (b *batch) copied() *pgx.Batch {
	sent := &pgx.Batch{}
	for _, asked := range b.pgx.QueuedQueries {
		sent.Queue(asked.SQL, asked.Arguments...).Fn = asked.Fn
	}
	return sent
}
