// Package work owns jobs about any objects: kinds of jobs as values, what a job is
// about, the locks that it holds, and how its steps are carried out. It knows no
// noun. Claims, leases and ends are the queue's.
package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
)

// Object is one thing that a job is about.
type Object struct {
	Role string    `json:"role"` // what it is to the job, such as "zone"
	Noun string    `json:"noun"`
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"` // when the job was asked for
}

// Move is what a moment of a job means for its objects of one role.
type Move struct {
	Role string
	On   lifecycle.Event
}

// Step is one step of a kind. What it does is its Handler's; each step is
// idempotent, since it may run again after any cut.
type Step struct {
	Name  string
	Means string // shown with the step
	// Within is how long a step may wait for its condition, from its first look;
	// zero of a step that waits for nothing.
	Within time.Duration
}

// Kind is one kind of job. Names are permanent: rows in old databases carry them.
type Kind struct {
	Name     string
	Means    string // shown where a person meets a job of this kind
	Steps    []Step // in order
	Tries    int    // attempts that may fail for reasons that heal; 5 if zero
	Deadline time.Duration
	Priority int // higher goes first
	// Locks are the roles whose objects the job holds while an attempt runs, so that
	// of two jobs about one object one waits.
	Locks []string
	// Playbooks are the names of those that its steps play. A job is bound to their versions when it is asked for.
	Playbooks []string
	// What the moments of a job mean for its objects: when it is asked for, when it
	// ended well, when it failed for good or was cancelled, and when it was cancelled
	// before anything had begun (nil: as Failure).
	Start, Success, Failure, Withdrawn []Move
	// Plan makes plans of such jobs; nil: they have none.
	Plan *Plan
	// Cancelled is when a person cancelled it after something had begun; nil: as Failure.
	Cancelled []Move
}

// cancelled are the moves of a job that was cancelled after it began.
func (k Kind) cancelled() []Move {
	if k.Cancelled != nil {
		return k.Cancelled
	}
	return k.Failure
}

// withdrawn are the moves of a job that was cancelled before it began.
func (k Kind) withdrawn() []Move {
	if k.Withdrawn != nil {
		return k.Withdrawn
	}
	return k.Failure
}

// tries is how many attempts may fail.
func (k Kind) tries() int { return cmp.Or(k.Tries, 5) }

// deadline is how long after it was asked for an attempt may begin.
func (k Kind) deadline() time.Duration { return cmp.Or(k.Deadline, time.Hour) }

// Registry is all kinds and nouns that areas handed in.
type Registry struct {
	// Bind binds a job to the versions of playbooks that are the defaults now; nil: whoever plays does.
	Bind func(ctx context.Context, tx *db.Tx, job uuid.UUID, playbooks []string) error

	// Unplanned refuses a job that a person asks for without a plan, where its kind has plans and a rule asks for approvals of them;
	// nil: none is refused.
	Unplanned func(ctx context.Context, tx *db.Tx, who audit.Actor, workspace uuid.UUID, kind string) error

	kinds map[string]Kind
	nouns map[string]Noun
	names []string // of kinds, as they were handed in
}

// NewRegistry holds kinds against nouns: a mistake in a table is found when a
// backend starts, and by every test.
func NewRegistry(nouns []Noun, kinds []Kind) (*Registry, error) {
	r := &Registry{}
	return r, r.Add(nouns, kinds)
}

// Add is NewRegistry for one area more. All areas are added before anything runs.
func (r *Registry) Add(nouns []Noun, kinds []Kind) error {
	if r.kinds == nil {
		r.kinds, r.nouns = map[string]Kind{}, map[string]Noun{}
	}
	for _, n := range nouns {
		if _, twice := r.nouns[n.Name]; twice || n.Name == "" {
			return fmt.Errorf("two nouns are called %q, or one has no name", n.Name)
		}
		r.nouns[n.Name] = n
	}
	for _, k := range kinds {
		if _, twice := r.kinds[k.Name]; twice || k.Name == "" {
			return fmt.Errorf("two kinds of jobs are called %q, or one has no name", k.Name)
		}
		if k.Means == "" || len(k.Steps) == 0 {
			return fmt.Errorf("the kind %s lacks its meaning or its steps", k.Name)
		}
		r.kinds[k.Name], r.names = k, append(r.names, k.Name)
	}
	return nil
}

// Kind returns a kind by its name. A nil registry has none.
func (r *Registry) Kind(name string) (Kind, bool) {
	if r == nil {
		return Kind{}, false
	}
	k, ok := r.kinds[name]
	return k, ok
}

// Kinds are the names of all kinds. A nil registry has none.
func (r *Registry) Kinds() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.names)
}
