-- +goose NO TRANSACTION
-- +goose Up

-- The provider that people log in to the cluster itself with (OpenID Connect); empty: none. It is given to the API server when it is made.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS oidc_issuer TEXT NOT NULL DEFAULT '';

ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS oidc_client_id TEXT NOT NULL DEFAULT '';

-- Claims of its tokens that name the user and the groups.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS oidc_username_claim TEXT NOT NULL DEFAULT '';

ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS oidc_groups_claim TEXT NOT NULL DEFAULT '';

-- +goose Down
SELECT 1;
