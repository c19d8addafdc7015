package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
)

// ProbeAsRemedy asks for a host of a workspace to be probed, for a policy that a person set up there.
func (in *Intents) ProbeAsRemedy(ctx context.Context, call Call, id uuid.UUID) (job uuid.UUID, err error) {
	if err := in.hostOf(ctx, call.Workspace, id); err != nil {
		return uuid.Nil, err
	}
	return in.ProbeHost(ctx, call, id, 0)
}

// InitializeAsRemedy asks for a host of a workspace to be initialized, for a policy that a person set up there. Where a rule asks
// people for approvals it is refused, since nobody saw a plan.
func (in *Intents) InitializeAsRemedy(ctx context.Context, call Call, id uuid.UUID) (job uuid.UUID, err error) {
	if err := in.hostOf(ctx, call.Workspace, id); err != nil {
		return uuid.Nil, err
	}
	rules, err := in.db.ApprovalRules(ctx, call.Workspace)
	if err != nil {
		return uuid.Nil, err
	}
	if asked := iam.ApprovalFor(rules, string(domain.KindHostInitialize)); asked.Needed > 0 {
		return uuid.Nil, domain.PlanRequired(int(asked.Needed))
	}
	return in.InitializeHost(ctx, call, id, 0, false)
}

// CrossCheck asks for a plan of what would put a host right, or the unit of an allocation if there is one. It is made to be
// looked at, and can't be applied.
func (in *Intents) CrossCheck(ctx context.Context, call Call, host, allocation uuid.UUID) (plan uuid.UUID, err error) {
	ask := func(ctx context.Context, call Call) error {
		_, err := in.InitializeHost(ctx, call, host, 0, false)
		return err
	}
	if allocation != uuid.Nil {
		ask = func(ctx context.Context, call Call) error {
			_, err := in.SetUpAgain(ctx, call, allocation)
			return err
		}
	}
	plan, _, err = in.Plan(ctx, call, PlanRequest{Action: domain.ActionCrossCheck}, 0, ask)
	return plan, err
}

// hostOf refuses a host that is not of the workspace.
func (in *Intents) hostOf(ctx context.Context, workspace, id uuid.UUID) error {
	h, err := in.db.Host(ctx, id)
	if err == nil && h.WorkspaceID != workspace {
		err = domain.ErrNotFound
	}
	return err
}
