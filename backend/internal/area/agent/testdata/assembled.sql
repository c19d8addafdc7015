-- Statements that the area puts together at run time; written by go test ./backend/internal/area/agent -run Assembled -update

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.id) < ($2)
ORDER BY a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.id) > ($2)
ORDER BY a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.state, a.id) < ($2, $3)
ORDER BY a.state DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.state, a.id) > ($2, $3)
ORDER BY a.state, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
  AND (a.id) < ($3)
ORDER BY a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
  AND (a.id) > ($3)
ORDER BY a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
  AND (a.state, a.id) < ($3, $4)
ORDER BY a.state DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
  AND (a.state, a.id) > ($3, $4)
ORDER BY a.state, a.id
LIMIT $5;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
ORDER BY a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
ORDER BY a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
ORDER BY a.state DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
ORDER BY a.state, a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.id) < ($3)
ORDER BY a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.id) > ($3)
ORDER BY a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.state, a.id) < ($3, $4)
ORDER BY a.state DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.state, a.id) > ($3, $4)
ORDER BY a.state, a.id
LIMIT $5;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
  AND (a.id) < ($4)
ORDER BY a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
  AND (a.id) > ($4)
ORDER BY a.id
LIMIT $5;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
  AND (a.state, a.id) < ($4, $5)
ORDER BY a.state DESC, a.id DESC
LIMIT $6;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
  AND (a.state, a.id) > ($4, $5)
ORDER BY a.state, a.id
LIMIT $6;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
ORDER BY a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
ORDER BY a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
ORDER BY a.state DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND a.host_id = $3
ORDER BY a.state, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.state DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.state, a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.id
LIMIT $2;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.state DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.state, a.id
LIMIT $2;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
  AND (b.created_at, b.version || ' ' || b.arch) < ($1, $2)
ORDER BY b.created_at DESC, b.version || ' ' || b.arch DESC
LIMIT $3;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
  AND (b.created_at, b.version || ' ' || b.arch) > ($1, $2)
ORDER BY b.created_at, b.version || ' ' || b.arch
LIMIT $3;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
  AND b.arch = $1
  AND (b.created_at, b.version || ' ' || b.arch) < ($2, $3)
ORDER BY b.created_at DESC, b.version || ' ' || b.arch DESC
LIMIT $4;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
  AND b.arch = $1
  AND (b.created_at, b.version || ' ' || b.arch) > ($2, $3)
ORDER BY b.created_at, b.version || ' ' || b.arch
LIMIT $4;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
  AND b.arch = $1
ORDER BY b.created_at DESC, b.version || ' ' || b.arch DESC
LIMIT $2;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
  AND b.arch = $1
ORDER BY b.created_at, b.version || ' ' || b.arch
LIMIT $2;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
ORDER BY b.created_at DESC, b.version || ' ' || b.arch DESC
LIMIT $1;

SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true
ORDER BY b.created_at, b.version || ' ' || b.arch
LIMIT $1;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND (d.created_at, d.id) < ($2, $3)
ORDER BY d.created_at DESC, d.id DESC
LIMIT $4;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND (d.created_at, d.id) > ($2, $3)
ORDER BY d.created_at, d.id
LIMIT $4;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND (d.name, d.id) < ($2, $3)
ORDER BY d.name DESC, d.id DESC
LIMIT $4;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND (d.name, d.id) > ($2, $3)
ORDER BY d.name, d.id
LIMIT $4;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
  AND (d.created_at, d.id) < ($3, $4)
ORDER BY d.created_at DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
  AND (d.created_at, d.id) > ($3, $4)
ORDER BY d.created_at, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
  AND (d.name, d.id) < ($3, $4)
ORDER BY d.name DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
  AND (d.name, d.id) > ($3, $4)
ORDER BY d.name, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
ORDER BY d.created_at DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
ORDER BY d.created_at, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
ORDER BY d.name DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
  AND r.state = $2
ORDER BY d.name, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
ORDER BY d.created_at DESC, d.id DESC
LIMIT $2;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
ORDER BY d.created_at, d.id
LIMIT $2;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
ORDER BY d.name DESC, d.id DESC
LIMIT $2;

SELECT d.id, d.workspace_id, d.name, d.version, d.region, d.zone, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at,
       r.version AS revision, d.created_at, r.updated_at
  FROM update_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND d.workspace_id = $1
ORDER BY d.name, d.id
LIMIT $2;
