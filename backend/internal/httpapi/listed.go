package httpapi

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
)

// Planned is the answer of an action that can be planned: its object, or the plan.
type Planned = planned

// OrPlan tells in the OpenAPI document that an operation answers with its object or with a plan.
func OrPlan[T any](s *Server) Option { return orPlan[T](s) }

// PlannedAction is an action of an area whose kind of job lists what it would do.
type PlannedAction struct {
	Route string // its operation
	Body  any
	Noun  string    // of what it is about
	ID    uuid.UUID // uuid.Nil: the action makes it
	Name  string
}

func (a PlannedAction) forIntent() intent.Action {
	return intent.Action{PlanRequest: intent.PlanRequest{Action: a.Route, Body: a.Body}, Object: work.Object{Noun: a.Noun, ID: a.ID, Name: a.Name}}
}

// PlanOrStartAbout is PlanOrStart for the object of the path, whose name tells name.
func PlanOrStartAbout[R, A any](
	ctx context.Context, n Noun[R, A], id string, how api.ListPlanning, a PlannedAction, name func(R) string, ask func(*kernel.Tx, scope.Ref[R]) (job uuid.UUID, err error),
) (*Planned, error) {
	found, ref, err := n.find(ctx, id)
	if err != nil {
		return nil, err
	}
	a.ID, a.Name = ref.ID(), name(found)
	return PlanOrStart(ctx, n, how, a, func(tx *kernel.Tx) (object, job uuid.UUID, err error) {
		job, err = ask(tx, ref)
		return ref.ID(), job, err
	})
}

// PlanOrStart makes a plan of an action, or asks for its job; bound to a plan, if one is named. do is the action's own intent: it returns
// the object to answer with, and the job.
func PlanOrStart[R, A any](ctx context.Context, n Noun[R, A], how api.ListPlanning, a PlannedAction, do func(tx *kernel.Tx) (object, job uuid.UUID, err error)) (*Planned, error) {
	switch {
	case how.PlanID != "" && how.Plan:
		return nil, badField("plan_id", "can't be given together with plan=true")
	case how.Plan:
		return planHandlers{n.Server}.planListed(ctx, func(ctx context.Context, call intent.Call) (uuid.UUID, error) {
			return n.Server.intents.PlanListed(ctx, call, a.forIntent(), func(ctx context.Context, drafted kernel.Call) error {
				return n.Engine.Do(ctx, drafted, func(tx *kernel.Tx) error {
					_, _, err := do(tx)
					return err
				})
			})
		})
	}
	run := n.Once
	if how.PlanID != "" {
		plan, err := planHandlers{n.Server}.namedPlan(ctx, how.PlanID)
		if err != nil {
			return nil, err
		}
		run = func(ctx context.Context, do func(tx *kernel.Tx) (object, job uuid.UUID, err error)) (Made, error) {
			return n.onceByPlan(ctx, plan, a, do)
		}
	}
	made, err := run(ctx, do)
	if err != nil {
		return nil, err
	}
	out, err := n.Show(ctx, made.Object)
	if err != nil {
		return nil, err
	}
	return &Planned{Location: JobURL(made.Job), ETag: out.ETag, Body: out.Body}, nil
}

// onceByPlan is Once, bound to a plan.
func (n Noun[R, A]) onceByPlan(ctx context.Context, plan uuid.UUID, a PlannedAction, do func(tx *kernel.Tx) (object, job uuid.UUID, err error)) (Made, error) {
	return Once(ctx, n.Server, func(ctx context.Context, call kernel.Call) (out Made, err error) {
		bound, err := n.Server.intents.ByPlan(intent.Call{Call: call}, plan, a.forIntent())
		if err != nil {
			return Made{}, err
		}
		err = n.Engine.Do(ctx, bound.Call, func(tx *kernel.Tx) error {
			if err := bound.Begin(ctx, tx); err != nil {
				return err
			}
			out.Object, out.Job, err = do(tx)
			return err
		})
		return out, err
	})
}

// namedPlan is the plan of the workspace of the request that a parameter names.
func (s planHandlers) namedPlan(ctx context.Context, text string) (uuid.UUID, error) {
	named, ok := id(text)
	if !ok {
		return uuid.Nil, badField("plan_id", "must be an id")
	}
	p, err := s.plan(ctx, named)
	if err != nil {
		return uuid.Nil, err
	}
	if !p.Listed() {
		return uuid.Nil, domain.Conflictf("plan_mismatch", "the plan belongs to another request; send its own action and request, or create another plan")
	}
	return p.ID, nil
}

// planListed makes a plan that lists what a job would do, and shows it.
func (s planHandlers) planListed(ctx context.Context, keep func(ctx context.Context, call intent.Call) (uuid.UUID, error)) (*planned, error) {
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		plan, err := keep(ctx, call)
		return made{object: plan}, err
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
	return &planned{Body: shown}, nil
}
