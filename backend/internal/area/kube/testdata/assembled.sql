-- Statements that the area puts together at run time; written by go test -run Assembled -update

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
  AND (b.account, b.id) < ($2, $3)
ORDER BY b.account DESC, b.id DESC
LIMIT $4;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
  AND (b.account, b.id) > ($2, $3)
ORDER BY b.account, b.id
LIMIT $4;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
  AND b.role = $2
  AND (b.account, b.id) < ($3, $4)
ORDER BY b.account DESC, b.id DESC
LIMIT $5;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
  AND b.role = $2
  AND (b.account, b.id) > ($3, $4)
ORDER BY b.account, b.id
LIMIT $5;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
  AND b.role = $2
ORDER BY b.account DESC, b.id DESC
LIMIT $3;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
  AND b.role = $2
ORDER BY b.account, b.id
LIMIT $3;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
ORDER BY b.account DESC, b.id DESC
LIMIT $2;

SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true
  AND b.workspace_id = $1
ORDER BY b.account, b.id
LIMIT $2;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
  AND (c.name, c.id) < ($2, $3)
ORDER BY c.name DESC, c.id DESC
LIMIT $4;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
  AND (c.name, c.id) > ($2, $3)
ORDER BY c.name, c.id
LIMIT $4;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
  AND c.state = $2
  AND (c.name, c.id) < ($3, $4)
ORDER BY c.name DESC, c.id DESC
LIMIT $5;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
  AND c.state = $2
  AND (c.name, c.id) > ($3, $4)
ORDER BY c.name, c.id
LIMIT $5;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
  AND c.state = $2
ORDER BY c.name DESC, c.id DESC
LIMIT $3;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
  AND c.state = $2
ORDER BY c.name, c.id
LIMIT $3;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
ORDER BY c.name DESC, c.id DESC
LIMIT $2;

SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true
  AND c.workspace_id = $1
ORDER BY c.name, c.id
LIMIT $2;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
  AND (c.name, h.id) < ($2, $3)
ORDER BY c.name DESC, h.id DESC
LIMIT $4;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
  AND (c.name, h.id) > ($2, $3)
ORDER BY c.name, h.id
LIMIT $4;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
  AND h.state = $2
  AND (c.name, h.id) < ($3, $4)
ORDER BY c.name DESC, h.id DESC
LIMIT $5;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
  AND h.state = $2
  AND (c.name, h.id) > ($3, $4)
ORDER BY c.name, h.id
LIMIT $5;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
  AND h.state = $2
ORDER BY c.name DESC, h.id DESC
LIMIT $3;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
  AND h.state = $2
ORDER BY c.name, h.id
LIMIT $3;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
ORDER BY c.name DESC, h.id DESC
LIMIT $2;

SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true
  AND h.workspace_id = $1
ORDER BY c.name, h.id
LIMIT $2;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
  AND (m.name, m.id) < ($1, $2)
ORDER BY m.name DESC, m.id DESC
LIMIT $3;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
  AND (m.name, m.id) > ($1, $2)
ORDER BY m.name, m.id
LIMIT $3;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
  AND m.pool = $1
  AND (m.name, m.id) < ($2, $3)
ORDER BY m.name DESC, m.id DESC
LIMIT $4;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
  AND m.pool = $1
  AND (m.name, m.id) > ($2, $3)
ORDER BY m.name, m.id
LIMIT $4;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
  AND m.pool = $1
ORDER BY m.name DESC, m.id DESC
LIMIT $2;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
  AND m.pool = $1
ORDER BY m.name, m.id
LIMIT $2;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
ORDER BY m.name DESC, m.id DESC
LIMIT $1;

SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true
ORDER BY m.name, m.id
LIMIT $1;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
  AND (n.name, n.id) < ($2, $3)
ORDER BY n.name DESC, n.id DESC
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
  AND (n.name, n.id) > ($2, $3)
ORDER BY n.name, n.id
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
  AND n.state = $2
  AND (n.name, n.id) < ($3, $4)
ORDER BY n.name DESC, n.id DESC
LIMIT $5;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
  AND n.state = $2
  AND (n.name, n.id) > ($3, $4)
ORDER BY n.name, n.id
LIMIT $5;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
  AND n.state = $2
ORDER BY n.name DESC, n.id DESC
LIMIT $3;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
  AND n.state = $2
ORDER BY n.name, n.id
LIMIT $3;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
ORDER BY n.name DESC, n.id DESC
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true
  AND n.workspace_id = $1
ORDER BY n.name, n.id
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND (n.name, n.id) < ($2, $3)
ORDER BY n.name DESC, n.id DESC
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND (n.name, n.id) > ($2, $3)
ORDER BY n.name, n.id
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NOT NULL
  AND (n.name, n.id) < ($2, $3)
ORDER BY n.name DESC, n.id DESC
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NOT NULL
  AND (n.name, n.id) > ($2, $3)
ORDER BY n.name, n.id
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NOT NULL
ORDER BY n.name DESC, n.id DESC
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NOT NULL
ORDER BY n.name, n.id
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NULL
  AND (n.name, n.id) < ($2, $3)
ORDER BY n.name DESC, n.id DESC
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NULL
  AND (n.name, n.id) > ($2, $3)
ORDER BY n.name, n.id
LIMIT $4;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NULL
ORDER BY n.name DESC, n.id DESC
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
  AND n.deleting_at IS NULL
ORDER BY n.name, n.id
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
ORDER BY n.name DESC, n.id DESC
LIMIT $2;

SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true
  AND n.workspace_id = $1
