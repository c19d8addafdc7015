package watch

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// RemedyNoun names remedies in events and problems.
const RemedyNoun = "remedy"

// Bounds of a remedy.
const (
	MinRemedyWait = time.Minute
	MaxRemedyWait = 24 * time.Hour
	MaxPerDay     = 24
	MaxAtOnce     = 20
)

// Remedies that nobody set otherwise: they wait until a condition is no passing one, and stop before they do harm.
const (
	DefaultRemedyWait = 5 * time.Minute
	DefaultPerDay     = 3
	DefaultAtOnce     = 2
)

// RemedyDraft is a remedy as a user writes it.
type RemedyDraft struct {
	Name        string
	Noun        string
	Condition   string
	Job         string
	WaitSeconds int64
	PerDay      int64
	AtOnce      int64
	Enabled     bool
}

// check returns a fault.Invalid with all mistakes. jobs are the kinds of jobs that can be asked for, by noun.
func (d RemedyDraft) check(jobs map[string][]string) error {
	var bad fault.Invalid
	if !channelName.MatchString(d.Name) {
		bad.Add("name", "Use lower-case letters, digits and -; begin with a letter; at most 63.")
	}
	kinds, known := jobs[d.Noun]
	if !known {
		bad.Add("noun", "Use one of: %s.", strings.Join(slices.Sorted(maps.Keys(jobs)), ", "))
	} else if !slices.Contains(kinds, d.Job) {
		bad.Add("job", "Use one of: %s.", strings.Join(kinds, ", "))
	}
	if !subscribe.MatchString(d.Condition) || strings.ContainsAny(d.Condition, "*/") {
		bad.Add("condition", "Use the type of a condition, such as healthy or in_sync.")
	}
	if wait := time.Duration(d.WaitSeconds) * time.Second; wait < MinRemedyWait || wait > MaxRemedyWait {
		bad.Add("wait_seconds", "Use %d to %d seconds.", int(MinRemedyWait.Seconds()), int(MaxRemedyWait.Seconds()))
	}
	if d.PerDay < 1 || d.PerDay > MaxPerDay {
		bad.Add("per_day", "Use 1 to %d.", MaxPerDay)
	}
	if d.AtOnce < 1 || d.AtOnce > MaxAtOnce {
		bad.Add("at_once", "Use 1 to %d.", MaxAtOnce)
	}
	return bad.OrNil()
}

// Remedy is one row of remedies.
type Remedy struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	Name        string    `db:"name"`
	Noun        string    `db:"noun"`
	Condition   string    `db:"condition"`
	Job         string    `db:"job"`
	WaitSeconds int64     `db:"wait_seconds"`
	PerDay      int64     `db:"per_day"`
	AtOnce      int64     `db:"at_once"`
	Enabled     bool      `db:"enabled"`
	Version     int64     `db:"version"`
	CreatedAt   time.Time `db:"created_at"`
	UpdatedAt   time.Time `db:"updated_at"`
}

func (r Remedy) draft() RemedyDraft {
	return RemedyDraft{
		Name: r.Name, Noun: r.Noun, Condition: r.Condition, Job: r.Job, WaitSeconds: r.WaitSeconds, PerDay: r.PerDay, AtOnce: r.AtOnce, Enabled: r.Enabled,
	}
}

func (r Remedy) facts() map[string]any {
	return map[string]any{
		"name": r.Name, "noun": r.Noun, "condition": r.Condition, "job": r.Job, "wait_seconds": r.WaitSeconds, "per_day": r.PerDay, "at_once": r.AtOnce, "enabled": r.Enabled,
	}
}

// Outcomes of a run of a remedy.
const (
	Asking  = "asking" // a backend is about to ask for the job, or died then
	Asked   = "asked"
	Refused = "refused"
)

// RunOutcomes are all outcomes of runs of remedies.
func RunOutcomes() []string { return []string{Asking, Asked, Refused} }

// RemedyRun is one row of remedy_runs.
type RemedyRun struct {
	ID         uuid.UUID  `db:"id"`
	RemedyID   uuid.UUID  `db:"remedy_id"`
	Remedy     string     `db:"remedy"` // its name now
	ObjectID   uuid.UUID  `db:"object_id"`
	ObjectName string     `db:"object_name"`
	Reason     string     `db:"reason"`
	At         time.Time  `db:"at"`
	Outcome    string     `db:"outcome"`
	JobID      *uuid.UUID `db:"job_id"`
	Message    string     `db:"message"`
}

// Ill is an object whose condition a remedy is for.
type Ill struct {
	ObjectID uuid.UUID `db:"object_id"`
	Name     string    `db:"name"`
	Reason   string    `db:"reason"`
	Today    int64     `db:"today"` // runs within 24 hours
}

// Spent is the objects about which a remedy has used its jobs of the day.
type Spent struct {
	Objects int64  `db:"objects"`
	Example string `db:"example"` // name of one
}
