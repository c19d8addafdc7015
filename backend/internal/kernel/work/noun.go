package work

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
)

// Noun is what the engine knows of one kind of object.
type Noun struct {
	Name string
	// Move moves an object on an event, in the transaction of a job's moment; a
	// fault.Conflict where its state does not take the event. nil: its jobs move
	// nothing.
	Move func(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error
}

// apply makes the moves of one moment, each for every object of its role.
func (r *Registry) apply(ctx context.Context, tx *db.Tx, moves []Move, objects []Object, message string) error {
	for _, m := range moves {
		for _, o := range objects {
			if o.Role != m.Role {
				continue
			}
			n, ok := r.nouns[o.Noun]
			if !ok || n.Move == nil {
				return fmt.Errorf("objects of noun %q can't be moved", o.Noun)
			}
			if err := n.Move(ctx, tx, o.ID, m.On, message); err != nil {
				return err
			}
		}
	}
	return nil
}
