package iam

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// Each of these selects scopes of one kind under the alias s, with the same columns, so that one reader serves all.
const (
	sqlOrganizations = `
SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'`

	sqlProjects = `
SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'`

	sqlWorkspaces = `
SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'`
)

// What an account sees: a scope with a grant at it, above it or below it. A grant for the installation shows the
// organizations and nothing inside of them.
const (
	organizationsSeen = `(EXISTS (SELECT 1 FROM grants g WHERE g.account_id = ? AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = ?
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = ?
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = ?))`

	projectsSeen = `s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = ?
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = ?)`

	workspacesSeen = `s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = ?
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = ?)`
)

// What a token sees that is narrowed to one scope: that scope, those above it and those below it.
const (
	organizationsWithin = `s.id IN (SELECT ?::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = ?
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = ?)`

	projectsWithin = `(s.id = ? OR s.organization_id = ? OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = ?))`

	workspacesWithin = `(s.id = ? OR s.project_id = ? OR p.organization_id = ?)`
)

// Level is one of the three levels of scopes: how its scopes are read and written.
type Level struct {
	Noun         string
	list         db.Statement
	seen, within db.Statement
	seenTimes    int            // how often seen takes the account
	byName       []db.Statement // conditions on the parts of a path
	rename, move db.Statement
	residents    db.Statement
}

// The levels.
var (
	Organizations = Level{
		Noun: OrganizationNoun, list: sqlOrganizations, seen: organizationsSeen, seenTimes: 4, within: organizationsWithin,
		byName: []db.Statement{"s.name = ?"}, rename: sqlRenameOrganization, move: sqlMoveOrganization, residents: sqlInOrganization,
	}
	Projects = Level{
		Noun: ProjectNoun, list: sqlProjects, seen: projectsSeen, seenTimes: 2, within: projectsWithin,
		byName: []db.Statement{"s.name = ?", "o.name = ?"}, rename: sqlRenameProject, move: sqlMoveProject, residents: sqlInProject,
	}
	Workspaces = Level{
		Noun: WorkspaceNoun, list: sqlWorkspaces, seen: workspacesSeen, seenTimes: 2, within: workspacesWithin,
		byName: []db.Statement{"s.name = ?", "p.name = ?", "o.name = ?"}, rename: sqlRenameWorkspace, move: sqlMoveWorkspace, residents: sqlInWorkspace,
	}
)

// Viewer is whose eyes a list is read with.
type Viewer struct {
	Account uuid.UUID
	Within  uuid.UUID // the scope that the token is narrowed to; uuid.Nil for none
	// Unproved is of a person without a second factor, who sees nothing in an organization that asks for one: only the organization.
	Unproved bool
}

// proved is of what is in no organization that asks a viewer for a second factor who has proved none.
const proved db.Statement = "(NOT ?::BOOL OR NOT o.second_factor_required)"

// visible narrows a list to what the viewer sees: the one place that says what that is.
func (l Level) visible(list *db.List, who Viewer) *db.List {
	list.And(l.seen, repeat(who.Account, l.seenTimes)...)
	if who.Within != uuid.Nil {
		list.And(l.within, repeat(who.Within, 3)...)
	}
	if l.Noun != OrganizationNoun {
		list.And(proved, who.Unproved)
	}
	return list
}

func repeat(id uuid.UUID, times int) []any {
	values := make([]any, times)
	for i := range values {
		values[i] = id
	}
	return values
}

// ScopeSorting is the orders that scopes of one level can be listed in.
var ScopeSorting = db.Sorting[Scope]{
	{Name: "name", Columns: []db.Column{db.ByText("s.name"), db.ByID("s.id")}, At: func(s Scope) db.Position {
		return db.Position{Text: s.Name, ID: s.ID}
	}},
	{Name: "created_at", Columns: []db.Column{db.ByTime("s.created_at"), db.ByID("s.id")}, At: func(s Scope) db.Position {
		return db.Position{Time: s.CreatedAt, ID: s.ID}
	}},
}

