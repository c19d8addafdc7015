-- Statements that the area puts together at run time; written by go test ./backend/internal/area/iam -run Assembled -update

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND (s.created_at, s.id) < ($5, $6)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND (s.created_at, s.id) > ($5, $6)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND (s.name, s.id) < ($5, $6)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND (s.name, s.id) > ($5, $6)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND (s.created_at, s.id) < ($8, $9)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND (s.created_at, s.id) > ($8, $9)
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND (s.name, s.id) < ($8, $9)
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND (s.name, s.id) > ($8, $9)
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.id = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.name = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
  AND (s.created_at, s.id) < ($9, $10)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $11;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
  AND (s.created_at, s.id) > ($9, $10)
ORDER BY s.created_at, s.id
LIMIT $11;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
  AND (s.name, s.id) < ($9, $10)
ORDER BY s.name DESC, s.id DESC
LIMIT $11;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
  AND (s.name, s.id) > ($9, $10)
ORDER BY s.name, s.id
LIMIT $11;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
  AND s.state = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.id IN (SELECT $5::UUID
                   UNION ALL
                   SELECT p.organization_id FROM projects p WHERE p.id = $6
                   UNION ALL
                   SELECT p.organization_id FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $7)
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.name = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
  AND (s.created_at, s.id) < ($6, $7)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
  AND (s.created_at, s.id) > ($6, $7)
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
  AND (s.name, s.id) < ($6, $7)
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
  AND (s.name, s.id) > ($6, $7)
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
  AND s.state = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
ORDER BY s.created_at DESC, s.id DESC
LIMIT $5;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
ORDER BY s.created_at, s.id
LIMIT $5;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND (EXISTS (SELECT 1 FROM grants g WHERE g.account_id = $1 AND g.scope = 'installation')
       OR s.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $2
                   UNION ALL
                   SELECT p.organization_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE g.account_id = $3
                   UNION ALL
                   SELECT p.organization_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE g.account_id = $4))
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2
FOR SHARE OF s;

SELECT 'organization' AS kind, s.id, s.id AS organization_id, NULL::UUID AS project_id, s.name, s.name AS organization_name, '' AS project_name,
       '' AS type, s.state, '' AS suspended_by, s.second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM organizations s
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2
FOR UPDATE OF s;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2
FOR SHARE OF s;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2
FOR UPDATE OF s;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) < ($4, $5)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) > ($4, $5)
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) < ($4, $5)
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) > ($4, $5)
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.id = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.name = $4
  AND o.name = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.name = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
  AND (s.created_at, s.id) < ($5, $6)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
  AND (s.created_at, s.id) > ($5, $6)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
  AND (s.name, s.id) < ($5, $6)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
  AND (s.name, s.id) > ($5, $6)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
ORDER BY s.created_at DESC, s.id DESC
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
ORDER BY s.created_at, s.id
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.created_at, s.id) < ($5, $6)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.created_at, s.id) > ($5, $6)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.name, s.id) < ($5, $6)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.name, s.id) > ($5, $6)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
  AND (s.created_at, s.id) < ($6, $7)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
  AND (s.created_at, s.id) > ($6, $7)
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
  AND (s.name, s.id) < ($6, $7)
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
  AND (s.name, s.id) > ($6, $7)
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.organization_id = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.created_at DESC, s.id DESC
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.created_at, s.id
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $4;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at, s.id
LIMIT $4;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.name DESC, s.id DESC
LIMIT $4;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.name, s.id
LIMIT $4;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) < ($7, $8)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) > ($7, $8)
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) < ($7, $8)
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) > ($7, $8)
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.id = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.name = $7
  AND o.name = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.name = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
  AND (s.created_at, s.id) < ($8, $9)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
  AND (s.created_at, s.id) > ($8, $9)
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
  AND (s.name, s.id) < ($8, $9)
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
  AND (s.name, s.id) > ($8, $9)
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.organization_id = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.created_at, s.id) < ($8, $9)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.created_at, s.id) > ($8, $9)
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.name, s.id) < ($8, $9)
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.name, s.id) > ($8, $9)
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
  AND (s.created_at, s.id) < ($9, $10)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $11;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
  AND (s.created_at, s.id) > ($9, $10)
