// Package agenthttp owns what agents and operators ask of the backend about agents: the protocol of enrolment, renewal and
// heartbeats with its own authentication, the batches that heartbeats are written in, and the routes of operators.
//
// It refuses rules: what a token, a key or a report is good for is for package agent. It answers agents with nothing that they
// do not need.
package agenthttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/secret"
)

// Parts is what the routes are made with.
type Parts struct {
	DB      *db.DB
	Engine  intent.Engine
	Keys    *secret.Keyset
	Backend uuid.UUID // this process
	Desired string    // version that agents should run; "" for any
	// Programs are those that hosts fetch.
	Programs *agent.Programs
	// DriftPolicy is made due for a host when what its agent sees there changes.
	DriftPolicy string
}

// HTTP is the area's part of the API of one backend.
type HTTP struct {
	parts    Parts
	receiver *receiver
}

// New makes it. Run writes what is received.
func New(parts Parts) *HTTP { return &HTTP{parts, newReceiver(parts)} }

// Run writes heartbeats, once a second, until ctx is done.
func (h *HTTP) Run(ctx context.Context) { h.receiver.run(ctx) }

// Routes registers the area's routes.
func (h *HTTP) Routes(s *httpapi.Server) {
	handlers{h.parts, s}.register()
	h.registerProtocol(s)
}
