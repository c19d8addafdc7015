package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"kloigos/backend/internal/intent"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// mostConditions is how many conditions of a noun are shown that are not true.
const mostConditions = 500

// policyHandlers answers the routes about policies and conditions.
type policyHandlers struct{ *Server }

func (s policyHandlers) register() {
	register(s.Server, "list-policies", s.listPolicies)
	register(s.Server, "get-policy", s.getPolicy)
	register(s.Server, "list-policy-items", s.listPolicyItems, sorted(reconcile.ItemSorting))
	register(s.Server, "pause-policy", s.pausePolicy)
	register(s.Server, "resume-policy", s.resumePolicy)
	register(s.Server, "run-policy", s.runPolicy)
	register(s.Server, "pause-object", s.pauseObject)
	register(s.Server, "resume-object", s.resumeObject, func(o *huma.Operation) { o.DefaultStatus = http.StatusNoContent })
	register(s.Server, "list-conditions", s.listConditions)
}

// ByPolicy is the input of an operation on one policy.
type ByPolicy struct {
	Name string `path:"name" maxLength:"64" doc:"name of the policy"`
}

func (s policyHandlers) policyOf(name string) (reconcile.Policy, error) {
	p, ok := s.cfg.Policies.Policy(name)
	if !ok {
		return p, domain.ErrNotFound
	}
	return p, nil
}

func (s policyHandlers) listPolicies(ctx context.Context, _ *struct{}) (*object[api.Policies], error) {
	out, err := s.presentPolicies(ctx, s.cfg.Policies.Policies())
	if err != nil {
		return nil, err
	}
	all := api.Policies{NotReconciled: []api.NotReconciled{}, Pauses: []api.PolicyPause{}}
	all.Items = out
	for what, why := range s.cfg.Policies.NotReconciled() {
		all.NotReconciled = append(all.NotReconciled, api.NotReconciled{What: what, Why: why})
	}
	slices.SortFunc(all.NotReconciled, func(a, b api.NotReconciled) int { return cmp.Compare(a.What, b.What) })
	pauses, err := reconcile.Pauses(ctx, s.db.Reader)
	if err != nil {
		return nil, err
	}
	for _, p := range pauses {
		all.Pauses = append(all.Pauses, presentPause(p))
	}
	return &object[api.Policies]{Body: all}, nil
}

func (s policyHandlers) getPolicy(ctx context.Context, in *ByPolicy) (*object[api.Policy], error) {
	p, err := s.policyOf(in.Name)
	if err != nil {
		return nil, err
	}
	out, err := s.presentPolicies(ctx, []reconcile.Policy{p})
	if err != nil {
		return nil, err
	}
	found, err := reconcile.Conditions(ctx, s.db.Reader, reconcile.PolicyNoun, reconcile.PolicyID(p.Name))
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		out[0].Conditions = append(out[0].Conditions, presentCondition(f))
	}
	return &object[api.Policy]{Body: out[0]}, nil
}

func (s policyHandlers) listPolicyItems(ctx context.Context, in *struct {
	ByPolicy
	api.PolicyItemFilter
},
) (*object[api.Page[api.PolicyItem]], error) {
	p, err := s.policyOf(in.Name)
	if err != nil {
		return nil, err
	}
	of, err := idFilter("object", in.Object)
	if err != nil {
		return nil, err
	}
	f := reconcile.ItemFilter{Policy: p.Name, ObjectID: of, Failing: in.Failing}
	failing := ""
	if in.Failing {
		failing = "failing"
	}
	return pageOf(s.listOf("list-policy-items", in.PageQuery, p.Name, in.Object, failing), reconcile.ItemSorting,
		func(after *store.Position, limit int) ([]reconcile.StoredItem, error) {
			f.Sort, f.After, f.Limit = in.Sort, after, limit
			return reconcile.Items(ctx, s.db.Reader, f)
		},
		presentItem)
}