ORDER BY s.created_at, s.id
LIMIT $11;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
  AND (s.name, s.id) < ($9, $10)
ORDER BY s.name DESC, s.id DESC
LIMIT $11;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
  AND (s.name, s.id) > ($9, $10)
ORDER BY s.name, s.id
LIMIT $11;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.organization_id = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT p.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT w.project_id FROM grants g JOIN workspaces w ON w.id = g.scope_id WHERE g.account_id = $2)
  AND (s.id = $3 OR s.organization_id = $4 OR s.id IN (SELECT w.project_id FROM workspaces w WHERE w.id = $5))
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'project' AS kind, s.id, s.organization_id, s.id AS project_id, s.name, o.name AS organization_name, s.name AS project_name,
       '' AS type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM projects s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.organization_id = $1
ORDER BY s.id
LIMIT $2;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND p.organization_id = $1
ORDER BY s.id
LIMIT $2;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2
FOR SHARE OF s;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id = $1
ORDER BY s.id
LIMIT $2
FOR UPDATE OF s;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) < ($4, $5)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) > ($4, $5)
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) < ($4, $5)
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) > ($4, $5)
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND (s.created_at, s.id) < ($5, $6)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND (s.created_at, s.id) > ($5, $6)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND (s.name, s.id) < ($5, $6)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND (s.name, s.id) > ($5, $6)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
  AND (s.created_at, s.id) < ($6, $7)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
  AND (s.created_at, s.id) > ($6, $7)
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
  AND (s.name, s.id) < ($6, $7)
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
  AND (s.name, s.id) > ($6, $7)
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
  AND s.project_id = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
ORDER BY s.created_at DESC, s.id DESC
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
ORDER BY s.created_at, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.id = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.name = $4
  AND p.name = $5
  AND o.name = $6
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.name = $4
  AND p.name = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.name = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
  AND (s.created_at, s.id) < ($5, $6)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
  AND (s.created_at, s.id) > ($5, $6)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
  AND (s.name, s.id) < ($5, $6)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
  AND (s.name, s.id) > ($5, $6)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
ORDER BY s.created_at DESC, s.id DESC
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
ORDER BY s.created_at, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.created_at, s.id) < ($5, $6)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.created_at, s.id) > ($5, $6)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.name, s.id) < ($5, $6)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND (s.name, s.id) > ($5, $6)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND (s.created_at, s.id) < ($6, $7)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND (s.created_at, s.id) > ($6, $7)
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND (s.name, s.id) < ($6, $7)
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND (s.name, s.id) > ($6, $7)
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
  AND (s.created_at, s.id) < ($7, $8)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
  AND (s.created_at, s.id) > ($7, $8)
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
  AND (s.name, s.id) < ($7, $8)
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
  AND (s.name, s.id) > ($7, $8)
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
  AND s.project_id = $6
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND p.organization_id = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
  AND (s.created_at, s.id) < ($6, $7)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
  AND (s.created_at, s.id) > ($6, $7)
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
  AND (s.name, s.id) < ($6, $7)
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
  AND (s.name, s.id) > ($6, $7)
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
ORDER BY s.created_at DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
ORDER BY s.created_at, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
ORDER BY s.name DESC, s.id DESC
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
  AND s.project_id = $5
ORDER BY s.name, s.id
LIMIT $6;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.created_at DESC, s.id DESC
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.created_at, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.name DESC, s.id DESC
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
  AND s.state = $4
