package domain

import (
	"fmt"
	"time"
)

// What a person decides about a plan.
const (
	DecisionApprove = "approve"
	DecisionRefuse  = "refuse"
)

// ApprovalState is how far the approvals of a plan are.
type ApprovalState string

// The states of the approvals of a plan.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalApproved ApprovalState = "approved"
	ApprovalRefused  ApprovalState = "refused"
	ApprovalExpired  ApprovalState = "expired"
)

// Approval is what the rules of a scope ask of a plan, and what people decided.
type Approval struct {
	Needed  int // approvals by others; 0: none is asked for
	Within  time.Duration
	Given   int
	Refused bool
	Age     time.Duration // of the check
}

// Lifetime is how long after its check a plan can be applied.
func (a Approval) Lifetime() time.Duration {
	if a.Needed > 0 {
		return a.Within
	}
	return PlanLifetime
}

// Late tells whether the time that the present rules leave is over. A plan may have been checked under a rule that left more.
func (a Approval) Late() bool { return a.Age >= a.Lifetime() }

// State is how far the approvals are.
func (a Approval) State() ApprovalState {
	switch {
	case a.Refused:
		return ApprovalRefused
	case a.Given >= a.Needed:
		return ApprovalApproved
	case a.Late():
		return ApprovalExpired
	}
	return ApprovalPending
}

// Check tells why the plan can't be applied; nil if it can.
func (a Approval) Check() error {
	switch missing := a.Needed - a.Given; {
	case a.Refused:
		return Conflictf("plan_refused", "the plan was refused; create another plan")
	case a.Late():
		return Conflictf("plan_expired", "the plan is older than %d hours; create another plan", int(a.Lifetime().Hours()))
	case missing > 0:
		return Conflictf("approval_required", "the plan needs %s by people other than the one who asked for it, and has %d: %d more",
			approvals(a.Needed), a.Given, missing)
	}
	return nil
}

// PlanRequired is the answer to who asks without a plan for what needs approvals.
func PlanRequired(needed int) error {
	return Conflictf("approval_required", "this needs a plan with %s by other people; create a plan of it first (plan=true)", approvals(needed))
}

func approvals(n int) string {
	if n == 1 {
		return "1 approval"
	}
	return fmt.Sprintf("%d approvals", n)
}
