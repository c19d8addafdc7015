package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/db"
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
	b := &db.Batch{}
	askAttempt(b, c, &a, r.artifacts)
	return a, r.q.Send(ctx, b)
}

func askAttempt(b *db.Batch, c Claim, into *Attempt, known *artifacts) {
	db.Ask(b, "load job", &into.Job, sqlJob+" AND j.id = $1", c.ID)
	askSubject(b, c.Subject(), &into.Subject)
	if c.HostID != nil {
		db.Ask(b, "load the organization's key", &into.Key, sqlKeyOfHost, *c.HostID)
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
	b.Add("load playbook", sqlPlaybookContent, []any{version}, func(rows pgx.Rows) (err error) {
		into.Playbook, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
		known.put(version, into.Playbook)
		return err
	})
}

// Subject reads what a job is about.
func (r Reads) Subject(ctx context.Context, of job.Subject) (s Subject, err error) {
	b := &db.Batch{}
	askSubject(b, of, &s)
	return s, r.q.Send(ctx, b)
}

func askSubject(b *db.Batch, of job.Subject, into *Subject) {
	if of[domain.OfHost] != uuid.Nil {
		db.Ask(b, "load host", &into.Host, sqlHost+" AND h.id = $1", of[domain.OfHost])
	}
	if of[domain.OfUnit] != uuid.Nil {
		db.Ask(b, "load unit", &into.Unit, sqlUnit+" AND u.id = $1", of[domain.OfUnit])
	}
	if of[domain.OfAllocation] != uuid.Nil {
		db.Ask(b, "load allocation", &into.Allocation, sqlAllocation+" AND a.id = $1", of[domain.OfAllocation])
	}
	if of[domain.OfPlan] != uuid.Nil {
		db.Ask(b, "load plan", &into.Plan, sqlPlan+" AND p.id = $2", true, of[domain.OfPlan])
	}
}