// ScopeFilter narrows a list of scopes.
type ScopeFilter struct {
	Organization uuid.UUID // of projects and workspaces; uuid.Nil for all
	Project      uuid.UUID // of workspaces; uuid.Nil for all
	State        string
	Sort         string // one of ScopeSorting; "" for the first
	After        *db.Position
	Limit        int
}

// List lists the scopes of the level that the viewer sees.
func (l Level) List(ctx context.Context, q db.Reader, who Viewer, f ScopeFilter) ([]Scope, error) {
	list := l.visible(db.NewList(l.list), who).AndIf(f.State, "s.state = ?")
	if f.Organization != uuid.Nil && l.Noun == ProjectNoun {
		list.And("s.organization_id = ?", f.Organization)
	}
	if f.Organization != uuid.Nil && l.Noun == WorkspaceNoun {
		list.And("p.organization_id = ?", f.Organization)
	}
	if f.Project != uuid.Nil && l.Noun == WorkspaceNoun {
		list.And("s.project_id = ?", f.Project)
	}
	return ScopeSorting.Read(ctx, q, list, f.Sort, f.After, f.Limit)
}

// mostNamed is how many scopes of one name are looked at: two are enough to tell that the name is ambiguous.
const mostNamed = 2

// Find finds a scope that the viewer sees by its id, by its path, or by its name where only one has it.
func (l Level) Find(ctx context.Context, q db.Reader, who Viewer, text string) (Scope, scope.Ref[Scope], error) {
	list := l.visible(db.NewList(l.list), who)
	if id, err := uuid.Parse(text); err == nil {
		list.And("s.id = ?", id)
	} else {
		parts := strings.Split(text, "/")
		if len(parts) > len(l.byName) {
			return Scope{}, scope.Ref[Scope]{}, fault.ErrNotFound
		}
		for i, condition := range l.byName[:len(parts)] {
			if checkName(parts[i]) != nil {
				return Scope{}, scope.Ref[Scope]{}, fault.ErrNotFound
			}
			list.And(condition, parts[len(parts)-1-i])
		}
	}
	found, err := ScopeSorting.Read(ctx, q, list, "", nil, mostNamed)
	switch {
	case err != nil:
		return Scope{}, scope.Ref[Scope]{}, fmt.Errorf("find %s: %w", l.Noun, err)
	case len(found) == 0 && who.Unproved:
		who.Unproved = false
		_, _, err := l.Find(ctx, q, who, text)
		if err == nil {
			err = scope.ErrSecondFactor
		}
		return Scope{}, scope.Ref[Scope]{}, err
	case len(found) == 0:
		return Scope{}, scope.Ref[Scope]{}, fault.ErrNotFound
	case len(found) > 1:
		return Scope{}, scope.Ref[Scope]{}, fault.Conflictf("ambiguous_name", "Several of the %ss that you see have this name. Use its path or its id.", l.Noun)
	}
	return found[0], scope.Found[Scope](found[0].ID, found[0].ID), nil
}

// FindScope finds a scope of any level: by its path, which has a part for each level, or by its id.
func FindScope(ctx context.Context, q db.Reader, who Viewer, text string) (Scope, scope.Ref[Scope], error) {
	levels := []Level{Organizations, Projects, Workspaces}
	if _, err := uuid.Parse(text); err != nil {
		parts := strings.Count(text, "/")
		if parts >= len(levels) {
			return Scope{}, scope.Ref[Scope]{}, fault.ErrNotFound
		}
		return levels[parts].Find(ctx, q, who, text)
	}
	for _, level := range levels {
		found, ref, err := level.Find(ctx, q, who, text)
		if err == nil || !isNotFound(err) {
			return found, ref, err
		}
	}
	return Scope{}, scope.Ref[Scope]{}, fault.ErrNotFound
}

