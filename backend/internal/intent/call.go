package intent

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	kernel "kloigos/backend/internal/kernel/intent"
)

// Call is who asks, in which scope, under which key, and in which mode. The mode is
// one of three: the intent is carried out, or only drafted for a plan, or
// carried out as a plan says.
type Call struct {
	kernel.Call
	draft *draft   // not nil: nothing is kept
	plan  *binding // not nil: do just what was planned
}

// By is a call of an actor, without a key, that is carried out.
func By(who domain.Actor) Call { return Call{Call: kernel.Call{Actor: who}} }

// In is the call about objects of a workspace.
func (c Call) In(workspace uuid.UUID) Call {
	c.Workspace = workspace
	return c
}

// BoundTo is the call bound to a plan of just this action: it does what was planned, or
// it is refused.
func (c Call) BoundTo(plan uuid.UUID, r PlanRequest) (Call, error) {
	body, err := r.body()
	if err != nil {
		return c, fmt.Errorf("read the request: %w", err)
	}
	c.plan = &binding{plan: plan, action: r.Action, body: body}
	return c, nil
}

// drafted is the call as a plan is made of it. The key is claimed by the transaction that keeps the plan.
func (c Call) drafted(d *draft) Call {
	c.draft, c.Key = d, nil
	return c
}

// binding is the plan that a call is bound to.
type binding struct {
	plan   uuid.UUID
	action string
	body   json.RawMessage
}
