package noun

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

type plans = shape.Noun[api.Plan, api.PlanFilter]

var plan = plans{
	Name: "plan", Plural: "plans", Help: "What actions would change",
	Columns: []show.Column[api.Plan]{
		{Header: "ID", Value: func(p api.Plan) string { return p.ID }},
		{Header: "ACTION", Value: func(p api.Plan) string { return p.Action }},
		{Header: "STATE", Value: planState},
		{Header: "APPROVALS", Value: planApprovals},
		{Header: "HOST", Value: func(p api.Plan) string { return p.Host }},
		{Header: "OBJECT", Value: func(p api.Plan) string { return p.ObjectName }},
		{Header: "UNIT", Value: func(p api.Plan) string { return p.Unit }},
		{Header: "AGE", Value: func(p api.Plan) string { return show.Ago(p.CreatedAt) }},
	},
	ID:         func(p api.Plan) string { return p.ID },
	List:       shape.List("list-plans", (*client.Client).AllPlans),
	Get:        shape.Get("get-plan", (*client.Client).GetPlan),
	Detail:     (*shape.App).PrintChanges,
	Operations: func(p api.Plan) []api.Operation { return p.Operations },
	Actions: []shape.Action{
		shape.DoWith("approve", "approve-plan", (*client.Client).ApprovePlan),
		shape.DoWith("refuse", "refuse-plan", (*client.Client).RefusePlan),
	},
	Extra: []func(*shape.App, plans) *cobra.Command{applyPlan},
}

func planState(p api.Plan) string {
	if p.Expired {
		return p.State + ", expired"
	}
	return p.State
}

// planApprovals is how many approvals a plan has of those that it needs: "1 of 2".
func planApprovals(p api.Plan) string {
	if p.Approvals == nil {
		return "-"
	}
	if p.Approvals.State == "refused" {
		return "refused"
	}
	return strconv.Itoa(p.Approvals.Given) + " of " + strconv.Itoa(p.Approvals.Needed)
}

// applyPlan finds the action that a plan is of among those of all nouns.
func applyPlan(a *shape.App, plan plans) *cobra.Command {
	run := shape.Applying{App: a}
	cmd := &cobra.Command{
		Use: "apply PLAN", Short: "Do what a plan showed, or nothing if something has changed since",
		Args: shape.Exactly("PLAN"), ValidArgsFunction: plan.Complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			p, err := plan.Resolve(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if p.ScopeID != "" {
				return shape.Fail(shape.CodeUsage, "apply it with: kloigos %s delete %s --cascade --plan-id %s", p.ScopeKind, p.ScopePath, p.ID)
			}
			for _, noun := range a.Nouns {
				actions := noun.AllActions()
				if i := slices.IndexFunc(actions, func(x shape.Action) bool { return x.Route == p.Action }); i >= 0 {
					return run.Apply(cmd.Context(), c, p, actions[i], noun.OfPlan(p))
				}
			}
			return shape.Fail(shape.CodeError, "this program does not know the action %s of the plan; use a newer one", p.Action)
		},
	}
	run.Flags(cmd)
	return shape.Calls(cmd, "get-plan")
}
