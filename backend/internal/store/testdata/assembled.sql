-- Statements that the store puts together at run time; written by go test ./backend/internal/store -run Assembled -update

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.created_at, a.id) < ($2, $3)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.created_at, a.id) > ($2, $3)
ORDER BY a.created_at, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.login_user, a.id) < ($2, $3)
ORDER BY a.login_user DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.login_user, a.id) > ($2, $3)
ORDER BY a.login_user, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.state, a.id) < ($2, $3)
ORDER BY a.state DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (a.state, a.id) > ($2, $3)
ORDER BY a.state, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND (position($2 IN lower(a.login_user)) > 0 OR position($3 IN lower(u.name)) > 0 OR position($4 IN a.address) > 0)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
  AND (a.created_at, a.id) < ($2, $3)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
  AND (a.created_at, a.id) > ($2, $3)
ORDER BY a.created_at, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
  AND (a.login_user, a.id) < ($2, $3)
ORDER BY a.login_user DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
  AND (a.login_user, a.id) > ($2, $3)
ORDER BY a.login_user, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
  AND (a.state, a.id) < ($2, $3)
ORDER BY a.state DESC, a.id DESC
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
  AND (a.state, a.id) > ($2, $3)
ORDER BY a.state, a.id
LIMIT $4;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
ORDER BY a.created_at DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
ORDER BY a.created_at, a.id
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
ORDER BY a.login_user DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
ORDER BY a.login_user, a.id
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
ORDER BY a.state DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.ended_at IS NULL
ORDER BY a.state, a.id
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.host_id = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.labels @> $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.login_user = $2
  AND a.unit_network = $3
  AND a.ended_at IS NULL
  AND a.host_id = $4
  AND h.region = $5
  AND h.zone = $6
  AND a.labels @> $7
  AND (position($8 IN lower(a.login_user)) > 0 OR position($9 IN lower(u.name)) > 0 OR position($10 IN a.address) > 0)
  AND (a.created_at, a.id) < ($11, $12)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $13;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.login_user = $2
  AND a.unit_network = $3
  AND a.state = $4
  AND a.host_id = $5
  AND h.region = $6
  AND h.zone = $7
  AND a.labels @> $8
  AND (position($9 IN lower(a.login_user)) > 0 OR position($10 IN lower(u.name)) > 0 OR position($11 IN a.address) > 0)
  AND (a.created_at, a.id) < ($12, $13)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $14;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.login_user = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.created_at, a.id) < ($3, $4)
ORDER BY a.created_at DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.created_at, a.id) > ($3, $4)
ORDER BY a.created_at, a.id
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.login_user, a.id) < ($3, $4)
ORDER BY a.login_user DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.login_user, a.id) > ($3, $4)
ORDER BY a.login_user, a.id
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.state, a.id) < ($3, $4)
ORDER BY a.state DESC, a.id DESC
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
  AND (a.state, a.id) > ($3, $4)
ORDER BY a.state, a.id
LIMIT $5;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.created_at, a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.login_user DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.login_user, a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.state DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.state = $2
ORDER BY a.state, a.id
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND a.unit_network = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND h.region = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
  AND h.zone = $2
ORDER BY a.created_at DESC, a.id DESC
LIMIT $3;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.created_at DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.created_at, a.id
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.login_user DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.login_user, a.id
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.state DESC, a.id DESC
LIMIT $2;

SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true
  AND a.workspace_id = $1
ORDER BY a.state, a.id
LIMIT $2;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.organization_id = $1
  AND e.object_id = $2
  AND e.object_kind = $3
  AND e.action = $4
  AND e.actor_name = $5
  AND e.at >= $6
  AND e.at < $7
  AND (e.at, e.id) < ($8, $9)
ORDER BY e.at DESC, e.id DESC
LIMIT $10;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.organization_id = $1
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND (e.at, e.id) < ($2, $3)
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND (e.at, e.id) > ($2, $3)
ORDER BY e.at, e.id
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.action = $2
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.actor_name = $2
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.at < $2
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.at >= $2
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.object_id = $2
ORDER BY e.at DESC, e.id DESC
LIMIT $3;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.object_kind = $2
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
  AND e.object_name = $2
ORDER BY e.at DESC, e.id DESC
LIMIT $3;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
ORDER BY e.at DESC, e.id DESC
LIMIT 0;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
ORDER BY e.at DESC, e.id DESC
LIMIT 7;

SELECT e.id, e.at, e.workspace_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action, e.object_kind, e.object_id,
       e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE true
  AND e.workspace_id = $1
