-- Statements that the area puts together at run time; written by go test ./backend/internal/area/dns -run Assembled -update

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
  AND (f.name, f.id) < ($2, $3)
ORDER BY f.name DESC, f.id DESC
LIMIT $4;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
  AND (f.name, f.id) > ($2, $3)
ORDER BY f.name, f.id
LIMIT $4;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
  AND f.zone_id = $2
  AND (f.name, f.id) < ($3, $4)
ORDER BY f.name DESC, f.id DESC
LIMIT $5;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
  AND f.zone_id = $2
  AND (f.name, f.id) > ($3, $4)
ORDER BY f.name, f.id
LIMIT $5;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
  AND f.zone_id = $2
ORDER BY f.name DESC, f.id DESC
LIMIT $3;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
  AND f.zone_id = $2
ORDER BY f.name, f.id
LIMIT $3;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
ORDER BY f.name DESC, f.id DESC
LIMIT $2;

SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true
  AND f.workspace_id = $1
ORDER BY f.name, f.id
LIMIT $2;

SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))
  AND (g.id = $2 OR g.zone_id = $3)
ORDER BY g.id
LIMIT $4;

SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))
  AND (z.name, g.id) < ($2, $3)
ORDER BY z.name DESC, g.id DESC
LIMIT $4;

SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))
  AND (z.name, g.id) > ($2, $3)
ORDER BY z.name, g.id
LIMIT $4;

SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))
  AND z.name = $2
ORDER BY g.id
LIMIT $3;

SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))
ORDER BY z.name DESC, g.id DESC
LIMIT $2;

SELECT g.id, g.zone_id, $1::UUID AS workspace_id, z.name, g.suffix, o.name AS organization, z.state, z.mode, z.negative_ttl, z.synced_at, g.revoked_at, g.created_at,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = g.id AND s.workspace_id = $1) AS in_use,
       EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = $1 AND c.zone_grant_id = g.id) AS names_allocations
  FROM dns_zone_grants g
  JOIN dns_zones z ON z.id = g.zone_id
  JOIN workspaces w ON w.id = g.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)
   AND (g.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets gs WHERE gs.zone_grant_id = g.id AND gs.workspace_id = $1))
ORDER BY z.name, g.id
LIMIT $2;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND (s.name, s.id) < ($2, $3)
ORDER BY s.name DESC, s.id DESC
LIMIT $4;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND (s.name, s.id) > ($2, $3)
ORDER BY s.name, s.id
LIMIT $4;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND (s.state, s.id) < ($2, $3)
ORDER BY s.state DESC, s.id DESC
LIMIT $4;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND (s.state, s.id) > ($2, $3)
ORDER BY s.state, s.id
LIMIT $4;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
  AND (s.name, s.id) < ($3, $4)
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
  AND (s.name, s.id) > ($3, $4)
ORDER BY s.name, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
  AND (s.state, s.id) < ($3, $4)
ORDER BY s.state DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
  AND (s.state, s.id) > ($3, $4)
ORDER BY s.state, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
ORDER BY s.name DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
ORDER BY s.name, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
ORDER BY s.state DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.name = $2
ORDER BY s.state, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
  AND (s.name, s.id) < ($3, $4)
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
  AND (s.name, s.id) > ($3, $4)
ORDER BY s.name, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
  AND (s.state, s.id) < ($3, $4)
ORDER BY s.state DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
  AND (s.state, s.id) > ($3, $4)
ORDER BY s.state, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
ORDER BY s.name DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
ORDER BY s.name, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
ORDER BY s.state DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.owner = $2
ORDER BY s.state, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
  AND (s.name, s.id) < ($3, $4)
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
  AND (s.name, s.id) > ($3, $4)
ORDER BY s.name, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
  AND (s.state, s.id) < ($3, $4)
ORDER BY s.state DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
  AND (s.state, s.id) > ($3, $4)
ORDER BY s.state, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
ORDER BY s.name DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
ORDER BY s.name, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
ORDER BY s.state DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.state = $2
ORDER BY s.state, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
  AND (s.name, s.id) < ($3, $4)
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
  AND (s.name, s.id) > ($3, $4)
ORDER BY s.name, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
  AND (s.state, s.id) < ($3, $4)
ORDER BY s.state DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
  AND (s.state, s.id) > ($3, $4)
