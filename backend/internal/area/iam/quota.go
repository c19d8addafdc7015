package iam

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// Resources that can be limited.
const (
	Units       = "units"
	CPUs        = "cpus"
	MemoryBytes = "memory_bytes"
	Addresses   = "addresses"
	Hosts       = "hosts"
	Jobs        = "jobs" // that run; others wait in the queue
)

// Resources is all of them.
var Resources = []string{Units, CPUs, MemoryBytes, Addresses, Hosts, Jobs}

// Quota is how much of a resource a scope may have in use, and how much it has.
type Quota struct {
	Level     scope.Level `db:"scope"`
	ScopeID   uuid.UUID   `db:"scope_id"`
	Resource  string      `db:"resource"`
	Amount    int64       `db:"amount"`
	Used      int64       `db:"used"`
	Version   int64       `db:"version"`
	UpdatedBy string      `db:"updated_by"`
	UpdatedAt time.Time   `db:"updated_at"`
	WarnedAt  *time.Time  `db:"warned_at"`
	FullAt    *time.Time  `db:"full_at"`
	Path      string      `db:"path"` // of the scope: organization/project/workspace
}

// exceeded is the answer to who wants more than a quota leaves.
func (q Quota) exceeded(more int64) error {
	return fault.Conflictf("quota_exceeded", "the %s %s may have %s in use; %s are, and this needs %s more",
		q.Level, q.Path, said(q.Resource, q.Amount), said(q.Resource, q.Used-more), said(q.Resource, more))
}

// Full says of a quota of jobs that is used up what others wait for.
func (q Quota) Full() string {
	return fmt.Sprintf("The %s %s may run %d jobs at once, and %d run.", q.Level, q.Path, q.Amount, max(0, q.Used))
}

func said(resource string, n int64) string {
	switch resource {
	case MemoryBytes:
		return fmt.Sprintf("%.1f GiB of memory", float64(n)/(1<<30))
	case CPUs:
		return fmt.Sprintf("%d CPUs", n)
	}
	return fmt.Sprintf("%d %s", n, resource)
}

// Amounts is how much of each resource something takes; negative: gives back.
type Amounts map[string]int64

// ofUnit is what an allocation of a unit takes.
func ofUnit(cpus, memory int64) Amounts {
	return Amounts{Units: 1, CPUs: cpus, MemoryBytes: memory, Addresses: 1}
}

func (a Amounts) negative() Amounts {
	out := Amounts{}
	for r, n := range a {
		out[r] = -n
	}
	return out
}