ORDER BY e.at, e.id
LIMIT 0;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (h.created_at, h.id) < ($2, $3)
ORDER BY h.created_at DESC, h.id DESC
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (h.created_at, h.id) > ($2, $3)
ORDER BY h.created_at, h.id
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (h.name, h.id) < ($2, $3)
ORDER BY h.name DESC, h.id DESC
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (h.name, h.id) > ($2, $3)
ORDER BY h.name, h.id
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (h.state, h.id) < ($2, $3)
ORDER BY h.state DESC, h.id DESC
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (h.state, h.id) > ($2, $3)
ORDER BY h.state, h.id
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND (position($2 IN lower(h.name)) > 0 OR position($3 IN lower(h.address)) > 0)
ORDER BY h.name, h.id
LIMIT $4;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.labels @> $2
ORDER BY h.name, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.region = $2
ORDER BY h.name, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND (h.created_at, h.id) < ($3, $4)
ORDER BY h.created_at DESC, h.id DESC
LIMIT $5;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND (h.created_at, h.id) > ($3, $4)
ORDER BY h.created_at, h.id
LIMIT $5;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND (h.name, h.id) < ($3, $4)
ORDER BY h.name DESC, h.id DESC
LIMIT $5;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND (h.name, h.id) > ($3, $4)
ORDER BY h.name, h.id
LIMIT $5;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND (h.state, h.id) < ($3, $4)
ORDER BY h.state DESC, h.id DESC
LIMIT $5;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND (h.state, h.id) > ($3, $4)
ORDER BY h.state, h.id
LIMIT $5;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
  AND h.region = $3
  AND h.zone = $4
  AND h.labels @> $5
  AND (position($6 IN lower(h.name)) > 0 OR position($7 IN lower(h.address)) > 0)
  AND (h.name, h.id) > ($8, $9)
ORDER BY h.name, h.id
LIMIT $10;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
ORDER BY h.created_at DESC, h.id DESC
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
ORDER BY h.created_at, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
ORDER BY h.name DESC, h.id DESC
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
ORDER BY h.name, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
ORDER BY h.state DESC, h.id DESC
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.state = $2
ORDER BY h.state, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
  AND h.zone = $2
ORDER BY h.name, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
ORDER BY h.created_at DESC, h.id DESC
LIMIT $2;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
ORDER BY h.created_at, h.id
LIMIT $2;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
ORDER BY h.name DESC, h.id DESC
LIMIT $2;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
ORDER BY h.name, h.id
LIMIT $2;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
ORDER BY h.state DESC, h.id DESC
LIMIT $2;

SELECT h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job
  FROM hosts h
 WHERE true
  AND h.workspace_id = $1
  AND h.removed_at IS NULL
ORDER BY h.state, h.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND (j.created_at, j.id) < ($2, $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND (j.created_at, j.id) > ($2, $3)
ORDER BY j.created_at, j.id
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND (j.kind, j.created_at, j.id) < ($2, $3, $4)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND (j.kind, j.created_at, j.id) > ($2, $3, $4)
ORDER BY j.kind, j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.host_id = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $2 AND v.version = $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
  AND (j.created_at, j.id) < ($3, $4)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
  AND (j.created_at, j.id) > ($3, $4)
ORDER BY j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) < ($3, $4, $5)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) > ($3, $4, $5)
ORDER BY j.kind, j.created_at, j.id
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
ORDER BY j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
  AND j.state = $2
ORDER BY j.kind, j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
ORDER BY j.created_at DESC, j.id DESC
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
ORDER BY j.created_at, j.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.finished_at IS NOT NULL
ORDER BY j.kind, j.created_at, j.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.finished_at IS NOT NULL
  AND j.host_id = $3
  AND j.unit_id = $4
  AND j.allocation_id = $5
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $6)
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $7 AND a.login_user = $8)
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $9 AND v.version = $10)
  AND (j.created_at, j.id) < ($11, $12)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $13;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.finished_at IS NOT NULL
  AND j.state = $3
  AND j.host_id = $4
  AND j.unit_id = $5
  AND j.allocation_id = $6
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $7)
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $8 AND a.login_user = $9)
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $10 AND v.version = $11)
  AND (j.created_at, j.id) < ($12, $13)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $14;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.finished_at IS NOT NULL
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $3
  AND j.host_id = $4
  AND j.unit_id = $5
  AND j.allocation_id = $6
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $7)
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $8 AND a.login_user = $9)
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $10 AND v.version = $11)
  AND (j.created_at, j.id) < ($12, $13)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $14;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.lease_expires_at IS NOT NULL
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.state = 'queued'
  AND j.state = $3
  AND j.host_id = $4
  AND j.unit_id = $5
  AND j.allocation_id = $6
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $7)
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $8 AND a.login_user = $9)
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $10 AND v.version = $11)
  AND (j.created_at, j.id) < ($12, $13)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $14;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND j.state = 'queued'
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND true
  AND j.finished_at IS NULL
  AND j.host_id = $3
  AND j.unit_id = $4
  AND j.allocation_id = $5
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $6)
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $7 AND a.login_user = $8)
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $9 AND v.version = $10)
  AND (j.created_at, j.id) < ($11, $12)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $13;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.kind = $2
  AND true
  AND j.state = $3
  AND j.host_id = $4
  AND j.unit_id = $5
  AND j.allocation_id = $6
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $7)
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $8 AND a.login_user = $9)
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $10 AND v.version = $11)
  AND (j.created_at, j.id) < ($12, $13)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $14;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND (j.created_at, j.id) < ($2, $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND (j.created_at, j.id) > ($2, $3)
ORDER BY j.created_at, j.id
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND (j.kind, j.created_at, j.id) < ($2, $3, $4)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND (j.kind, j.created_at, j.id) > ($2, $3, $4)
ORDER BY j.kind, j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.host_id = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $2 AND v.version = $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
  AND (j.created_at, j.id) < ($3, $4)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
  AND (j.created_at, j.id) > ($3, $4)
ORDER BY j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) < ($3, $4, $5)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) > ($3, $4, $5)
ORDER BY j.kind, j.created_at, j.id
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
ORDER BY j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
  AND j.state = $2
