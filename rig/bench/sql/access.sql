-- Who may do what in a large organization: projects with ten workspaces each, roles of its own, and people with a hundred grants each.
-- Parameters: $1 how many people, $2 how many roles, $3 how many projects. Each person has a session: its secret is 'kl_' and the number with zeros before it,
-- 43 characters.
WITH organization AS (
    SELECT o.id, p.id AS project_id FROM organizations o JOIN projects p ON p.organization_id = o.id ORDER BY o.created_at, p.created_at LIMIT 1
), made_projects AS (
    INSERT INTO projects (id, organization_id, name)
    SELECT gen_random_uuid(), o.id, 'p' || n FROM organization o, generate_series(1, $3::INT8) AS n
    RETURNING id
), made_workspaces AS (
    INSERT INTO workspaces (id, project_id, name)
    SELECT gen_random_uuid(), p.id, 'w' || n FROM made_projects p, generate_series(1, 10) AS n
    RETURNING id
), made_roles AS (
    INSERT INTO roles (id, organization_id, name, permissions)
    SELECT gen_random_uuid(), o.id, 'r' || n,
           ARRAY['workspace.compute_unit:view', 'workspace.host:view', 'workspace.job:view', 'workspace.allocation:view', 'workspace.allocation:create',
                 'workspace.network:view', 'workspace.firewall:view', 'workspace.event:view', 'workspace.plan:view', 'workspace.dns_zone:view']
      FROM organization o, generate_series(1, $2::INT8) AS n
    RETURNING id
), people AS (
    INSERT INTO accounts (id, name, password_hash, role)
    SELECT gen_random_uuid(), 'person-' || n, 'none', 'account' FROM generate_series(1, $1::INT8) AS n
    RETURNING id, name
), sessions AS (
    INSERT INTO tokens (id, kind, account_id, name, prefix, hash, expires_at)
    SELECT gen_random_uuid(), 'session', p.id, '127.0.0.1', 'kl_0', sha256(('kl_' || lpad(substr(p.name, 8), 43, '0'))::BYTEA), now() + INTERVAL '1 day' FROM people p
), numbered_roles AS (
    SELECT r.id, row_number() OVER (ORDER BY r.id) - 1 AS n FROM made_roles r
), numbered_workspaces AS (
    SELECT w.id, row_number() OVER (ORDER BY w.id) - 1 AS n FROM made_workspaces w
), numbered_people AS (
    SELECT p.id, row_number() OVER (ORDER BY p.id) - 1 AS n FROM people p
), given AS (
    INSERT INTO grants (id, account_id, role, role_id, scope, scope_id, created_by)
    SELECT gen_random_uuid(), p.id, 'custom', r.id, 'workspace', w.id, 'bench'
      FROM numbered_people p
      CROSS JOIN generate_series(0, 98) AS g (n)
      JOIN numbered_roles r ON r.n = (p.n * 100 + g.n) % $2::INT8
      JOIN numbered_workspaces w ON w.n = (p.n * 7 + g.n * 10) % ($3::INT8 * 10)
)
INSERT INTO grants (id, account_id, role, scope, scope_id, created_by)
SELECT gen_random_uuid(), p.id, 'viewer', 'project', o.project_id, 'bench' FROM people p, organization o
