-- Statements that the area puts together at run time; written by go test -run Assembled -update

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
  AND (c.name, c.id) < ($2, $3)
ORDER BY c.name DESC, c.id DESC
LIMIT $4;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
  AND (c.name, c.id) > ($2, $3)
ORDER BY c.name, c.id
LIMIT $4;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
  AND c.type = $2
  AND (c.name, c.id) < ($3, $4)
ORDER BY c.name DESC, c.id DESC
LIMIT $5;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
  AND c.type = $2
  AND (c.name, c.id) > ($3, $4)
ORDER BY c.name, c.id
LIMIT $5;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
  AND c.type = $2
ORDER BY c.name DESC, c.id DESC
LIMIT $3;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
  AND c.type = $2
ORDER BY c.name, c.id
LIMIT $3;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
ORDER BY c.name DESC, c.id DESC
LIMIT $2;

SELECT c.id, c.workspace_id, c.name, c.type, c.enabled, c.subscribes, c.url, c.server, c.tls, c.username, c.password_sealed, c.sender,
       c.recipients, c.version, c.created_at, c.updated_at,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at) ORDER BY s.created_at, s.id)
                   FROM channel_secrets s WHERE s.channel_id = c.id), '[]') AS secrets
  FROM channels c
 WHERE true
  AND c.workspace_id = $1
ORDER BY c.name, c.id
LIMIT $2;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND (d.at, d.id) < ($2, $3)
ORDER BY d.at DESC, d.id DESC
LIMIT $4;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND (d.at, d.id) > ($2, $3)
ORDER BY d.at, d.id
LIMIT $4;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.channel_id = $2
  AND (d.at, d.id) < ($3, $4)
ORDER BY d.at DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.channel_id = $2
  AND (d.at, d.id) > ($3, $4)
ORDER BY d.at, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.channel_id = $2
ORDER BY d.at DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.channel_id = $2
ORDER BY d.at, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
  AND (d.at, d.id) < ($3, $4)
ORDER BY d.at DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
  AND (d.at, d.id) > ($3, $4)
ORDER BY d.at, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
  AND d.channel_id = $3
  AND (d.at, d.id) < ($4, $5)
ORDER BY d.at DESC, d.id DESC
LIMIT $6;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
  AND d.channel_id = $3
  AND (d.at, d.id) > ($4, $5)
ORDER BY d.at, d.id
LIMIT $6;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
  AND d.channel_id = $3
ORDER BY d.at DESC, d.id DESC
LIMIT $4;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
  AND d.channel_id = $3
ORDER BY d.at, d.id
LIMIT $4;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
ORDER BY d.at DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
  AND d.outcome = $2
ORDER BY d.at, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
ORDER BY d.at DESC, d.id DESC
LIMIT $2;

SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true
  AND d.workspace_id = $1
ORDER BY d.at, d.id
LIMIT $2;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
  AND (n.at, n.id) < ($2, $3)
ORDER BY n.at DESC, n.id DESC
LIMIT $4;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
  AND (n.at, n.id) > ($2, $3)
ORDER BY n.at, n.id
LIMIT $4;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
  AND n.remedy_id = $2
  AND (n.at, n.id) < ($3, $4)
ORDER BY n.at DESC, n.id DESC
LIMIT $5;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
  AND n.remedy_id = $2
  AND (n.at, n.id) > ($3, $4)
ORDER BY n.at, n.id
LIMIT $5;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
  AND n.remedy_id = $2
ORDER BY n.at DESC, n.id DESC
LIMIT $3;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
  AND n.remedy_id = $2
ORDER BY n.at, n.id
LIMIT $3;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
ORDER BY n.at DESC, n.id DESC
LIMIT $2;

SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true
  AND r.workspace_id = $1
ORDER BY n.at, n.id
LIMIT $2;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
  AND (r.name, r.id) < ($2, $3)
ORDER BY r.name DESC, r.id DESC
LIMIT $4;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
  AND (r.name, r.id) > ($2, $3)
ORDER BY r.name, r.id
LIMIT $4;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
  AND r.noun = $2
  AND (r.name, r.id) < ($3, $4)
ORDER BY r.name DESC, r.id DESC
LIMIT $5;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
  AND r.noun = $2
  AND (r.name, r.id) > ($3, $4)
ORDER BY r.name, r.id
LIMIT $5;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
  AND r.noun = $2
ORDER BY r.name DESC, r.id DESC
LIMIT $3;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
  AND r.noun = $2
ORDER BY r.name, r.id
LIMIT $3;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
ORDER BY r.name DESC, r.id DESC
LIMIT $2;

SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true
  AND r.workspace_id = $1
ORDER BY r.name, r.id
LIMIT $2;