// hold returns a scope that nobody else changes, and to which nothing is added, until the transaction ends.
func (l Level) hold(ctx context.Context, tx *db.Tx, id uuid.UUID) (Scope, error) {
	return l.locked(ctx, tx.Reader, id, forChange)
}

// keep returns a scope that is neither suspended nor removed before the transaction ends.
func (l Level) keep(ctx context.Context, tx *db.Tx, id uuid.UUID) (Scope, error) {
	return l.locked(ctx, tx.Reader, id, forKeeping)
}

// Locks of a scope's row.
const (
	forChange  db.Statement = "FOR UPDATE OF s"
	forKeeping db.Statement = "FOR SHARE OF s"
)

func (l Level) locked(ctx context.Context, q db.Reader, id uuid.UUID, lock db.Statement) (Scope, error) {
	sql, args := db.NewList(l.list).And("s.id = ?", id).Locked("s.id", 1, lock)
	return db.First[Scope](ctx, q, fault.ErrNotFound, sql, args...)
}

// byID reads a scope without a look at who asks, for what comes after a change.
func (l Level) byID(ctx context.Context, q db.Reader, id uuid.UUID) (Scope, error) {
	sql, args := db.NewList(l.list).And("s.id = ?", id).Page("s.id", 1)
	return db.First[Scope](ctx, q, fault.ErrNotFound, sql, args...)
}

