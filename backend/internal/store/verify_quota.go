package store

import "github.com/google/uuid"

// QuotaSeen is a quota whose usage is not what its scope has in use.
type QuotaSeen struct {
	Scope    string    `db:"scope"`
	ScopeID  uuid.UUID `db:"scope_id"`
	Resource string    `db:"resource"`
	Used     int64     `db:"used"`
	Counted  int64     `db:"counted"`
}

const sqlSeeQuotas = `
WITH spans AS (
     SELECT ww.id AS workspace_id, ww.id AS scope_id
       FROM workspaces ww
      UNION ALL
     SELECT wp.id, wp.project_id
       FROM workspaces wp
      UNION ALL
     SELECT wo.id, po.organization_id
       FROM workspaces wo
       JOIN projects po ON po.id = wo.project_id),
     allocated AS (
     SELECT a.workspace_id, count(*) AS units, COALESCE(sum(u.cpu_count), 0)::INT8 AS cpus, COALESCE(sum(u.memory_max_bytes), 0)::INT8 AS memory_bytes
       FROM allocations a
       JOIN compute_units u ON u.id = a.unit_id
      WHERE a.ended_at IS NULL
      GROUP BY a.workspace_id),
     counts AS (
     SELECT au.workspace_id, 'units' AS resource, au.units AS n
       FROM allocated au
      UNION ALL
     SELECT aa.workspace_id, 'addresses', aa.units
       FROM allocated aa
      UNION ALL
     SELECT ac.workspace_id, 'cpus', ac.cpus
       FROM allocated ac
      UNION ALL
     SELECT am.workspace_id, 'memory_bytes', am.memory_bytes
       FROM allocated am
      UNION ALL
     SELECT h.workspace_id, 'hosts', count(*)
       FROM hosts h
      WHERE h.removed_at IS NULL
      GROUP BY h.workspace_id
      UNION ALL
     SELECT j.workspace_id, 'jobs', count(*)
       FROM jobs j
      WHERE j.lease_expires_at IS NOT NULL
      GROUP BY j.workspace_id)
SELECT q.scope, q.scope_id, q.resource, q.used, COALESCE(sum(c.n), 0)::INT8 AS counted
  FROM quotas q
  LEFT JOIN spans s ON s.scope_id = q.scope_id
  LEFT JOIN counts c ON c.workspace_id = s.workspace_id AND c.resource = q.resource
 GROUP BY q.scope, q.scope_id, q.resource, q.used
HAVING q.used <> COALESCE(sum(c.n), 0)::INT8
 ORDER BY q.scope_id, q.resource`

// StraySeen is an allocation on a host of another workspace that no grant of the host let in.
type StraySeen struct {
	ID        uuid.UUID `db:"id"`
	LoginUser string    `db:"login_user"`
	HostID    uuid.UUID `db:"host_id"`
}

const sqlSeeStrays = `
SELECT a.id, a.login_user, a.host_id
  FROM allocations a
  JOIN hosts h ON h.id = a.host_id
 WHERE a.ended_at IS NULL AND h.workspace_id <> a.workspace_id
   AND NOT EXISTS (SELECT 1
                     FROM host_grants g
                     JOIN workspaces w ON w.id = a.workspace_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.id = a.host_grant_id AND g.host_id = a.host_id AND g.scope_id IN (w.id, p.id, p.organization_id))
 ORDER BY a.id`

// NameSeen is a record set in a zone of another workspace that no grant of the zone let in.
type NameSeen struct {
	ID     uuid.UUID `db:"id"`
	Name   string    `db:"name"`
	Type   string    `db:"type"`
	ZoneID uuid.UUID `db:"zone_id"`
}

const sqlSeeNames = `
SELECT s.id, s.name, s.type, s.zone_id
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE (z.workspace_id <> s.workspace_id
        AND NOT EXISTS (SELECT 1
                          FROM dns_zone_grants g
                          JOIN workspaces w ON w.id = s.workspace_id
                          JOIN projects p ON p.id = w.project_id
                         WHERE g.id = s.zone_grant_id AND g.zone_id = s.zone_id AND g.scope_id IN (w.id, p.id, p.organization_id)))
    OR (z.workspace_id = s.workspace_id AND s.zone_grant_id IS NOT NULL)
 ORDER BY s.id`

// LentSeen is an address that is with an allocation on a host of another workspace, or is noted to be, and that no grant of its
// network gave.
type LentSeen struct {
	ID      uuid.UUID `db:"id"`
	Address string    `db:"address"`
	State   string    `db:"state"`
}

const sqlSeeLent = `
SELECT p.id, p.address, p.state
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
  LEFT JOIN hosts h ON h.id = a.host_id
 WHERE (h.workspace_id <> p.workspace_id
        AND NOT EXISTS (SELECT 1
                          FROM network_grants g
                          JOIN networks n ON n.id = g.network_id
                          JOIN workspaces w ON w.id = h.workspace_id
                          JOIN projects j ON j.id = w.project_id
                         WHERE g.id = p.network_grant_id AND n.workspace_id = p.workspace_id AND n.name = p.network
                           AND g.scope_id IN (w.id, j.id, j.organization_id)))
    OR (p.network_grant_id IS NOT NULL AND (h.id IS NULL OR h.workspace_id = p.workspace_id))
 ORDER BY p.sort_key, p.id`
