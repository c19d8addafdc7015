-- Statements that the area puts together at run time; written by go test -run Assembled -update

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND (d.since, d.id) < ($2, $3)
ORDER BY d.since DESC, d.id DESC
LIMIT $4;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND (d.since, d.id) > ($2, $3)
ORDER BY d.since, d.id
LIMIT $4;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.host_id = $2
  AND (d.since, d.id) < ($3, $4)
ORDER BY d.since DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.host_id = $2
  AND (d.since, d.id) > ($3, $4)
ORDER BY d.since, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.host_id = $2
ORDER BY d.since DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.host_id = $2
ORDER BY d.since, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.unit_id = $2
  AND (d.since, d.id) < ($3, $4)
ORDER BY d.since DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.unit_id = $2
  AND (d.since, d.id) > ($3, $4)
ORDER BY d.since, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.unit_id = $2
ORDER BY d.since DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
  AND d.unit_id = $2
ORDER BY d.since, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
ORDER BY d.since DESC, d.id DESC
LIMIT $2;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.ended_at IS NULL
ORDER BY d.since, d.id
LIMIT $2;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.promise = $2
  AND d.ended_at IS NULL
  AND (d.since, d.id) < ($3, $4)
ORDER BY d.since DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.promise = $2
  AND d.ended_at IS NULL
  AND (d.since, d.id) > ($3, $4)
ORDER BY d.since, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.promise = $2
  AND d.ended_at IS NULL
ORDER BY d.since DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.promise = $2
  AND d.ended_at IS NULL
ORDER BY d.since, d.id
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
  AND (d.since, d.id) < ($3, $4)
ORDER BY d.since DESC, d.id DESC
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
  AND (d.since, d.id) > ($3, $4)
ORDER BY d.since, d.id
LIMIT $5;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
  AND d.promise = $3
  AND d.host_id = $4
  AND d.unit_id = $5
  AND (d.since, d.id) < ($6, $7)
ORDER BY d.since DESC, d.id DESC
LIMIT $8;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
  AND d.promise = $3
  AND d.host_id = $4
  AND d.unit_id = $5
  AND (d.since, d.id) > ($6, $7)
ORDER BY d.since, d.id
LIMIT $8;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
  AND d.promise = $3
  AND d.host_id = $4
  AND d.unit_id = $5
ORDER BY d.since DESC, d.id DESC
LIMIT $6;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
  AND d.promise = $3
  AND d.host_id = $4
  AND d.unit_id = $5
ORDER BY d.since, d.id
LIMIT $6;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
ORDER BY d.since DESC, d.id DESC
LIMIT $3;

SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true
  AND d.workspace_id = $1
  AND d.state = $2
ORDER BY d.since, d.id
LIMIT $3;