ORDER BY s.name, s.id
LIMIT $5;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $4;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at, s.id
LIMIT $4;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.name DESC, s.id DESC
LIMIT $4;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (NOT $3::BOOL OR NOT o.second_factor_required)
ORDER BY s.name, s.id
LIMIT $4;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) < ($7, $8)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.created_at, s.id) > ($7, $8)
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) < ($7, $8)
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND (s.name, s.id) > ($7, $8)
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND (s.created_at, s.id) < ($8, $9)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND (s.created_at, s.id) > ($8, $9)
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND (s.name, s.id) < ($8, $9)
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND (s.name, s.id) > ($8, $9)
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
  AND (s.created_at, s.id) < ($9, $10)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
  AND (s.created_at, s.id) > ($9, $10)
ORDER BY s.created_at, s.id
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
  AND (s.name, s.id) < ($9, $10)
ORDER BY s.name DESC, s.id DESC
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
  AND (s.name, s.id) > ($9, $10)
ORDER BY s.name, s.id
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
  AND s.project_id = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND p.organization_id = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.id = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.name = $7
  AND p.name = $8
  AND o.name = $9
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.name = $7
  AND p.name = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.name = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
  AND (s.created_at, s.id) < ($8, $9)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
  AND (s.created_at, s.id) > ($8, $9)
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
  AND (s.name, s.id) < ($8, $9)
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
  AND (s.name, s.id) > ($8, $9)
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.project_id = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.created_at, s.id) < ($8, $9)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.created_at, s.id) > ($8, $9)
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.name, s.id) < ($8, $9)
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND (s.name, s.id) > ($8, $9)
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND (s.created_at, s.id) < ($9, $10)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND (s.created_at, s.id) > ($9, $10)
ORDER BY s.created_at, s.id
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND (s.name, s.id) < ($9, $10)
ORDER BY s.name DESC, s.id DESC
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND (s.name, s.id) > ($9, $10)
ORDER BY s.name, s.id
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
  AND (s.created_at, s.id) < ($10, $11)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $12;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
  AND (s.created_at, s.id) > ($10, $11)
ORDER BY s.created_at, s.id
LIMIT $12;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
  AND (s.name, s.id) < ($10, $11)
ORDER BY s.name DESC, s.id DESC
LIMIT $12;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
  AND (s.name, s.id) > ($10, $11)
ORDER BY s.name, s.id
LIMIT $12;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
ORDER BY s.created_at DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
ORDER BY s.created_at, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
ORDER BY s.name DESC, s.id DESC
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
  AND s.project_id = $9
ORDER BY s.name, s.id
LIMIT $10;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND p.organization_id = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
  AND (s.created_at, s.id) < ($9, $10)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
  AND (s.created_at, s.id) > ($9, $10)
ORDER BY s.created_at, s.id
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
  AND (s.name, s.id) < ($9, $10)
ORDER BY s.name DESC, s.id DESC
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
  AND (s.name, s.id) > ($9, $10)
ORDER BY s.name, s.id
LIMIT $11;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
ORDER BY s.created_at DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
ORDER BY s.created_at, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
ORDER BY s.name DESC, s.id DESC
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
  AND s.project_id = $8
ORDER BY s.name, s.id
LIMIT $9;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.created_at DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.created_at, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.name DESC, s.id DESC
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
  AND s.state = $7
ORDER BY s.name, s.id
LIMIT $8;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.created_at, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.name DESC, s.id DESC
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.id IN (SELECT w.id
                    FROM grants g
                    JOIN projects p ON p.organization_id = g.scope_id OR p.id = g.scope_id
                    JOIN workspaces w ON w.project_id = p.id
                   WHERE g.account_id = $1
                   UNION ALL
                   SELECT g.scope_id FROM grants g WHERE g.account_id = $2)
  AND (s.id = $3 OR s.project_id = $4 OR p.organization_id = $5)
  AND (NOT $6::BOOL OR NOT o.second_factor_required)
ORDER BY s.name, s.id
LIMIT $7;

