package iam

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// What goes with scopes ($1), of which some are workspaces. Units go with their hosts, nodes with their cluster.
const sqlPartsOf = `
SELECT 'cluster' AS noun, c.id, c.name, c.state, c.workspace_id AS scope_id FROM kube_clusters c WHERE c.workspace_id = ANY($1)
UNION ALL
SELECT 'allocation' AS noun, a.id, a.login_user AS name, a.state, a.workspace_id AS scope_id
  FROM allocations a
 WHERE a.workspace_id = ANY($1) AND a.state NOT IN ('deallocated', 'lost')
UNION ALL
SELECT 'dns_record_set' AS noun, r.id, r.name || ' ' || r.type AS name, r.state, r.workspace_id AS scope_id
  FROM dns_record_sets r
 WHERE r.workspace_id = ANY($1)
UNION ALL
SELECT 'dns_zone' AS noun, z.id, z.name, z.state, z.workspace_id AS scope_id FROM dns_zones z WHERE z.workspace_id = ANY($1)
UNION ALL
SELECT 'remedy' AS noun, m.id, m.name, '' AS state, m.workspace_id AS scope_id FROM remedies m WHERE m.workspace_id = ANY($1)
UNION ALL
SELECT 'channel' AS noun, n.id, n.name, '' AS state, n.workspace_id AS scope_id FROM channels n WHERE n.workspace_id = ANY($1)
UNION ALL
SELECT 'host' AS noun, h.id, h.name, h.state, h.workspace_id AS scope_id FROM hosts h WHERE h.workspace_id = ANY($1) AND h.removed_at IS NULL
UNION ALL
SELECT 'address' AS noun, p.id, p.address AS name, p.state, p.workspace_id AS scope_id FROM addresses p WHERE p.workspace_id = ANY($1)
UNION ALL
SELECT 'network' AS noun, w.id, w.name, '' AS state, w.workspace_id AS scope_id FROM networks w WHERE w.workspace_id = ANY($1)
UNION ALL
SELECT 'update_delivery' AS noun, d.id, d.name, 'open' AS state, d.workspace_id AS scope_id FROM update_deliveries d WHERE d.workspace_id = ANY($1) AND d.open
UNION ALL
SELECT 'host_grant' AS noun, t.id, h.name, '' AS state, t.scope_id
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
 WHERE t.scope_id = ANY($1) AND t.revoked_at IS NULL
UNION ALL
SELECT 'network_grant' AS noun, nv.id, nn.name, '' AS state, nv.scope_id
  FROM network_grants nv
  JOIN networks nn ON nn.id = nv.network_id
 WHERE nv.scope_id = ANY($1) AND nv.revoked_at IS NULL
 UNION ALL
SELECT 'network_grant' AS noun, ng.id, nm.name, 'in_use' AS state, ng.workspace_id AS scope_id
  FROM network_grants ng
  JOIN networks nm ON nm.id = ng.network_id
 WHERE ng.workspace_id = ANY($1) AND NOT ng.scope_id = ANY($1)
   AND EXISTS (SELECT 1
                 FROM addresses np
                 LEFT JOIN allocations na ON na.id = np.allocation_id
                WHERE np.network_grant_id = ng.id AND (na.id IS NULL OR NOT na.workspace_id = ANY($1)))
 UNION ALL
SELECT 'dns_zone_grant' AS noun, v.id, vz.name, '' AS state, v.scope_id
  FROM dns_zone_grants v
  JOIN dns_zones vz ON vz.id = v.zone_id
 WHERE v.scope_id = ANY($1) AND v.revoked_at IS NULL
UNION ALL
SELECT 'dns_zone_grant' AS noun, e.id, ez.name, 'in_use' AS state, e.workspace_id AS scope_id
  FROM dns_zone_grants e
  JOIN dns_zones ez ON ez.id = e.zone_id
 WHERE e.workspace_id = ANY($1) AND NOT e.scope_id = ANY($1)
   AND EXISTS (SELECT 1 FROM dns_record_sets es WHERE es.zone_grant_id = e.id AND NOT es.workspace_id = ANY($1))
UNION ALL
SELECT 'grant' AS noun, g.id, a.name || ' as ' || COALESCE(r.name, g.role) AS name, '' AS state, g.scope_id
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE g.scope_id = ANY($1)
UNION ALL
SELECT 'invitation' AS noun, i.id, COALESCE(NULLIF(i.email, ''), i.role) AS name, '' AS state, i.scope_id FROM invitations i WHERE i.scope_id = ANY($1)
UNION ALL
SELECT 'group_mapping' AS noun, m.id, m.group_name AS name, '' AS state, m.scope_id FROM group_mappings m WHERE m.scope_id = ANY($1)
UNION ALL
SELECT 'approval_rule' AS noun, u.id, u.name, '' AS state, u.scope_id FROM approval_rules u WHERE u.scope_id = ANY($1)
UNION ALL
SELECT 'identity_provider' AS noun, p.id, p.name, '' AS state, p.organization_id AS scope_id FROM identity_providers p WHERE p.organization_id = ANY($1)
UNION ALL
SELECT 'event_stream' AS noun, s.id, s.name, '' AS state, s.organization_id AS scope_id FROM event_streams s WHERE s.organization_id = ANY($1)
UNION ALL
SELECT 'service_account' AS noun, a.id, a.name, a.state, a.organization_id AS scope_id FROM accounts a WHERE a.organization_id = ANY($1) AND a.kind = 'service'
UNION ALL
SELECT 'key' AS noun, t.id, t.name, '' AS state, a.organization_id AS scope_id
  FROM tokens t
  JOIN accounts a ON a.id = t.account_id
 WHERE a.organization_id = ANY($1) AND a.kind = 'service'
UNION ALL
SELECT 'role' AS noun, r.id, r.name, '' AS state, r.organization_id AS scope_id FROM roles r WHERE r.organization_id = ANY($1)
 ORDER BY noun, name, id
 LIMIT $2`

