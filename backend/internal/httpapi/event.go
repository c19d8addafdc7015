package httpapi

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/internal/store"
)

func (s *Server) registerEvents() {
	register(s, "list-events", s.listEvents, sorted(store.EventSorting))
}

func (s *Server) listEvents(ctx context.Context, in *struct{ api.EventFilter }) (*object[api.Page[api.Event]], error) {
	of, name := idOrName(in.Object)
	since, badSince := timeFilter("since", in.Since)
	until, badUntil := timeFilter("until", in.Until)
	if err := together(badSince, badUntil); err != nil {
		return nil, err
	}
	f := store.EventFilter{
		WorkspaceID: workspace(ctx), ObjectID: of, Object: name, ObjectKind: in.ObjectKind, Action: in.Action, Actor: in.Actor, Since: since, Until: until,
	}
	return pageOf(s.listOf("list-events", in.PageQuery, in.Object, in.ObjectKind, in.Action, in.Actor, in.Since, in.Until), store.EventSorting,
		func(after *store.Position, limit int) ([]store.Event, error) {
			f.Sort, f.After, f.Limit = in.Sort, after, limit
			return s.db.Events(ctx, f)
		},
		presentEvent)
}

func presentEvent(e store.Event) api.Event {
	return api.Event{
		ID: e.ID.String(), At: e.At, Workspace: e.WorkspaceID.String(), ActorKind: string(e.ActorKind), Actor: e.ActorName, Client: e.Client,
		RequestID: e.RequestID, Action: e.Action, ObjectKind: e.ObjectKind, ObjectID: text(e.ObjectID), Object: e.ObjectName,
		JobID: text(e.JobID), Before: e.Before, After: e.After,
	}
}
