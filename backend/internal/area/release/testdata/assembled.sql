-- Statements that the area puts together at run time; written by go test ./backend/internal/area/release -run Assembled -update

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND (d.created_at, d.id) < ($1, $2)
ORDER BY d.created_at DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND (d.created_at, d.id) > ($1, $2)
ORDER BY d.created_at, d.id
LIMIT $3;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND (d.name) < ($1)
ORDER BY d.name DESC
LIMIT $2;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND (d.name) > ($1)
ORDER BY d.name
LIMIT $2;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
  AND (d.created_at, d.id) < ($2, $3)
ORDER BY d.created_at DESC, d.id DESC
LIMIT $4;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
  AND (d.created_at, d.id) > ($2, $3)
ORDER BY d.created_at, d.id
LIMIT $4;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
  AND (d.name) < ($2)
ORDER BY d.name DESC
LIMIT $3;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
  AND (d.name) > ($2)
ORDER BY d.name
LIMIT $3;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
ORDER BY d.created_at DESC, d.id DESC
LIMIT $2;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
ORDER BY d.created_at, d.id
LIMIT $2;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
ORDER BY d.name
LIMIT $2;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
  AND r.state = $1
ORDER BY d.name DESC
LIMIT $2;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
ORDER BY d.created_at DESC, d.id DESC
LIMIT $1;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
ORDER BY d.created_at, d.id
LIMIT $1;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
ORDER BY d.name
LIMIT $1;

SELECT d.id, d.name, d.version, r.state, r.plan, r.wave, r.waves, r.reason, r.next_at, r.ended_at, r.version AS revision, d.created_at, r.updated_at
  FROM release_deliveries d
  JOIN rollouts r ON r.id = d.id
 WHERE true
ORDER BY d.name DESC
LIMIT $1;