ORDER BY j.kind, j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
ORDER BY j.created_at DESC, j.id DESC
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
ORDER BY j.created_at, j.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.lease_expires_at IS NOT NULL
ORDER BY j.kind, j.created_at, j.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND (j.created_at, j.id) < ($2, $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND (j.created_at, j.id) > ($2, $3)
ORDER BY j.created_at, j.id
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND (j.kind, j.created_at, j.id) < ($2, $3, $4)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND (j.kind, j.created_at, j.id) > ($2, $3, $4)
ORDER BY j.kind, j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.host_id = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.playbook_version_id = (SELECT v.id FROM playbook_versions v WHERE v.playbook = $2 AND v.version = $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
  AND (j.created_at, j.id) < ($3, $4)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
  AND (j.created_at, j.id) > ($3, $4)
ORDER BY j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) < ($3, $4, $5)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) > ($3, $4, $5)
ORDER BY j.kind, j.created_at, j.id
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
ORDER BY j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
  AND j.state = $2
ORDER BY j.kind, j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
ORDER BY j.created_at DESC, j.id DESC
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
ORDER BY j.created_at, j.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state = 'queued'
ORDER BY j.kind, j.created_at, j.id
LIMIT $2;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
  AND (j.created_at, j.id) < ($3, $4)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
  AND (j.created_at, j.id) > ($3, $4)
ORDER BY j.created_at, j.id
LIMIT $5;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) < ($3, $4, $5)
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
  AND (j.kind, j.created_at, j.id) > ($3, $4, $5)
ORDER BY j.kind, j.created_at, j.id
LIMIT $6;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
ORDER BY j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
ORDER BY j.kind DESC, j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND j.state IN ('failed', 'cancelled')
  AND j.state = $2
ORDER BY j.kind, j.created_at, j.id
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND true
  AND j.allocation_id = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND true
  AND j.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $2 AND a.login_user = $3)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $4;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND true
  AND j.id IN (SELECT o.job_id FROM job_hosts o WHERE o.host_id = $2)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND true
  AND j.id IN (SELECT o.job_id FROM job_objects o WHERE o.object_id = $2)
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true
  AND j.workspace_id = $1
  AND true
  AND j.unit_id = $2
ORDER BY j.created_at DESC, j.id DESC
LIMIT $3;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND (p.created_at, p.id) < ($4, $5)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND (p.created_at, p.id) > ($4, $5)
ORDER BY p.created_at, p.id
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND p.allocation_id = $4
ORDER BY p.created_at DESC, p.id DESC
LIMIT $5;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND p.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $4 AND a.login_user = $5)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND p.host_id = $4
ORDER BY p.created_at DESC, p.id DESC
LIMIT $5;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND p.state = 'ready' AND p.action <> 'cross-check' AND p.expires_at > now() AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
AND p.checked_at + (SELECT min(r.hours)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))) * INTERVAL '1 hour' > now()
AND
NOT EXISTS (SELECT 1
              FROM plan_decisions x
             WHERE x.plan_id = p.id AND x.decision = 'refuse')
AND COALESCE((SELECT max(r.approvals)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))), 0) > (SELECT count(*)
                                                       FROM plan_decisions v
                                                      WHERE v.plan_id = p.id AND v.decision = 'approve' AND
EXISTS (SELECT 1
          FROM accounts ca
          JOIN grants cg ON cg.account_id = ca.id
          JOIN workspaces cw ON cw.id = p.workspace_id
          JOIN projects cp ON cp.id = cw.project_id
          LEFT JOIN roles cr ON cr.id = cg.role_id
         WHERE ca.id = v.account_id AND ca.state = 'active' AND cg.scope_id IN (cw.id, cp.id, cp.organization_id)
           AND (p.approver_ids IS NULL OR cg.scope_id = ANY(p.approver_ids))
           AND (cg.role IN ('owner', 'admin', 'operator') OR 'project.workspace.plan:approve' = ANY(cr.permissions))))
  AND NOT ($4::UUID = ANY(p.asked_by))
  AND NOT ($5::UUID = ANY(p.asked_by))
  AND NOT EXISTS (SELECT 1 FROM plan_decisions m WHERE m.plan_id = p.id AND m.account_id = $6)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $7;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
  AND p.state = 'ready' AND p.action <> 'cross-check' AND p.expires_at > now() AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
AND p.checked_at + (SELECT min(r.hours)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))) * INTERVAL '1 hour' > now()
AND
NOT EXISTS (SELECT 1
              FROM plan_decisions x
             WHERE x.plan_id = p.id AND x.decision = 'refuse')
