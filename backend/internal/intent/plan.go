package intent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// PlanRequest is an action that is to be planned, or bound to a plan.
type PlanRequest struct {
	Action string // its operation in the API
	Body   any    // its body; nil where it has none
}

func (r PlanRequest) body() (json.RawMessage, error) {
	if r.Body == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(r.Body)
}

// PlanStale says which of the three that a plan was made of have moved.
type PlanStale struct {
	Moved []string // domain.MovedPlaybook, ...
	Why   []string // a sentence for each
}

func (e *PlanStale) Error() string { return "plan_stale: " + strings.Join(e.Why, " ") }

func (e *PlanStale) add(moved, why string) {
	e.Moved, e.Why = append(e.Moved, moved), append(e.Why, why)
}

// draft is what a planned action would have done. The intent is run as it is
// and rolled back at its end, so that a plan is refused for exactly the reasons
// for which the action would be, and places an allocation as it would.
type draft struct {
	args     job.Args
	audit    store.Audit
	proposal *store.Proposal
}

var errDrafted = errors.New("a draft: nothing of it is kept")

// take ends the intent that is only planned.
func (d *draft) take(ctx context.Context, tx *store.Tx, args job.Args, a store.Audit) error {
	joint, _ := domain.JointOf(args.Kind())
	if !joint.Changes() {
		return domain.Conflictf("nothing_to_plan", "a job of kind %s only reads", args.Kind())
	}
	d.args, d.audit, d.proposal = args, a, nil
	s := args.Subject()
	switch {
	case s[domain.OfAllocation] != uuid.Nil:
		row, err := tx.Allocation(ctx, s[domain.OfAllocation]) // as the intent would leave it
		if err != nil {
			return fmt.Errorf("load allocation: %w", err)
		}
		d.proposal = &store.Proposal{LoginUser: row.LoginUser, UID: row.UID, Address: row.Address, Network: row.Network, UnitNetwork: row.UnitNetwork, SSHKeys: row.SSHKeys}
	case args.Kind() == domain.KindHostRelayout:
		proposal, err := proposedLayout(ctx, tx, s[domain.OfHost])
		if err != nil {
			return err
		}
		d.proposal = proposal
	}
	return errDrafted
}

// proposedLayout is a layout as its intent would leave it.
func proposedLayout(ctx context.Context, tx *store.Tx, host uuid.UUID) (*store.Proposal, error) {
	h, err := tx.Host(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("load host: %w", err)
	}
	units, err := tx.UnitsOfHost(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("load units: %w", err)
	}
	p := &store.Proposal{Layout: h.Layout}
	for _, u := range units {
		switch u.State {
		case domain.UnitPreparing:
			p.Units = append(p.Units, store.ProposedUnit{ID: u.ID, Ordinal: u.Ordinal, Layout: layoutOf(u)})
		case domain.UnitRemoving:
			p.Replaced = append(p.Replaced, u.ID)
		}
	}
	return p, nil
}

// Plan makes a plan of an action and the job that checks it. ask is the
// action's own intent; whatever it would write is rolled back. version is that
// of the playbook; 0 for the default one.
func (in *Intents) Plan(ctx context.Context, call Call, r PlanRequest, version int, ask func(ctx context.Context, call Call) error) (plan, jobID uuid.UUID, err error) {
	body, err := r.body()
	if err != nil {
		return uuid.Nil, uuid.Nil, fmt.Errorf("keep the request: %w", err)
	}
	d := &draft{}
	switch err = ask(ctx, call.drafted(d)); {
	case err == nil:
		return uuid.Nil, uuid.Nil, fmt.Errorf("plan %s: the action makes no job", r.Action)
	case !errors.Is(err, errDrafted):
		return uuid.Nil, uuid.Nil, err
	}
	p := store.Plan{
		ID: uuid.New(), WorkspaceID: d.audit.Workspace, Kind: d.args.Kind(), Action: r.Action, Request: body, HostID: d.args.Subject()[domain.OfHost],
		Proposal: d.proposal, JobID: store.NewJobID(), RequestedBy: call.Actor.Name,
	}
	err = in.do(ctx, call, func(tx *store.Tx) error { return in.plan(ctx, tx, call, p, d, version) })
	return p.ID, p.JobID, err
}

