package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// planHandlers answers the routes about plans.
type planHandlers struct{ *Server }

func (s planHandlers) register() {
	register(s.Server, "list-plans", s.listPlans, sorted(store.PlanSorting))
	register(s.Server, "get-plan", s.getPlan)
	register(s.Server, "approve-plan", s.decidePlan(domain.DecisionApprove))
	register(s.Server, "refuse-plan", s.decidePlan(domain.DecisionRefuse))
}

// planned is the answer of an action that can be planned: the object that it
// is about, or the plan.
type planned struct {
	Location string `header:"Location" doc:"URL of the job"`
	ETag     string `header:"ETag" doc:"the object's version; not of a plan"`
	Body     any
}

// orPlan tells in the OpenAPI document that an operation answers with its
// object or with a plan.
func orPlan[T any](s *Server) func(*huma.Operation) {
	return func(o *huma.Operation) {
		registry := s.api.OpenAPI().Components.Schemas
		of := func(v any) *huma.Schema { return registry.Schema(reflect.TypeOf(v), true, "") }
		var object T
		o.Responses = map[string]*huma.Response{strconv.Itoa(http.StatusAccepted): {
			Description: "Accepted: the object, or with plan=true the plan",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{OneOf: []*huma.Schema{of(object), of(api.Plan{})}}}},
		}}
	}
}

// planOrDo makes a plan of an action, or carries it out; bound to a plan, if
// one is named. act is the action's own handler.
func planOrDo[T any](ctx context.Context, s *Server, p api.Planning, r intent.PlanRequest, act func(ctx context.Context, call intent.Call) (*accepted[T], error)) (*planned, error) {
	call := callOf(ctx)
	switch {
	case p.PlaybookVersion != 0 && !p.Plan:
		return nil, badField("playbook_version", "can be given with plan=true only: jobs are bound to the default version")
	case p.PlanID != "" && p.Plan:
		return nil, badField("plan_id", "can't be given together with plan=true")
	case p.Plan:
		return planHandlers{s}.makePlan(ctx, call, r, p.PlaybookVersion, func(ctx context.Context, drafted intent.Call) error {
			_, err := act(ctx, drafted)
			return err
		})
	case p.PlanID != "":
		id, ok := id(p.PlanID)
		if !ok {
			return nil, badField("plan_id", "must be an id")
		}
		of, err := planHandlers{s}.plan(ctx, id)
		if err != nil {
			return nil, err
		}
		if call, err = call.BoundTo(of.ID, r); err != nil {
			return nil, err
		}
	}
	out, err := act(ctx, call)
	if err != nil {
		return nil, err
	}
	return &planned{Location: out.Location, ETag: out.ETag, Body: out.Body}, nil
}

func (s planHandlers) makePlan(ctx context.Context, call intent.Call, r intent.PlanRequest, version int, ask func(ctx context.Context, drafted intent.Call) error) (*planned, error) {
	m, err := s.once(ctx, call, func(ctx context.Context, call intent.Call) (made, error) {
		plan, job, err := s.intents.Plan(ctx, call, r, version, ask)
		return made{object: plan, job: job}, err
	})
	if err != nil {
		return nil, err
	}
	p, err := s.db.Plan(ctx, m.object)
	if err != nil {
		return nil, err
	}
	shown, err := s.shownPlan(ctx, p)
	if err != nil {
		return nil, err
	}
	return &planned{Location: jobURL(m.job), Body: shown}, nil
}

func (s planHandlers) plan(ctx context.Context, id uuid.UUID) (store.Plan, error) {
	p, err := s.db.Plan(ctx, id)
	if err == nil && p.WorkspaceID != workspace(ctx) {
		err = domain.ErrNotFound
	}
	return p, err
}