AND COALESCE((SELECT max(r.approvals)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))), 0) > (SELECT count(*)
                                                       FROM plan_decisions v
                                                      WHERE v.plan_id = p.id AND v.decision = 'approve' AND
EXISTS (SELECT 1
          FROM accounts ca
          JOIN grants cg ON cg.account_id = ca.id
          JOIN workspaces cw ON cw.id = p.workspace_id
          JOIN projects cp ON cp.id = cw.project_id
          LEFT JOIN roles cr ON cr.id = cg.role_id
         WHERE ca.id = v.account_id AND ca.state = 'active' AND cg.scope_id IN (cw.id, cp.id, cp.organization_id)
           AND (p.approver_ids IS NULL OR cg.scope_id = ANY(p.approver_ids))
           AND (cg.role IN ('owner', 'admin', 'operator') OR 'project.workspace.plan:approve' = ANY(cr.permissions))))
ORDER BY p.created_at DESC, p.id DESC
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
ORDER BY p.created_at DESC, p.id DESC
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action <> $3
ORDER BY p.created_at, p.id
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.action = $3
ORDER BY p.created_at DESC, p.id DESC
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = $3
  AND p.action <> $4
  AND (p.created_at, p.id) < ($5, $6)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $7;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = $3
  AND p.action <> $4
  AND (p.created_at, p.id) > ($5, $6)
ORDER BY p.created_at, p.id
LIMIT $7;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = $3
  AND p.action <> $4
ORDER BY p.created_at DESC, p.id DESC
LIMIT $5;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = $3
  AND p.action <> $4
ORDER BY p.created_at, p.id
LIMIT $5;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = $3
  AND p.action = $4
  AND p.host_id = $5
  AND p.allocation_id = $6
  AND p.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $7 AND a.login_user = $8)
  AND p.state = 'ready' AND p.action <> 'cross-check' AND p.expires_at > now() AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
AND p.checked_at + (SELECT min(r.hours)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))) * INTERVAL '1 hour' > now()
AND
NOT EXISTS (SELECT 1
              FROM plan_decisions x
             WHERE x.plan_id = p.id AND x.decision = 'refuse')
AND COALESCE((SELECT max(r.approvals)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))), 0) > (SELECT count(*)
                                                       FROM plan_decisions v
                                                      WHERE v.plan_id = p.id AND v.decision = 'approve' AND
EXISTS (SELECT 1
          FROM accounts ca
          JOIN grants cg ON cg.account_id = ca.id
          JOIN workspaces cw ON cw.id = p.workspace_id
          JOIN projects cp ON cp.id = cw.project_id
          LEFT JOIN roles cr ON cr.id = cg.role_id
         WHERE ca.id = v.account_id AND ca.state = 'active' AND cg.scope_id IN (cw.id, cp.id, cp.organization_id)
           AND (p.approver_ids IS NULL OR cg.scope_id = ANY(p.approver_ids))
           AND (cg.role IN ('owner', 'admin', 'operator') OR 'project.workspace.plan:approve' = ANY(cr.permissions))))
  AND NOT ($9::UUID = ANY(p.asked_by))
  AND NOT ($10::UUID = ANY(p.asked_by))
  AND NOT EXISTS (SELECT 1 FROM plan_decisions m WHERE m.plan_id = p.id AND m.account_id = $11)
  AND (p.created_at, p.id) < ($12, $13)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $14;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at <= now()
  AND p.action <> $3
  AND (p.created_at, p.id) < ($4, $5)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at <= now()
  AND p.action <> $3
  AND (p.created_at, p.id) > ($4, $5)
ORDER BY p.created_at, p.id
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at <= now()
  AND p.action <> $3
ORDER BY p.created_at DESC, p.id DESC
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at <= now()
  AND p.action <> $3
ORDER BY p.created_at, p.id
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at <= now()
  AND p.action = $3
  AND p.host_id = $4
  AND p.allocation_id = $5
  AND p.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $6 AND a.login_user = $7)
  AND p.state = 'ready' AND p.action <> 'cross-check' AND p.expires_at > now() AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
AND p.checked_at + (SELECT min(r.hours)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))) * INTERVAL '1 hour' > now()
AND
NOT EXISTS (SELECT 1
              FROM plan_decisions x
             WHERE x.plan_id = p.id AND x.decision = 'refuse')
AND COALESCE((SELECT max(r.approvals)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))), 0) > (SELECT count(*)
                                                       FROM plan_decisions v
                                                      WHERE v.plan_id = p.id AND v.decision = 'approve' AND
EXISTS (SELECT 1
          FROM accounts ca
          JOIN grants cg ON cg.account_id = ca.id
          JOIN workspaces cw ON cw.id = p.workspace_id
          JOIN projects cp ON cp.id = cw.project_id
          LEFT JOIN roles cr ON cr.id = cg.role_id
         WHERE ca.id = v.account_id AND ca.state = 'active' AND cg.scope_id IN (cw.id, cp.id, cp.organization_id)
           AND (p.approver_ids IS NULL OR cg.scope_id = ANY(p.approver_ids))
           AND (cg.role IN ('owner', 'admin', 'operator') OR 'project.workspace.plan:approve' = ANY(cr.permissions))))
  AND NOT ($8::UUID = ANY(p.asked_by))
  AND NOT ($9::UUID = ANY(p.asked_by))
  AND NOT EXISTS (SELECT 1 FROM plan_decisions m WHERE m.plan_id = p.id AND m.account_id = $10)
  AND (p.created_at, p.id) < ($11, $12)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $13;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at > now()
  AND p.action <> $3
  AND (p.created_at, p.id) < ($4, $5)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at > now()
  AND p.action <> $3
  AND (p.created_at, p.id) > ($4, $5)
