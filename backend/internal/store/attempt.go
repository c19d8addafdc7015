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
func (r Reads) Attempt(ctx context.Context, c Claim) (a Attempt, err error) {
	b := &batch{}
	ask(b, "job", &a.Job, sqlJob+" AND j.id = $1", c.ID)
	b.askSubject(c.Subject(), &a.Subject)
	if c.HostID != nil {
		ask(b, "the organization's key", &a.Key, sqlKeyOfHost, *c.HostID)
	}
	if c.PlaybookVersionID != nil {
		askValue(b, "playbook", &a.Playbook, sqlPlaybookContent, *c.PlaybookVersionID)
	}
	return a, r.q.sendBatch(ctx, b)
}

// Subject reads what a job is about.
func (r Reads) Subject(ctx context.Context, of job.Subject) (s Subject, err error) {
	b := &batch{}
	b.askSubject(of, &s)
	return s, r.q.sendBatch(ctx, b)
}

func (b *batch) askSubject(of job.Subject, into *Subject) {
	ask(b, "host", &into.Host, sqlHost+" AND h.id = $1", of.HostID)
	if of.UnitID != uuid.Nil {
		ask(b, "unit", &into.Unit, sqlUnit+" AND u.id = $1", of.UnitID)
	}
	if of.AllocationID != uuid.Nil {
		ask(b, "allocation", &into.Allocation, sqlAllocation+" AND a.id = $1", of.AllocationID)
	}
	if of.PlanID != uuid.Nil {
		ask(b, "plan", &into.Plan, sqlPlan+" AND p.id = $2", true, of.PlanID)
	}
}

// batch is questions that are sent together. Each has one row as its answer.
type batch struct {
	pgx  pgx.Batch
	errs []error
}

// ask adds one whose row is a struct.
func ask[T any](b *batch, what string, into *T, sql statement, args ...any) {
	b.add(what, sql, args, func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
		return err
	})
}

// askValue adds one whose row is a value.
func askValue[T any](b *batch, what string, into *T, sql statement, args ...any) {
	b.add(what, sql, args, func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
		return err
	})
}

// An answer that is missing does not keep the others from being read.
func (b *batch) add(what string, sql statement, args []any, read func(pgx.Rows) error) {
	b.pgx.Queue(string(sql), args...).Query(func(rows pgx.Rows) error {
		err := read(rows)
		if isNoRows(err) {
			err = domain.ErrNotFound
		}
		if err != nil {
			b.errs = append(b.errs, fmt.Errorf("load %s: %w", what, err))
		}
		return nil
	})
}

func (q querier) sendBatch(ctx context.Context, b *batch) error {
	err := q.conn.SendBatch(ctx, &b.pgx).Close()
	return errors.Join(append(b.errs, err)...)
}
