-- +goose NO TRANSACTION
-- +goose Up

-- The provider whose word a session was opened on, and the tokens that the session made. They end with it.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS identity_provider_id UUID;

CREATE INDEX IF NOT EXISTS tokens_of_provider ON tokens (identity_provider_id) WHERE identity_provider_id IS NOT NULL;

-- +goose Down
SELECT 1;
