package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlStreams = `
SELECT s.id, s.organization_id, s.name, s.type, s.url, s.server, s.authority, s.secret_sealed, s.enabled, s.version, s.created_at, s.updated_at,
       p.seal, p.at, p.event_id, p.sent, p.sent_at
  FROM event_streams s
  JOIN event_stream_positions p ON p.stream_id = s.id
 WHERE true`

const (
	sqlStreamByID = sqlStreams + `
   AND s.id = $1`

	sqlStreamNamed = sqlStreams + `
   AND s.organization_id = $1 AND s.name = $2`

	sqlStreamsOf = sqlStreams + `
   AND s.organization_id = $1
 ORDER BY s.name
 LIMIT 200`

	sqlHoldStream = `
SELECT s.id
  FROM event_streams s
 WHERE s.id = $1
   FOR UPDATE`

	// An organization has no more streams than are of use to it.
	sqlInsertStream = `
INSERT INTO event_streams (id, organization_id, name, type, url, server, authority, secret_sealed, enabled)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::TEXT, $5::TEXT, $6::TEXT, $7::TEXT, $8::BYTEA, $9::BOOL
 WHERE (SELECT count(*)
          FROM event_streams s
         WHERE s.organization_id = $2) < $10
ON CONFLICT (organization_id, name) DO NOTHING`

	sqlInsertPosition = `
INSERT INTO event_stream_positions (stream_id, seal, at, event_id)
VALUES ($1, $2, $3, $4)`

	sqlChangeStream = `
UPDATE event_streams
   SET name = $2, url = $3, server = $4, authority = $5, secret_sealed = $6, enabled = $7, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlDeletePosition = `
DELETE FROM event_stream_positions
 WHERE stream_id = $1`

	sqlDeleteStream = `
DELETE FROM event_streams
 WHERE id = $1`

	sqlDeletePositionsOf = `
DELETE FROM event_stream_positions
 WHERE stream_id IN (SELECT s.id FROM event_streams s WHERE s.organization_id = $1)`

	sqlDeleteStreamsOf = `
DELETE FROM event_streams
 WHERE organization_id = $1`

	// Forward only: whoever sent a batch twice moves the position once.
	sqlMovePosition = `
UPDATE event_stream_positions
   SET seal = $2, at = $3, event_id = $4, sent = sent + $5, sent_at = now(), updated_at = now()
 WHERE stream_id = $1 AND seal = $6 AND event_id = $7`
)

// Streams lists the event streams of an organization; of the installation for uuid.Nil.
func Streams(ctx context.Context, q db.Reader, organization uuid.UUID) ([]Stream, error) {
	return db.Collect[Stream](ctx, q, sqlStreamsOf, organization)
}

// StreamByID returns a stream.
func StreamByID(ctx context.Context, q db.Reader, id uuid.UUID) (Stream, error) {
	return db.First[Stream](ctx, q, fault.ErrNotFound, sqlStreamByID, id)
}

// FindStream finds a stream of an organization that the viewer sees, by its id, with the organization.
func FindStream(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (Stream, Scope, scope.Ref[Stream], error) {
	none := scope.Ref[Stream]{}
	s, err := StreamByID(ctx, q, id)
	if err != nil || s.OfInstallation() {
		return Stream{}, Scope{}, none, orNotFound(err)
	}
	at, _, err := Organizations.Find(ctx, q, who, s.OrganizationID.String())
	if err != nil {
		return Stream{}, Scope{}, none, err
	}
	return s, at, scope.Found[Stream](s.ID, at.ID), nil
}

// FindInstallationStream finds a stream of the installation by its id or name.
func FindInstallationStream(ctx context.Context, q db.Reader, text string) (Stream, scope.Ref[Stream], error) {
	none := scope.Ref[Stream]{}
	id, err := uuid.Parse(text)
	if err != nil {
		s, err := db.First[Stream](ctx, q, fault.ErrNotFound, sqlStreamNamed, uuid.Nil, text)
		return s, scope.Found[Stream](s.ID, s.ID), err
	}
	s, err := StreamByID(ctx, q, id)
	if err == nil && !s.OfInstallation() {
		return Stream{}, none, fault.ErrNotFound
	}
	return s, scope.Found[Stream](s.ID, s.ID), err
}

// StreamIDs lists all event streams.
const StreamIDs db.Statement = "SELECT id FROM event_streams" + db.IDsBehind

// StreamSent notes that a receiver has the events behind from up to a position, n of them.
func StreamSent(ctx context.Context, tx *db.Tx, stream uuid.UUID, from, to audit.Position, n int) error {
	if _, err := tx.Exec(ctx, sqlMovePosition, stream, to.Seal, to.At, to.ID, n, from.Seal, from.ID); err != nil {
		return fmt.Errorf("note how far a stream is: %w", err)
	}
	return nil
}
