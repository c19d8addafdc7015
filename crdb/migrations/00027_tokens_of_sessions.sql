-- +goose NO TRANSACTION
-- +goose Up

-- The session that made an API token. Whoever revokes the session revokes its tokens with it. NULL for a session, and for a
-- token of before, which stays good. No foreign key: a session that expired or was left by logging out leaves its tokens.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS session_id UUID;

-- +goose Down
SELECT 1;
