// Package dnshttp owns the routes of DNS zones and record sets: it decodes, looks up in the caller's scope, calls an intent
// and presents what came of it.
//
// It refuses rules: what a name, a value or a state allows is for package dns.
package dnshttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine intent.Engine
	Keys   *secret.Keyset
	Kinds  *work.Registry
}

type handlers struct {
	Parts
	server *httpapi.Server
}

// Routes registers the area's routes.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		h.registerZones()
		h.registerRecordSets()
	}
}

// exampleChecksum stands in the description of a request.
const exampleChecksum = "4f1c9a0be27d3358a6e1d2c47b90f518"

// once runs one intent on an object that exists or is made.
func (h handlers) once(ctx context.Context, do func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error)) (httpapi.Made, error) {
	return httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			made.Object, made.Job, err = do(ctx, tx)
			return err
		})
		return made, err
	})
}

// operation says whether something can be done now.
func operation(name string, prevents error) api.Operation {
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

func orEmpty(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