func (s planHandlers) listPlans(ctx context.Context, in *struct{ api.PlanFilter }) (*object[api.Page[api.Plan]], error) {
	host, err := hostHandlers(s).hostFilter(ctx, in.Host)
	if err != nil {
		return nil, err
	}
	allocation, login := idOrName(in.Allocation)
	if err := oneOf("state", in.State, append(domain.PlanLifecycle.Names(), "expired")); err != nil {
		return nil, err
	}
	filter := store.PlanFilter{
		WorkspaceID: workspace(ctx), State: in.State, HostID: host, AllocationID: allocation, Login: login, Sort: in.Sort, Approval: in.Approval, Action: in.Action,
	}
	mine := in.Approval == "mine"
	if me := decider(ctx).Account; mine {
		filter.WaitsFor = &me
	}
	rules, err := s.intents.ApprovalRules(ctx, workspace(ctx))
	if err != nil {
		return nil, err
	}
	narrowed := []string{in.State, in.Host, in.Allocation, in.Approval}
	if in.Action != "" { // the cursors of older backends have none
		narrowed = append(narrowed, in.Action)
	}
	var failed error
	page, err := pageOf(s.listOf("list-plans", in.PageQuery, narrowed...), store.PlanSorting,
		func(after *store.Position, limit int) ([]store.Plan, error) {
			if mine && !mayApprove(ctx) {
				return nil, nil
			}
			filter.After, filter.Limit = after, limit
			return s.db.Plans(ctx, filter)
		},
		s.showPlan(ctx, rules, &failed))
	return page, errors.Join(err, failed)
}

// showPlan presents a plan of a list, with what has moved since it was checked: whether it can be applied depends on that.
func (s planHandlers) showPlan(ctx context.Context, rules intent.ApprovalRules, failed *error) func(store.Plan) api.Plan {
	return func(p store.Plan) api.Plan {
		if *failed != nil {
			return api.Plan{}
		}
		present := func() (api.Plan, error) { return s.presentedPlan(ctx, p, rules) }
		if p.ScopeID != nil { // rules at each scope that goes bind it
			present = func() (api.Plan, error) { return s.shownPlan(ctx, p) }
		}
		shown, err := present()
		*failed = err
		return shown
	}
}

// shownPlan is one plan as the bearer sees it.
func (s planHandlers) shownPlan(ctx context.Context, p store.Plan) (api.Plan, error) {
	rules, err := s.intents.RulesOfPlan(ctx, p)
	if err != nil {
		return api.Plan{}, err
	}
	return s.presentedPlan(ctx, p, rules)
}

// presentedPlan is a plan as the bearer sees it: what they can do with it depends on who they are, and on the rules.
func (s planHandlers) presentedPlan(ctx context.Context, p store.Plan, rules intent.ApprovalRules) (api.Plan, error) {
	stale, err := s.intents.PlanMoved(ctx, p)
	if err != nil {
		return api.Plan{}, err
	}
	approval, err := s.intents.PlanApproval(ctx, p, rules)
	if err != nil {
		return api.Plan{}, err
	}
	out := presentPlan(p, stale, s.intents.MeansOf(p.Kind))
	out.Operations = presentOperations(intent.PlanOperations(p, stale, approval, s.deciderOf(ctx, p)))
	if approval.Needed > 0 || len(approval.Decisions) > 0 {
		out.Approvals = presentApprovals(p, approval)
	}
	return out, nil
}

func decider(ctx context.Context) intent.Decider {
	b := requestOf(ctx).bearer
	return intent.Decider{Account: b.AccountID, Person: b.AccountKind == "person"}
}

func presentApprovals(p store.Plan, a intent.PlanApproval) *api.PlanApprovals {
	out := &api.PlanApprovals{State: string(a.State()), Needed: a.Needed, Given: a.Given, Rules: orEmpty(a.Rules), Decisions: []api.PlanDecision{}}
	if p.Expired && a.State() == domain.ApprovalPending {
		out.State = string(domain.ApprovalExpired)
	}
	for _, d := range a.Decisions {
		out.Decisions = append(out.Decisions, api.PlanDecision{Account: d.Account, Decision: d.Decision, Reason: d.Reason, Counts: d.Counts, At: d.CreatedAt})
	}
	return out
}

// mayApprove tells whether the bearer is somebody whom plans of the request's workspace can wait for.
func mayApprove(ctx context.Context) bool {
	route, _ := api.RouteOf("approve-plan")
	return decider(ctx).Person && AccessOf(ctx).At(route.Permission, PlaceOf(ctx))
}