func (s policyHandlers) pausePolicy(ctx context.Context, in *struct {
	ByPolicy
	Body api.PausePolicy
},
) (*object[api.Policy], error) {
	p, err := s.policyOf(in.Name)
	if err != nil {
		return nil, err
	}
	of, err := objectOf(in.Body.ObjectID)
	if err != nil {
		return nil, err
	}
	mode := cmp.Or(in.Body.Mode, reconcile.ModePause)
	if mode == reconcile.ModeObserve && !p.Observes {
		return nil, domain.Conflictf("policy_cannot_observe", "this policy can't look without changing; pause it instead")
	}
	pause := reconcile.Pause{Policy: p.Name, ObjectID: of, Mode: mode, Reason: in.Body.Reason, Until: in.Body.Until}
	err = s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return s.intents.PausePolicy(ctx, call, pause) })
	if err != nil {
		return nil, err
	}
	return s.getPolicy(ctx, &in.ByPolicy)
}

func (s policyHandlers) resumePolicy(ctx context.Context, in *struct {
	ByPolicy
	Body api.OfObject
},
) (*object[api.Policy], error) {
	p, err := s.policyOf(in.Name)
	if err != nil {
		return nil, err
	}
	of, err := objectOf(in.Body.ObjectID)
	if err != nil {
		return nil, err
	}
	err = s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error {
		return s.intents.ResumePolicy(ctx, call, p.Name, of)
	})
	if err != nil {
		return nil, err
	}
	return s.getPolicy(ctx, &in.ByPolicy)
}

func (s policyHandlers) runPolicy(ctx context.Context, in *struct {
	ByPolicy
	Body api.OfObject
},
) (*object[api.PolicyItem], error) {
	p, err := s.policyOf(in.Name)
	if err != nil {
		return nil, err
	}
	of, err := objectOf(in.Body.ObjectID)
	if err != nil {
		return nil, err
	}
	if of != uuid.Nil { // whatever a policy does not look at has no item
		if _, err := s.item(ctx, p.Name, of); err != nil {
			return nil, err
		}
	}
	err = s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return s.intents.RunPolicy(ctx, call, p.Name, of) })
	if err != nil {
		return nil, err
	}
	i, err := s.item(ctx, p.Name, of)
	if err != nil {
		return nil, err
	}
	return &object[api.PolicyItem]{Body: presentItem(i)}, nil
}

func (s policyHandlers) item(ctx context.Context, policy string, of uuid.UUID) (reconcile.StoredItem, error) {
	all, err := reconcile.Items(ctx, s.db.Reader, reconcile.ItemFilter{Policy: policy, ObjectID: &of, Limit: 1})
	if err == nil && len(all) == 0 {
		err = domain.ErrNotFound
	}
	if err != nil {
		return reconcile.StoredItem{}, err
	}
	return all[0], nil
}

func (s policyHandlers) pauseObject(ctx context.Context, in *struct{ Body api.PauseObject }) (*object[api.PolicyPause], error) {
	of, err := objectOf(in.Body.ObjectID)
	if err != nil {
		return nil, err
	}
	pause := reconcile.Pause{ObjectID: of, Mode: reconcile.ModePause, Reason: in.Body.Reason, Until: in.Body.Until}
	err = s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return s.intents.PausePolicy(ctx, call, pause) })
	if err != nil {
		return nil, err
	}
	pause.By, pause.At = actor(ctx).Name, time.Now()
	return &object[api.PolicyPause]{Body: presentPause(pause)}, nil
}

func (s policyHandlers) resumeObject(ctx context.Context, in *struct{ Body api.ThisObject }) (*struct{}, error) {
	of, err := objectOf(in.Body.ObjectID)
	if err != nil {
		return nil, err
	}
	return nil, s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return s.intents.ResumePolicy(ctx, call, "", of) })
}

