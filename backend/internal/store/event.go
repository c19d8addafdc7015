package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Event is one row of events, the audit trail.
type Event struct {
	ID          uuid.UUID        `db:"id"`
	At          time.Time        `db:"at"`
	WorkspaceID uuid.UUID        `db:"workspace_id"`
	ActorKind   domain.ActorKind `db:"actor_kind"`
	ActorID     *uuid.UUID       `db:"actor_id"`
	ActorName   string           `db:"actor_name"`
	Client      string           `db:"client"`
	RequestID   string           `db:"request_id"`
	Action      string           `db:"action"`
	ObjectKind  string           `db:"object_kind"`
	ObjectID    *uuid.UUID       `db:"object_id"`
	ObjectName  string           `db:"object_name"`
	JobID       *uuid.UUID       `db:"job_id"`
	Before      json.RawMessage  `db:"state_before"`
	After       json.RawMessage  `db:"state_after"`
}

const sqlEvent = `
SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true`

// EventSorting is the orders that events can be listed in.
var EventSorting = db.Sorting[Event]{
	{Name: "-at", Columns: []db.Column{db.ByTime("e.at"), db.ByID("e.id")}, At: func(e Event) db.Position { return db.Position{Time: e.At, ID: e.ID} }},
}

// EventFilter narrows a list of events.
type EventFilter struct {
	WorkspaceID               uuid.UUID
	Organization              *uuid.UUID // in place of the workspace; zeros: what is in no organization
	ObjectID                  *uuid.UUID
	Object                    string // the name that the object had then
	ObjectKind, Action, Actor string
	Since, Until              *time.Time // from Since on, before Until
	Sort                      string     // one of EventSorting; "" for the first
	After                     *db.Position
	Limit                     int
}

// Events lists audit events.
func (r Reads) Events(ctx context.Context, f EventFilter) ([]Event, error) {
	l := db.NewList(sqlEvent)
	if f.Organization != nil {
		l.And("e.organization_id = ?", *f.Organization)
	} else {
		l.And("e.workspace_id = ?", f.WorkspaceID)
	}
	switch { // one object has a handful of events, another most of them
	case f.ObjectID != nil:
		l.And("e.object_id = ?", *f.ObjectID)
	case f.Object != "":
		l.And("e.object_name = ?", f.Object)
	default:
		l.PlannedOnce()
	}
	l.AndIf(f.ObjectKind, "e.object_kind = ?").AndIf(f.Action, "e.action = ?").AndIf(f.Actor, "e.actor_name = ?")
	if f.Since != nil {
		l.And("e.at >= ?", *f.Since)
	}
	if f.Until != nil {
		l.And("e.at < ?", *f.Until)
	}
	return EventSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}
