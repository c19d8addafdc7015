package store

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// JobSorting is the orders that jobs can be listed in.
var JobSorting = db.Sorting[Job]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("j.created_at"), db.ByID("j.id")}, At: func(j Job) db.Position { return db.Position{Time: j.CreatedAt, ID: j.ID} }},
	{Name: "kind", Columns: []db.Column{db.ByText("j.kind"), db.ByTime("j.created_at"), db.ByID("j.id")}, At: func(j Job) db.Position {
		return db.Position{Text: string(j.Kind), Time: j.CreatedAt, ID: j.ID}
	}},
}

// JobFilter narrows a list of jobs.
type JobFilter struct {
	WorkspaceID                  uuid.UUID
	State, Kind                  string // State "active": all that have not ended; "ended": all that have
	HostID, UnitID, AllocationID *uuid.UUID
	ObjectID                     *uuid.UUID // of any other noun
	Login                        string     // of the allocation; any that has it or had it
	Playbook                     string     // with Version: bound to it; has an index but beside a host, a unit or an allocation, which leave few jobs
	Version                      int
	Sort                         string // one of JobSorting; "" for the first
	After                        *db.Position
	Limit                        int
}

// Jobs lists jobs. Where they are read off several indexes, those are of one
// moment: a job that goes from one to another meanwhile is in one of them.
func (d *DB) Jobs(ctx context.Context, f JobFilter) (page []Job, err error) {
	if len(f.parts()) == 1 {
		return d.JobsByParts(ctx, f)
	}
	err = d.Snapshot(ctx, func(r Reads) error {
		page, err = r.JobsByParts(ctx, f)
		return err
	})
	return page, err
}

// JobsByParts is [DB.Jobs] without that moment of its own.
func (r Reads) JobsByParts(ctx context.Context, f JobFilter) ([]Job, error) {
	parts := f.parts()
	read := make([][]Job, len(parts))
	for i, p := range parts {
		var err error
		if read[i], err = r.jobs(ctx, f, p); err != nil {
			return nil, err
		}
	}
	return JobSorting.Merge(f.Sort, f.After, f.Limit, read...), nil
}

// How a job is of a host: it is the one, or one of several.
const (
	ofHost     db.Statement = "j.host_id = ?"
	amongHosts db.Statement = "j.id IN (SELECT o.job_id FROM job_hosts o WHERE o.host_id = ?)"
)

// The jobs of an object of any other noun stand in job_objects.
const aboutObject db.Statement = "j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = ?)"

// Which jobs an index holds: none holds all of a workspace or a host, since it
// would be written with each change of a job's state. They are constants, or they
// would not lead to their indexes.
const (
	anyJob      db.Statement = "true"
	queuedJobs  db.Statement = "j.state = 'queued'"
	runningJobs db.Statement = "j.lease_expires_at IS NOT NULL"
	endedJobs   db.Statement = "j.finished_at IS NOT NULL"
	endedBadly  db.Statement = "j.state IN ('failed', 'cancelled')"
)

// part is some of the jobs of a list, which lie in one index.
type part struct {
	where, ofHost db.Statement
}

func (f JobFilter) ofAllocation() bool { return f.AllocationID != nil || f.Login != "" }

// parts hold all that the filter lets through.
func (f JobFilter) parts() (all []part) {
	for _, where := range f.indexes() {
		all = append(all, part{where, ofHost})
	}
	if f.HostID != nil && f.UnitID == nil && !f.ofAllocation() { // jobs that have several hosts stand in another index
		all = append(all, part{anyJob, amongHosts})
	}
	return all
}

// indexes are those that hold the jobs of one host, or of none.
func (f JobFilter) indexes() []db.Statement {
	switch domain.JobState(f.State) {
	case domain.JobQueued:
		return []db.Statement{queuedJobs}
	case domain.JobRunning, domain.JobCancelling:
		return []db.Statement{runningJobs}
	case domain.JobFailed, domain.JobCancelled:
		if f.HostID != nil { // its own hold all that has ended
			return []db.Statement{endedJobs}
		}
		return []db.Statement{endedBadly}
	case "ended", domain.JobSucceeded:
		return []db.Statement{endedJobs}
	}
	switch {
	case f.UnitID != nil || f.ofAllocation() || f.ObjectID != nil: // their own hold all states
		return []db.Statement{anyJob}
	case f.State == "active":
		return []db.Statement{queuedJobs, runningJobs}
	default:
		return []db.Statement{queuedJobs, runningJobs, endedJobs}
	}
}

// jobs lists jobs off one index.
func (r Reads) jobs(ctx context.Context, f JobFilter, p part) ([]Job, error) {
	l := db.NewList(sqlJob).And("j.workspace_id = ?", f.WorkspaceID).AndIf(f.Kind, "j.kind = ?").And(p.where)
	switch {
	case f.State != "active" && f.State != "ended":
		l.AndIf(f.State, "j.state = ?")
	case p.where == anyJob && f.State == "active":
		l.And("j.finished_at IS NULL")
	case p.where == anyJob:
		l.And("j.finished_at IS NOT NULL")
	}
	for _, of := range []struct {
		id        *uuid.UUID
		condition db.Statement
	}{{f.HostID, p.ofHost}, {f.UnitID, "j.unit_id = ?"}, {f.AllocationID, "j.allocation_id = ?"}, {f.ObjectID, aboutObject}} {
		if of.id != nil {
			l.And(of.condition, *of.id)
		}
	}
	if f.Login != "" {
		l.And("j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = ? AND a.login_user = ?)", f.WorkspaceID, f.Login)
	}
	if f.Playbook != "" {
		l.And("j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = ? AND v.version = ?)", f.Playbook, f.Version)
	}
	return JobSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}
