package iamwork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/work"
)

// Removers ask for the end of what lives in a workspace, by its noun: each by the intent of its own area, so with its own rules, event
// and job. Of what ends by a job, the part is left until that has ended.
type Removers map[string]func(ctx context.Context, by audit.Actor, p iam.Part) error

// partPause is how long a deletion waits before it looks again at what its parts are.
const partPause = 2 * time.Second

// Deletions carries out iam.ScopeDelete.
type Deletions struct {
	DB       *db.DB
	Removers func() Removers // they may be made after the area
	Pause    time.Duration   // between two looks; 0 for the usual one
}

// Handlers do the steps.
func (d Deletions) Handlers() work.Handlers {
	return work.Handlers{iam.ScopeDelete.Name: {
		iam.ClustersStep:    d.sweep(iam.PartCluster),
		iam.AllocationsStep: d.sweep(iam.PartAllocation),
		iam.NamesStep:       d.sweep(iam.PartRecordSet, iam.PartZone),
		iam.RestStep:        d.sweep(iam.PartRemedy, iam.PartChannel, iam.PartHost, iam.PartAddress, iam.PartNetwork),
		iam.JobsStep:        d.otherJobs,
		iam.ScopesStep:      d.scopes,
	}}
}

func (d Deletions) pause() time.Duration {
	if d.Pause > 0 {
		return d.Pause
	}
	return partPause
}

// sweep asks for the end of all parts of some nouns, one noun after the other, and waits until they are gone.
func (d Deletions) sweep(nouns ...string) work.Handler {
	return func(ctx context.Context, a *work.Attempt) error {
		for _, noun := range nouns {
			left, err := d.left(ctx, a, noun)
			if err != nil || len(left) == 0 {
				if err != nil {
					return err
				}
				continue
			}
			waits, err := d.askAll(ctx, a, left)
			if err != nil {
				return err
			}
			if left, err = d.left(ctx, a, noun); err != nil {
				return err
			}
			if len(left) > 0 {
				return work.NotYet(d.pause(), reason(left, waits))
			}
			a.Log.Note("No %s is left.", words(noun))
		}
		return nil
	}
}

func reason(left []iam.Part, waits []string) string {
	text := fmt.Sprintf("%d of %s left, such as %s", len(left), words(left[0].Noun), left[0].Name)
	if len(waits) > 0 {
		text += ". " + strings.Join(waits, " ")
	}
	return text
}

func words(noun string) string { return strings.ReplaceAll(noun, "_", " ") }

// left are the parts of a noun that are still there.
func (d Deletions) left(ctx context.Context, a *work.Attempt, noun string) (left []iam.Part, err error) {
	o := a.Object(iam.DeletedRole)
	all, err := iam.PlanDeletionByID(ctx, d.DB.Reader, o.Noun, o.ID)
	if err != nil {
		return nil, fmt.Errorf("read what is left of a scope: %w", err)
	}
	for _, p := range all.Stops {
		if p.Noun == noun {
			return nil, stays(p)
		}
	}
	for _, p := range all.Parts {
		if p.Noun == noun {
			left = append(left, p)
		}
	}
	return left, nil
}

func stays(p iam.Stop) error {
	return &work.Error{
		Code: "part_stays", Message: fmt.Sprintf("The %s %s does not go: %s", words(p.Noun), p.Name, p.Why),
		NextStep: "Do what the message says, then retry the job. Or resume the scope to keep what is left.",
	}
}

// mostWaits is how many reasons to wait are told.
const mostWaits = 3

// askAll asks for the end of each part that it was not asked for yet. waits are reasons why some could not be asked.
func (d Deletions) askAll(ctx context.Context, a *work.Attempt, parts []iam.Part) (waits []string, err error) {
	asked, err := iam.AskedParts(ctx, d.DB.Reader, a.ID)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		switch of, done := asked[p.ID]; {
		case p.Under():
			continue
		case done && p.Ended() && !of.Before:
			return nil, failed(p)
		case done && !p.Ended():
			continue
		}
		wait, err := d.ask(ctx, a, p)
		if err != nil {
			return nil, err
		}
		if wait != "" && len(waits) < mostWaits {
			waits = append(waits, wait)
		}
	}
	return waits, nil
}

// ask asks for the end of one part. wait says why that is not possible now. What is gone meanwhile is well.
func (d Deletions) ask(ctx context.Context, a *work.Attempt, p iam.Part) (wait string, err error) {
	remove, ok := d.Removers()[p.Noun]
	if !ok {
		return "", fmt.Errorf("nobody removes a %s", p.Noun)
	}
	err = remove(ctx, a.Actor(), p)
	var conflict *fault.Conflict
	switch {
	case errors.Is(err, fault.ErrNotFound):
		return "", nil
	case errors.As(err, &conflict):
		return fmt.Sprintf("%s: %s", p.Name, conflict.Detail), nil
	case err != nil:
		return "", fmt.Errorf("remove the %s %s: %w", p.Noun, p.Name, err)
	}
	a.Log.Note("Asked for the end of the %s %s.", words(p.Noun), p.Name)
	return "", d.note(ctx, a, p)
}

func (d Deletions) note(ctx context.Context, a *work.Attempt, p iam.Part) error {
	return d.DB.InTx(ctx, func(tx *db.Tx) error {
		if err := work.Own(ctx, tx, a.ID, a.Number); err != nil {
			return err
		}
		return iam.NoteAsked(ctx, tx, a.ID, p)
	})
}

// failed ends the job with the name of the part whose end failed. A retry asks for it again.
func failed(p iam.Part) error {
	return &work.Error{
		Code: "part_failed", Message: fmt.Sprintf("The %s %s could not be removed: it is %s. Its own job says why.", words(p.Noun), p.Name, words(p.State)),
		NextStep: "Fix what the job of the " + words(p.Noun) + " names, then retry this job. Or resume the scope to keep what is left.",
	}
}

// otherJobs waits until no other job is unfinished, and makes sure that nothing is left.
func (d Deletions) otherJobs(ctx context.Context, a *work.Attempt) error {
	o := a.Object(iam.DeletedRole)
	all, err := iam.PlanDeletionByID(ctx, d.DB.Reader, o.Noun, o.ID)
	if err != nil {
		return fmt.Errorf("read what is left of a scope: %w", err)
	}
	names, err := iam.OtherJobs(ctx, d.DB.Reader, all.Workspaces(), a.ID)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return work.NotYet(d.pause(), "other jobs have not ended: "+strings.Join(names, ", "))
	}
	for _, p := range all.Parts {
		if _, lives := d.Removers()[p.Noun]; lives {
			return stays(iam.Stop{Part: p, Why: "It came after its step."})
		}
	}
	for _, p := range all.Stops {
		if p.ID != p.ScopeID { // scopes are being deleted
			return stays(p)
		}
	}
	return nil
}

// scopes deletes the scopes, in the transaction that ends the job.
func (d Deletions) scopes(_ context.Context, a *work.Attempt) error {
	o := a.Object(iam.DeletedRole)
	a.Outcome("%s is deleted.", o.Name)
	a.AtSuccess(func(ctx context.Context, tx *db.Tx) error {
		return iam.Finish(ctx, tx, a.Actor(), o.Noun, o.ID, a.ID)
	})
	return nil
}
