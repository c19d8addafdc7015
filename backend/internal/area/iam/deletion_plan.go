package iam

import (
	"context"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// planDeletion lists what goes with a scope, and what stops the deletion.
var planDeletion = &work.Plan{
	List: func(ctx context.Context, q db.Reader, s work.Subject) (work.List, error) {
		top := s.Object(DeletedRole)
		d, err := PlanDeletionByID(ctx, q, top.Noun, top.ID)
		if err != nil {
			return work.List{}, err
		}
		return d.list(), nil
	},
	Hold: func(ctx context.Context, tx *db.Tx, s work.Subject) error {
		top := s.Object(DeletedRole)
		_, err := HoldDeletion(ctx, tx, top.Noun, top.ID)
		return err
	},
}

// Subject is what the plan and the job of the deletion are about.
func (d Deletion) Subject() work.Object {
	return work.Object{Role: DeletedRole, Noun: d.Top.Kind, ID: d.Top.ID, Name: d.Top.Path()}
}

func (d Deletion) list() work.List {
	l := work.List{Digest: d.Digest(), Bound: d.IDs(), Approvers: d.Approvers()}
	for _, p := range d.Stops {
		l.Changes = append(l.Changes, work.Change{Task: d.Path(p.ScopeID), Kind: p.Noun, Name: p.Name, Action: work.Stops, Note: p.Why})
	}
	for _, p := range d.Parts {
		l.Changes = append(l.Changes, work.Change{Task: d.Path(p.ScopeID), Kind: p.Noun, Name: p.Name, Action: work.Removes, Before: p.State})
	}
	for _, s := range d.Scopes {
		l.Changes = append(l.Changes, work.Change{Task: s.Path(), Kind: s.Kind, Name: s.Path(), Action: work.Removes})
	}
	return l
}
