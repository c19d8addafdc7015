package httpapi

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// Noun is what the routes of one noun of an area share: R is its row, A its wire type. Its handlers find an object in the
// scope of the request, run one intent and show what came of it.
type Noun[R, A any] struct {
	Server *Server
	Engine kernel.Engine
	// Find finds an object of a workspace by its id, or by its name where names are unique.
	Find    func(ctx context.Context, q db.Reader, workspace uuid.UUID, id string) (R, scope.Ref[R], error)
	Version func(R) int64
	Present func(R) A
}

// Get shows an object.
func (n Noun[R, A]) Get(ctx context.Context, in *ByID) (*Versioned[A], error) {
	found, _, err := n.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &Versioned[A]{ETag: ETag(n.Version(found)), Body: n.Present(found)}, nil
}

// Show is an object as it is after a change.
func (n Noun[R, A]) Show(ctx context.Context, id uuid.UUID) (*Versioned[A], error) {
	return n.Get(ctx, &ByID{ID: id.String()})
}

func (n Noun[R, A]) find(ctx context.Context, id string) (R, scope.Ref[R], error) {
	return n.Find(ctx, n.Server.DB().Reader, Workspace(ctx), id)
}

// Once runs one intent, and answers what an earlier request with the same key made.
func (n Noun[R, A]) Once(ctx context.Context, do func(tx *kernel.Tx) (object, job uuid.UUID, err error)) (Made, error) {
	return Once(ctx, n.Server, func(ctx context.Context, call kernel.Call) (made Made, err error) {
		err = n.Engine.Do(ctx, call, func(tx *kernel.Tx) error {
			made.Object, made.Job, err = do(tx)
			return err
		})
		return made, err
	})
}

// BodyOf is the input of an operation with a body.
type BodyOf[B any] struct{ Body B }

// ChangeOf is the input of an operation that changes an object by what its body says.
type ChangeOf[B any] struct {
	Change
	Body B
}

// OnOf is the input of an operation on an object with a body, whatever its version.
type OnOf[B any] struct {
	ByID
	Body B
}

// Create is the handler that makes an object. prepare looks up what the body names and returns the intent.
func Create[R, A, B any](n Noun[R, A], prepare func(ctx context.Context, body B) (func(ctx context.Context, tx *kernel.Tx) (uuid.UUID, error), error)) func(context.Context, *BodyOf[B]) (*Versioned[A], error) {
	return func(ctx context.Context, in *BodyOf[B]) (*Versioned[A], error) {
		do, err := prepare(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		made, err := n.Once(ctx, func(tx *kernel.Tx) (object, job uuid.UUID, err error) {
			object, err = do(ctx, tx)
			return object, uuid.Nil, err
		})
		if err != nil {
			return nil, err
		}
		return n.Show(ctx, made.Object)
	}
}

// Update is the handler that changes an object. version is 0 for any.
func Update[R, A, B any](n Noun[R, A], do func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[R], version int64, body B) error) func(context.Context, *ChangeOf[B]) (*Versioned[A], error) {
	return func(ctx context.Context, in *ChangeOf[B]) (*Versioned[A], error) {
		ref, err := n.change(ctx, in.Change, func(tx *kernel.Tx, ref scope.Ref[R], version int64) error {
			return do(ctx, tx, ref, version, in.Body)
		})
		if err != nil {
			return nil, err
		}
		return n.Show(ctx, ref.ID())
	}
}

// Delete is the handler that deletes an object. version is 0 for any.
func (n Noun[R, A]) Delete(do func(ctx context.Context, tx *kernel.Tx, ref scope.Ref[R], version int64) error) func(context.Context, *Change) (*Nothing, error) {
	return func(ctx context.Context, in *Change) (*Nothing, error) {
		_, err := n.change(ctx, *in, func(tx *kernel.Tx, ref scope.Ref[R], version int64) error { return do(ctx, tx, ref, version) })
		return nil, err
	}
}

func (n Noun[R, A]) change(ctx context.Context, in Change, do func(tx *kernel.Tx, ref scope.Ref[R], version int64) error) (scope.Ref[R], error) {
	_, ref, err := n.find(ctx, in.ID)
	if err != nil {
		return ref, err
	}
	version, err := in.Version()
	if err != nil {
		return ref, err
	}
	_, err = n.Once(ctx, func(tx *kernel.Tx) (object, job uuid.UUID, err error) {
		return ref.ID(), uuid.Nil, do(tx, ref, version)
	})
	return ref, err
}

// Start is the handler that makes a job about an object.
func (n Noun[R, A]) Start(do func(ctx context.Context, tx *kernel.Tx, found R) (job uuid.UUID, err error)) func(context.Context, *ByID) (*Accepted[A], error) {
	return func(ctx context.Context, in *ByID) (*Accepted[A], error) {
		found, ref, err := n.find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return n.Started(ctx, ref, func(tx *kernel.Tx) (uuid.UUID, error) { return do(ctx, tx, found) })
	}
}

// Started runs an intent that makes a job about an object.
func (n Noun[R, A]) Started(ctx context.Context, ref scope.Ref[R], do func(tx *kernel.Tx) (job uuid.UUID, err error)) (*Accepted[A], error) {
	made, err := n.Once(ctx, func(tx *kernel.Tx) (object, job uuid.UUID, err error) {
		job, err = do(tx)
		return ref.ID(), job, err
	})
	if err != nil {
		return nil, err
	}
	out, err := n.Show(ctx, ref.ID())
	if err != nil {
		return nil, err
	}
	return &Accepted[A]{Location: JobURL(made.Job), ETag: out.ETag, Body: out.Body}, nil
}

// OperationOf says whether something can be done with an object now.
func OperationOf(name string, prevents error) api.Operation {
	if prevents == nil {
		return api.Operation{Name: name, Allowed: true}
	}
	text := prevents.Error()
	var conflict *fault.Conflict
	if errors.As(prevents, &conflict) {
		text = conflict.Detail
	}
	return api.Operation{Name: name, Prevents: text}
}
