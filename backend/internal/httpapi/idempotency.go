package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/store"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255
)

// keyed tells whether a route honours an idempotency key: every POST that
// writes and that an account makes. The hash of a request that has a password would
// let it be guessed.
func keyed(r api.Route) bool {
	return r.Method == http.MethodPost && r.Permission != "" && !slices.Contains([]string{"preview-layout", "change-password", "start-link", "finish-link"}, r.ID)
}

func idempotencyParameter() *huma.Param {
	length := maxKey
	return &huma.Param{
		Name: keyHeader, In: "header",
		Description: "a value of your own (a UUID, say): however often the request is sent with it, it is carried out once",
		Schema:      &huma.Schema{Type: huma.TypeString, MaxLength: &length},
	}
}

// idempotency gives the intent the request's key, so that it is claimed in the
// transaction of what the request makes.
func (s *Server) idempotency(route api.Route) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		key := c.Header(keyHeader)
		if key == "" {
			next(c)
			return
		}
		if len(key) > maxKey || !printable(key) {
			r := requestOf(c.Context())
			r.faults = append(r.faults, api.FieldProblem{Field: keyHeader, Message: "must be 1 to 255 printable ASCII characters"})
			next(c)
			return
		}
		body := humafiber.UnwrapV2(c).Request().Body()
		u := c.URL()
		sum := sha256.New()
		for _, part := range [][]byte{[]byte(route.ID), {0}, []byte(u.Path), {0}, requestOf(c.Context()).at.Workspace[:], body} {
			_, _ = sum.Write(part) // a hash never fails
		}
		if u.RawQuery != "" { // a plan of an action is not the action
			_, _ = sum.Write([]byte("\x00" + u.RawQuery))
		}
		requestOf(c.Context()).key = &store.Idempotency{
			AccountID: requestOf(c.Context()).bearer.AccountID, Key: key, RequestHash: sum.Sum(nil),
		}
		next(c)
	}
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// made is what a request made or changed.
type made struct {
	object, job uuid.UUID
	repeated    bool // by an earlier request with the same key
}

// once carries a change out. If that fails, and an earlier request with the
// same key had been carried out, the answer is built from what that one made:
// so a duplicate, a lost COMMIT and a repetition after a crash all end the
// same way.
func (s *Server) once(ctx context.Context, call intent.Call, do func(ctx context.Context, call intent.Call) (made, error)) (made, error) {
	m, err := do(ctx, call)
	if err == nil {
		s.cfg.Failpoints.Hit(failpoint.RequestCommitted)
	}
	if err == nil || call.Key == nil {
		return m, err
	}
	rec, found, lookErr := s.db.Recorded(ctx, call.Key.AccountID, call.Key.Key)
	switch {
	case lookErr != nil:
		return made{}, errors.Join(err, lookErr)
	case !found && errors.Is(err, store.ErrDuplicateRequest):
		// It was there a moment ago and its record has expired since.
		return made{}, problem(http.StatusConflict, "idempotency_key_expired", "This Idempotency-Key is too old; look at what it made.")
	case !found:
		return made{}, err
	case string(rec.RequestHash) != string(call.Key.RequestHash):
		return made{}, problem(http.StatusUnprocessableEntity, "idempotency_key_reused", "Another request was made with this Idempotency-Key.")
	}
	m = made{repeated: true}
	if rec.ObjectID != nil {
		m.object = *rec.ObjectID
	}
	if rec.JobID != nil {
		m.job = *rec.JobID
	}
	return m, nil
}

// onceJob is once for intents on a known object that make a job.
func (s *Server) onceJob(ctx context.Context, call intent.Call, object uuid.UUID, do func(ctx context.Context, call intent.Call) (uuid.UUID, error)) (made, error) {
	m, err := s.once(ctx, call, func(ctx context.Context, call intent.Call) (made, error) {
		job, err := do(ctx, call)
		return made{job: job}, err
	})
	m.object = object
	return m, err
}

// onceNothing is once for intents on a known object that make no job.
func (s *Server) onceNothing(ctx context.Context, call intent.Call, do func(ctx context.Context, call intent.Call) error) error {
	_, err := s.once(ctx, call, func(ctx context.Context, call intent.Call) (made, error) { return made{}, do(ctx, call) })
	return err
}
