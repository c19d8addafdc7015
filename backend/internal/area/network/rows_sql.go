package network

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

const (
	sqlAddMissing = `
INSERT INTO networks (id, workspace_id, name)
SELECT gen_random_uuid(), u.workspace_id, u.name
  FROM (SELECT p.workspace_id, p.network AS name
          FROM addresses p
         WHERE p.network_id IS NULL
        UNION
        SELECT h.workspace_id, n.name
          FROM hosts h, unnest(h.networks) AS n(name)
         WHERE h.removed_at IS NULL) AS u
 WHERE NOT u.name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
   AND NOT EXISTS (SELECT 1 FROM networks k WHERE k.workspace_id = u.workspace_id AND k.name = u.name)
ON CONFLICT (workspace_id, name) DO NOTHING
RETURNING id`

	sqlJoinAddresses = `
UPDATE addresses
   SET network_id = (SELECT n.id FROM networks n WHERE n.workspace_id = addresses.workspace_id AND n.name = addresses.network)
 WHERE id IN (SELECT p.id
                FROM addresses p
               WHERE p.network_id IS NULL
               ORDER BY p.id
               LIMIT $1)
RETURNING id`
)

// addressNoun is what the old packages call an address.
const addressNoun = "address"

// AddMissing makes the networks that addresses or hosts name and that have no row, and gives at most limit addresses the network
// that they name. It returns how many rows it wrote. A backend of an older release leaves such rows. What
// reads like an id names a network of another workspace.
func AddMissing(ctx context.Context, tx *db.Tx, limit int) (int64, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	made, err := db.Collect[row](ctx, tx.Reader, sqlAddMissing)
	if err != nil {
		return 0, fmt.Errorf("make networks: %w", err)
	}
	for _, m := range made {
		tx.Touch(Noun, m.ID)
	}
	joined, err := db.Collect[row](ctx, tx.Reader, sqlJoinAddresses, limit)
	if err != nil {
		return 0, fmt.Errorf("give addresses their networks: %w", err)
	}
	for _, j := range joined {
		tx.Touch(addressNoun, j.ID)
	}
	return int64(len(made) + len(joined)), nil
}