ORDER BY p.created_at, p.id
LIMIT $6;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at > now()
  AND p.action <> $3
ORDER BY p.created_at DESC, p.id DESC
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at > now()
  AND p.action <> $3
ORDER BY p.created_at, p.id
LIMIT $4;

SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $2
  AND p.state = 'ready' AND p.expires_at > now()
  AND p.action = $3
  AND p.host_id = $4
  AND p.allocation_id = $5
  AND p.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = $6 AND a.login_user = $7)
  AND p.state = 'ready' AND p.action <> 'cross-check' AND p.expires_at > now() AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
AND p.checked_at + (SELECT min(r.hours)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))) * INTERVAL '1 hour' > now()
AND
NOT EXISTS (SELECT 1
              FROM plan_decisions x
             WHERE x.plan_id = p.id AND x.decision = 'refuse')
AND COALESCE((SELECT max(r.approvals)
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))), 0) > (SELECT count(*)
                                                       FROM plan_decisions v
                                                      WHERE v.plan_id = p.id AND v.decision = 'approve' AND
EXISTS (SELECT 1
          FROM accounts ca
          JOIN grants cg ON cg.account_id = ca.id
          JOIN workspaces cw ON cw.id = p.workspace_id
          JOIN projects cp ON cp.id = cw.project_id
          LEFT JOIN roles cr ON cr.id = cg.role_id
         WHERE ca.id = v.account_id AND ca.state = 'active' AND cg.scope_id IN (cw.id, cp.id, cp.organization_id)
           AND (p.approver_ids IS NULL OR cg.scope_id = ANY(p.approver_ids))
           AND (cg.role IN ('owner', 'admin', 'operator') OR 'project.workspace.plan:approve' = ANY(cr.permissions))))
  AND NOT ($8::UUID = ANY(p.asked_by))
  AND NOT ($9::UUID = ANY(p.asked_by))
  AND NOT EXISTS (SELECT 1 FROM plan_decisions m WHERE m.plan_id = p.id AND m.account_id = $10)
  AND (p.created_at, p.id) < ($11, $12)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $13;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND (p.network, p.sort_key, p.id) < ($2, $3, $4)
ORDER BY p.network DESC, p.sort_key DESC, p.id DESC
LIMIT $5;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND (p.network, p.sort_key, p.id) > ($2, $3, $4)
ORDER BY p.network, p.sort_key, p.id
LIMIT $5;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND (p.state, p.id) < ($2, $3)
ORDER BY p.state DESC, p.id DESC
LIMIT $4;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND (p.state, p.id) > ($2, $3)
ORDER BY p.state, p.id
LIMIT $4;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.network = $2
ORDER BY p.network, p.sort_key, p.id
LIMIT $3;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
  AND (p.network, p.sort_key, p.id) < ($3, $4, $5)
ORDER BY p.network DESC, p.sort_key DESC, p.id DESC
LIMIT $6;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
  AND (p.network, p.sort_key, p.id) > ($3, $4, $5)
ORDER BY p.network, p.sort_key, p.id
LIMIT $6;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
  AND (p.state, p.id) < ($3, $4)
ORDER BY p.state DESC, p.id DESC
LIMIT $5;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
  AND (p.state, p.id) > ($3, $4)
ORDER BY p.state, p.id
LIMIT $5;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
  AND p.network = $3
  AND (p.network, p.sort_key, p.id) > ($4, $5, $6)
ORDER BY p.network, p.sort_key, p.id
LIMIT $7;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
ORDER BY p.network DESC, p.sort_key DESC, p.id DESC
LIMIT $3;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
ORDER BY p.network, p.sort_key, p.id
LIMIT $3;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
ORDER BY p.state DESC, p.id DESC
LIMIT $3;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
  AND p.state = $2
ORDER BY p.state, p.id
LIMIT $3;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
ORDER BY p.network DESC, p.sort_key DESC, p.id DESC
LIMIT $2;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
ORDER BY p.network, p.sort_key, p.id
LIMIT $2;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
ORDER BY p.state DESC, p.id DESC
LIMIT $2;

SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true
  AND p.workspace_id = $1
ORDER BY p.state, p.id
LIMIT $2;

SELECT p.name, p.description, p.default_version, (SELECT count(*) FROM playbook_versions v WHERE v.playbook = p.name) AS versions, p.revision, p.updated_at
  FROM playbooks p
 WHERE true
  AND (p.name) < ($1)
ORDER BY p.name DESC
LIMIT $2;

SELECT p.name, p.description, p.default_version, (SELECT count(*) FROM playbook_versions v WHERE v.playbook = p.name) AS versions, p.revision, p.updated_at
  FROM playbooks p
 WHERE true
  AND (p.name) > ($1)
ORDER BY p.name
LIMIT $2;

SELECT p.name, p.description, p.default_version, (SELECT count(*) FROM playbook_versions v WHERE v.playbook = p.name) AS versions, p.revision, p.updated_at
  FROM playbooks p
 WHERE true
ORDER BY p.name
LIMIT $1;

SELECT p.name, p.description, p.default_version, (SELECT count(*) FROM playbook_versions v WHERE v.playbook = p.name) AS versions, p.revision, p.updated_at
  FROM playbooks p
 WHERE true
