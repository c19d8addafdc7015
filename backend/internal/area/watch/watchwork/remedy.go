package watchwork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
)

// Ask asks for a job about an object of a workspace on behalf of a policy. An object of another workspace is not found.
type Ask func(ctx context.Context, by audit.Actor, workspace, object uuid.UUID) (job uuid.UUID, err error)

// Jobs are the kinds of jobs that remedies may ask for, by noun and kind.
type Jobs map[string]map[string]Ask

// Kinds are the names of the jobs, by noun.
func (j Jobs) Kinds() map[string][]string {
	all := map[string][]string{}
	for noun, kinds := range j {
		for kind := range kinds {
			all[noun] = append(all[noun], kind)
		}
		slices.Sort(all[noun])
	}
	return all
}

const remedyName = "remedy"

// WithinLimit is the condition of a remedy that may go on about every object that it is for.
const WithinLimit = "within_limit"

// remedyPolicy asks for the jobs of remedies. A run is written before its job is asked for: a backend that dies in between
// has used one of the runs of the day, and asks no second time for the same.
func remedyPolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: remedyName, Noun: watch.RemedyNoun,
		Why:      "what a job is known to mend need not wait for a person, as long as somebody said so and how often",
		Interval: notifyInterval, Jitter: 5 * time.Second, Timeout: time.Minute, Triggers: []string{watch.RemedyNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, watch.RemedyIDs),
		Run: reconcile.Look(config.DB, watch.RemedyByID, func(ctx context.Context, item reconcile.Item, r watch.Remedy) (reconcile.Outcome, error) {
			if !r.Enabled {
				return reconcile.Outcome{}, nil
			}
			at, err := scope.WorkspaceByID(ctx, config.DB.Reader, fault.ErrNotFound, r.WorkspaceID)
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("load the workspace of remedy %s: %w", r.ID, err)
			}
			return config.remedy(ctx, r, item.Observe || at.Suspended)
		}),
	}
}

func (c Config) remedy(ctx context.Context, r watch.Remedy, observe bool) (out reconcile.Outcome, err error) {
	ill, err := watch.IllOf(ctx, c.DB.Reader, r)
	if err != nil {
		return out, fmt.Errorf("read what remedy %s is for: %w", r.ID, err)
	}
	spent, err := watch.SpentOn(ctx, c.DB.Reader, r)
	if err != nil {
		return out, fmt.Errorf("read what remedy %s has used its jobs for: %w", r.ID, err)
	}
	atWork, err := watch.AtWork(ctx, c.DB.Reader, r.ID)
	if err != nil {
		return out, fmt.Errorf("count the jobs of remedy %s: %w", r.ID, err)
	}
	out.Conditions = []reconcile.Condition{withinLimit(r, spent)}
	if observe {
		return out, nil
	}
	var failed error
	for _, i := range ill {
		if atWork >= r.AtOnce {
			break
		}
		asked, err := c.try(ctx, r, i)
		failed = errors.Join(failed, err)
		if asked {
			out.Changed++
			atWork++
		}
	}
	return out, failed
}

func withinLimit(r watch.Remedy, spent watch.Spent) reconcile.Condition {
	c := reconcile.Condition{Type: WithinLimit, Status: reconcile.True, Reason: "within_limit", Message: "It may go on about every object.", Threshold: 1}
	if spent.Objects == 0 {
		return c
	}
	c.Status, c.Reason, c.Fault = reconcile.False, "spent", reconcile.FaultUser
	c.Message = fmt.Sprintf("It used its limit of %d within a day about %s, whose condition is still false. A person has to look.", r.PerDay, spent.Example)
	if spent.Objects > 1 {
		c.Message = fmt.Sprintf("It used its limit of %d within a day about each of %d objects, such as %s, whose condition is still false. A person has to look.", r.PerDay, spent.Objects, spent.Example)
	}
	return c
}

// try asks for the job about one object. asked is false where it was refused, or another backend was first.
func (c Config) try(ctx context.Context, r watch.Remedy, ill watch.Ill) (asked bool, err error) {
	ask := c.Jobs[r.Noun][r.Job]
	if ask == nil {
		return false, fmt.Errorf("no job %s about %s is known to this backend", r.Job, r.Noun)
	}
	run := uuid.New()
	err = c.DB.InTx(ctx, func(tx *db.Tx) error { return watch.BeginRun(ctx, tx, run, r, ill) })
	var conflict *fault.Conflict
	if errors.As(err, &conflict) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("begin a run of remedy %s: %w", r.ID, err)
	}
	job, refusal := ask(ctx, audit.Actor{Kind: audit.Policy, Name: remedyName + " " + r.Name}, r.WorkspaceID, ill.ObjectID)
	outcome, id, message := watch.Asked, &job, ""
	if refusal != nil {
		outcome, id, message = watch.Refused, nil, "The job could not be asked for."
		if errors.As(refusal, &conflict) {
			message, refusal = conflict.Error(), nil
		} else if errors.Is(refusal, fault.ErrNotFound) {
			message, refusal = "The object is gone.", nil
		}
	}
	err = c.DB.InTx(ctx, func(tx *db.Tx) error { return watch.EndRun(ctx, tx, run, outcome, id, message) })
	return outcome == watch.Asked, errors.Join(refusal, err)
}