// PlanDeletion reads what it means to delete a scope with all that is in it.
func PlanDeletion(ctx context.Context, q db.Reader, top Scope) (Deletion, error) {
	d := Deletion{Top: top}
	var err error
	if d.Scopes, err = inside(ctx, q, top); err != nil {
		return Deletion{}, fmt.Errorf("read what is in a %s: %w", top.Kind, err)
	}
	if len(d.Scopes) > mostScopesDeleted {
		return Deletion{}, tooMuch(top)
	}
	parts, err := db.Collect[Part](ctx, q, sqlPartsOf, d.IDs(), mostPartsDeleted+1)
	if err != nil {
		return Deletion{}, fmt.Errorf("read what belongs to a %s: %w", top.Kind, err)
	}
	if len(parts) > mostPartsDeleted {
		return Deletion{}, tooMuch(top)
	}
	d.sort(parts)
	return d, nil
}

// PlanDeletionByID is PlanDeletion of the scope of a plan.
func PlanDeletionByID(ctx context.Context, q db.Reader, kind string, id uuid.UUID) (Deletion, error) {
	top, err := levelOf(kind).byID(ctx, q, id)
	if err != nil {
		return Deletion{}, err
	}
	return PlanDeletion(ctx, q, top)
}

// inside lists the scopes in one, from the inside out, and itself at the end.
func inside(ctx context.Context, q db.Reader, s Scope) (all []Scope, err error) {
	read := func(l Level, condition db.Statement) error {
		sql, args := db.NewList(l.list).And(condition, s.ID).Page("s.id", mostScopesDeleted+1)
		found, err := db.Collect[Scope](ctx, q, sql, args...)
		all = append(all, found...)
		return err
	}
	switch s.Kind {
	case OrganizationNoun:
		if err = read(Workspaces, "p.organization_id = ?"); err == nil {
			err = read(Projects, "s.organization_id = ?")
		}
	case ProjectNoun:
		err = read(Workspaces, "s.project_id = ?")
	}
	return append(all, s), err
}