SELECT 'workspace' AS kind, s.id, p.organization_id, s.project_id, s.name, o.name AS organization_name, p.name AS project_name,
       s.type, s.state, CASE WHEN o.state = 'suspended' THEN 'organization' WHEN p.state = 'suspended' THEN 'project' ELSE '' END AS suspended_by,
       false AS second_factor_required, s.version, s.created_at, s.updated_at,
       s.deletion_job_id, dj.workspace_id AS deletion_workspace_id, COALESCE(dj.state, '') AS deletion_state
  FROM workspaces s
  JOIN projects p ON p.id = s.project_id
  JOIN organizations o ON o.id = p.organization_id
  LEFT JOIN jobs dj ON dj.id = s.deletion_job_id
 WHERE s.state <> 'removed'
  AND s.project_id = $1
ORDER BY s.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.created_at, a.id) < ($1, $2)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.created_at, a.id) > ($1, $2)
ORDER BY a.created_at, a.id
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.name, a.id) < ($1, $2)
ORDER BY a.name DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.name, a.id) > ($1, $2)
ORDER BY a.name, a.id
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
  AND (a.created_at, a.id) < ($5, $6)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $7;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
  AND (a.created_at, a.id) > ($5, $6)
ORDER BY a.created_at, a.id
LIMIT $7;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
  AND (a.name, a.id) < ($5, $6)
ORDER BY a.name DESC, a.id DESC
LIMIT $7;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
  AND (a.name, a.id) > ($5, $6)
ORDER BY a.name, a.id
LIMIT $7;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
ORDER BY a.created_at DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
ORDER BY a.created_at, a.id
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
ORDER BY a.name DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND (a.organization_id = $1 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $2
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $3
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $4))
ORDER BY a.name, a.id
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.id = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
ORDER BY a.id
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.id = $1
ORDER BY a.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.created_at, a.id) < ($2, $3)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.created_at, a.id) > ($2, $3)
ORDER BY a.created_at, a.id
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.name, a.id) < ($2, $3)
ORDER BY a.name DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.name, a.id) > ($2, $3)
ORDER BY a.name, a.id
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
  AND (a.created_at, a.id) < ($6, $7)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $8;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
  AND (a.created_at, a.id) > ($6, $7)
ORDER BY a.created_at, a.id
LIMIT $8;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
  AND (a.name, a.id) < ($6, $7)
ORDER BY a.name DESC, a.id DESC
LIMIT $8;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
  AND (a.name, a.id) > ($6, $7)
ORDER BY a.name, a.id
LIMIT $8;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
ORDER BY a.created_at DESC, a.id DESC
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
ORDER BY a.created_at, a.id
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
ORDER BY a.name DESC, a.id DESC
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
ORDER BY a.name, a.id
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
  AND (a.created_at, a.id) < ($3, $4)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
  AND (a.created_at, a.id) > ($3, $4)
ORDER BY a.created_at, a.id
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
  AND (a.name, a.id) < ($3, $4)
ORDER BY a.name DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
  AND (a.name, a.id) > ($3, $4)
ORDER BY a.name, a.id
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
ORDER BY a.created_at, a.id
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
ORDER BY a.name DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.organization_id = $2
ORDER BY a.name, a.id
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND (a.created_at, a.id) < ($3, $4)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND (a.created_at, a.id) > ($3, $4)
ORDER BY a.created_at, a.id
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND (a.name, a.id) < ($3, $4)
ORDER BY a.name DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND (a.name, a.id) > ($3, $4)
ORDER BY a.name, a.id
LIMIT $5;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
  AND (a.created_at, a.id) < ($4, $5)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
  AND (a.created_at, a.id) > ($4, $5)
ORDER BY a.created_at, a.id
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
  AND (a.name, a.id) < ($4, $5)
ORDER BY a.name DESC, a.id DESC
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
  AND (a.name, a.id) > ($4, $5)
ORDER BY a.name, a.id
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
ORDER BY a.created_at DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
ORDER BY a.created_at, a.id
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
ORDER BY a.name DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
  AND a.organization_id = $3
ORDER BY a.name, a.id
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
ORDER BY a.created_at, a.id
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
ORDER BY a.name DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
  AND a.state = $2