ORDER BY p.name DESC
LIMIT $1;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
  AND (t.created_at, t.id) < ($2, $3)
ORDER BY t.created_at DESC, t.id DESC
LIMIT $4;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
  AND (t.created_at, t.id) > ($2, $3)
ORDER BY t.created_at, t.id
LIMIT $4;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
  AND (t.kind, t.id) < ($2, $3)
ORDER BY t.kind DESC, t.id DESC
LIMIT $4;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
  AND (t.kind, t.id) > ($2, $3)
ORDER BY t.kind, t.id
LIMIT $4;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
ORDER BY t.created_at DESC, t.id DESC
LIMIT $2;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
ORDER BY t.created_at, t.id
LIMIT $2;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
ORDER BY t.kind DESC, t.id DESC
LIMIT $2;

SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true
  AND t.account_id = $1
  AND t.expires_at > now()
ORDER BY t.kind, t.id
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND h.labels @> $2
  AND u.state <> 'removed'
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND h.region = $2
  AND u.state <> 'removed'
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND h.zone = $2
  AND u.state <> 'removed'
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND position($2 IN lower(u.name)) > 0
  AND u.state <> 'removed'
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND (u.cpu_count, u.id) < ($2, $3)
ORDER BY u.cpu_count DESC, u.id DESC
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND (u.cpu_count, u.id) > ($2, $3)
ORDER BY u.cpu_count, u.id
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND (u.name, u.id) < ($2, $3)
ORDER BY u.name DESC, u.id DESC
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND (u.name, u.id) > ($2, $3)
ORDER BY u.name, u.id
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND (u.state, u.id) < ($2, $3)
ORDER BY u.state DESC, u.id DESC
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND (u.state, u.id) > ($2, $3)
ORDER BY u.state, u.id
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND u.cpu_count >= $2
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
  AND u.host_id = $2
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
ORDER BY u.cpu_count DESC, u.id DESC
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
ORDER BY u.cpu_count, u.id
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
ORDER BY u.name DESC, u.id DESC
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
ORDER BY u.name, u.id
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
ORDER BY u.state DESC, u.id DESC
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state <> 'removed'
ORDER BY u.state, u.id
LIMIT $2;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND (u.cpu_count, u.id) < ($3, $4)
ORDER BY u.cpu_count DESC, u.id DESC
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND (u.cpu_count, u.id) > ($3, $4)
ORDER BY u.cpu_count, u.id
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND (u.name, u.id) < ($3, $4)
ORDER BY u.name DESC, u.id DESC
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND (u.name, u.id) > ($3, $4)
ORDER BY u.name, u.id
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND (u.state, u.id) < ($3, $4)
ORDER BY u.state DESC, u.id DESC
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND (u.state, u.id) > ($3, $4)
ORDER BY u.state, u.id
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
  AND h.region = $3
  AND h.zone = $4
  AND position($5 IN lower(u.name)) > 0
  AND h.labels @> $6
  AND u.host_id = $7
  AND u.cpu_count >= $8
  AND (u.name, u.id) > ($9, $10)
ORDER BY u.name, u.id
LIMIT $11;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
ORDER BY u.cpu_count DESC, u.id DESC
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
ORDER BY u.cpu_count, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
ORDER BY u.name DESC, u.id DESC
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
ORDER BY u.name, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
ORDER BY u.state DESC, u.id DESC
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true
  AND u.workspace_id = $1
  AND u.state = $2
ORDER BY u.state, u.id
LIMIT $3;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $6 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $7 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $8 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($2 = '' OR n.name = $3)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND (u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)) = true
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($2 = '' OR n.name = $3)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $4
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $5 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $6 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $7 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($2 = '' OR n.name = $3)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a
                 WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL
                OFFSET 0)
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($4 = '' OR n.name = $5)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND (u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)) = true
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a
                 WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL
                OFFSET 0)
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($4 = '' OR n.name = $5)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $6
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $7 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $8 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $9 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a
                 WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL
                OFFSET 0)
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($4 = '' OR n.name = $5)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $6 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $7 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $8 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $6 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $7 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $8 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($2 = '' OR n.name = $3)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND (u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)) = true
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($2 = '' OR n.name = $3)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $4
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $5 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $6 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $7 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($2 = '' OR n.name = $3)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.zone = $5
  AND (u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)) = true
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.zone = $5
  AND u.shuffle >= $6
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $7 AND s.zone = $8 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $9 AND c.zone = $10 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $11 AND s.zone = $12 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.zone = $5
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND (u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)) = true
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
  AND u.shuffle >= $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
  AND u.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $6 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
  AND u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= $7 AND c.cpu_count = (SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= $8 AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)
                 ORDER BY s.cpu_count LIMIT 1)
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE ($3 = '' OR n.name = $4)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)
ORDER BY u.cpu_count, u.shuffle
LIMIT 1
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND u.zone = $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND u.zone = $5
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
  AND u.zone = $13
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $14
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
  AND u.zone = $13
