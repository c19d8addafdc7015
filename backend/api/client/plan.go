package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"kloigos/backend/api"
)

// ListPlans returns one page of plans, without their changes.
func (c *Client) ListPlans(ctx context.Context, f api.PlanFilter) (api.Page[api.Plan], error) {
	return list[api.Plan](ctx, c, "/plans", f)
}

// AllPlans yields the plans of all pages.
func (c *Client) AllPlans(ctx context.Context, f api.PlanFilter) iter.Seq2[api.Plan, error] {
	return all(func(cursor string) (api.Page[api.Plan], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListPlans(ctx, f)
	})
}

// GetPlan shows a plan with what it would change.
func (c *Client) GetPlan(ctx context.Context, id string) (api.Plan, error) {
	return get[api.Plan](ctx, c, pathOf("plans", id), nil)
}

// ApprovePlan approves a plan that somebody else asked for.
func (c *Client) ApprovePlan(ctx context.Context, id string, body api.DecidePlan, opts ...Option) (api.Plan, error) {
	return post[api.Plan](ctx, c, pathOf("plans", id, "approve"), body, opts)
}

// RefusePlan refuses a plan.
func (c *Client) RefusePlan(ctx context.Context, id string, body api.DecidePlan, opts ...Option) (api.Plan, error) {
	return post[api.Plan](ctx, c, pathOf("plans", id, "refuse"), body, opts)
}

// AsPlanned binds an action to a plan of it: it does just what the plan
// showed. If something has moved since, the error is an *api.Problem with code
// plan_stale and Moved set.
func AsPlanned(plan string) Option {
	return func(r *request) { r.ask("plan_id", plan) }
}

// PlaybookVersion makes a plan of another version than the default one.
func PlaybookVersion(version int) Option {
	return func(r *request) { r.ask("playbook_version", strconv.Itoa(version)) }
}

func (r *request) ask(name, value string) {
	query := url.Values{name: {value}}
	for k, v := range r.query {
		query[k] = v
	}
	r.query = query
}

// plan asks for a plan of an action instead of the action.
func (c *Client) plan(ctx context.Context, method, path string, body any, opts []Option) (api.Plan, string, error) {
	return long[api.Plan](ctx, c, method, path, body, append([]Option{func(r *request) { r.ask("plan", "true") }}, opts...))
}

// PlanOf makes a plan of an action, which is named by its operation, such as delete-cluster. id is that of the object of the action; "" if
// the action makes the object. It is for actions whose plan lists rows and asks no host.
func (c *Client) PlanOf(ctx context.Context, operation, id string, body any, opts ...Option) (api.Plan, error) {
	route, path, err := actionPath(operation, id)
	if err != nil {
		return api.Plan{}, err
	}
	p, _, err := c.plan(ctx, route.Method, path, body, opts)
	return p, err
}

// ApplyPlan applies a plan that PlanOf made. It repeats the request of that plan, bound to the plan.
func (c *Client) ApplyPlan(ctx context.Context, p api.Plan, opts ...Option) (jobID string, err error) {
	route, path, err := actionPath(p.Action, p.ObjectID)
	if err != nil {
		return "", err
	}
	_, jobID, err = long[json.RawMessage](ctx, c, route.Method, path, p.Request, append([]Option{AsPlanned(p.ID)}, opts...))
	return jobID, err
}

func actionPath(operation, id string) (api.Route, string, error) {
	route, ok := api.RouteOf(operation)
	if !ok {
		return route, "", fmt.Errorf("this program does not know the action %s; use a newer one", operation)
	}
	return route, strings.Replace(route.Path, "{id}", url.PathEscape(id), 1), nil
}

// PlanInitializeHost tells what InitializeHost would change; the job checks it.
func (c *Client) PlanInitializeHost(ctx context.Context, id string, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, pathOf("hosts", id, "initialize"), nil, opts)
}

// PlanRefenceHost tells what RefenceHost would change.
func (c *Client) PlanRefenceHost(ctx context.Context, id string, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, pathOf("hosts", id, "refence"), nil, opts)
}

// PlanRelayoutHost tells what RelayoutHost would change.
func (c *Client) PlanRelayoutHost(ctx context.Context, id string, body api.SetLayout, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, pathOf("hosts", id, "relayout"), body, opts)
}

// PlanDecommissionHost tells what DecommissionHost would change.
func (c *Client) PlanDecommissionHost(ctx context.Context, id string, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, pathOf("hosts", id, "decommission"), nil, opts)
}

// PlanCreateAllocation chooses a unit without taking it, and tells what
// CreateAllocation would change there.
func (c *Client) PlanCreateAllocation(ctx context.Context, in api.CreateAllocation, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, "/allocations", in, opts)
}

// PlanReplaceKeys tells what ReplaceKeys would change.
func (c *Client) PlanReplaceKeys(ctx context.Context, id string, body api.ReplaceKeys, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPut, pathOf("allocations", id, "ssh-keys"), body, opts)
}

// PlanMoveNetwork tells what MoveNetwork would change.
func (c *Client) PlanMoveNetwork(ctx context.Context, id string, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, pathOf("allocations", id, "move-network"), nil, opts)
}

// PlanDeallocate tells what Deallocate would change.
func (c *Client) PlanDeallocate(ctx context.Context, id string, body api.Deallocate, opts ...Option) (p api.Plan, jobID string, err error) {
	return c.plan(ctx, http.MethodPost, pathOf("allocations", id, "deallocate"), body, opts)
}
