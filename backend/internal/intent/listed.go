package intent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

// Action is an action of an area as somebody asks for a plan of it, or by one. Its kind of job lists what it would do (work.Plan), so that
// no host is asked, and the plan is ready at once.
type Action struct {
	PlanRequest
	Object work.Object // that the action is about; without an id where the action makes it
}

// PlanListed makes a plan of an action. ask is the action's own intent; whatever it would write is rolled back.
func (in *Intents) PlanListed(ctx context.Context, call Call, a Action, ask func(ctx context.Context, call kernel.Call) error) (plan uuid.UUID, err error) {
	var asked *kernel.Asked
	drafted := call.Call
	drafted.Key = nil // claimed by the transaction that keeps the plan
	drafted.Asks = func(_ context.Context, _ *kernel.Tx, job kernel.Asked) error {
		asked = &job
		return errDrafted
	}
	switch err = ask(ctx, drafted); {
	case err == nil || errors.Is(err, errDrafted) && asked == nil:
		return uuid.Nil, fmt.Errorf("plan %s: the action makes no job", a.Action)
	case !errors.Is(err, errDrafted):
		return uuid.Nil, err
	}
	body, err := a.body()
	if err != nil {
		return uuid.Nil, fmt.Errorf("keep the request: %w", err)
	}
	plan = uuid.New()
	return plan, in.do(ctx, call, func(tx *store.Tx) error {
		return in.keepListed(ctx, tx, call, store.Plan{
			ID: plan, WorkspaceID: call.Workspace, Kind: domain.JobKind(asked.Kind), Action: a.Action, Request: body, Subject: asked.Subject,
			ObjectKind: &a.Object.Noun, ObjectID: &a.Object.ID, ObjectName: &a.Object.Name,
		})
	})
}

// keepListed keeps a plan with its list.
func (in *Intents) keepListed(ctx context.Context, tx *store.Tx, call Call, p store.Plan) error {
	list, err := in.list(ctx, tx.Reader, p)
	if err != nil {
		return err
	}
	p.RequestedBy, p.State, p.ScopeIDs = call.Actor.Name, domain.PlanLifecycle.Initial, list.Bound
	p.RowsSHA256, p.VariablesSHA256, p.Result = list.Digest, list.Digest, resultOf(list)
	if p.ReportSHA256, err = inputs.Sum(*p.Result); err != nil {
		return err
	}
	if err := tx.InsertListedPlan(ctx, p, call.Actor.ID, list.Approvers); err != nil {
		return err
	}
	asked, err := tx.SetPlanResult(ctx, p)
	if err != nil {
		return err
	}
	if _, err := tx.MovePlan(ctx, p.ID, p.State, domain.CheckSucceeded); err != nil {
		return err
	}
	told := planAudit(p, "plan.create")
	told.After = map[string]any{"of": *p.ObjectName}
	if err := tx.AddEvent(ctx, call.Actor, told); err != nil {
		return err
	}
	if asked.Needed > 0 && p.Result.Counts.Stops == 0 {
		told := planAudit(p, "plan.request_approval")
		told.After = map[string]any{"needed": asked.Needed, "hours": asked.Hours, "rules": asked.Rules, "asked_by": p.RequestedBy}
		if err := tx.AddEvent(ctx, call.Actor, told); err != nil {
			return err
		}
	}
	return recordMade(ctx, tx, call, "plan", p.ID, uuid.Nil)
}

// planOf is how a kind lists what its jobs would do.
func (in *Intents) planOf(kind domain.JobKind) (*work.Plan, error) {
	if k, ok := in.cfg.Kinds.Kind(string(kind)); ok && k.Plan != nil {
		return k.Plan, nil
	}
	return nil, domain.Conflictf("nothing_to_plan", "this backend does not know plans of jobs of kind %q", kind)
}

// list tells what the job of a plan would do now.
func (in *Intents) list(ctx context.Context, q db.Reader, p store.Plan) (work.List, error) {
	of, err := in.planOf(p.Kind)
	if err != nil {
		return work.List{}, err
	}
	subject, err := p.SubjectOf()
	if err != nil {
		return work.List{}, err
	}
	list, err := of.List(ctx, q, subject)
	if err != nil {
		return work.List{}, fmt.Errorf("list what a job of kind %s would do: %w", p.Kind, err)
	}
	return list, nil
}

