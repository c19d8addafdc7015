-- +goose NO TRANSACTION
-- +goose Up

-- Keys of devices with which people log in without a password (WebAuthn).
CREATE TABLE IF NOT EXISTS passkeys ( -- no noun: no policy looks at accounts
    id            UUID PRIMARY KEY,
    account_id    UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,                   -- as its owner called it
    credential_id BYTEA NOT NULL UNIQUE,           -- as the device named it
    credential    JSONB NOT NULL,                  -- public key, counter and flags; no secret
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    last_used_at  TIMESTAMPTZ
);

CREATE INDEX IF NOT EXISTS passkeys_of_account ON passkeys (account_id, created_at, id);

-- Challenges that were answered: each is good once. One that was not answered is kept nowhere, so that strangers write nothing.
CREATE TABLE IF NOT EXISTS used_challenges ( -- no noun: they only expire
    hash       BYTEA PRIMARY KEY,                  -- SHA-256 of the sealed challenge
    expires_at TIMESTAMPTZ NOT NULL                -- the challenge is refused from then on
);

CREATE INDEX IF NOT EXISTS used_challenges_expired ON used_challenges (expires_at);

-- +goose Down
SELECT 1;
