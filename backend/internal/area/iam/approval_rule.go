package iam

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// ApprovalRuleNoun names approval rules in events and problems.
const ApprovalRuleNoun = "approval_rule"

// Bounds of an approval rule.
const (
	MaxApprovals     = 5
	MaxApprovalHours = 168
)

// ApprovalRule says how many people have to approve plans of some kinds in a scope, and for how long they can.
type ApprovalRule struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Scope          string    `db:"scope"` // noun of the scope
	ScopeID        uuid.UUID `db:"scope_id"`
	ProjectID      uuid.UUID `db:"project_id"` // of the scope; zeros for an organization
	Path           string    `db:"path"`       // of the scope
	Name           string    `db:"name"`
	Kinds          []string  `db:"kinds"` // of jobs
	Approvals      int64     `db:"approvals"`
	Hours          int64     `db:"hours"`
	Version        int64     `db:"version"`
	CreatedBy      string    `db:"created_by"`
	CreatedAt      time.Time `db:"created_at"`
	UpdatedAt      time.Time `db:"updated_at"`
}

// At is the scope of the rule, as far as permissions ask.
func (r ApprovalRule) At() Scope {
	at := Scope{Kind: r.Scope, ID: r.ScopeID, OrganizationID: r.OrganizationID}
	if r.Scope != OrganizationNoun {
		at.ProjectID = &r.ProjectID
	}
	return at
}

// ApprovalRuleDraft is an approval rule as somebody asks for it.
type ApprovalRuleDraft struct {
	Name      string
	Kinds     []string
	Approvals int64
	Hours     int64
}

// check makes the kinds sorted and unique; planned are those that have plans.
func (d *ApprovalRuleDraft) check(planned []string) error {
	var bad fault.Invalid
	bad.Check("name", checkName(d.Name))
	if len(d.Kinds) == 0 {
		bad.Add("kinds", "Name at least one kind of job.")
	}
	for i, k := range d.Kinds {
		if !slices.Contains(planned, k) {
			bad.Add(fmt.Sprintf("kinds[%d]", i), "Use one of %s: other jobs have no plans.", strings.Join(planned, ", "))
		}
	}
	if d.Approvals < 1 || d.Approvals > MaxApprovals {
		bad.Add("approvals", "Use 1 to %d approvals.", MaxApprovals)
	}
	if d.Hours < 1 || d.Hours > MaxApprovalHours {
		bad.Add("hours", "Use 1 to %d hours.", MaxApprovalHours)
	}
	d.Kinds = slices.Compact(slices.Sorted(slices.Values(d.Kinds)))
	return bad.OrNil()
}

func (r ApprovalRule) facts() map[string]any {
	return map[string]any{"name": r.Name, "scope": r.Path, "kinds": r.Kinds, "approvals": r.Approvals, "hours": r.Hours}
}

// Approval is what all rules over a workspace ask of plans of one kind: the most approvals, within the shortest time. The zero
// value asks for nothing.
type Approval struct {
	Needed int64    // approvals by people other than the one who asks
	Hours  int64    // from the check of the plan
	Rules  []string // names
}

// deletes are the kinds of jobs that the deletion of a scope asks for: a rule about one of them asks for approvals of deletions too.
var deletes = []string{"unit_deallocate", "cluster_delete", "hosted_cluster_delete"}

// asks tells whether the rule asks for approvals of plans of a kind.
func (r ApprovalRule) asks(kind string) bool {
	return slices.Contains(r.Kinds, kind) || kind == ScopeDelete.Name && slices.ContainsFunc(deletes, func(k string) bool { return slices.Contains(r.Kinds, k) })
}

// ApprovalFor joins what the rules ask of plans of one kind.
func ApprovalFor(rules []ApprovalRule, kind string) (a Approval) {
	for _, r := range rules {
		if !r.asks(kind) {
			continue
		}
		if a.Needed == 0 || r.Hours < a.Hours {
			a.Hours = r.Hours
		}
		a.Needed = max(a.Needed, r.Approvals)
		a.Rules = append(a.Rules, r.Name)
	}
	return a
}