ORDER BY n.name, n.id
LIMIT $2;

SELECT s.id, s.workspace_id, s.cluster_id, c.name AS cluster, s.node, s.kube_version, s.key_sealed, s.size, s.stored, s.parts, s.sha256, s.begun_at,
       s.taken_at, c.state AS cluster_state, c.kube_version AS cluster_version, c.target_version,
       ARRAY(SELECT n.name FROM kube_nodes n WHERE n.cluster_id = c.id AND n.role = 'control_plane' ORDER BY n.name) AS planes,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane'
                AND (h.state = 'lost' OR h.health = 'unreachable' OR n.state NOT IN ('joined', 'ready', 'not_ready'))
              ORDER BY n.name) AS away,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost_at,
       c.endpoint,
       s.version, s.created_at, s.updated_at
  FROM kube_snapshots s
  JOIN kube_clusters c ON c.id = s.cluster_id
 WHERE true AND s.taken_at IS NOT NULL
  AND s.workspace_id = $1
  AND (s.taken_at, s.id) < ($2, $3)
ORDER BY s.taken_at DESC, s.id DESC
LIMIT $4;

SELECT s.id, s.workspace_id, s.cluster_id, c.name AS cluster, s.node, s.kube_version, s.key_sealed, s.size, s.stored, s.parts, s.sha256, s.begun_at,
       s.taken_at, c.state AS cluster_state, c.kube_version AS cluster_version, c.target_version,
       ARRAY(SELECT n.name FROM kube_nodes n WHERE n.cluster_id = c.id AND n.role = 'control_plane' ORDER BY n.name) AS planes,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane'
                AND (h.state = 'lost' OR h.health = 'unreachable' OR n.state NOT IN ('joined', 'ready', 'not_ready'))
              ORDER BY n.name) AS away,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost_at,
       c.endpoint,
       s.version, s.created_at, s.updated_at
  FROM kube_snapshots s
  JOIN kube_clusters c ON c.id = s.cluster_id
 WHERE true AND s.taken_at IS NOT NULL
  AND s.workspace_id = $1
  AND (s.taken_at, s.id) > ($2, $3)
ORDER BY s.taken_at, s.id
LIMIT $4;

SELECT s.id, s.workspace_id, s.cluster_id, c.name AS cluster, s.node, s.kube_version, s.key_sealed, s.size, s.stored, s.parts, s.sha256, s.begun_at,
       s.taken_at, c.state AS cluster_state, c.kube_version AS cluster_version, c.target_version,
       ARRAY(SELECT n.name FROM kube_nodes n WHERE n.cluster_id = c.id AND n.role = 'control_plane' ORDER BY n.name) AS planes,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane'
                AND (h.state = 'lost' OR h.health = 'unreachable' OR n.state NOT IN ('joined', 'ready', 'not_ready'))
              ORDER BY n.name) AS away,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost_at,
       c.endpoint,
       s.version, s.created_at, s.updated_at
  FROM kube_snapshots s
  JOIN kube_clusters c ON c.id = s.cluster_id
 WHERE true AND s.taken_at IS NOT NULL
  AND s.workspace_id = $1
ORDER BY s.taken_at DESC, s.id DESC
LIMIT $2;

SELECT s.id, s.workspace_id, s.cluster_id, c.name AS cluster, s.node, s.kube_version, s.key_sealed, s.size, s.stored, s.parts, s.sha256, s.begun_at,
       s.taken_at, c.state AS cluster_state, c.kube_version AS cluster_version, c.target_version,
       ARRAY(SELECT n.name FROM kube_nodes n WHERE n.cluster_id = c.id AND n.role = 'control_plane' ORDER BY n.name) AS planes,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane'
                AND (h.state = 'lost' OR h.health = 'unreachable' OR n.state NOT IN ('joined', 'ready', 'not_ready'))
              ORDER BY n.name) AS away,
       ARRAY(SELECT n.name
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = c.id AND n.role = 'control_plane' AND (h.state = 'lost' OR n.state IN ('pending', 'prepared', 'left'))
              ORDER BY n.name) AS lost_at,
       c.endpoint,
       s.version, s.created_at, s.updated_at
  FROM kube_snapshots s
  JOIN kube_clusters c ON c.id = s.cluster_id
 WHERE true AND s.taken_at IS NOT NULL
  AND s.workspace_id = $1
ORDER BY s.taken_at, s.id
LIMIT $2;

SELECT v.id, v.name, v.active, v.upgrades_to, v.bundle, v.bundle_sha256, v.version, v.created_at, v.updated_at
  FROM kube_versions v
 WHERE true
  AND (v.name, v.id) < ($1, $2)
ORDER BY v.name DESC, v.id DESC
LIMIT $3;

SELECT v.id, v.name, v.active, v.upgrades_to, v.bundle, v.bundle_sha256, v.version, v.created_at, v.updated_at
  FROM kube_versions v
 WHERE true
  AND (v.name, v.id) > ($1, $2)
ORDER BY v.name, v.id
LIMIT $3;

SELECT v.id, v.name, v.active, v.upgrades_to, v.bundle, v.bundle_sha256, v.version, v.created_at, v.updated_at
  FROM kube_versions v
 WHERE true
ORDER BY v.name DESC, v.id DESC
LIMIT $1;

SELECT v.id, v.name, v.active, v.upgrades_to, v.bundle, v.bundle_sha256, v.version, v.created_at, v.updated_at
  FROM kube_versions v
 WHERE true
ORDER BY v.name, v.id
LIMIT $1;