ORDER BY a.name, a.id
LIMIT $3;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
ORDER BY a.created_at DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
ORDER BY a.created_at, a.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
ORDER BY a.name DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.kind = $1
ORDER BY a.name, a.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.name = $1
  AND (a.organization_id = $2 OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = $3
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = $4
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = $5))
ORDER BY a.id
LIMIT $6;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.name = $1
ORDER BY a.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
  AND (a.created_at, a.id) < ($2, $3)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
  AND (a.created_at, a.id) > ($2, $3)
ORDER BY a.created_at, a.id
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
  AND (a.name, a.id) < ($2, $3)
ORDER BY a.name DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
  AND (a.name, a.id) > ($2, $3)
ORDER BY a.name, a.id
LIMIT $4;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
ORDER BY a.created_at DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
ORDER BY a.created_at, a.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
ORDER BY a.name DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
  AND a.state = $1
ORDER BY a.name, a.id
LIMIT $2;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
ORDER BY a.created_at DESC, a.id DESC
LIMIT $1;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
ORDER BY a.created_at, a.id
LIMIT $1;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
ORDER BY a.name DESC, a.id DESC
LIMIT $1;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true
ORDER BY a.name, a.id
LIMIT $1;

SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true AND a.id = $1;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND (d.day, r.id) < ($4, $5)
ORDER BY d.day DESC, r.id DESC
LIMIT $6;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND (d.day, r.id) > ($4, $5)
ORDER BY d.day, r.id
LIMIT $6;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.project_id = $4
  AND (d.day, r.id) < ($5, $6)
ORDER BY d.day DESC, r.id DESC
LIMIT $7;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.project_id = $4
  AND (d.day, r.id) > ($5, $6)
ORDER BY d.day, r.id
LIMIT $7;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.project_id = $4
ORDER BY d.day DESC, r.id DESC
LIMIT $5;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.project_id = $4
ORDER BY d.day, r.id
LIMIT $5;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.workspace_id = $4
  AND (d.day, r.id) < ($5, $6)
ORDER BY d.day DESC, r.id DESC
LIMIT $7;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.workspace_id = $4
  AND (d.day, r.id) > ($5, $6)
ORDER BY d.day, r.id
LIMIT $7;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.workspace_id = $4
ORDER BY d.day DESC, r.id DESC
LIMIT $5;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
  AND r.workspace_id = $4
ORDER BY d.day, r.id
LIMIT $5;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
ORDER BY d.day DESC, r.id DESC
LIMIT $4;

SELECT d.day, r.id, r.allocation_id, r.name, p.name AS project, w.name AS workspace, r.cpus, r.memory_bytes, r.volume_bytes,
       CAST(extract(epoch FROM least(coalesce(r.to_at, now()), d.day + INTERVAL '24 hours') - greatest(r.from_at, d.day)) AS FLOAT8) AS seconds
  FROM generate_series($1::TIMESTAMPTZ, $2::TIMESTAMPTZ, INTERVAL '24 hours') AS d (day)
  JOIN usage_records r ON r.from_at < d.day + INTERVAL '24 hours' AND coalesce(r.to_at, now()) > d.day
  JOIN projects p ON p.id = r.project_id
  JOIN workspaces w ON w.id = r.workspace_id
 WHERE d.day <= now()
  AND r.organization_id = $3
ORDER BY d.day, r.id
LIMIT $4;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND (a.name, g.id) < ($2, $3)
ORDER BY a.name DESC, g.id DESC
LIMIT $4;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND (a.name, g.id) > ($2, $3)
ORDER BY a.name, g.id
LIMIT $4;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND (g.created_at, g.id) < ($2, $3)
ORDER BY g.created_at DESC, g.id DESC
LIMIT $4;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND (g.created_at, g.id) > ($2, $3)
ORDER BY g.created_at, g.id
LIMIT $4;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
  AND (a.name, g.id) < ($3, $4)
