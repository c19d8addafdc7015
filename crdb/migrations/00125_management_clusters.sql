-- +goose NO TRANSACTION
-- +goose Up

-- Clusters of the operator in which Kamaji runs the control planes of other clusters.
CREATE TABLE IF NOT EXISTS kube_management_clusters ( -- noun: management_cluster
    id                 UUID PRIMARY KEY,
    name               TEXT NOT NULL UNIQUE,
    pool               TEXT NOT NULL,               -- that new control planes ask for
    active             BOOL NOT NULL,               -- new control planes may go there
    server             TEXT NOT NULL,               -- 'host:port' where its API server answers, out of its kubeconfig
    credentials_sealed BYTEA NOT NULL,              -- authority, and certificate with key or token (JSON), sealed with 'kube_management_clusters/<id>'
    data_store         TEXT NOT NULL,               -- name of the DataStore of Kamaji that new control planes use
    newest_version     TEXT NOT NULL,               -- newest version of Kubernetes that Kamaji takes there, such as 'v1.30.2'
    service_type       TEXT NOT NULL CHECK (service_type IN ('load_balancer', 'node_port', 'cluster_ip')), -- how control planes are reached
    address            TEXT NOT NULL,               -- that control planes are reached at; empty for a load balancer
    first_port         INT8 NOT NULL,               -- of those that control planes get, two each; 0 if each has an address of its own
    capacity           INT8 NOT NULL,               -- how many control planes it may have
    version            INT8 NOT NULL DEFAULT 1,     -- counts changes; the ETag
    created_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at         TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- What the policy of a management cluster saw last. Its own table: a write of the noun would wake the policy again.
CREATE TABLE IF NOT EXISTS kube_management_seen ( -- no noun: a part of a management cluster
    management_cluster_id UUID PRIMARY KEY REFERENCES kube_management_clusters (id) ON DELETE CASCADE,
    healthy               BOOL NOT NULL,
    message               TEXT NOT NULL,            -- why it is not healthy
    kubernetes_version    TEXT NOT NULL,            -- of its API server; empty if it did not answer
    seen_at               TIMESTAMPTZ NOT NULL
);

-- +goose Down
SELECT 1;