// Each of these begins, notes or ends a deletion of scopes ($1).
const (
	sqlDeletingOrganizations = `
UPDATE organizations
   SET state = 'deleting', version = version + 1, updated_at = now()
 WHERE id = ANY($1) AND state = 'active'`

	sqlDeletingProjects = `
UPDATE projects
   SET state = 'deleting', version = version + 1, updated_at = now()
 WHERE id = ANY($1) AND state = 'active'`

	sqlDeletingWorkspaces = `
UPDATE workspaces
   SET state = 'deleting', version = version + 1, updated_at = now()
 WHERE id = ANY($1) AND state = 'active'`

	sqlDeletionOfOrganizations = `
UPDATE organizations
   SET deletion_job_id = $2
 WHERE id = ANY($1)`

	sqlDeletionOfProjects = `
UPDATE projects
   SET deletion_job_id = $2
 WHERE id = ANY($1)`

	sqlDeletionOfWorkspaces = `
UPDATE workspaces
   SET deletion_job_id = $2
 WHERE id = ANY($1)`

	sqlKeptOrganizations = `
UPDATE organizations
   SET state = 'active', deletion_job_id = NULL, version = version + 1, updated_at = now()
 WHERE id = ANY($1) AND state = 'deleting'`

	sqlKeptProjects = `
UPDATE projects
   SET state = 'active', deletion_job_id = NULL, version = version + 1, updated_at = now()
 WHERE id = ANY($1) AND state = 'deleting'`

	sqlKeptWorkspaces = `
UPDATE workspaces
   SET state = 'active', deletion_job_id = NULL, version = version + 1, updated_at = now()
 WHERE id = ANY($1) AND state = 'deleting'`

	sqlDeletionOf = `
SELECT o.deletion_job_id AS id FROM organizations o WHERE o.id = $1
UNION ALL
SELECT p.deletion_job_id AS id FROM projects p WHERE p.id = $1
UNION ALL
SELECT w.deletion_job_id AS id FROM workspaces w WHERE w.id = $1`

	sqlIsDeletedBy = `
SELECT o.object_id AS id
  FROM job_objects o
 WHERE o.job_id = $1 AND o.object_id = $2 AND o.role = 'scope'`

	sqlForgetParts = `
DELETE FROM scope_deletion_parts
 WHERE job_id = $1`

	sqlEndServiceKeys = `
DELETE FROM tokens
 WHERE account_id IN (SELECT a.id FROM accounts a WHERE a.organization_id = $1 AND a.kind = 'service')`

	sqlDisableServiceAccounts = `
UPDATE accounts
   SET state = 'disabled', version = version + 1, updated_at = now()
 WHERE organization_id = $1 AND kind = 'service' AND state = 'active'`
)

// hold keeps everybody from changing the scopes that go, and from adding to them: projects before their workspaces, as whoever adds a
// workspace does.
func (d Deletion) hold(ctx context.Context, tx *db.Tx) error {
	for i := len(d.Scopes) - 1; i >= 0; i-- {
		if _, err := levelOf(d.Scopes[i].Kind).hold(ctx, tx, d.Scopes[i].ID); err != nil && !isNotFound(err) {
			return fmt.Errorf("hold a %s: %w", d.Scopes[i].Kind, err)
		}
	}
	return nil
}

func (d Deletion) all(ctx context.Context, tx *db.Tx, args []any, statements ...db.Statement) (n int64, err error) {
	for _, sql := range statements {
		changed, err := tx.Exec(ctx, sql, append([]any{d.IDs()}, args...)...)
		if err != nil {
			return n, fmt.Errorf("move the scopes of a deletion: %w", err)
		}
		n += changed
	}
	return n, nil
}

// HoldDeletion reads what it means to delete a scope, and keeps it so until the transaction ends: what is being added commits before.
func HoldDeletion(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID) (Deletion, error) {
	before, err := PlanDeletionByID(ctx, tx.Reader, kind, id)
	if err != nil {
		return before, err
	}
	if err := before.hold(ctx, tx); err != nil {
		return before, err
	}
	return PlanDeletionByID(ctx, tx.Reader, kind, id)
}

// Begin takes the scopes of a held deletion out of use: nothing new comes into them.
func (d Deletion) Begin(ctx context.Context, tx *db.Tx) error {
	n, err := d.all(ctx, tx, nil, sqlDeletingOrganizations, sqlDeletingProjects, sqlDeletingWorkspaces)
	if err == nil && int(n) != len(d.Scopes) {
		err = fault.Conflictf("scope_state", "Another request changed one of the scopes at the same time. Create another plan.")
	}
	return err
}

