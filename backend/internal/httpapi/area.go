package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/db"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
)

// What areas register their routes with. An area's package for HTTP has a function
// Routes, which app hands to Config.Areas.

// Option says something more of an operation.
type Option = func(*huma.Operation)

// Answers of the common shapes.
type (
	// Object is an answer with one object.
	Object[T any] = object[T]
	// Versioned is an answer with one object and its ETag.
	Versioned[T any] = versioned[T]
	// Accepted is an answer with an object and the URL of the job that works on it.
	Accepted[T any] = accepted[T]
	// Nothing is an answer without a body.
	Nothing = nothing
)

// Register makes a route of api.Routes answer with a handler.
func Register[I, O any](s *Server, id string, handler func(ctx context.Context, in *I) (*O, error), options ...Option) {
	register(s, id, handler, options...)
}

// Sorted makes the orders of a list known.
func Sorted[R any](s db.Sorting[R]) Option { return sorted(s) }

// Created makes an operation answer 201.
func Created(o *huma.Operation) { created(o) }

// Example is shown as the body of a request.
func Example(body any) Option {
	return func(op *huma.Operation) {
		if op.Metadata == nil {
			op.Metadata = map[string]any{}
		}
		op.Metadata["example"] = body
	}
}

// DB is the database that requests read.
func (s *Server) DB() *db.DB { return s.db.DB }

// CheckPassword tells whether this is the password of the one who asks. Wrong ones
// are counted with failed logins.
func (s *Server) CheckPassword(ctx context.Context, password string) error {
	return s.ProvePassword(ctx, "old_password", password)
}

// ProvePassword tells whether a field has the password of the one who asks. Wrong ones
// are counted with failed logins.
func (s *Server) ProvePassword(ctx context.Context, field, password string) error {
	err := s.cfg.Sessions.Check(ctx, requestOf(ctx).bearer.Account, password)
	if errors.Is(err, intent.ErrBadLogin) {
		return badField(field, "This is not your password.")
	}
	return err
}

// CountLogin counts a try to log in under a name before it is known how it ends. Too
// many are refused.
func (s *Server) CountLogin(ctx context.Context, account string) error {
	return s.cfg.Sessions.Count(ctx, account)
}

// CountSession notes for the metrics how a login ended.
func (s *Server) CountSession(good bool) { s.metrics.login(good) }

// Unauthorized is a problem of somebody who has not proved who they are.
func Unauthorized(code, detail string) error {
	return problem(http.StatusUnauthorized, code, detail)
}

// HashPassword is what is stored of a password.
func (s *Server) HashPassword(ctx context.Context, password string) (string, error) {
	return s.cfg.Sessions.HashPassword(ctx, password)
}

// SecretShown is the answer to a repetition of a request whose answer had a secret.
func SecretShown(what string, id uuid.UUID) error {
	return problem(http.StatusConflict, "secret_shown_once",
		"The "+what+" "+id.String()+" was made by an earlier request with this Idempotency-Key; its secret was shown then and is stored nowhere.")
}

// CallOf is who asks, in which scope and under which key.
func CallOf(ctx context.Context) kernel.Call {
	return kernel.Call{Actor: actor(ctx), Workspace: workspace(ctx), Key: requestOf(ctx).key, Creates: requestOf(ctx).creates}
}

// Workspace is the scope of a request.
func Workspace(ctx context.Context) uuid.UUID { return workspace(ctx) }

// Made is what a request made or changed.
type Made struct {
	Object, Job uuid.UUID
	Repeated    bool // by an earlier request with the same key
}

// Once carries a change out. Where an earlier request with the same key was
// carried out, it answers what that one made.
func Once(ctx context.Context, s *Server, do func(ctx context.Context, call kernel.Call) (Made, error)) (Made, error) {
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		m, err := do(ctx, call.Call)
		return made{object: m.Object, job: m.Job}, err
	})
	return Made{Object: m.object, Job: m.job, Repeated: m.repeated}, err
}

// PageOf reads one page of a list. filters are all that narrow it: a cursor is good
// for the list, the order and the filters that it came from.
func PageOf[R, A any](s *Server, route string, q api.PageQuery, filters []string, sorting db.Sorting[R],
	read func(after *db.Position, limit int) ([]R, error), present func(R) A,
) (*Object[api.Page[A]], error) {
	return pageOf(s.listOf(route, q, filters...), sorting, read, present)
}

// ConditionsOf are what policies found of an object. Whoever calls it has seen to it that the bearer may know.
func ConditionsOf(ctx context.Context, s *Server, noun string, object uuid.UUID) (*Object[api.Page[api.Condition]], error) {
	found, err := reconcile.Conditions(ctx, s.db.Reader, noun, object)
	if err != nil {
		return nil, err
	}
	return whole(found, presentCondition), nil
}

// Whole is a list that is never long: all of it is one page.
func Whole[R, A any](rows []R, present func(R) A) *Object[api.Page[A]] { return whole(rows, present) }

// Version reads If-Match: 0 if any version will do.
func (c Change) Version() (int64, error) { return c.version() }

// ETag is the tag of a version.
func ETag(version int64) string { return etag(version) }

// JobURL is where a job is found; "" for uuid.Nil.
func JobURL(id uuid.UUID) string { return jobURL(id) }

// ID reads an id; what only looks like one is none.
func ID(s string) (uuid.UUID, bool) { return id(s) }

// BadField is a problem of one field of a request.
func BadField(field, message string) error { return badField(field, message) }