func (s policyHandlers) listConditions(ctx context.Context, in *struct{ api.ConditionFilter }) (*object[api.Page[api.Condition]], error) {
	of, err := idFilter("object", in.Object)
	if err != nil {
		return nil, err
	}
	var found []reconcile.Found
	if of != nil {
		found, err = reconcile.Conditions(ctx, s.db.Reader, in.Noun, *of)
	} else {
		found, err = reconcile.ConditionsNotTrue(ctx, s.db.Reader, in.Noun, mostConditions)
	}
	if err != nil {
		return nil, err
	}
	return whole(found, presentCondition), nil
}

// objectOf reads the id of an object in a body; zeros for none.
func objectOf(value string) (uuid.UUID, error) {
	of, err := idFilter("object_id", value)
	if err != nil || of == nil {
		return uuid.Nil, err
	}
	if *of == uuid.Nil { // would mean all of them
		return uuid.Nil, badField("object_id", "must be the id of an object")
	}
	return *of, nil
}

func (s policyHandlers) presentPolicies(ctx context.Context, all []reconcile.Policy) ([]api.Policy, error) {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	stand, err := reconcile.Standings(ctx, s.db.Reader, names)
	if err != nil {
		return nil, err
	}
	pauses, err := reconcile.Pauses(ctx, s.db.Reader)
	if err != nil {
		return nil, err
	}
	out := make([]api.Policy, len(all))
	for i, p := range all {
		out[i] = presentPolicy(p, stand[p.Name])
		for _, pause := range pauses {
			if pause.Policy == p.Name && pause.ObjectID == uuid.Nil {
				out[i].Pause = ref(presentPause(pause))
			}
		}
	}
	return out, nil
}

func presentPolicy(p reconcile.Policy, s reconcile.Standing) api.Policy {
	out := api.Policy{
		ID: reconcile.PolicyID(p.Name).String(), Name: p.Name, Why: p.Why, Noun: p.Noun, IntervalSeconds: int64(p.Interval / time.Second), TimeoutSeconds: int64(p.Timeout / time.Second),
		Triggers: orEmpty(p.Triggers), Observes: p.Observes, Items: s.Items, Failing: s.Failing, Running: s.Running, LastStartedAt: s.LastStarted,
		LastEndedAt: s.LastEnded, LastOutcome: s.LastOutcome, LastChanged: s.LastChanged, LastError: s.LastError, NextDueAt: s.NextDue,
	}
	if p.Noun != "" {
		out.Items = max(0, out.Items-1) // the one that lists the others
	}
	if s.OldestDue != nil {
		out.LagSeconds = max(0, s.Now.Sub(*s.OldestDue).Seconds())
	}
	return out
}

func presentPause(p reconcile.Pause) api.PolicyPause {
	return api.PolicyPause{Policy: p.Policy, ObjectID: shownID(p.ObjectID), Mode: p.Mode, PausedAt: p.At, PausedBy: p.By, Reason: p.Reason, Until: p.Until}
}

func presentItem(i reconcile.StoredItem) api.PolicyItem {
	return api.PolicyItem{
		ObjectID: shownID(i.ObjectID), DueAt: i.DueAt, Running: i.Running, Token: i.Token, TokenAnswered: i.TokenDone, Failures: i.Failures,
		LastStartedAt: i.LastStarted, LastEndedAt: i.LastEnded, LastOutcome: i.LastOutcome, LastChanged: i.LastChanged, LastError: i.LastError,
	}
}

func shownID(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

func presentCondition(f reconcile.Found) api.Condition {
	out := api.Condition{
		Noun: f.Noun, ObjectID: f.ObjectID.String(), Type: f.Type, Status: string(f.Status), Reason: f.Reason, Message: f.Message, Fault: string(f.Fault),
		RetryHelps: f.RetryHelps, Flapping: f.Flapping, Since: f.Since, ObservedAt: f.ObservedAt, Policy: f.Policy, History: []api.ConditionChange{},
	}
	for _, c := range f.History {
		out.History = append(out.History, api.ConditionChange{Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.Since})
	}
	return out
}
