package iam

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlQuota = `
SELECT q.scope, q.scope_id, q.resource, q.amount, q.used, q.version, q.updated_by, q.updated_at, q.warned_at, q.full_at,
       COALESCE(CASE q.scope WHEN 'organization' THEN (SELECT o.name
                                                         FROM organizations o
                                                        WHERE o.id = q.scope_id)
                             WHEN 'project' THEN (SELECT op.name || '/' || pp.name
                                                    FROM projects pp
                                                    JOIN organizations op ON op.id = pp.organization_id
                                                   WHERE pp.id = q.scope_id)
                             ELSE (SELECT ow.name || '/' || pw.name || '/' || ww.name
                                     FROM workspaces ww
                                     JOIN projects pw ON pw.id = ww.project_id
                                     JOIN organizations ow ON ow.id = pw.organization_id
                                    WHERE ww.id = q.scope_id) END, '') AS path
  FROM quotas q
 WHERE true`

const sqlQuotasAbove = sqlQuota + `
   AND q.scope_id IN (SELECT w.id
                        FROM workspaces w
                       WHERE w.id = $1
                       UNION ALL
                      SELECT wp.project_id
                        FROM workspaces wp
                       WHERE wp.id = $1
                       UNION ALL
                      SELECT p.organization_id
                        FROM workspaces wo
                        JOIN projects p ON p.id = wo.project_id
                       WHERE wo.id = $1)`

const sqlThisQuota = sqlQuota + ` AND q.scope_id = $1 AND q.resource = $2`

const sqlUse = `
UPDATE quotas
   SET used = used + $3::INT8
 WHERE scope_id = $1 AND resource = $2 AND ($3::INT8 <= 0 OR used + $3::INT8 <= amount)`

// levels is the order in which quotas are changed, so that no two transactions wait
// for each other.
var levels = []scope.Level{scope.Workspace, scope.Project, scope.Organization}

// QuotasOver lists the quotas that bound a workspace: its own, and those of its
// project and organization.
func QuotasOver(ctx context.Context, q db.Reader, workspace uuid.UUID) ([]Quota, error) {
	quotas, err := db.Collect[Quota](ctx, q, sqlQuotasAbove, workspace)
	if err != nil {
		return nil, fmt.Errorf("read the quotas of a workspace: %w", err)
	}
	slices.SortFunc(quotas, func(a, b Quota) int {
		if n := slices.Index(levels, a.Level) - slices.Index(levels, b.Level); n != 0 {
			return n
		}
		return slices.Index(Resources, a.Resource) - slices.Index(Resources, b.Resource)
	})
	return quotas, nil
}

// use takes amounts out of the quotas over a workspace, or gives them back. It should
// be the last that its transaction does: it locks rows that others need.
func use(ctx context.Context, tx *db.Tx, workspace uuid.UUID, amounts Amounts) error {
	quotas, err := QuotasOver(ctx, tx.Reader, workspace)
	if err != nil {
		return err
	}
	for _, q := range quotas {
		n := amounts[q.Resource]
		if n == 0 {
			continue
		}
		err := tx.One(ctx, errQuota, sqlUse, q.ScopeID, q.Resource, n)
		if errors.Is(err, errQuota) {
			now, err := db.First[Quota](ctx, tx.Reader, errQuota, sqlThisQuota, q.ScopeID, q.Resource)
			if errors.Is(err, errQuota) { // it was taken away just now
				continue
			}
			if err != nil {
				return err
			}
			now.Used += n
			return now.exceeded(n)
		}
		if err != nil {
			return fmt.Errorf("change the usage of a quota: %w", err)
		}
	}
	return nil
}

var errQuota = errors.New("the quota is not there, or leaves too little")

const sqlUnitOfAllocation = `
SELECT a.workspace_id, u.cpu_count, u.memory_max_bytes
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
 WHERE a.id = $1`

