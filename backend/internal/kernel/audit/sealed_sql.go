package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Sealed is an event that nobody changes unseen any more, as it is sent to others. Its form is that of an exported event.
type Sealed struct {
	Seal       int64           `db:"seal" json:"seal"` // number of its seal in the chain of its organization
	ID         uuid.UUID       `db:"id" json:"id"`
	At         time.Time       `db:"at" json:"at"`
	Workspace  uuid.UUID       `db:"workspace_id" json:"workspace"`
	ActorKind  string          `db:"actor_kind" json:"actor_kind"`
	Actor      string          `db:"actor_name" json:"actor"`
	Client     string          `db:"client" json:"client,omitempty"`
	RequestID  string          `db:"request_id" json:"request_id,omitempty"`
	Action     string          `db:"action" json:"action"`
	ObjectKind string          `db:"object_kind" json:"object_kind"`
	ObjectID   *uuid.UUID      `db:"object_id" json:"object_id,omitempty"`
	Object     string          `db:"object_name" json:"object,omitempty"`
	JobID      *uuid.UUID      `db:"job_id" json:"job_id,omitempty"`
	Before     json.RawMessage `db:"state_before" json:"before,omitempty"`
	After      json.RawMessage `db:"state_after" json:"after,omitempty"`
}

// Position is a place in the sealed events of an organization. Its zero value is before all of them.
type Position struct {
	Seal int64     `db:"seal"`
	At   time.Time `db:"at"`
	ID   uuid.UUID `db:"event_id"`
}

// Position is that of an event.
func (s Sealed) Position() Position { return Position{s.Seal, s.At, s.ID} }

const sqlSealedAfter = `
SELECT e.seal, e.id, e.at, e.workspace_id, e.actor_kind, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE e.organization_id = $1 AND e.seal IS NOT NULL AND e.seal >= $2 AND (e.seal > $2 OR (e.at, e.id) > ($3, $4))
 ORDER BY e.seal, e.at, e.id
 LIMIT $5`

// SealedAfter reads the events behind a position, in the order of their seals: an event that a slow transaction wrote late is in
// a later seal, so none is passed over. Events of zeros are in no organization.
func SealedAfter(ctx context.Context, q db.Reader, organization uuid.UUID, after Position, limit int) ([]Sealed, error) {
	events, err := db.Collect[Sealed](ctx, q, sqlSealedAfter, organization, after.Seal, after.At, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("read sealed events: %w", err)
	}
	return events, nil
}

const sqlLastSealed = `
SELECT e.seal, e.at, e.id AS event_id
  FROM events e
 WHERE e.organization_id = $1 AND e.seal IS NOT NULL
 ORDER BY e.seal DESC, e.at DESC, e.id DESC
 LIMIT 1`

// LastSealed is the position of the newest sealed event; the zero value if there is none.
func LastSealed(ctx context.Context, q db.Reader, organization uuid.UUID) (Position, error) {
	found, err := db.Collect[Position](ctx, q, sqlLastSealed, organization)
	if err != nil || len(found) == 0 {
		return Position{}, err
	}
	return found[0], nil
}

const sqlWaiting = `
SELECT count(*) AS n, COALESCE(min(e.at), now()) AS since
  FROM events e
 WHERE e.organization_id = $1 AND e.seal IS NOT NULL AND e.seal >= $2 AND (e.seal > $2 OR (e.at, e.id) > ($3, $4))`

// Waiting counts the sealed events behind a position, and tells the time of the oldest.
func Waiting(ctx context.Context, q db.Reader, organization uuid.UUID, after Position) (n int64, since time.Time, err error) {
	type row struct {
		N     int64     `db:"n"`
		Since time.Time `db:"since"`
	}
	found, err := db.Collect[row](ctx, q, sqlWaiting, organization, after.Seal, after.At, after.ID)
	if err != nil || len(found) == 0 {
		return 0, time.Time{}, err
	}
	return found[0].N, found[0].Since, nil
}
