package httpapi

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// eventHandlers answers the routes about events.
type eventHandlers struct{ *Server }

func (s eventHandlers) register() {
	register(s.Server, "list-events", s.listEvents, sorted(store.EventSorting))
	register(s.Server, "list-organization-events", s.listOrganizationEvents, sorted(store.EventSorting), inWorkspace)
	register(s.Server, "list-installation-events", s.listInstallationEvents, sorted(store.EventSorting))
}

func (s eventHandlers) listEvents(ctx context.Context, in *struct{ api.EventFilter }) (*object[api.Page[api.Event]], error) {
	return s.eventsOf(ctx, "list-events", in.EventFilter, store.EventFilter{WorkspaceID: workspace(ctx)})
}

// listOrganizationEvents lists what happened in all workspaces of the organization of
// the request's workspace, and to the organization itself.
func (s eventHandlers) listOrganizationEvents(ctx context.Context, in *struct{ api.EventFilter }) (*object[api.Page[api.Event]], error) {
	at, err := sessionHandlers(s).whereIs(ctx)
	if err != nil {
		return nil, err
	}
	if at.Workspace == uuid.Nil {
		return nil, noWorkspace()
	}
	if organization := (scope.Place{Organization: at.Organization}); !AccessOf(ctx).At("organization.event:read", organization) {
		return nil, forbidden("organization.event:read")
	}
	return s.eventsOf(ctx, "list-organization-events", in.EventFilter, store.EventFilter{Organization: &at.Organization})
}

func (s eventHandlers) listInstallationEvents(ctx context.Context, in *struct{ api.EventFilter }) (*object[api.Page[api.Event]], error) {
	return s.eventsOf(ctx, "list-installation-events", in.EventFilter, store.EventFilter{Organization: &uuid.Nil})
}

func (s eventHandlers) eventsOf(ctx context.Context, route string, in api.EventFilter, f store.EventFilter) (*object[api.Page[api.Event]], error) {
	of, name := idOrName(in.Object)
	since, badSince := timeFilter("since", in.Since)
	until, badUntil := timeFilter("until", in.Until)
	if err := joinProblems(badSince, badUntil); err != nil {
		return nil, err
	}
	f.ObjectID, f.Object, f.ObjectKind, f.Action, f.Actor, f.Since, f.Until = of, name, in.ObjectKind, in.Action, in.Actor, since, until
	return pageOf(s.listOf(route, in.PageQuery, in.Object, in.ObjectKind, in.Action, in.Actor, in.Since, in.Until), store.EventSorting,
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
