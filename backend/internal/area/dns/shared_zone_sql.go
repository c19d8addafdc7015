package dns

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// usable is of grants that let the workspace $1 into zones of others, or did and left something there.
const usable = `g.workspace_id <> $1 AND g.scope_id IN ` + scope.ChainOf + `
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))`

const sqlSharedZone = `
SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE ` + usable

// sharedNamed lists what a text names among the zones that a workspace may use: by the id of the grant or of the zone, or by name.
func sharedNamed(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) ([]SharedZone, error) {
	l := db.NewList(sqlSharedZone, workspace)
	if id, err := uuid.Parse(text); err == nil {
		l.And("(g.id = ? OR g.zone_id = ?)", id, id)
	} else if name, err := parseZone(text); err == nil {
		l.And("z.name = ?", name)
	} else { // what is no zone names none
		l.And("z.name = ?", "")
	}
	const mostNamed = 20
	sql, args := l.Page("g.id", mostNamed)
	found, err := db.Collect[SharedZone](ctx, q, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("find a shared zone: %w", err)
	}
	return found, nil
}

// FindSharedZone finds a zone of another workspace that a workspace may use. Names are unique in one workspace only, and several
// grants may let it into a zone: of several none is meant.
func FindSharedZone(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (SharedZone, scope.Ref[SharedZone], error) {
	found, err := sharedNamed(ctx, q, workspace, text)
	switch {
	case err != nil:
		return SharedZone{}, scope.Ref[SharedZone]{}, err
	case len(found) != 1:
		return SharedZone{}, scope.Ref[SharedZone]{}, fault.ErrNotFound
	}
	return found[0], scope.Found[SharedZone](found[0].ID, workspace), nil
}

// FindZoneToUse finds a zone that a workspace may have record sets in: its own, or one that is granted to it.
func FindZoneToUse(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (scope.Ref[Zone], error) {
	_, own, err := FindZone(ctx, q, workspace, text)
	if err == nil || !errors.Is(err, fault.ErrNotFound) {
		return own, err
	}
	found, err := sharedNamed(ctx, q, workspace, text)
	if err != nil {
		return own, err
	}
	for _, z := range found {
		if z.ZoneID != found[0].ZoneID {
			return own, fault.ErrNotFound
		}
	}
	if len(found) == 0 {
		return own, fault.ErrNotFound
	}
	return scope.Found[Zone](found[0].ZoneID, workspace), nil
}

// SharedZoneSorting is the orders that shared zones can be listed in.
var SharedZoneSorting = db.Sorting[SharedZone]{
	{Name: "name", Columns: []db.Column{db.ByText("z.name"), db.ByID("g.id")}, At: func(z SharedZone) db.Position {
		return db.Position{Text: string(z.Name), ID: z.ID}
	}},
}

// SharedZones lists the zones of other workspaces that a workspace may use.
func SharedZones(ctx context.Context, q db.Reader, workspace uuid.UUID, sort string, after *db.Position, limit int) ([]SharedZone, error) {
	return SharedZoneSorting.Read(ctx, q, db.NewList(sqlSharedZone, workspace), sort, after, limit)
}

const sqlGrantsThatLetIn = `
SELECT g.id, g.suffix
  FROM dns_zone_grants g
 WHERE g.zone_id = $2 AND g.revoked_at IS NULL AND g.scope_id IN ` + scope.ChainOf + `
 ORDER BY g.id
   FOR SHARE`

// setPlace is where a record set stands: its workspace, and the grant that lets it into the zone of another one.
type setPlace struct {
	workspace uuid.UUID
	grant     *uuid.UUID
}

// placeIn is the place of a record set of a workspace in a zone. In the zone of another workspace, a grant has to let it in.
func placeIn(ctx context.Context, tx *db.Tx, workspace uuid.UUID, zone Zone, set RecordSet) (in setPlace, err error) {
	if in.workspace = workspace; workspace != zone.WorkspaceID {
		in.grant, err = letIn(ctx, tx, workspace, zone, set)
	}
	return in, err
}

// letIn is the grant by which a workspace may have a record set in a zone of another one. Nobody revokes it unseen.
func letIn(ctx context.Context, tx *db.Tx, workspace uuid.UUID, zone Zone, set RecordSet) (*uuid.UUID, error) {
	grants, err := db.Collect[zoneGrant](ctx, tx.Reader, sqlGrantsThatLetIn, workspace, zone.ID)
	if err != nil {
		return nil, fmt.Errorf("hold the grants of a zone: %w", err)
	}
	if len(grants) == 0 {
		return nil, ErrGrantEnded
	}
	for _, g := range grants {
		if err = g.allows(zone.Name, set); err == nil {
			return &g.ID, nil
		}
	}
	return nil, err
}

type count struct {
	N int64 `db:"n"`
}

const (
	sqlNamesOfOthers = `
SELECT count(*) AS n
  FROM dns_record_sets s
 WHERE s.zone_id = $1 AND s.zone_grant_id IS NOT NULL`

	sqlForgetChoicesOfZone = `
DELETE FROM dns_naming_choices
 WHERE zone_grant_id IN (SELECT g.id FROM dns_zone_grants g WHERE g.zone_id = $1)`

	sqlRevokeGrantsOfZone = `
UPDATE dns_zone_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE zone_id = $1 AND revoked_at IS NULL`
)

// noNamesOfOthers refuses to delete a zone that other workspaces have names in: its own list does not show them.
func noNamesOfOthers(ctx context.Context, q db.Reader, zone uuid.UUID) error {
	theirs, err := db.First[count](ctx, q, fault.ErrNotFound, sqlNamesOfOthers, zone)
	if err != nil {
		return fmt.Errorf("count the names of others: %w", err)
	}
	if theirs.N > 0 {
		return fault.Conflictf("dns_zone_in_use", "Other workspaces have %d record sets in the zone. Revoke its grants and remove their names first.", theirs.N)
	}
	return nil
}

const (
	// Of two that begin to name the allocations of a workspace, one waits for the other.
	sqlHoldNaming = `
SELECT w.id
  FROM workspaces w
 WHERE w.id = $1
   FOR NO KEY UPDATE`

	sqlForgetEndedChoice = `
DELETE FROM dns_naming_choices
 WHERE workspace_id = $1 AND zone_grant_id IN (SELECT g.id FROM dns_zone_grants g WHERE g.revoked_at IS NOT NULL)`

	sqlNamesNow = `
SELECT (SELECT count(*) FROM dns_zones z WHERE z.workspace_id = $1 AND z.names_allocations)
       + (SELECT count(*) FROM dns_naming_choices c WHERE c.workspace_id = $1) AS n`

	sqlChoose = `
INSERT INTO dns_naming_choices (workspace_id, zone_grant_id, created_by)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING`

	sqlUnchoose = `
DELETE FROM dns_naming_choices
 WHERE workspace_id = $1 AND zone_grant_id = $2`

	sqlHoldLiveGrant = `
SELECT g.id
  FROM dns_zone_grants g
 WHERE g.id = $1 AND g.revoked_at IS NULL
   FOR SHARE`
)

// nameHere makes sure that no zone names the allocations of a workspace yet, and that none begins to before the transaction ends.
// One whose grant is revoked gives way.
func nameHere(ctx context.Context, tx *db.Tx, workspace uuid.UUID) error {
	for _, sql := range []db.Statement{sqlHoldNaming, sqlForgetEndedChoice} {
		if _, err := tx.Exec(ctx, sql, workspace); err != nil {
			return fmt.Errorf("hold the naming of a workspace: %w", err)
		}
	}
	now, err := db.First[count](ctx, tx.Reader, fault.ErrNotFound, sqlNamesNow, workspace)
	if err != nil {
		return fmt.Errorf("count the zones that name allocations: %w", err)
	}
	if now.N > 0 {
		return errNamesAlready
	}
	return nil
}

const (
	sqlSetsOfGrant = `
SELECT s.id, s.workspace_id, s.state
  FROM dns_record_sets s
 WHERE s.zone_grant_id = $1 AND s.state <> 'deleting'
 ORDER BY s.workspace_id, s.id
 LIMIT $2
   FOR UPDATE`

	sqlDeletingSets = `
UPDATE dns_record_sets
   SET state = $2, alone = NULL, state_message = '', outcome = '', revision = revision + 1, version = version + 1, updated_at = now()
 WHERE id = ANY($1)`

	sqlForgetSets = `
DELETE FROM dns_record_sets
 WHERE id = ANY($1)`
)

// setOf is a record set that goes with its grant.
type setOf struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	State       SetState  `db:"state"`
}

// NamesOfGrant says how many record sets each workspace lost in a zone.
type NamesOfGrant map[uuid.UUID]int

// RemoveNamesOf takes the record sets out of the intent that a grant of a zone let in, whoever owns them. It is for the workspace
// of the zone, when the grant is revoked.
func RemoveNamesOf(ctx context.Context, tx *db.Tx, zoneID, grant uuid.UUID) (NamesOfGrant, error) {
	zone, err := keepZone(ctx, tx, zoneID)
	if err != nil {
		return nil, err
	}
	sets, err := db.Collect[setOf](ctx, tx.Reader, sqlSetsOfGrant, grant, mostRemoved+1)
	if err != nil {
		return nil, fmt.Errorf("list the names of a grant: %w", err)
	}
	if len(sets) > mostRemoved {
		return nil, fault.Conflictf("too_many_names", "The grant has more than %d names. Ask those who have them to delete some first.", mostRemoved)
	}
	lost := NamesOfGrant{}
	ids := make([]uuid.UUID, len(sets))
	for i, s := range sets {
		if _, err := SetLifecycle.Next(s.State, SetDeleted); err != nil {
			return nil, err
		}
		ids[i] = s.ID
		lost[s.WorkspaceID]++
	}
	if zone.Mode == Sync {
		_, err = tx.Exec(ctx, sqlDeletingSets, ids, SetDeleting)
	} else {
		_, err = tx.Exec(ctx, sqlForgetSets, ids)
	}
	if err != nil {
		return nil, fmt.Errorf("remove the names of a grant: %w", err)
	}
	tx.Touch(RecordSetNoun, ids...)
	tx.Touch(ZoneNoun, zone.ID)
	return lost, nil
}

// mostRemoved bounds the names that one transaction takes away.
const mostRemoved = 5000