const sqlOpenRecord = `
INSERT INTO usage_records (id, organization_id, project_id, workspace_id, allocation_id, name, cpus, memory_bytes, volume_bytes)
SELECT $2, p.organization_id, p.id, w.id, a.id, u.name || ' ' || a.login_user, u.cpu_count, u.memory_max_bytes, u.volume_bytes
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN workspaces w ON w.id = a.workspace_id
  JOIN projects p ON p.id = w.project_id
 WHERE a.id = $1`

const sqlCloseRecord = `
UPDATE usage_records
   SET to_at = greatest(now(), from_at)
 WHERE allocation_id = $1 AND to_at IS NULL`

type taken struct {
	Workspace uuid.UUID `db:"workspace_id"`
	CPUs      int64     `db:"cpu_count"`
	Memory    int64     `db:"memory_max_bytes"`
}

// AllocationBegins counts an allocation that was just inserted, in its transaction; a
// fault.Conflict where a quota leaves too little.
func AllocationBegins(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	of, err := db.First[taken](ctx, tx.Reader, fault.ErrNotFound, sqlUnitOfAllocation, id)
	if err != nil {
		return fmt.Errorf("read what an allocation takes: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlOpenRecord, id, uuid.New()); err != nil {
		return fmt.Errorf("open the usage record: %w", err)
	}
	return use(ctx, tx, of.Workspace, ofUnit(of.CPUs, of.Memory))
}

// AllocationEnds gives back what an allocation took, in the transaction of its end.
func AllocationEnds(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	of, err := db.First[taken](ctx, tx.Reader, fault.ErrNotFound, sqlUnitOfAllocation, id)
	if err != nil {
		return fmt.Errorf("read what an allocation took: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlCloseRecord, id); err != nil {
		return fmt.Errorf("close the usage record: %w", err)
	}
	return use(ctx, tx, of.Workspace, ofUnit(of.CPUs, of.Memory).negative())
}

// HostBegins counts a host that was just registered in a workspace; HostEnds one that
// was removed.
func HostBegins(ctx context.Context, tx *db.Tx, workspace uuid.UUID) error {
	return use(ctx, tx, workspace, Amounts{Hosts: 1})
}

const sqlWorkspaceOfHost = `
SELECT h.workspace_id
  FROM hosts h
 WHERE h.id = $1`

// HostEnds gives back what a host took that was just removed, and ends its grants.
func HostEnds(ctx context.Context, tx *db.Tx, host uuid.UUID) error {
	type row struct {
		Workspace uuid.UUID `db:"workspace_id"`
	}
	of, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlWorkspaceOfHost, host)
	if err != nil {
		return fmt.Errorf("read the workspace of a host: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlRevokeGrantsOfHost, host); err != nil {
		return fmt.Errorf("revoke the grants of a host: %w", err)
	}
	return use(ctx, tx, of.Workspace, Amounts{Hosts: -1})
}

const sqlQuotasIn = sqlQuota + `
   AND q.scope_id IN (SELECT s.id
                        FROM organizations s
                       WHERE s.id = $1
                       UNION ALL
                      SELECT p.id
                        FROM projects p
                       WHERE p.id = $1 OR p.organization_id = $1
                       UNION ALL
                      SELECT w.id
                        FROM workspaces w
                        JOIN projects pr ON pr.id = w.project_id
                       WHERE pr.id = $1 OR pr.organization_id = $1)
 ORDER BY q.scope, path, q.resource
 LIMIT 1000`

// QuotasIn lists the quotas of an organization or a project, and of all that is in it.
func QuotasIn(ctx context.Context, q db.Reader, id uuid.UUID) ([]Quota, error) {
	return db.Collect[Quota](ctx, q, sqlQuotasIn, id)
}

// FindQuota returns the quota of a scope and a resource.
func FindQuota(ctx context.Context, q db.Reader, id uuid.UUID, resource string) (Quota, error) {
	return db.First[Quota](ctx, q, fault.ErrNotFound, sqlThisQuota, id, resource)
}

const sqlHoldQuota = `
SELECT q.version
  FROM quotas q
 WHERE q.scope_id = $1 AND q.resource = $2
   FOR UPDATE`

const sqlSetQuota = `
INSERT INTO quotas (scope, scope_id, resource, amount, updated_by)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (scope_id, resource) DO UPDATE
   SET amount = $4, updated_by = $5, updated_at = now(), version = quotas.version + 1`

const sqlRemoveQuota = `
DELETE FROM quotas
 WHERE scope_id = $1 AND resource = $2`

const sqlRecount = `
UPDATE quotas
   SET used = c.used
  FROM (SELECT $1::UUID AS scope_id, r.resource,
               CASE r.resource WHEN 'units' THEN t.units WHEN 'cpus' THEN t.cpus WHEN 'memory_bytes' THEN t.memory_bytes
                               WHEN 'addresses' THEN t.units WHEN 'hosts' THEN h.hosts ELSE jr.jobs END AS used
          FROM (SELECT count(*) AS units, COALESCE(sum(u.cpu_count), 0)::INT8 AS cpus, COALESCE(sum(u.memory_max_bytes), 0)::INT8 AS memory_bytes
                  FROM allocations a
                  JOIN compute_units u ON u.id = a.unit_id
                 WHERE a.ended_at IS NULL
                   AND a.workspace_id IN (SELECT w.id
                                            FROM workspaces w
                                            JOIN projects p ON p.id = w.project_id
                                           WHERE w.id = $1 OR p.id = $1 OR p.organization_id = $1)) t
         CROSS JOIN (SELECT count(*) AS hosts
                       FROM hosts ho
                      WHERE ho.removed_at IS NULL
                        AND ho.workspace_id IN (SELECT wh.id
                                                  FROM workspaces wh
                                                  JOIN projects ph ON ph.id = wh.project_id
                                                 WHERE wh.id = $1 OR ph.id = $1 OR ph.organization_id = $1)) h
         CROSS JOIN (SELECT count(*) AS jobs
                       FROM jobs jo
                      WHERE jo.lease_expires_at IS NOT NULL
                        AND jo.workspace_id IN (SELECT wj.id
                                                  FROM workspaces wj
                                                  JOIN projects pj ON pj.id = wj.project_id
                                                 WHERE wj.id = $1 OR pj.id = $1 OR pj.organization_id = $1)) jr
         CROSS JOIN (SELECT unnest($2::TEXT[]) AS resource) r) c
 WHERE quotas.scope_id = c.scope_id AND quotas.resource = c.resource AND quotas.used <> c.used`

// AlignQuotas makes the usage of a scope's quotas what its objects say, and tells how
// many were wrong. Their rows are held, so that what begins or ends meanwhile waits.
func AlignQuotas(ctx context.Context, tx *db.Tx, id uuid.UUID) (changed int64, err error) {
	for _, r := range Resources {
		if _, err := tx.Exec(ctx, sqlHoldQuota, id, r); err != nil {
			return 0, fmt.Errorf("hold a quota: %w", err)
		}
	}
	changed, err = tx.Exec(ctx, sqlRecount, id, Resources)
	if err != nil {
		return 0, fmt.Errorf("count the usage of a scope: %w", err)
	}
	return changed, nil
}

const sqlLimited = `
SELECT DISTINCT q.scope_id
  FROM quotas q
 ORDER BY q.scope_id`

const sqlOpenMissing = `
INSERT INTO usage_records (id, organization_id, project_id, workspace_id, allocation_id, name, cpus, memory_bytes, volume_bytes, from_at)
SELECT gen_random_uuid(), p.organization_id, p.id, w.id, a.id, u.name || ' ' || a.login_user, u.cpu_count, u.memory_max_bytes, u.volume_bytes, a.created_at
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN workspaces w ON w.id = a.workspace_id
  JOIN projects p ON p.id = w.project_id
 WHERE a.ended_at IS NULL
   AND NOT EXISTS (SELECT 1
                     FROM usage_records r
                    WHERE r.allocation_id = a.id AND r.to_at IS NULL)
 LIMIT 1000`

const sqlCloseLeft = `
UPDATE usage_records
   SET to_at = greatest(usage_records.from_at, a.ended_at)
  FROM allocations a
 WHERE a.id = usage_records.allocation_id AND usage_records.to_at IS NULL AND a.ended_at IS NOT NULL`

// A workspace that moved is another project's from then on.
const sqlCloseMoved = `
UPDATE usage_records
   SET to_at = greatest(usage_records.from_at, now())
  FROM workspaces w
 WHERE w.id = usage_records.workspace_id AND usage_records.to_at IS NULL AND w.project_id <> usage_records.project_id`

const sqlReopenMoved = `
INSERT INTO usage_records (id, organization_id, project_id, workspace_id, allocation_id, name, cpus, memory_bytes, volume_bytes)
SELECT gen_random_uuid(), p.organization_id, p.id, w.id, a.id, u.name || ' ' || a.login_user, u.cpu_count, u.memory_max_bytes, u.volume_bytes
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN workspaces w ON w.id = a.workspace_id
  JOIN projects p ON p.id = w.project_id
 WHERE a.ended_at IS NULL
   AND EXISTS (SELECT 1
                 FROM usage_records r
                WHERE r.allocation_id = a.id AND r.to_at = now())
   AND NOT EXISTS (SELECT 1
                     FROM usage_records o
                    WHERE o.allocation_id = a.id AND o.to_at IS NULL)`

// AlignRecords makes usage records what the allocations say, and tells how many it
// changed.
func AlignRecords(ctx context.Context, tx *db.Tx) (changed int64, err error) {
	for _, sql := range []db.Statement{sqlCloseLeft, sqlCloseMoved, sqlReopenMoved, sqlOpenMissing} {
		n, err := tx.Exec(ctx, sql)
		if err != nil {
			return changed, fmt.Errorf("align usage records: %w", err)
		}
		changed += n
	}
	return changed, nil
}

// Limited lists the scopes that have a quota.
func Limited(ctx context.Context, q db.Reader) ([]uuid.UUID, error) {
	type row struct {
		ID uuid.UUID `db:"scope_id"`
	}
	rows, err := db.Collect[row](ctx, q, sqlLimited)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, nil
}

const sqlWarn = `
UPDATE quotas
   SET warned_at = CASE WHEN used * 5 >= amount * 4 AND (warned_at IS NULL OR warned_at < date_trunc('month', now())) THEN now() ELSE warned_at END,
       full_at = CASE WHEN used >= amount AND (full_at IS NULL OR full_at < date_trunc('month', now())) THEN now() ELSE full_at END
 WHERE (used * 5 >= amount * 4 AND (warned_at IS NULL OR warned_at < date_trunc('month', now())))
    OR (used >= amount AND (full_at IS NULL OR full_at < date_trunc('month', now())))
RETURNING scope, scope_id, resource, amount, used, version, updated_by, updated_at, warned_at, full_at, '' AS path`

// Warn notes which quotas are 80 % or wholly used for the first time this month, and
// returns them.
func Warn(ctx context.Context, tx *db.Tx) ([]Quota, error) {
	return db.Collect[Quota](ctx, tx.Reader, sqlWarn)
}

const sqlPlaceOfProject = `
SELECT p.organization_id
  FROM projects p
 WHERE p.id = $1`

// PlaceOfScope is where a scope stands.
func PlaceOfScope(ctx context.Context, q db.Reader, level scope.Level, id uuid.UUID) (scope.Place, error) {
	switch level {
	case scope.Organization:
		return scope.Place{Organization: id}, nil
	case scope.Project:
		type row struct {
			ID uuid.UUID `db:"organization_id"`
		}
		of, err := db.First[row](ctx, q, fault.ErrNotFound, sqlPlaceOfProject, id)
		return scope.Place{Organization: of.ID, Project: id}, err
	}
	at, err := scope.WorkspaceByID(ctx, q, fault.ErrNotFound, id)
	return at.Place(), err
}