ORDER BY u.cpu_count, u.shuffle
LIMIT $14
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
ORDER BY u.cpu_count, u.shuffle
LIMIT $13;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
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
                      WHERE s.room > 0)
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
ORDER BY u.cpu_count, u.shuffle
LIMIT $13
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
  AND u.cpu_count = $4
  AND u.shuffle >= $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
  AND u.cpu_count = $6
  AND u.shuffle >= $7
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $8
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
  AND u.cpu_count = $4
  AND u.shuffle >= $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND u.zone = $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND u.zone = $5
  AND u.cpu_count = $6
  AND u.shuffle >= $7
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $8
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND u.zone = $5
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND u.cpu_count = $5
  AND u.shuffle >= $6
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $7
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
  AND u.zone = $13
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $14
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
  AND u.zone = $13
ORDER BY u.cpu_count, u.shuffle
LIMIT $14
FOR UPDATE OF u SKIP LOCKED;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
ORDER BY u.cpu_count, u.shuffle
LIMIT $13;

SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12))
ORDER BY u.cpu_count, u.shuffle
LIMIT $13
FOR UPDATE OF u;

SELECT v.id, v.playbook, v.version, v.sha256, v.tree_sha256, v.size_bytes, v.decoded_bytes, v.files, v.seeded,
       v.version = p.default_version AS is_default, v.note, v.created_by, v.created_at, l.state AS lint_state,
       jsonb_array_length(l.findings) AS lint_findings
  FROM playbook_versions v
  JOIN playbooks p ON p.name = v.playbook
  LEFT JOIN playbook_lints l ON l.version_id = v.id
 WHERE true
  AND v.playbook = $1
  AND (v.version) < ($2)
ORDER BY v.version DESC
LIMIT $3;

SELECT v.id, v.playbook, v.version, v.sha256, v.tree_sha256, v.size_bytes, v.decoded_bytes, v.files, v.seeded,
       v.version = p.default_version AS is_default, v.note, v.created_by, v.created_at, l.state AS lint_state,
       jsonb_array_length(l.findings) AS lint_findings
  FROM playbook_versions v
  JOIN playbooks p ON p.name = v.playbook
  LEFT JOIN playbook_lints l ON l.version_id = v.id
 WHERE true
  AND v.playbook = $1
  AND (v.version) > ($2)
ORDER BY v.version
LIMIT $3;

SELECT v.id, v.playbook, v.version, v.sha256, v.tree_sha256, v.size_bytes, v.decoded_bytes, v.files, v.seeded,
       v.version = p.default_version AS is_default, v.note, v.created_by, v.created_at, l.state AS lint_state,
       jsonb_array_length(l.findings) AS lint_findings
  FROM playbook_versions v
  JOIN playbooks p ON p.name = v.playbook
  LEFT JOIN playbook_lints l ON l.version_id = v.id
 WHERE true
  AND v.playbook = $1
ORDER BY v.version
LIMIT $2;

SELECT v.id, v.playbook, v.version, v.sha256, v.tree_sha256, v.size_bytes, v.decoded_bytes, v.files, v.seeded,
       v.version = p.default_version AS is_default, v.note, v.created_by, v.created_at, l.state AS lint_state,
       jsonb_array_length(l.findings) AS lint_findings
  FROM playbook_versions v
  JOIN playbooks p ON p.name = v.playbook
  LEFT JOIN playbook_lints l ON l.version_id = v.id
 WHERE true
  AND v.playbook = $1
