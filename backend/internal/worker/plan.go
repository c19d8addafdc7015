package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

// planned checks what an action would change. It holds the host while it
// looks: beside a run that changes the host it would see half of that run, and
// with the newest number of the fence no older run changes the host any more.
var planned = handler{
	steps: map[string]step{"check": {lock: true, do: check}},
	apply: planChecked,
}

// planChecked stores what the check told, and asks for the approvals that the plan needs. For a plan
// whose run would stop none are asked for.
func planChecked(ctx context.Context, tx *store.Tx, r *run) error {
	asked, err := tx.SetPlanResult(ctx, r.plan)
	if err != nil || asked.Needed == 0 || r.plan.Result.Counts.Stops > 0 {
		return err
	}
	return tx.AddEvent(ctx, r.actor(), store.Audit{
		Workspace: r.plan.WorkspaceID, Action: "plan.request_approval", ObjectKind: "plan", ObjectID: r.plan.ID, ObjectName: r.plan.Action,
		JobID: r.job.ID, After: map[string]any{"needed": asked.Needed, "hours": asked.Hours, "rules": asked.Rules, "asked_by": r.plan.RequestedBy},
	})
}

// about says what the plan is about, for this very run.
func (r *run) about() inputs.About {
	a := inputs.About{Kind: r.job.Kind, Subject: r.job.Subject(), Refence: replacesFence(r.job), Job: r.job.ID}
	if r.job.Kind == domain.KindPlan {
		a.Kind, a.Refence, a.Proposal = r.plan.Kind, r.plan.Action == domain.ActionRefence, r.plan.Proposal
		if r.plan.AllocationID != nil {
			a.Subject[domain.OfAllocation] = *r.plan.AllocationID
		}
	}
	return a
}

func check(ctx context.Context, r *run) error {
	rows, err := inputs.Load(ctx, r.w.db.Reads, r.about())
	if err != nil {
		return err
	}
	plays, err := rows.Plays(r.host.fence)
	if err != nil {
		return &domain.JobError{Code: domain.ErrCodeSuperseded, Host: r.host.Name, Message: "The host no longer has a layout."}
	}
	var result domain.PlanResult
	fenced := rows.Unit.ID != uuid.Nil || rows.Host.Fenced && !rows.Refence
	for i, p := range plays {
		if rows.Kind == domain.KindHostRelayout && p.File == inputs.Bootstrap && rows.Host.Fenced {
			continue // the run would leave it out
		}
		if why := r.notChecked(i, fenced); why != "" {
			r.log.Note("%s", why)
			result.Add(domain.PlanChange{Play: p.File, Task: p.File, Kind: "play", Name: p.File, Action: domain.ActionFollows, Note: why})
			continue
		}
		_, err := r.ansible(ctx, p, fenced, true, collect(&result, p.File))
		if fenced && rows.Kind == domain.KindHostDecommission && isCode(err, domain.ErrCodeNoFence) {
			// The run would bring the fence back first, and so would go on.
			fenced = false
			_, err = r.ansible(ctx, p, fenced, true, collect(&result, p.File))
		}
		if err != nil {
			return err
		}
	}
	if rows.Kind == domain.KindHostInitialize && fenced {
		if err := checkAgent(ctx, r, &result); err != nil {
			return err
		}
	}
	r.plan.Result = &result
	if r.plan.VariablesSHA256, err = rows.VariablesSHA256(); err != nil {
		return err
	}
	if r.plan.RowsSHA256, err = rows.RowsSHA256(); err != nil {
		return err
	}
	if r.plan.ReportSHA256, err = inputs.Sum(result); err != nil {
		return err
	}
	r.outcome = summary(result.Counts)
	return nil
}

// notChecked tells why the nth play is left out of a check. Wherever there is a
// fence, a check runs under it: one that lost its lock is then ended like any
// other run. Without one, only what came with a release is checked, since
// whether the check of anything else changes nothing is only its author's word;
// but for the play that brings the fence, which would run without one for real.
func (r *run) notChecked(n int, fenced bool) string {
	if fenced || n == 0 || r.plan.Seeded {
		return ""
	}
	return fmt.Sprintf("The host has no fence of ours yet, and version %d of %s did not come with a release: "+
		"what it does after the fence is there can be checked then.", r.plan.PlaybookVersion, r.plan.Playbook)
}

func isCode(err error, code string) bool {
	var why *domain.JobError
	return errors.As(err, &why) && why.Code == code
}

// collect takes what a play would change out of its events.
func collect(result *domain.PlanResult, play string) func(ansible.Event) {
	return func(e ansible.Event) {
		at := domain.PlanChange{Play: play, Role: e.Role, Task: e.Task}
		switch {
		case e.Kind == ansible.EventChange && e.Change != nil:
			at.Kind, at.Name, at.Action, at.Before, at.After, at.Note = e.Change.Kind, e.Change.Name, e.Change.Action, e.Change.Before, e.Change.After, e.Change.Note
			result.Add(at)
		case e.Item == "" && (e.Kind == ansible.EventOK || e.Kind == ansible.EventChanged || e.Kind == ansible.EventSkipped || e.Kind == ansible.EventIgnored):
			result.Tasks++
		}
	}
}

func summary(c domain.PlanCounts) string {
	if c.NothingChanges() {
		return "Nothing would change."
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Create, "to create"}, {c.Change, "to change"}, {c.Remove, "to remove"}, {c.Follows, "that follow from these"}, {c.Stops, "at which it would stop"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return "It would find " + strings.Join(parts, ", ") + "."
}

// asPlanned makes sure, before each step that changes the host and with the
// host held, that nothing has moved of what the plan was made of that the job
// is bound to. What the job itself has done by then is not counted.
func (r *run) asPlanned(ctx context.Context) error {
	if r.plan.ID == uuid.Nil || r.job.Kind == domain.KindPlan {
		return nil
	}
	if r.job.PlaybookVersionID == nil || *r.job.PlaybookVersionID != r.plan.PlaybookVersionID {
		return r.stale(domain.MovedPlaybook, "The job is bound to another version of the playbook than its plan.")
	}
	rows, err := inputs.Load(ctx, r.w.db.Reads, r.about())
	if err != nil {
		return err
	}
	variables, err := rows.VariablesSHA256()
	if err != nil {
		return err
	}
	if variables != r.plan.VariablesSHA256 {
		return r.stale(domain.MovedVariables, "The variables of the play have changed since the check.")
	}
	now, err := rows.RowsSHA256()
	if err != nil {
		return err
	}
	if now != r.plan.RowsSHA256 {
		return r.stale(domain.MovedState, "The host, its units or the allocation changed, or another job started there, since the check.")
	}
	r.log.Note("Nothing has changed since the plan was checked.")
	return nil
}

func (r *run) stale(moved, why string) *domain.JobError {
	return &domain.JobError{
		Code: domain.ErrCodePlanStale, Host: r.host.Name, NextStep: domain.NextStep(domain.ErrCodePlanStale),
		Message: fmt.Sprintf("The plan is outdated (%s). %s", moved, why),
	}
}

// replacesFence tells whether a job is to replace the fence of its host.
func replacesFence(j store.Job) bool {
	var args struct {
		Refence bool `json:"refence"`
	}
	return json.Unmarshal(j.Args, &args) == nil && args.Refence
}