// Note says which job carries the deletion out.
func (d Deletion) Note(ctx context.Context, tx *db.Tx, job uuid.UUID) error {
	_, err := d.all(ctx, tx, []any{job}, sqlDeletionOfOrganizations, sqlDeletionOfProjects, sqlDeletionOfWorkspaces)
	return err
}

// keep brings the scopes back into use that are left.
func (d Deletion) keep(ctx context.Context, tx *db.Tx) error {
	_, err := d.all(ctx, tx, nil, sqlKeptOrganizations, sqlKeptProjects, sqlKeptWorkspaces)
	return err
}

type oneID struct {
	ID *uuid.UUID `db:"id"`
}

func deletionOf(ctx context.Context, q db.Reader, id uuid.UUID) (uuid.UUID, error) {
	row, err := db.First[oneID](ctx, q, fault.ErrNotFound, sqlDeletionOf, id)
	if err != nil || row.ID == nil {
		return uuid.Nil, err
	}
	return *row.ID, nil
}

const (
	// A retry sets the deadline of the job, $2 seconds from then.
	sqlAskedParts = `
SELECT p.object_id AS id, p.asked_at < j.deadline_at - $2::INT8 * INTERVAL '1 second' AS before
  FROM scope_deletion_parts p
  JOIN jobs j ON j.id = p.job_id
 WHERE p.job_id = $1`

	sqlAskedPart = `
INSERT INTO scope_deletion_parts (job_id, object_id, noun)
VALUES ($1, $2, $3)
ON CONFLICT (job_id, object_id) DO UPDATE
   SET asked_at = now()`

	sqlOtherJobs = `
SELECT j.id, j.kind AS name
  FROM jobs j
 WHERE j.workspace_id = ANY($1) AND j.id <> $2 AND j.state IN ('queued', 'running', 'cancelling')
 ORDER BY j.id
 LIMIT 5`
)

// Asked says that the job of a deletion asked for the end of a part.
type Asked struct {
	ID     uuid.UUID `db:"id"`
	Before bool      `db:"before"` // before a person retried the job
}

// AskedParts are the parts whose end the job of a deletion asked for.
func AskedParts(ctx context.Context, q db.Reader, job uuid.UUID) (map[uuid.UUID]Asked, error) {
	rows, err := db.Collect[Asked](ctx, q, sqlAskedParts, job, int64(ScopeDelete.Deadline/time.Second))
	if err != nil {
		return nil, fmt.Errorf("read what a deletion asked for: %w", err)
	}
	asked := map[uuid.UUID]Asked{}
	for _, r := range rows {
		asked[r.ID] = r
	}
	return asked, nil
}

// NoteAsked says that the job of a deletion asked for the end of a part.
func NoteAsked(ctx context.Context, tx *db.Tx, job uuid.UUID, p Part) error {
	return tx.One(ctx, errors.New("nothing was noted"), sqlAskedPart, job, p.ID, p.Noun)
}

// OtherJobs are some jobs in workspaces that have not ended, without the one of the deletion.
func OtherJobs(ctx context.Context, q db.Reader, workspaces []uuid.UUID, but uuid.UUID) ([]string, error) {
	type row struct {
		ID   uuid.UUID `db:"id"`
		Name string    `db:"name"`
	}
	rows, err := db.Collect[row](ctx, q, sqlOtherJobs, workspaces, but)
	if err != nil {
		return nil, fmt.Errorf("read the unfinished jobs of workspaces: %w", err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Name+" "+r.ID.String())
	}
	return names, nil
}

const sqlRulesAt = sqlApprovalRules + `
   AND r.scope_id = ANY($1)
 ORDER BY r.name
 LIMIT 200`

// ApprovalRulesAt lists the rules at scopes.
func ApprovalRulesAt(ctx context.Context, q db.Reader, scopes []uuid.UUID) ([]ApprovalRule, error) {
	rules, err := db.Collect[ApprovalRule](ctx, q, sqlRulesAt, scopes)
	if err != nil {
		return nil, fmt.Errorf("read the approval rules at scopes: %w", err)
	}
	return rules, nil
}
