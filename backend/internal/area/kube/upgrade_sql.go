package kube

const sqlSetUpgradeTarget = `
UPDATE kube_clusters
   SET target_version = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

// Whatever has no version of its own has the one that the cluster had until now.
const sqlNoteVersions = `
UPDATE kube_nodes
   SET kube_version = $2, updated_at = now()
 WHERE cluster_id = $1 AND kube_version = ''`

const sqlUpgraded = `
UPDATE kube_clusters
   SET kube_version = target_version, target_version = '', version = version + 1, updated_at = now()
 WHERE id = $1 AND target_version = $2`

const sqlSetPhase = `
UPDATE kube_nodes
   SET upgrade_phase = $2, upgrade_since = COALESCE(upgrade_since, now()), version = version + 1, updated_at = now()
 WHERE id = $1`

const sqlNodeUpgraded = `
UPDATE kube_nodes
   SET kube_version = $2, upgrade_phase = '', upgrade_since = NULL, version = version + 1, updated_at = now()
 WHERE id = $1`

const sqlSetWindow = `
UPDATE kube_clusters
   SET maintenance_window = $2, version = version + 1, updated_at = now()
 WHERE id = $1`
