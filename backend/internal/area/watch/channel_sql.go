package watch

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

const sqlChannel = `
SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true`

// ChannelByID returns a channel.
func ChannelByID(ctx context.Context, q db.Reader, id uuid.UUID) (Channel, error) {
	return db.First[Channel](ctx, q, fault.ErrNotFound, sqlChannel+" AND c.id = $1", id)
}

// FindChannel finds a channel of a workspace by its id or its name.
func FindChannel(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Channel, scope.Ref[Channel], error) {
	return scope.Find(ctx, q, sqlChannel+" AND c.workspace_id = $1 AND c.id = $2", sqlChannel+" AND c.workspace_id = $1 AND c.name = $2", workspace, text,
		func(c Channel) uuid.UUID { return c.ID })
}

// holdChannel returns a channel that nobody else changes until the transaction ends.
func holdChannel(ctx context.Context, tx *db.Tx, id uuid.UUID) (Channel, error) {
	return db.First[Channel](ctx, tx.Reader, fault.ErrNotFound, sqlChannel+" AND c.id = $1 FOR UPDATE", id)
}

// ChannelSorting is the orders that channels can be listed in.
var ChannelSorting = db.Sorting[Channel]{
	{Name: "name", Columns: []db.Column{db.ByText("c.name"), db.ByID("c.id")}, At: func(c Channel) db.Position {
		return db.Position{Text: c.Name, ID: c.ID}
	}},
}

// ChannelFilter narrows a list of channels.
type ChannelFilter struct {
	WorkspaceID uuid.UUID
	Type        string
	Sort        string // one of ChannelSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Channels lists channels.
func Channels(ctx context.Context, q db.Reader, f ChannelFilter) ([]Channel, error) {
	l := db.NewList(sqlChannel).And("c.workspace_id = ?", f.WorkspaceID).AndIf(f.Type, "c.type = ?")
	return ChannelSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// ChannelIDs lists all channels.
const ChannelIDs db.Statement = "SELECT id FROM channels" + db.IDsBehind

const sqlSecrets = `
SELECT s.id, s.sealed
  FROM channel_secrets s
 WHERE s.channel_id = $1
 ORDER BY s.created_at, s.id`

// OpenSecrets returns the secrets that a channel signs with, oldest first.
func OpenSecrets(ctx context.Context, q db.Reader, keys *secret.Keyset, channel uuid.UUID) ([][]byte, error) {
	type row struct {
		ID     uuid.UUID `db:"id"`
		Sealed []byte    `db:"sealed"`
	}
	rows, err := db.Collect[row](ctx, q, sqlSecrets, channel)
	if err != nil {
		return nil, fmt.Errorf("read the secrets of a channel: %w", err)
	}
	var all [][]byte
	for _, r := range rows {
		plain, err := keys.Open(r.Sealed, secretOf(r.ID))
		if err != nil {
			return nil, fmt.Errorf("open secret %s of a channel: %w", r.ID, err)
		}
		all = append(all, plain)
	}
	return all, nil
}

const sqlInsertChannel = `
INSERT INTO channels (id, workspace_id, name, type, enabled, subscribes, url, server, tls, username, password_sealed, sender, recipients)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (workspace_id, name) DO NOTHING`

const sqlChangeChannel = `
UPDATE channels
   SET name = $3, enabled = $4, subscribes = $5, url = $6, server = $7, tls = $8, username = $9, password_sealed = $10, sender = $11,
       recipients = $12, version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2`

const sqlCountChange = `
UPDATE channels
   SET version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2`

const sqlInsertSecret = `
INSERT INTO channel_secrets (id, channel_id, sealed)
VALUES ($1, $2, $3)`

const sqlDeleteSecret = `
DELETE FROM channel_secrets
 WHERE channel_id = $1 AND id = $2`

const sqlDeleteSecrets = `
DELETE FROM channel_secrets
 WHERE channel_id = $1`

const sqlDeleteChannel = `
DELETE FROM channels
 WHERE id = $1 AND version = $2`
