-- Statements that the area puts together at run time; written by go test -run Assembled -update

SELECT n.id, n.workspace_id, n.name, n.description, n.cidr, n.version, n.created_at, n.updated_at,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name) AS addresses,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name AND p.state = 'free') AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = n.workspace_id AND h.removed_at IS NULL AND n.name = ANY(h.networks)) AS hosts
  FROM networks n
 WHERE true
  AND n.workspace_id = $1
  AND (n.name, n.id) < ($2, $3)
ORDER BY n.name DESC, n.id DESC
LIMIT $4;

SELECT n.id, n.workspace_id, n.name, n.description, n.cidr, n.version, n.created_at, n.updated_at,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name) AS addresses,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name AND p.state = 'free') AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = n.workspace_id AND h.removed_at IS NULL AND n.name = ANY(h.networks)) AS hosts
  FROM networks n
 WHERE true
  AND n.workspace_id = $1
  AND (n.name, n.id) > ($2, $3)
ORDER BY n.name, n.id
LIMIT $4;

SELECT n.id, n.workspace_id, n.name, n.description, n.cidr, n.version, n.created_at, n.updated_at,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name) AS addresses,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name AND p.state = 'free') AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = n.workspace_id AND h.removed_at IS NULL AND n.name = ANY(h.networks)) AS hosts
  FROM networks n
 WHERE true
  AND n.workspace_id = $1
ORDER BY n.name DESC, n.id DESC
LIMIT $2;

SELECT n.id, n.workspace_id, n.name, n.description, n.cidr, n.version, n.created_at, n.updated_at,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name) AS addresses,
       (SELECT count(*) FROM addresses p WHERE p.workspace_id = n.workspace_id AND p.network = n.name AND p.state = 'free') AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = n.workspace_id AND h.removed_at IS NULL AND n.name = ANY(h.networks)) AS hosts
  FROM networks n
 WHERE true
  AND n.workspace_id = $1
ORDER BY n.name, n.id
LIMIT $2;
