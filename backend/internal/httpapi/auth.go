package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// admission decides which requests are let in.
type admission struct{ *Server }

// admit lets a request pass if its bearer has the permission. It decides
// before any object is looked at, so that its answer is the same for objects
// that exist and for those that don't.
func (s admission) admit(ctx context.Context, permission, authorization string) error {
	r := requestOf(ctx)
	hash := bearerHash(authorization)
	if hash == nil {
		if err := s.limitStranger(r.client); err != nil {
			return err
		}
		return errNoBearer()
	}
	bearer, err := s.db.Bearer(ctx, hash)
	if errors.Is(err, domain.ErrNotFound) {
		if err := s.limitStranger(r.client); err != nil {
			return err
		}
		return errNoBearer()
	}
	if err != nil {
		return s.asProblem(ctx, err)
	}
	r.bearer, r.hash = &bearer, hash
	if err := s.limitBearer(bearer); err != nil {
		return err
	}
	if bearer.Stale {
		s.uses.note(bearer.TokenID)
	}
	begun := time.Now()
	err = s.permit(ctx, permission)
	s.metrics.decided.Observe(time.Since(begun).Seconds())
	if err != nil {
		return s.asProblem(ctx, err)
	}
	return nil
}

// chunked is the length of a body that is told with its parts; one that is not
// told at all (-2) is none.
const chunked = -1

// headerReceived says how large the body of a request may be, which the server
// reads whole before any handler is called: little of a stranger, or thousands
// of them could fill the memory with bodies that are then refused. Only a
// larger one costs a look at the database here.
func (s admission) headerReceived(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	limit := strangersBody
	if n := h.ContentLength(); (n == chunked || n > limit) && s.known(string(h.Peek("Authorization"))) {
		limit = maxBody
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: limit}
}

// known tells whether a bearer has a token that is valid; what it may do is
// decided later, and so is what a database means that does not answer.
func (s admission) known(authorization string) bool {
	hash := bearerHash(authorization)
	if hash == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	_, err := s.db.Bearer(ctx, hash)
	return !errors.Is(err, domain.ErrNotFound)
}

// bearerHash is the hash of the token in a header Authorization, nil if there
// is none that could be one.
func bearerHash(authorization string) []byte {
	scheme, secret, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return nil
	}
	return intent.HashToken(strings.TrimSpace(secret))
}

func errNoBearer() error {
	p := problem(http.StatusUnauthorized, "unauthenticated", "A valid bearer token is needed: log in, or use an API token.")
	return withHeader(p, "WWW-Authenticate", `Bearer realm="kloigos"`)
}

// authenticate is the middleware of every operation.
func (s admission) authenticate(route api.Route) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		r := requestOf(c.Context())
		r.route, r.workspace, r.creates = route.ID, c.Header(api.WorkspaceHeader), route.Adds()
		if route.Permission != "" {
			err := s.admit(c.Context(), route.Permission, c.Header("Authorization"))
			if err == nil {
				err = s.closed(c.Context(), route)
			}
			if err != nil {
				s.answer(c, s.asProblem(c.Context(), err))
				return
			}
		} else if err := s.limitStranger(r.client); err != nil {
			s.answer(c, s.asProblem(c.Context(), err))
			return
		}
		next(c)
	}
}

// only lets a request through whose bearer has a permission; for what lies
// outside of the table of routes.
func (s admission) only(permission string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return s.letIn(c, s.admit(c.UserContext(), permission, c.Get(fiber.HeaderAuthorization)))
	}
}

// letIn goes on with a request, or says why not.
func (s admission) letIn(c *fiber.Ctx, err error) error {
	if err == nil {
		return c.Next()
	}
	var p *api.Problem
	if !errors.As(err, &p) {
		return err
	}
	if p.Status == http.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="kloigos"`)
	}
	return s.write(c, requestOf(c.UserContext()).id, p)
}

// usesEvery is how often the last uses of tokens are written. With the 30 s
// after which a use counts as stale, what is shown is at most a minute old.
const usesEvery = 15 * time.Second

// uses collects which tokens were used, so that no request waits for a write.
type uses struct {
	mu  sync.Mutex
	ids map[uuid.UUID]struct{}
}

func (u *uses) note(id uuid.UUID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = map[uuid.UUID]struct{}{}
	}
	u.ids[id] = struct{}{}
}

func (u *uses) take() []uuid.UUID {
	u.mu.Lock()
	defer u.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(u.ids))
	for id := range u.ids {
		ids = append(ids, id)
	}
	u.ids = nil
	return ids
}

func (s *Server) writeUses(ctx context.Context) {
	ids := s.uses.take()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // one that is locked must not end the noting of all
	defer cancel()
	if err := s.db.InTx(ctx, func(tx *store.Tx) error { return tx.TouchTokens(ctx, ids) }); err != nil {
		s.log.Warn("record last use of tokens failed", "error", err)
	}
}