const (
	sqlInsertOrganization = `
INSERT INTO organizations (id, name)
VALUES ($1, $2)
ON CONFLICT DO NOTHING`

	sqlInsertProject = `
INSERT INTO projects (id, organization_id, name)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING`

	sqlInsertWorkspace = `
INSERT INTO workspaces (id, project_id, name, type)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING`

	sqlRenameOrganization = `
UPDATE organizations
   SET name = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRenameProject = `
UPDATE projects
   SET name = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRenameWorkspace = `
UPDATE workspaces
   SET name = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlMoveOrganization = `
UPDATE organizations
   SET state = $3, name = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

	sqlMoveProject = `
UPDATE projects
   SET state = $3, name = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

	sqlMoveWorkspace = `
UPDATE workspaces
   SET state = $3, name = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

	sqlCarryWorkspace = `
UPDATE workspaces
   SET project_id = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRequireSecondFactor = `
UPDATE organizations
   SET second_factor_required = $2, version = version + 1, updated_at = now()
 WHERE id = $1 AND second_factor_required <> $2`

	sqlDeleteGrantsAt = `
DELETE FROM grants
 WHERE scope_id = $1`
)

// What lives in a scope; in a workspace ($1) without the job that deletes it ($2). A table with a column workspace_id is counted here, or the test names why it is not.
const (
	sqlInOrganization = `
SELECT 'projects' AS noun, count(*) AS n
  FROM projects c
 WHERE c.organization_id = $1 AND c.state <> 'removed'`

	sqlInProject = `
SELECT 'workspaces' AS noun, count(*) AS n
  FROM workspaces c
 WHERE c.project_id = $1 AND c.state <> 'removed'`

	sqlInWorkspace = `
SELECT 'hosts' AS noun, count(*) AS n FROM hosts c WHERE c.workspace_id = $1 AND c.removed_at IS NULL
UNION ALL
SELECT 'compute units' AS noun, count(*) AS n FROM compute_units c WHERE c.workspace_id = $1 AND c.state <> 'removed'
UNION ALL
SELECT 'allocations' AS noun, count(*) AS n FROM allocations c WHERE c.workspace_id = $1 AND c.state NOT IN ('deallocated', 'lost')
UNION ALL
SELECT 'addresses' AS noun, count(*) AS n FROM addresses c WHERE c.workspace_id = $1
UNION ALL
SELECT 'unfinished jobs' AS noun, count(*) AS n FROM jobs c WHERE c.workspace_id = $1 AND c.id <> $2 AND c.state IN ('queued', 'running', 'cancelling')
UNION ALL
SELECT 'DNS zones' AS noun, count(*) AS n FROM dns_zones c WHERE c.workspace_id = $1
UNION ALL
SELECT 'names in shared zones' AS noun, count(*) AS n FROM dns_record_sets c WHERE c.workspace_id = $1 AND c.zone_grant_id IS NOT NULL
UNION ALL
SELECT 'notification channels' AS noun, count(*) AS n FROM channels c WHERE c.workspace_id = $1
UNION ALL
SELECT 'remedies' AS noun, count(*) AS n FROM remedies c WHERE c.workspace_id = $1
UNION ALL
SELECT 'clusters' AS noun, count(*) AS n FROM kube_clusters c WHERE c.workspace_id = $1
UNION ALL
SELECT 'update deliveries' AS noun, count(*) AS n FROM update_deliveries c WHERE c.workspace_id = $1 AND c.open`
)

const sqlOtherBackends = `
SELECT b.name, b.version
  FROM backends b
 WHERE b.version <> $1 AND b.seen_at > now() - INTERVAL '1 minute'
 ORDER BY b.name
 LIMIT 5`

const (
	sqlOldestBackend = `
INSERT INTO settings (name, value)
VALUES ('oldest_backend_allowed', $1)
ON CONFLICT (name) DO UPDATE
   SET value = EXCLUDED.value`

	sqlOldestBackendNow = `
SELECT s.value
  FROM settings s
 WHERE s.name = 'oldest_backend_allowed'`

	sqlInsertOrganizationKey = `
INSERT INTO organization_keys (organization_id, public_key, private_sealed)
VALUES ($1, $2, $3)`
)

// The workspace of an object that stands in one, whatever it is.
const sqlWorkspaceOfObject = `
SELECT h.workspace_id FROM hosts h WHERE h.id = $1
UNION ALL
SELECT u.workspace_id FROM compute_units u WHERE u.id = $1
UNION ALL
SELECT a.workspace_id FROM allocations a WHERE a.id = $1
UNION ALL
SELECT p.workspace_id FROM addresses p WHERE p.id = $1
UNION ALL
SELECT j.workspace_id FROM jobs j WHERE j.id = $1
UNION ALL
SELECT n.workspace_id FROM plans n WHERE n.id = $1
UNION ALL
SELECT z.workspace_id FROM dns_zones z WHERE z.id = $1
UNION ALL
SELECT c.workspace_id FROM channels c WHERE c.id = $1
UNION ALL
SELECT m.workspace_id FROM remedies m WHERE m.id = $1
UNION ALL
SELECT r.workspace_id FROM dns_record_sets r WHERE r.id = $1
UNION ALL
SELECT g.workspace_id FROM agents g WHERE g.id = $1
UNION ALL
SELECT d.workspace_id FROM update_deliveries d WHERE d.id = $1
UNION ALL
SELECT n.workspace_id FROM networks n WHERE n.id = $1
 LIMIT 1`

// WorkspaceOf finds the workspace that an object is in.
func WorkspaceOf(ctx context.Context, q db.Reader, object uuid.UUID) (uuid.UUID, error) {
	type row struct {
		Workspace uuid.UUID `db:"workspace_id"`
	}
	of, err := db.First[row](ctx, q, fault.ErrNotFound, sqlWorkspaceOfObject, object)
	return of.Workspace, err
}

// FindPlace finds the scope that the viewer names: a scope itself, or the workspace of an object.
func FindPlace(ctx context.Context, q db.Reader, who Viewer, text string) (Scope, error) {
	at, _, err := FindScope(ctx, q, who, text)
	if !isNotFound(err) {
		return at, err
	}
	id, parseErr := uuid.Parse(text)
	if parseErr != nil {
		return Scope{}, err
	}
	workspace, err := WorkspaceOf(ctx, q, id)
	if err != nil {
		return Scope{}, err
	}
	at, _, err = Workspaces.Find(ctx, q, who, workspace.String())
	return at, err
}
