package network

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlNetwork = `
SELECT n.id, n.workspace_id, n.name, n.description, n.cidr, n.version, n.created_at, n.updated_at,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name) AS addresses,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name AND p.state = 'free') AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = n.workspace_id AND h.removed_at IS NULL AND n.name = ANY(h.networks)) AS hosts
  FROM networks n
 WHERE true`

// Find finds a network of a workspace by its id or its name.
func Find(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Network, scope.Ref[Network], error) {
	return scope.Find(ctx, q, sqlNetwork+" AND n.workspace_id = $1 AND n.id = $2", sqlNetwork+" AND n.workspace_id = $1 AND n.name = $2", workspace, text,
		func(n Network) uuid.UUID { return n.ID })
}

func byID(ctx context.Context, q db.Reader, id uuid.UUID) (Network, error) {
	return db.First[Network](ctx, q, fault.ErrNotFound, sqlNetwork+" AND n.id = $1", id)
}

const sqlHoldNetwork = `
SELECT n.id
  FROM networks n
 WHERE n.id = $1
   FOR UPDATE`

// hold returns a network that nobody else changes, and into whose pool nothing comes, until the transaction ends.
func hold(ctx context.Context, tx *db.Tx, id uuid.UUID) (Network, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHoldNetwork, id); err != nil {
		return Network{}, err
	}
	return byID(ctx, tx.Reader, id) // counted after the lock was had
}

// Sorting is the orders that networks can be listed in.
var Sorting = db.Sorting[Network]{
	{Name: "name", Columns: []db.Column{db.ByText("n.name"), db.ByID("n.id")}, At: func(n Network) db.Position {
		return db.Position{Text: n.Name, ID: n.ID}
	}},
}

// Filter narrows a list of networks.
type Filter struct {
	WorkspaceID uuid.UUID
	Sort        string // one of Sorting; "" for the first
	After       *db.Position
	Limit       int
}

// Networks lists networks.
func Networks(ctx context.Context, q db.Reader, f Filter) ([]Network, error) {
	return Sorting.Read(ctx, q, db.NewList(sqlNetwork).And("n.workspace_id = ?", f.WorkspaceID), f.Sort, f.After, f.Limit)
}

const (
	sqlKeepNetworks = `
INSERT INTO networks (id, workspace_id, name)
SELECT a.id, $1::UUID, a.name
  FROM unnest($2::UUID[], $3::TEXT[]) AS a(id, name)
ON CONFLICT (workspace_id, name) DO NOTHING
RETURNING id`

	sqlShareNetworks = `
SELECT n.id, n.workspace_id, n.name, n.description, n.cidr, n.version, n.created_at, n.updated_at,
       0::INT8 AS addresses, 0::INT8 AS free, 0::INT8 AS hosts
  FROM networks n
 WHERE n.workspace_id = $1 AND n.name = ANY($2)
 ORDER BY n.name
   FOR SHARE`
)

// Keep makes the networks of these names that the workspace does not have yet, and returns all of them in the order of their
// names, without what uses them. Nobody deletes or changes one until the transaction ends.
func Keep(ctx context.Context, tx *db.Tx, workspace uuid.UUID, names ...string) ([]Network, error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	ids := make([]uuid.UUID, len(names))
	for i := range ids {
		ids[i] = uuid.New()
	}
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	made, err := db.Collect[row](ctx, tx.Reader, sqlKeepNetworks, workspace, ids, names)
	if err != nil {
		return nil, fmt.Errorf("make networks: %w", err)
	}
	for _, m := range made {
		tx.Touch(Noun, m.ID)
	}
	if len(made) > 0 { // of a name that is a name
		for _, name := range names {
			if _, shared := SharedID(name); shared {
				return nil, fault.Conflictf("network_shared", "%s reads like the id of a network of another workspace. Name one of this workspace.", name)
			}
		}
	}
	kept, err := db.Collect[Network](ctx, tx.Reader, sqlShareNetworks, workspace, names)
	if err != nil {
		return nil, fmt.Errorf("hold networks: %w", err)
	}
	if len(kept) < len(names) {
		return nil, errMeanwhile
	}
	return kept, nil
}

const sqlOutside = `
SELECT p.address
  FROM addresses p
 WHERE p.workspace_id = $1 AND p.network = $2 AND (p.sort_key < $3 OR p.sort_key > $4)
 ORDER BY p.sort_key
 LIMIT 1`

const (
	sqlInsertNetwork = `
INSERT INTO networks (id, workspace_id, name, description, cidr)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (workspace_id, name) DO NOTHING`

	sqlChangeNetwork = `
UPDATE networks
   SET description = $3, cidr = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2`

	sqlEndGrants = `
UPDATE network_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE network_id = $1 AND revoked_at IS NULL`

	sqlDeleteNetwork = `
DELETE FROM networks
 WHERE id = $1 AND version = $2`
)
