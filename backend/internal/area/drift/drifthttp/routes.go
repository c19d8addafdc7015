// Package drifthttp owns the routes of drift: it decodes, looks up in the caller's scope, calls an intent and presents what came
// of it.
//
// It refuses rules: what drift is, and when it can be repaired, is for package drift.
package drifthttp

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/drift"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine intent.Engine
	// Repair asks for the job that made a host, or a unit if there is one.
	Repair func(ctx context.Context, by audit.Actor, host, unit, allocation uuid.UUID) (job uuid.UUID, err error)
}

type handlers struct {
	Parts
	server *httpapi.Server
}

// Routes registers the area's routes.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		httpapi.Register(s, "list-drifts", h.list, httpapi.Sorted(drift.Sorting))
		httpapi.Register(s, "get-drift", h.get)
		httpapi.Register(s, "accept-drift", h.accept, httpapi.Example(map[string]any{"reason": "The database is being moved.", "hours": 48}))
		httpapi.Register(s, "repair-drift", h.repair)
		httpapi.Register(s, "list-drift-modes", h.modes)
		httpapi.Register(s, "set-drift-mode", h.setMode, httpapi.Example(api.SetDriftMode{Scope: "host", Name: "fra2-042", Mode: "window", WindowDay: "sun", WindowFrom: 2, WindowHours: 3}))
	}
}

// scopeOf is the id of a host or a unit; uuid.Nil if none is asked for.
func (h handlers) scopeOf(ctx context.Context, kind, text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, nil
	}
	found, _, err := drift.FindScope(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), kind, text)
	if errors.Is(err, fault.ErrNotFound) {
		return uuid.Nil, httpapi.BadField(kind, "There is no such "+kind+".")
	}
	return found.ID, err
}

func (h handlers) list(ctx context.Context, in *struct{ api.DriftFilter }) (*httpapi.Object[api.Page[api.Drift]], error) {
	host, err := h.scopeOf(ctx, "host", in.Host)
	if err != nil {
		return nil, err
	}
	unit, err := h.scopeOf(ctx, "unit", in.Unit)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf(h.server, "list-drifts", in.PageQuery, []string{in.Host, in.Unit, in.State, in.Promise}, drift.Sorting,
		func(after *db.Position, limit int) ([]drift.Drift, error) {
			return drift.Drifts(ctx, h.server.DB().Reader, drift.Filter{
				WorkspaceID: httpapi.Workspace(ctx), HostID: host, UnitID: unit, State: in.State, Promise: in.Promise, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		present)
}

type answer = httpapi.Versioned[api.Drift]

func (h handlers) get(ctx context.Context, in *httpapi.ByID) (*answer, error) {
	d, _, err := drift.Find(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &answer{ETag: httpapi.ETag(d.Version), Body: present(d)}, nil
}

func (h handlers) accept(ctx context.Context, in *struct {
	httpapi.Change
	Body api.AcceptDrift
},
) (*answer, error) {
	_, ref, err := drift.Find(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		made.Object = ref.ID()
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			return drift.Accept(ctx, tx, ref, version, in.Body.Reason, time.Duration(in.Body.Hours)*time.Hour)
		})
		return made, err
	})
	if err != nil {
		return nil, err
	}
	return h.get(ctx, &in.ByID)
}

// repair asks for the job first: it has its own transaction, key and event. Then the drift shows it.
func (h handlers) repair(ctx context.Context, in *httpapi.ByID) (*httpapi.Accepted[api.Drift], error) {
	d, _, err := drift.Find(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	unit := d.UnitID
	if d.RepairsHost() {
		unit = uuid.Nil
	}
	made, err := httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		if err := d.CanRepair(); err != nil {
			return made, err
		}
		if made.Job, err = h.Repair(ctx, call.Actor, d.HostID, unit, d.AllocationID); err != nil {
			return made, err
		}
		return made, h.server.DB().InTx(ctx, func(tx *db.Tx) error {
			return drift.Repaired(ctx, tx, call.Actor, []drift.Drift{d}, made.Job)
		})
	})
	if err != nil {
		return nil, err
	}
	out, err := h.get(ctx, in)
	if err != nil {
		return nil, err
	}
	return &httpapi.Accepted[api.Drift]{Location: httpapi.JobURL(made.Job), ETag: out.ETag, Body: out.Body}, nil
}

func (h handlers) modes(ctx context.Context, in *struct{ api.DriftModeFilter }) (*httpapi.Object[api.Page[api.DriftMode]], error) {
	all, err := drift.SettingsOf(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Scope)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, presentMode), nil
}

func (h handlers) setMode(ctx context.Context, in *struct{ Body api.SetDriftMode }) (*httpapi.Object[api.DriftMode], error) {
	b := in.Body
	of, ref, err := drift.FindScope(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), b.Scope, b.Name)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.BadField("name", "There is no such "+b.Scope+".")
	}
	if err != nil {
		return nil, err
	}
	s := drift.Setting{Mode: drift.Mode(b.Mode), WindowDay: b.WindowDay, WindowFrom: b.WindowFrom, WindowHours: b.WindowHours}
	_, err = httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		made.Object = of.ID
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error { return drift.SetMode(ctx, tx, ref, of, s) })
		return made, err
	})
	if err != nil {
		return nil, err
	}
	set, err := drift.SettingOf(ctx, h.server.DB().Reader, ref)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.DriftMode]{Body: presentMode(set)}, nil
}

func presentMode(s drift.Named) api.DriftMode {
	return api.DriftMode{
		Scope: s.Scope, ScopeID: s.ScopeID.String(), Name: s.Name, Mode: string(s.Mode), WindowDay: s.WindowDay, WindowFrom: s.WindowFrom,
		WindowHours: s.WindowHours, UpdatedBy: s.UpdatedBy, UpdatedAt: s.UpdatedAt,
	}
}

func present(d drift.Drift) api.Drift {
	out := api.Drift{
		ID: d.ID.String(), Workspace: d.WorkspaceID.String(), HostID: d.HostID.String(), Host: d.HostName, Name: d.Name, Promise: d.Promise,
		Promised: d.Promised, Found: d.Found, State: string(d.State), StateMeans: drift.Lifecycle.Info(d.State).Means, Message: d.StateMessage,
		Since: d.Since, EndedAt: d.EndedAt, RepairedAt: d.RepairedAt, Repairs: d.Repairs, AcceptedBy: d.AcceptedBy, AcceptUntil: d.AcceptUntil,
		Operations: []api.Operation{operation("accept", d.CanAccept()), operation("repair", d.CanRepair())}, Version: d.Version,
	}
	if !d.OfHost() {
		out.UnitID = d.UnitID.String()
	}
	if d.JobID != nil {
		out.JobID = d.JobID.String()
	}
	return out
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
