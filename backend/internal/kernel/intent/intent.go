// Package intent owns what is the same for everything that may be asked of
// Kloigos: one function is one transaction, which claims the request's
// idempotency key, writes the change, its event and its job, and records what was
// made. It knows no noun.
package intent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/scope"
)

// Call is who asks, in which scope, under which key.
type Call struct {
	Actor audit.Actor
	// One of these three says what the call is about.
	Workspace    uuid.UUID
	Organization uuid.UUID // the organization itself, or something of it that is in no workspace
	Installation bool      // something that is in no organization

	Key *Key // nil: the request has none

	// Asks is called at the end of an intent, as soon as its job is asked for. An error of it keeps nothing. nil: the intent is carried out
	// without a plan.
	Asks func(ctx context.Context, tx *Tx, a Asked) error

	// Creates says that it adds something to its scope: refused where that is being deleted.
	Creates bool
}

// Asked is the job that an intent asks for.
type Asked struct {
	Kind    string
	Subject json.RawMessage // what a plan of it is about; package work reads it
	Entry   audit.Entry     // its event, with its id
}

// ErrNoEvent is of an intent that would have changed something untold.
var ErrNoEvent = errors.New("the intent wrote no event")

// ErrNoCaller is of a call that names nobody, or no scope.
var ErrNoCaller = errors.New("the call names no actor or no scope")

// Engine runs intents on a database.
type Engine struct {
	DB *db.DB
	// Wake is called after every commit: a worker in this process need not wait for
	// its next look at the queue. May be nil.
	Wake func()
}

// Tx is the transaction of one intent.
type Tx struct {
	*db.Tx
	call   Call
	events int
}

// Call is who asks.
func (tx *Tx) Call() Call { return tx.call }

// Told says that an event was written beside Event.
func (tx *Tx) Told() { tx.events++ }

// Event writes an audit event of the call's actor.
func (tx *Tx) Event(ctx context.Context, e audit.Entry) error {
	tx.events++
	if e.Workspace == uuid.Nil {
		e.Workspace = tx.call.Workspace
	}
	if e.Organization == uuid.Nil {
		e.Organization = tx.call.Organization
	}
	return audit.Append(ctx, tx.Tx, tx.call.Actor, e)
}

// Made notes for a repeated request what this one made or changed; uuid.Nil stands
// for none.
func (tx *Tx) Made(ctx context.Context, kind string, object, job uuid.UUID) error {
	if tx.call.Key == nil {
		return nil
	}
	return Record(ctx, tx.Tx, *tx.call.Key, kind, object, job)
}

// Changed is what an intent says at its end of the object of an event: its policies run, the event is written, and a repetition of the
// request finds the object.
func (tx *Tx) Changed(ctx context.Context, e audit.Entry) error {
	tx.Touch(e.ObjectKind, e.ObjectID)
	if err := tx.Event(ctx, e); err != nil {
		return err
	}
	return tx.Made(ctx, e.ObjectKind, e.ObjectID, uuid.Nil)
}

// Keep refuses to add something to a workspace that is being deleted, and keeps its deletion from beginning before the transaction
// ends.
func (c Call) Keep(ctx context.Context, tx *db.Tx) error {
	if !c.Creates || c.Workspace == uuid.Nil {
		return nil
	}
	return scope.KeepWorkspace(ctx, tx, c.Workspace)
}

// Do runs f in one transaction. f may run more than once, so it only talks to the
// database and assigns. It must write an event.
func (e Engine) Do(ctx context.Context, call Call, f func(*Tx) error) error {
	if call.Actor.Kind == "" || call.Workspace == uuid.Nil && call.Organization == uuid.Nil && !call.Installation {
		return ErrNoCaller
	}
	err := e.DB.InTx(ctx, func(tx *db.Tx) error {
		if call.Key != nil {
			if err := Claim(ctx, tx, *call.Key); err != nil {
				return err
			}
		}
		if err := call.Keep(ctx, tx); err != nil {
			return err
		}
		in := &Tx{Tx: tx, call: call}
		if err := f(in); err != nil {
			return err
		}
		if in.events == 0 {
			return ErrNoEvent
		}
		return nil
	})
	if err == nil && e.Wake != nil {
		e.Wake()
	}
	return err
}
