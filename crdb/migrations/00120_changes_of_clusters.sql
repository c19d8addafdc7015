-- +goose NO TRANSACTION
-- +goose Up

-- A job changes a cluster that is there: its nodes, its version, its certificates. The check has another name in each database.
ALTER TABLE kube_clusters DROP CONSTRAINT IF EXISTS kube_clusters_state_check;

ALTER TABLE kube_clusters DROP CONSTRAINT IF EXISTS check_state;

ALTER TABLE kube_clusters DROP CONSTRAINT IF EXISTS kube_clusters_states;

ALTER TABLE kube_clusters ADD CONSTRAINT kube_clusters_states
    CHECK (state IN ('pending', 'creating', 'active', 'degraded', 'changing', 'failed', 'deleting', 'delete_failed'));

-- A node that is drained and taken away by a job.
ALTER TABLE kube_nodes DROP CONSTRAINT IF EXISTS kube_nodes_state_check;

ALTER TABLE kube_nodes DROP CONSTRAINT IF EXISTS check_state;

ALTER TABLE kube_nodes DROP CONSTRAINT IF EXISTS kube_nodes_states;

ALTER TABLE kube_nodes ADD CONSTRAINT kube_nodes_states
    CHECK (state IN ('pending', 'prepared', 'joined', 'ready', 'not_ready', 'leaving', 'left'));

-- Version that the cluster is being upgraded to; empty outside of an upgrade.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS target_version TEXT NOT NULL DEFAULT '';

-- Version of Kubernetes on the node, as a job brought it; empty: the one of the cluster.
ALTER TABLE kube_nodes ADD COLUMN IF NOT EXISTS kube_version TEXT NOT NULL DEFAULT '';

-- +goose Down
SELECT 1;