func resultOf(l work.List) *domain.PlanResult {
	out := &domain.PlanResult{Tasks: len(l.Changes)}
	for _, c := range l.Changes {
		out.Add(domain.PlanChange{Task: c.Task, Kind: c.Kind, Name: c.Name, Action: c.Action, Before: c.Before, After: c.After, Note: c.Note})
	}
	return out
}

// listMoved tells whether a job would do something else than a plan shows; nil if not.
func (in *Intents) listMoved(ctx context.Context, q db.Reader, p store.Plan) (*PlanStale, error) {
	now, err := in.list(ctx, q, p)
	if err != nil || now.Digest == p.RowsSHA256 {
		return nil, err
	}
	return &PlanStale{Moved: []string{domain.MovedState}, Why: []string{"What the job would do, or what it depends on, has changed since the plan was made."}}, nil
}

// Bound is a call that does just what a plan shows, or is refused.
type Bound struct {
	in   *Intents
	plan binding
	of   work.Object
	held store.Plan
	kernel.Call
}

// ByPlan binds an action to a plan of just this action.
func (in *Intents) ByPlan(call Call, plan uuid.UUID, a Action) (*Bound, error) {
	bound, err := call.BoundTo(plan, a.PlanRequest)
	if err != nil {
		return nil, err
	}
	b := &Bound{in: in, plan: *bound.plan, of: a.Object, Call: call.Call}
	b.Asks = b.apply
	return b, nil
}

// Begin makes sure, before the intent changes anything, that the plan still holds, and that it has its approvals.
func (b *Bound) Begin(ctx context.Context, tx *kernel.Tx) (err error) {
	on := b.in.db.Over(tx.Tx)
	if b.held, err = b.in.holdListed(ctx, on, &b.plan, b.of); err != nil {
		return err
	}
	return approved(ctx, on, b.held)
}

// holdListed returns a plan of this request that can be applied and still holds, and keeps what it depends on as it is until the
// transaction ends.
func (in *Intents) holdListed(ctx context.Context, tx *store.Tx, bound *binding, of work.Object) (store.Plan, error) {
	p, err := bound.load(ctx, tx)
	if err != nil {
		return p, err
	}
	subject, err := p.SubjectOf()
	if err != nil {
		return p, err
	}
	kind, err := in.planOf(p.Kind)
	if err != nil {
		return p, err
	}
	if p.About() != of.ID {
		return p, domain.Conflictf("plan_mismatch", "the plan belongs to another object")
	}
	if kind.Hold != nil {
		if err := kind.Hold(ctx, tx.Tx, subject); err != nil {
			return p, fmt.Errorf("hold what a plan is about: %w", err)
		}
	}
	stale, err := in.listMoved(ctx, tx.Reader, p)
	if err == nil && stale != nil {
		err = stale
	}
	return p, err
}

// apply notes which job does what the plan shows.
func (b *Bound) apply(ctx context.Context, tx *kernel.Tx, job kernel.Asked) error {
	if b.held.ID == uuid.Nil || string(b.held.Kind) != job.Kind || !sameDraft(b.held.Subject, job.Subject) {
		return domain.Conflictf("plan_mismatch", "the plan belongs to another request; create another plan")
	}
	return b.in.db.Over(tx.Tx).ApplyPlan(ctx, b.held, job.Entry.JobID)
}

// sameDraft compares what two plans list by, beside their objects: those that an action makes have other ids each time.
func sameDraft(a, b json.RawMessage) bool {
	var left, right work.Subject
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	return len(left.Draft) == 0 && len(right.Draft) == 0 || sameJSON(left.Draft, right.Draft)
}

// Unplanned refuses what people ask for without a plan where a rule asks for approvals. Policies and backends go on: they only bring about
// what people asked for.
func Unplanned(ctx context.Context, tx *db.Tx, who audit.Actor, workspace uuid.UUID, kind string) error {
	if who.Kind != audit.Account {
		return nil
	}
	rules, err := iam.ApprovalRulesOver(ctx, tx.Reader, workspace)
	if err != nil {
		return fmt.Errorf("read the approval rules: %w", err)
	}
	if asked := iam.ApprovalFor(rules, kind); asked.Needed > 0 {
		return domain.PlanRequired(int(asked.Needed))
	}
	return nil
}

// MeansOf says what the job of a plan does.
func (in *Intents) MeansOf(kind domain.JobKind) string {
	if k, ok := in.cfg.Kinds.Kind(string(kind)); ok {
		return k.Means
	}
	joint, _ := domain.JointOf(kind)
	return joint.Means
}
