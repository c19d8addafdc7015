package httpapi

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/internal/store"
)

// systemHandlers answers the routes about the installation.
type systemHandlers struct{ *Server }

func (s systemHandlers) register() {
	register(s.Server, "get-system", s.getSystem)
}

func (s systemHandlers) getSystem(ctx context.Context, _ *struct{}) (*object[api.System], error) {
	key, err := hostHandlers(s).authorizedKey(ctx)
	if err != nil {
		return nil, err
	}
	backends, err := s.db.Backends(ctx)
	if err != nil {
		return nil, err
	}
	out := &object[api.System]{Body: api.System{Version: s.cfg.Version, Database: s.db.Version(), PublicKey: key, Backends: make([]api.Backend, len(backends))}}
	for i, b := range backends {
		out.Body.Backends[i] = presentBackend(b)
	}
	return out, nil
}

func presentBackend(b store.Backend) api.Backend {
	return api.Backend{ID: b.ID.String(), Name: b.Name, Version: b.Version, Roles: b.Roles, Slots: b.Slots, Running: b.Running, StartedAt: b.StartedAt, SeenAt: b.SeenAt, Alive: b.Alive}
}
