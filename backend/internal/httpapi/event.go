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
	of, err := idFilter("object", in.Object)
	if err != nil {
		return nil, err
	}
	return pageOf(listOf("list-events", in.PageQuery, in.Object), store.EventSorting,
		func(after *store.Position, limit int) ([]store.Event, error) {
			return s.db.Events(ctx, store.EventFilter{WorkspaceID: workspace(ctx), ObjectID: of, Sort: in.Sort, After: after, Limit: limit})
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
