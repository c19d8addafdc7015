package store

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
)

// JobSorting is the orders that jobs can be listed in.
var JobSorting = Sorting[Job]{
	{"-created_at", []column{byTime("j.created_at"), byID("j.id")}, func(j Job) Position { return Position{Time: j.CreatedAt, ID: j.ID} }},
	{"kind", []column{byText("j.kind"), byTime("j.created_at"), byID("j.id")}, func(j Job) Position {
		return Position{Text: string(j.Kind), Time: j.CreatedAt, ID: j.ID}
	}},
}

// JobFilter narrows a list of jobs.
type JobFilter struct {
	WorkspaceID                  uuid.UUID
	State, Kind                  string // State "active": all that have not ended; "ended": all that have
	HostID, UnitID, AllocationID *uuid.UUID
	Playbook                     string // with Version: bound to it; has an index but beside a host, a unit or an allocation, which leave few jobs
	Version                      int
	Sort                         string // one of JobSorting; "" for the first
	After                        *Position
	Limit                        int
}

// Jobs lists jobs. Where they are read off several indexes, those are of one
// moment: a job that goes from one to another meanwhile is in one of them.
func (db *DB) Jobs(ctx context.Context, f JobFilter) (page []Job, err error) {
	if len(f.parts()) == 1 {
		return db.JobsByParts(ctx, f)
	}
	err = db.Snapshot(ctx, func(r Reads) error {
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
	return JobSorting.merge(f.Sort, f.After, f.Limit, read...), nil
}

// How a job is of a host: it is the one, or one of several.
const (
	ofHost     statement = "j.host_id = ?"
	amongHosts statement = "j.id IN (SELECT o.job_id FROM job_hosts o WHERE o.host_id = ?)"
)

// Which jobs an index holds: none holds all of a workspace or a host, since it
// would be written with each change of a job's state. They are constants, or they
// would not lead to their indexes.
const (
	anyJob      statement = "true"
	queuedJobs  statement = "j.state = 'queued'"
	runningJobs statement = "j.lease_expires_at IS NOT NULL"
	endedJobs   statement = "j.finished_at IS NOT NULL"
	endedBadly  statement = "j.state IN ('failed', 'cancelled')"
)

// part is some of the jobs of a list, which lie in one index.
type part struct {
	where, ofHost statement
}

// parts hold all that the filter lets through.
func (f JobFilter) parts() (all []part) {
	for _, where := range f.indexes() {
		all = append(all, part{where, ofHost})
	}
	if f.HostID != nil && f.UnitID == nil && f.AllocationID == nil { // jobs that have several hosts stand in another index
		all = append(all, part{anyJob, amongHosts})
	}
	return all
}

// indexes are those that hold the jobs of one host, or of none.
func (f JobFilter) indexes() []statement {
	switch domain.JobState(f.State) {
	case domain.JobQueued:
		return []statement{queuedJobs}
	case domain.JobRunning, domain.JobCancelling:
		return []statement{runningJobs}
	case domain.JobFailed, domain.JobCancelled:
		if f.HostID != nil { // its own hold all that has ended
			return []statement{endedJobs}
		}
		return []statement{endedBadly}
	case "ended", domain.JobSucceeded:
		return []statement{endedJobs}
	}
	switch {
	case f.UnitID != nil || f.AllocationID != nil: // their own hold all states
		return []statement{anyJob}
	case f.State == "active":
		return []statement{queuedJobs, runningJobs}
	default:
		return []statement{queuedJobs, runningJobs, endedJobs}
	}
}

// jobs lists jobs off one index.
func (r Reads) jobs(ctx context.Context, f JobFilter, p part) ([]Job, error) {
	l := newList(sqlJob).and("j.workspace_id = ?", f.WorkspaceID).andIf(f.Kind, "j.kind = ?").and(p.where)
	switch {
	case f.State != "active" && f.State != "ended":
		l.andIf(f.State, "j.state = ?")
	case p.where == anyJob && f.State == "active":
		l.and("j.finished_at IS NULL")
	case p.where == anyJob:
		l.and("j.finished_at IS NOT NULL")
	}
	for _, of := range []struct {
		id        *uuid.UUID
		condition statement
	}{{f.HostID, p.ofHost}, {f.UnitID, "j.unit_id = ?"}, {f.AllocationID, "j.allocation_id = ?"}} {
		if of.id != nil {
			l.and(of.condition, *of.id)
		}
	}
	if f.Playbook != "" {
		l.and("j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = ? AND v.version = ?)", f.Playbook, f.Version)
	}
	return JobSorting.read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}