func (in *Intents) plan(ctx context.Context, tx *store.Tx, call Call, p store.Plan, d *draft, version int) error {
	joint, _ := domain.JointOf(p.Kind)
	v, err := versionFor(ctx, tx, joint.Playbook, version, d.args.Subject()[domain.OfHost])
	if err != nil {
		return err
	}
	p.PlaybookVersionID = v.ID
	of := d.args.Subject()
	args := job.Plan{PlanID: p.ID, HostID: of[domain.OfHost], UnitID: of[domain.OfUnit]}
	if unit, is := of[domain.OfUnit]; is {
		p.UnitID = &unit
	}
	if allocation, is := of[domain.OfAllocation]; is {
		p.AllocationID = &allocation
		if p.Action != domain.ActionAllocate { // else it is not there yet
			args.AllocationID = allocation
		}
	}
	if err := tx.InsertPlan(ctx, p, call.Actor.ID); err != nil {
		return err
	}
	if err := tx.EnqueueBound(ctx, p.JobID, call.Actor, p.WorkspaceID, args, p.ID, v.ID); err != nil {
		return err
	}
	audit := store.Audit{
		Workspace: p.WorkspaceID, Action: "plan.create", ObjectKind: "plan", ObjectID: p.ID, ObjectName: p.Action, JobID: p.JobID,
		After: map[string]any{"of": d.audit.ObjectName, "playbook": v.Playbook, "playbook_version": v.Version},
	}
	if err := tx.AddEvent(ctx, call.Actor, audit); err != nil {
		return err
	}
	return recordMade(ctx, tx, call, "plan", p.ID, p.JobID)
}

func versionFor(ctx context.Context, tx *store.Tx, playbook string, version int, host uuid.UUID) (store.PlaybookVersion, error) {
	if version == 0 {
		v, err := tx.VersionOnHost(ctx, playbook, host)
		if err != nil {
			return v, fmt.Errorf("load the default version of %s: %w", playbook, err)
		}
		return v, nil
	}
	v, err := tx.PlaybookVersion(ctx, playbook, version)
	if errors.Is(err, domain.ErrNotFound) {
		return v, &domain.Invalid{Fields: []domain.FieldError{{Field: "playbook_version", Problem: fmt.Sprintf("%s has no version %d", playbook, version)}}}
	}
	return v, err
}

// load reads the plan, if it is one of this request and can be applied.
func (b *binding) load(ctx context.Context, tx *store.Tx) (store.Plan, error) {
	p, err := tx.Plan(ctx, b.plan)
	if err != nil {
		return p, err
	}
	if err := canApply(p); err != nil {
		return p, err
	}
	if p.Action != b.action || !sameJSON(p.Request, b.body) {
		return p, domain.Conflictf("plan_mismatch", "the plan belongs to another request; send its own action and request, or create another plan")
	}
	return p, nil
}

func canApply(p store.Plan) error {
	switch {
	case p.Action == domain.ActionCrossCheck:
		return domain.Conflictf("plan_of_policy", "a policy made the plan to look whether all is as promised; create a plan of your own")
	case p.State == domain.PlanApplied:
		return domain.Conflictf("plan_applied", "the plan was already applied; create another plan")
	case p.State != domain.PlanReady:
		return domain.Conflictf("plan_not_ready", "it is %s: %s", p.State, domain.PlanLifecycle.Info(p.State).Means)
	case p.Expired:
		return domain.Conflictf("plan_expired", "the plan expired at %s; create another plan", p.ExpiresAt.UTC().Format("2006-01-02 15:04:05 MST"))
	case p.Counts != nil && p.Counts.Stops > 0:
		return domain.Conflictf("plan_stops", "the check found a reason why a run would stop; fix it and create another plan")
	}
	return nil
}

// sameJSON compares what two documents say, not how they are written.
func sameJSON(a, b json.RawMessage) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	one, err := json.Marshal(left)
	if err != nil {
		return false
	}
	two, err := json.Marshal(right)
	return err == nil && bytes.Equal(one, two)
}