// decidePlan is the handler of an approval or a refusal.
func (s planHandlers) decidePlan(decision string) func(context.Context, *struct {
	ByID
	Body api.DecidePlan
}) (*object[api.Plan], error) {
	return func(ctx context.Context, in *struct {
		ByID
		Body api.DecidePlan
	},
	) (*object[api.Plan], error) {
		u, ok := id(in.ID)
		if !ok {
			return nil, domain.ErrNotFound
		}
		p, err := s.plan(ctx, u)
		if err != nil {
			return nil, err
		}
		err = s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error {
			return s.intents.DecidePlan(ctx, call, p.ID, s.deciderOf(ctx, p), decision, in.Body.Reason)
		})
		if err != nil {
			return nil, err
		}
		if p, err = s.plan(ctx, p.ID); err != nil {
			return nil, err
		}
		shown, err := s.shownPlan(ctx, p)
		return &object[api.Plan]{Body: shown}, err
	}
}

func (s planHandlers) getPlan(ctx context.Context, in *ByID) (*object[api.Plan], error) {
	u, ok := id(in.ID)
	if !ok {
		return nil, domain.ErrNotFound
	}
	p, err := s.plan(ctx, u)
	if err != nil {
		return nil, err
	}
	shown, err := s.shownPlan(ctx, p)
	return &object[api.Plan]{Body: shown}, err
}

func presentPlan(p store.Plan, stale *intent.PlanStale, means string) api.Plan {
	out := api.Plan{
		ID: p.ID.String(), Workspace: p.WorkspaceID.String(), Action: p.Action, Request: orObject(p.Request), Kind: string(p.Kind), KindMeans: means,
		HostID: p.HostID.String(), Host: p.Host, UnitID: text(p.UnitID), Unit: value(p.Unit), AllocationID: text(p.AllocationID),
		SharedHost: p.HostWorkspace != p.WorkspaceID, LoginUser: value(p.LoginUser), State: string(p.State), StateMeans: domain.PlanLifecycle.Info(p.State).Means,
		Expired: p.Expired && p.State != domain.PlanApplied, JobID: p.JobID.String(), AppliedJobID: text(p.AppliedJobID), Playbook: p.Playbook,
		PlaybookVersion: p.PlaybookVersion, PlaybookSHA256: p.PlaybookSHA256, VariablesSHA256: p.VariablesSHA256,
		Operations: []api.Operation{}, RequestedBy: p.RequestedBy, CreatedAt: p.CreatedAt, CheckedAt: p.CheckedAt, ExpiresAt: p.ExpiresAt,
	}
	if p.Listed() {
		out.HostID, out.JobID = "", ""
		out.ObjectKind, out.ObjectName = value(p.ObjectKind), value(p.ObjectName)
		if of := p.About(); of != uuid.Nil {
			out.ObjectID = of.String()
		}
	}
	if p.ScopeID != nil {
		out.ObjectKind, out.ObjectName = value(p.Scope), value(p.ScopePath)
		out.ScopeKind, out.ScopeID, out.ScopePath = value(p.Scope), p.ScopeID.String(), value(p.ScopePath)
	}
	if p.Proposal != nil && p.Action == domain.ActionAllocate {
		out.Proposal = &api.PlanProposal{
			LoginUser: p.Proposal.LoginUser, UID: p.Proposal.UID, Address: p.Proposal.Address, Network: p.Proposal.Network,
			SSHKeys: orEmpty(p.Proposal.SSHKeys),
		}
	}
	if p.Proposal != nil && p.Proposal.Layout != nil {
		l := presentLayout(*p.Proposal.Layout)
		out.Layout = &l
	}
	if p.RowsSHA256 != "" {
		out.Observed = &api.PlanObserved{RowsSHA256: p.RowsSHA256, ReportSHA256: p.ReportSHA256}
	}
	if p.Counts != nil {
		c := api.PlanCounts(*p.Counts)
		out.Counts = &c
	}
	if stale != nil {
		out.Moved = stale.Moved
	}
	if p.Result != nil && p.HostWorkspace != p.WorkspaceID {
		out.Tasks, out.LeftOut = p.Result.Tasks, len(p.Result.Changes) // the files of the host are its owner's
	} else if p.Result != nil {
		out.Tasks, out.LeftOut = p.Result.Tasks, p.Result.LeftOut
		for _, c := range p.Result.Changes {
			out.Changes = append(out.Changes, api.PlanChange(c))
		}
	}
	return out
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