ORDER BY a.name DESC, g.id DESC
LIMIT $5;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
  AND (a.name, g.id) > ($3, $4)
ORDER BY a.name, g.id
LIMIT $5;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
  AND (g.created_at, g.id) < ($3, $4)
ORDER BY g.created_at DESC, g.id DESC
LIMIT $5;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
  AND (g.created_at, g.id) > ($3, $4)
ORDER BY g.created_at, g.id
LIMIT $5;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
ORDER BY a.name DESC, g.id DESC
LIMIT $3;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
ORDER BY a.name, g.id
LIMIT $3;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
ORDER BY g.created_at DESC, g.id DESC
LIMIT $3;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
  AND g.account_id = $2
ORDER BY g.created_at, g.id
LIMIT $3;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
ORDER BY a.name DESC, g.id DESC
LIMIT $2;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
ORDER BY a.name, g.id
LIMIT $2;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
ORDER BY g.created_at DESC, g.id DESC
LIMIT $2;

SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true
  AND g.scope_id = ANY($1)
ORDER BY g.created_at, g.id
LIMIT $2;

SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.host_id) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
  AND (h.name, h.id) < ($2, $3)
ORDER BY h.name DESC, h.id DESC
LIMIT $4;

SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.host_id) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
  AND (h.name, h.id) > ($2, $3)
ORDER BY h.name, h.id
LIMIT $4;

SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.host_id) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
  AND h.id = $2
ORDER BY h.id
LIMIT $3;

SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.host_id) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
  AND h.name = $2
ORDER BY h.id
LIMIT $3;

SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.host_id) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
ORDER BY h.name DESC, h.id DESC
LIMIT $2;

SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.host_id) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
ORDER BY h.name, h.id
LIMIT $2;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND (i.created_at, i.id) < ($2, $3)
ORDER BY i.created_at DESC, i.id DESC
LIMIT $4;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND (i.created_at, i.id) > ($2, $3)
ORDER BY i.created_at, i.id
LIMIT $4;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND (i.scope_id = $2 OR wp.id = $3)
  AND (i.created_at, i.id) < ($4, $5)
ORDER BY i.created_at DESC, i.id DESC
LIMIT $6;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND (i.scope_id = $2 OR wp.id = $3)
  AND (i.created_at, i.id) > ($4, $5)
ORDER BY i.created_at, i.id
LIMIT $6;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND (i.scope_id = $2 OR wp.id = $3)
ORDER BY i.created_at DESC, i.id DESC
LIMIT $4;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND (i.scope_id = $2 OR wp.id = $3)
ORDER BY i.created_at, i.id
LIMIT $4;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND i.scope_id = $2
  AND (i.created_at, i.id) < ($3, $4)
ORDER BY i.created_at DESC, i.id DESC
LIMIT $5;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND i.scope_id = $2
  AND (i.created_at, i.id) > ($3, $4)
ORDER BY i.created_at, i.id
LIMIT $5;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND i.scope_id = $2
ORDER BY i.created_at DESC, i.id DESC
LIMIT $3;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
  AND i.scope_id = $2
ORDER BY i.created_at, i.id
LIMIT $3;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
ORDER BY i.created_at DESC, i.id DESC
LIMIT $2;

SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true
   AND i.expires_at > now()
  AND i.organization_id = $1
ORDER BY i.created_at, i.id
LIMIT $2;

SELECT s.network_id AS id, s.name, s.cidr, o.name AS organization, s.addresses,
       (SELECT count(*)
          FROM addresses p
          JOIN network_grants g ON g.id = p.network_grant_id
          JOIN allocations a ON a.id = p.allocation_id
         WHERE g.network_id = s.network_id AND a.workspace_id = $1) AS in_use,
       least(s.room, (SELECT count(*) FROM addresses f WHERE f.workspace_id = s.workspace_id AND f.network = s.name AND f.state = 'free'))::INT8 AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = $1 AND h.removed_at IS NULL AND s.network_id::TEXT = ANY(h.networks)) AS hosts
  FROM (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
                   CASE WHEN bool_or(g.addresses IS NULL) THEN NULL ELSE sum(g.addresses)::INT8 END AS addresses,
                   sum(CASE WHEN g.addresses IS NULL THEN 100000000
                            ELSE greatest(0, g.addresses - (SELECT count(*) FROM addresses ga WHERE ga.network_grant_id = g.id)) END)::INT8 AS room
              FROM network_grants g
              JOIN networks gn ON gn.id = g.network_id
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr) s
  JOIN workspaces w ON w.id = s.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE true
  AND (s.name, s.network_id) < ($2, $3)