ORDER BY v.version DESC
LIMIT $2;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed';

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($4 = '' OR p.network = $5)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($6 = '' OR ns.network_id::TEXT = $7)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($8 = '' OR nk.id::TEXT = $9)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($10 = '' OR p.network = $11)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($12 = '' OR ns.network_id::TEXT = $13)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($14 = '' OR nk.id::TEXT = $15)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($11 = '' OR p.network = $12)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($13 = '' OR ns.network_id::TEXT = $14)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($15 = '' OR nk.id::TEXT = $16)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($17 = '' OR p.network = $18)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($19 = '' OR ns.network_id::TEXT = $20)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($21 = '' OR nk.id::TEXT = $22)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $5
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $6 AND a.ended_at IS NULL)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($7 = '' OR p.network = $8)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($9 = '' OR ns.network_id::TEXT = $10)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($11 = '' OR nk.id::TEXT = $12)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND h.state = 'ready'
  AND h.admin_user <> $5
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $6 AND a.ended_at IS NULL)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($7 = '' OR p.network = $8)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($9 = '' OR ns.network_id::TEXT = $10)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($11 = '' OR nk.id::TEXT = $12)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $5 AND a.ended_at IS NULL)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($6 = '' OR p.network = $7)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($8 = '' OR ns.network_id::TEXT = $9)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($10 = '' OR nk.id::TEXT = $11)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($12 = '' OR p.network = $13)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($14 = '' OR ns.network_id::TEXT = $15)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($16 = '' OR nk.id::TEXT = $17)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $5
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($6 = '' OR p.network = $7)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($8 = '' OR ns.network_id::TEXT = $9)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($10 = '' OR nk.id::TEXT = $11)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($12 = '' OR p.network = $13)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($14 = '' OR ns.network_id::TEXT = $15)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($16 = '' OR nk.id::TEXT = $17)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $5
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $6 AND a.ended_at IS NULL)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($7 = '' OR p.network = $8)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($9 = '' OR ns.network_id::TEXT = $10)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($11 = '' OR nk.id::TEXT = $12)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $5
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $6 AND a.ended_at IS NULL)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($7 = '' OR p.network = $8)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($9 = '' OR ns.network_id::TEXT = $10)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($11 = '' OR nk.id::TEXT = $12)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.host_id = $5
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $6
  AND h.region = $7
  AND h.zone = $8
  AND h.labels @> $9
  AND h.admin_user <> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $6
  AND h.region = $7
  AND h.zone = $8
  AND h.labels @> $9
  AND h.admin_user <> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $12 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $13::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($14 = '' OR p.network = $15)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($16 = '' OR ns.network_id::TEXT = $17)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($18 = '' OR nk.id::TEXT = $19)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($20 = '' OR p.network = $21)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($22 = '' OR ns.network_id::TEXT = $23)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($24 = '' OR nk.id::TEXT = $25)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $7
  AND h.zone = $8
  AND h.labels @> $9
  AND h.admin_user <> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.labels @> $9
  AND h.admin_user <> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.admin_user <> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $12 AND a.ended_at IS NULL)
  AND $13::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($14 = '' OR p.network = $15)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($16 = '' OR ns.network_id::TEXT = $17)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($18 = '' OR nk.id::TEXT = $19)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($20 = '' OR p.network = $21)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($22 = '' OR ns.network_id::TEXT = $23)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($24 = '' OR nk.id::TEXT = $25)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $12 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $13::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($14 = '' OR p.network = $15)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($16 = '' OR ns.network_id::TEXT = $17)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($18 = '' OR nk.id::TEXT = $19)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $12 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $13::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($14 = '' OR p.network = $15)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($16 = '' OR ns.network_id::TEXT = $17)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($18 = '' OR nk.id::TEXT = $19)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $12 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $7
  AND h.zone = $8
  AND h.labels @> $9
  AND h.admin_user <> $10
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $11 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $12::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($13 = '' OR p.network = $14)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($15 = '' OR ns.network_id::TEXT = $16)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($17 = '' OR nk.id::TEXT = $18)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($19 = '' OR p.network = $20)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($21 = '' OR ns.network_id::TEXT = $22)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($23 = '' OR nk.id::TEXT = $24)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND (u.workspace_id = $2
    OR h.admin_user <> $3 AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $4 AND a.ended_at IS NULL))
  AND u.id = $5
  AND u.host_id = $6
  AND h.state = 'ready'
  AND u.cpu_count >= $7
  AND h.region = $8
  AND h.zone = $9
  AND h.labels @> $10
  AND h.admin_user <> $11
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $12 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $13::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($14 = '' OR p.network = $15)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($16 = '' OR ns.network_id::TEXT = $17)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($18 = '' OR nk.id::TEXT = $19)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($20 = '' OR p.network = $21)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($22 = '' OR ns.network_id::TEXT = $23)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($24 = '' OR nk.id::TEXT = $25)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND $2::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.labels @> $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.region = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.unit_networks
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($2 = '' OR p.network = $3)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($6 = '' OR nk.id::TEXT = $7)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($8 = '' OR p.network = $9)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($10 = '' OR ns.network_id::TEXT = $11)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($12 = '' OR nk.id::TEXT = $13)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.zone = $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND h.state = 'ready'
  AND u.cpu_count >= $2
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.id = $2
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))))
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($9 = '' OR p.network = $10)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($13 = '' OR nk.id::TEXT = $14)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR NOT (u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
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
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))
  AND u.state <> 'removed'
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND ((EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND ($3 = '' OR p.network = $4)) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($5 = '' OR ns.network_id::TEXT = $6)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))) OR u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND ($7 = '' OR nk.id::TEXT = $8)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0)));

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND $2::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.admin_user <> $2
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $3 AND a.ended_at IS NULL)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($4 = '' OR ns.network_id::TEXT = $5)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.labels @> $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.region = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.unit_networks
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND u.zone = $5
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND u.zone = $5
ORDER BY u.cpu_count, u.shuffle
LIMIT $6
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND h.zone = $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $2
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($2 = '' OR ns.network_id::TEXT = $3)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $4
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.host_id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($3 = '' OR ns.network_id::TEXT = $4)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $5
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND u.zone = $13
  AND EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72)
ORDER BY u.cpu_count, u.shuffle
LIMIT $14
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
  AND u.zone = $13
ORDER BY u.cpu_count, u.shuffle
LIMIT $14
FOR UPDATE OF u SKIP LOCKED;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $13;

WITH shared_networks AS (SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
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
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr)
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1
  AND u.state = 'free'
  AND u.id = $2
  AND u.host_id = $3
  AND h.state = 'ready'
  AND h.health <> 'unreachable' AND h.job_health <> 'degraded'
  AND u.cpu_count >= $4
  AND h.region = $5
  AND h.zone = $6
  AND h.labels @> $7
  AND h.admin_user <> $8
  AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = $9 AND a.ended_at IS NULL)
  AND h.unit_networks
  AND $10::TEXT = ANY(h.networks)
  AND u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND ($11 = '' OR ns.network_id::TEXT = $12)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))
ORDER BY u.cpu_count, u.shuffle
LIMIT $13
FOR UPDATE OF u;

SET LOCAL plan_cache_mode = force_generic_plan;

SET LOCAL plan_cache_mode TO DEFAULT;