ORDER BY s.state, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
ORDER BY s.name DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
ORDER BY s.name, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
ORDER BY s.state DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.type = $2
ORDER BY s.state, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND (s.name, s.id) < ($3, $4)
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND (s.name, s.id) > ($3, $4)
ORDER BY s.name, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND (s.state, s.id) < ($3, $4)
ORDER BY s.state DESC, s.id DESC
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND (s.state, s.id) > ($3, $4)
ORDER BY s.state, s.id
LIMIT $5;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
  AND (s.name, s.id) < ($7, $8)
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
  AND (s.name, s.id) > ($7, $8)
ORDER BY s.name, s.id
LIMIT $9;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
  AND (s.state, s.id) < ($7, $8)
ORDER BY s.state DESC, s.id DESC
LIMIT $9;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
  AND (s.state, s.id) > ($7, $8)
ORDER BY s.state, s.id
LIMIT $9;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
ORDER BY s.name, s.id
LIMIT $7;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
ORDER BY s.state DESC, s.id DESC
LIMIT $7;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
  AND s.name = $3
  AND s.type = $4
  AND s.state = $5
  AND s.owner = $6
ORDER BY s.state, s.id
LIMIT $7;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
ORDER BY s.name DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
ORDER BY s.name, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
ORDER BY s.state DESC, s.id DESC
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
  AND s.zone_id = $2
ORDER BY s.state, s.id
LIMIT $3;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
ORDER BY s.name DESC, s.id DESC
LIMIT $2;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
ORDER BY s.name, s.id
LIMIT $2;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
ORDER BY s.state DESC, s.id DESC
LIMIT $2;

SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true
  AND s.workspace_id = $1
ORDER BY s.state, s.id
LIMIT $2;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND (z.name, z.id) < ($2, $3)
ORDER BY z.name DESC, z.id DESC
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND (z.name, z.id) > ($2, $3)
ORDER BY z.name, z.id
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND (z.state, z.id) < ($2, $3)
ORDER BY z.state DESC, z.id DESC
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND (z.state, z.id) > ($2, $3)
ORDER BY z.state, z.id
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
  AND (z.name, z.id) < ($3, $4)
ORDER BY z.name DESC, z.id DESC
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
  AND (z.name, z.id) > ($3, $4)
ORDER BY z.name, z.id
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
  AND (z.state, z.id) < ($3, $4)
ORDER BY z.state DESC, z.id DESC
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
  AND (z.state, z.id) > ($3, $4)
ORDER BY z.state, z.id
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
ORDER BY z.name DESC, z.id DESC
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
ORDER BY z.name, z.id
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
ORDER BY z.state DESC, z.id DESC
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.mode = $2
ORDER BY z.state, z.id
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND (z.name, z.id) < ($3, $4)
ORDER BY z.name DESC, z.id DESC
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND (z.name, z.id) > ($3, $4)
ORDER BY z.name, z.id
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND (z.state, z.id) < ($3, $4)
ORDER BY z.state DESC, z.id DESC
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND (z.state, z.id) > ($3, $4)
ORDER BY z.state, z.id
LIMIT $5;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
  AND (z.name, z.id) < ($4, $5)
ORDER BY z.name DESC, z.id DESC
LIMIT $6;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
  AND (z.name, z.id) > ($4, $5)
ORDER BY z.name, z.id
LIMIT $6;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
  AND (z.state, z.id) < ($4, $5)
ORDER BY z.state DESC, z.id DESC
LIMIT $6;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
  AND (z.state, z.id) > ($4, $5)
ORDER BY z.state, z.id
LIMIT $6;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
ORDER BY z.name DESC, z.id DESC
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
ORDER BY z.name, z.id
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
ORDER BY z.state DESC, z.id DESC
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
  AND z.mode = $3
ORDER BY z.state, z.id
LIMIT $4;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
ORDER BY z.name DESC, z.id DESC
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
ORDER BY z.name, z.id
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
ORDER BY z.state DESC, z.id DESC
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
  AND z.state = $2
ORDER BY z.state, z.id
LIMIT $3;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
ORDER BY z.name DESC, z.id DESC
LIMIT $2;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
ORDER BY z.name, z.id
LIMIT $2;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
ORDER BY z.state DESC, z.id DESC
LIMIT $2;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true
  AND z.workspace_id = $1
ORDER BY z.state, z.id
LIMIT $2;