ORDER BY s.name DESC, s.network_id DESC
LIMIT $4;

SELECT s.network_id AS id, s.name, s.cidr, o.name AS organization, s.addresses,
       (SELECT count(*)
          FROM addresses p
          JOIN network_grants g ON g.id = p.network_grant_id
          JOIN allocations a ON a.id = p.allocation_id
         WHERE g.network_id = s.network_id AND a.workspace_id = $1) AS in_use,
       least(s.room, (SELECT count(*) FROM addresses f WHERE f.workspace_id = s.workspace_id AND f.network = s.name AND f.state = 'free'))::INT8 AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = $1 AND h.removed_at IS NULL AND s.network_id::TEXT = ANY(h.networks)) AS hosts
  FROM (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
                   CASE WHEN bool_or(g.addresses IS NULL) THEN NULL ELSE sum(g.addresses)::INT8 END AS addresses,
                   sum(CASE WHEN g.addresses IS NULL THEN 100000000
                            ELSE greatest(0, g.addresses - (SELECT count(*) FROM addresses ga WHERE ga.network_grant_id = g.id)) END)::INT8 AS room
              FROM network_grants g
              JOIN networks gn ON gn.id = g.network_id
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr) s
  JOIN workspaces w ON w.id = s.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE true
  AND (s.name, s.network_id) > ($2, $3)
ORDER BY s.name, s.network_id
LIMIT $4;

SELECT s.network_id AS id, s.name, s.cidr, o.name AS organization, s.addresses,
       (SELECT count(*)
          FROM addresses p
          JOIN network_grants g ON g.id = p.network_grant_id
          JOIN allocations a ON a.id = p.allocation_id
         WHERE g.network_id = s.network_id AND a.workspace_id = $1) AS in_use,
       least(s.room, (SELECT count(*) FROM addresses f WHERE f.workspace_id = s.workspace_id AND f.network = s.name AND f.state = 'free'))::INT8 AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = $1 AND h.removed_at IS NULL AND s.network_id::TEXT = ANY(h.networks)) AS hosts
  FROM (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
                   CASE WHEN bool_or(g.addresses IS NULL) THEN NULL ELSE sum(g.addresses)::INT8 END AS addresses,
                   sum(CASE WHEN g.addresses IS NULL THEN 100000000
                            ELSE greatest(0, g.addresses - (SELECT count(*) FROM addresses ga WHERE ga.network_grant_id = g.id)) END)::INT8 AS room
              FROM network_grants g
              JOIN networks gn ON gn.id = g.network_id
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr) s
  JOIN workspaces w ON w.id = s.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE true
ORDER BY s.name DESC, s.network_id DESC
LIMIT $2;