// bound makes the job of an action that is bound to a plan, if nothing of what
// the plan was made of has moved. The rows are as the worker will find them.
func (in *Intents) bound(ctx context.Context, tx *store.Tx, call Call, workspace uuid.UUID, args job.Args) (uuid.UUID, error) {
	p, err := call.plan.load(ctx, tx)
	if err != nil {
		return uuid.Nil, err
	}
	s := args.Subject()
	if p.Kind != args.Kind() || p.WorkspaceID != workspace || p.HostID != s[domain.OfHost] || !same(p.UnitID, s[domain.OfUnit]) || !same(p.AllocationID, s[domain.OfAllocation]) {
		return uuid.Nil, domain.Conflictf("plan_mismatch", "the plan belongs to another object")
	}
	stale, err := in.moved(ctx, tx.Reads, p, about(p, nil))
	if err != nil {
		return uuid.Nil, err
	}
	if stale != nil {
		return uuid.Nil, stale
	}
	if err := approved(ctx, tx, p); err != nil {
		return uuid.Nil, err
	}
	id := store.NewJobID()
	if err := tx.EnqueueBound(ctx, id, call.Actor, workspace, args, p.ID, p.PlaybookVersionID); err != nil {
		return uuid.Nil, err
	}
	return id, tx.ApplyPlan(ctx, p, id)
}

func same(p *uuid.UUID, id uuid.UUID) bool { return p == nil && id == uuid.Nil || p != nil && *p == id }

// about says what a plan is about; with a proposal, as long as it is not taken.
func about(p store.Plan, proposal *store.Proposal) inputs.About {
	a := inputs.About{Kind: p.Kind, Subject: job.Subject{domain.OfHost: p.HostID}, Refence: p.Action == domain.ActionRefence, Proposal: proposal}
	if p.UnitID != nil {
		a.Subject[domain.OfUnit] = *p.UnitID
	}
	if p.AllocationID != nil {
		a.Subject[domain.OfAllocation] = *p.AllocationID
	}
	return a
}

// moved compares what a plan was made of with what is there now; nil if
// nothing moved.
func (in *Intents) moved(ctx context.Context, r store.Reads, p store.Plan, of inputs.About) (*PlanStale, error) {
	if p.Listed() {
		return in.listMoved(ctx, r.Source(), p)
	}
	var stale PlanStale
	v, err := r.VersionOnHost(ctx, p.Playbook, p.HostID)
	if err != nil {
		return nil, fmt.Errorf("load the default version of %s: %w", p.Playbook, err)
	}
	if v.ID != p.PlaybookVersionID || v.SHA256 != p.PlaybookSHA256 {
		stale.add(domain.MovedPlaybook, fmt.Sprintf("Jobs are bound to version %d of %s now; the plan was made with version %d.", v.Version, p.Playbook, p.PlaybookVersion))
	}
	rows, err := inputs.Load(ctx, r, of)
	if err != nil {
		return nil, err
	}
	variables, err := rows.VariablesSHA256()
	if err != nil || variables != p.VariablesSHA256 {
		stale.add(domain.MovedVariables, "The variables of the play have changed since the check.")
	}
	now, err := rows.RowsSHA256()
	if err != nil || now != p.RowsSHA256 {
		stale.add(domain.MovedState, "The host, its units or the allocation changed, or a job has begun there, since the plan was checked.")
	}
	if len(stale.Moved) == 0 {
		return nil, nil
	}
	return &stale, nil
}

// PlanMoved tells whether a plan that is ready could be applied now: nil, or
// what has moved.
func (in *Intents) PlanMoved(ctx context.Context, p store.Plan) (*PlanStale, error) {
	if p.State != domain.PlanReady || p.Expired { // nobody can apply it any more
		return nil, nil
	}
	stale, err := in.moved(ctx, in.db.Reads, p, about(p, p.Proposal))
	if errors.Is(err, domain.ErrNotFound) { // what it is about is gone
		stale, err = &PlanStale{Moved: []string{domain.MovedState}, Why: []string{"What the plan is about is gone."}}, nil
	}
	return stale, err
}

// PlanOperations tells what somebody can do with a plan now.
func PlanOperations(p store.Plan, stale *PlanStale, a PlanApproval, by Decider) []domain.Operation {
	apply, approve := canApply(p), CanDecide(p, a, by, domain.DecisionApprove)
	if stale != nil {
		why := domain.Conflictf("plan_stale", "%s", strings.Join(stale.Why, " "))
		if apply == nil {
			apply = why
		}
		if approve == nil {
			approve = why
		}
	}
	if apply == nil {
		apply = a.Check()
	}
	return []domain.Operation{
		operation("apply", apply), operation("approve", approve), operation("refuse", CanDecide(p, a, by, domain.DecisionRefuse)),
	}
}