SELECT s.network_id AS id, s.name, s.cidr, o.name AS organization, s.addresses,
       (SELECT count(*)
          FROM addresses p
          JOIN network_grants g ON g.id = p.network_grant_id
          JOIN allocations a ON a.id = p.allocation_id
         WHERE g.network_id = s.network_id AND a.workspace_id = $1) AS in_use,
       least(s.room, (SELECT count(*) FROM addresses f WHERE f.workspace_id = s.workspace_id AND f.network = s.name AND f.state = 'free'))::INT8 AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = $1 AND h.removed_at IS NULL AND s.network_id::TEXT = ANY(h.networks)) AS hosts
  FROM (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
                   CASE WHEN bool_or(g.addresses IS NULL) THEN NULL ELSE sum(g.addresses)::INT8 END AS addresses,
                   sum(CASE WHEN g.addresses IS NULL THEN 100000000
                            ELSE greatest(0, g.addresses - (SELECT count(*) FROM addresses ga WHERE ga.network_grant_id = g.id)) END)::INT8 AS room
              FROM network_grants g
              JOIN networks gn ON gn.id = g.network_id
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN (SELECT gw.id
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr) s
  JOIN workspaces w ON w.id = s.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE true
ORDER BY s.name, s.network_id
LIMIT $2;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND (t.created_at, t.id) < ($2, $3)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $4;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND (t.created_at, t.id) > ($2, $3)
ORDER BY t.created_at, t.id
LIMIT $4;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND h.name = $2
  AND (t.created_at, t.id) < ($3, $4)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $5;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND h.name = $2
  AND (t.created_at, t.id) > ($3, $4)
ORDER BY t.created_at, t.id
LIMIT $5;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND h.name = $2
ORDER BY t.created_at DESC, t.id DESC
LIMIT $3;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND h.name = $2
ORDER BY t.created_at, t.id
LIMIT $3;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND t.host_id = $2
  AND (t.created_at, t.id) < ($3, $4)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $5;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND t.host_id = $2
  AND (t.created_at, t.id) > ($3, $4)
ORDER BY t.created_at, t.id
LIMIT $5;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND t.host_id = $2
ORDER BY t.created_at DESC, t.id DESC
LIMIT $3;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
  AND t.host_id = $2
ORDER BY t.created_at, t.id
LIMIT $3;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
ORDER BY t.created_at DESC, t.id DESC
LIMIT $2;

SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))
  AND t.workspace_id = $1
ORDER BY t.created_at, t.id
LIMIT $2;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND (t.created_at, t.id) < ($2, $3)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $4;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND (t.created_at, t.id) > ($2, $3)
ORDER BY t.created_at, t.id
LIMIT $4;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND n.name = $2
  AND (t.created_at, t.id) < ($3, $4)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $5;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND n.name = $2
  AND (t.created_at, t.id) > ($3, $4)
ORDER BY t.created_at, t.id
LIMIT $5;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND n.name = $2
ORDER BY t.created_at DESC, t.id DESC
LIMIT $3;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND n.name = $2
ORDER BY t.created_at, t.id
LIMIT $3;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.network_id = $2
  AND (t.created_at, t.id) < ($3, $4)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $5;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.network_id = $2
  AND (t.created_at, t.id) > ($3, $4)
ORDER BY t.created_at, t.id
LIMIT $5;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.network_id = $2
ORDER BY t.created_at DESC, t.id DESC
LIMIT $3;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.network_id = $2
ORDER BY t.created_at, t.id
LIMIT $3;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
ORDER BY t.created_at DESC, t.id DESC
LIMIT $2;

SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))
  AND t.workspace_id = $1
ORDER BY t.created_at, t.id
LIMIT $2;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
  AND (t.created_at, t.id) < ($2, $3)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $4;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
  AND (t.created_at, t.id) > ($2, $3)
ORDER BY t.created_at, t.id
LIMIT $4;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.zone_id = $2
  AND (t.created_at, t.id) < ($3, $4)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $5;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.zone_id = $2
  AND (t.created_at, t.id) > ($3, $4)
ORDER BY t.created_at, t.id
LIMIT $5;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.zone_id = $2
ORDER BY t.created_at DESC, t.id DESC
LIMIT $3;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
  AND t.zone_id = $2
ORDER BY t.created_at, t.id
LIMIT $3;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
ORDER BY t.created_at DESC, t.id DESC
LIMIT $2;

SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))
  AND t.workspace_id = $1
ORDER BY t.created_at, t.id
LIMIT $2;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true AND z.workspace_id = $1 AND z.id = $2;

SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true AND z.workspace_id = $1 AND z.name = $2;
