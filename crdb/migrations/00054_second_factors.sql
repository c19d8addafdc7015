-- +goose NO TRANSACTION
-- +goose Up

-- The second factor of an account: codes by time (RFC 6238).
CREATE TABLE IF NOT EXISTS second_factors ( -- no noun: no policy looks at accounts
    account_id    UUID PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    secret_sealed BYTEA NOT NULL,                  -- sealed with 'second_factors/<account id>'
    confirmed_at  TIMESTAMPTZ,                     -- NULL: no code was shown yet, so that no login asks for one
    last_step     INT8 NOT NULL DEFAULT 0,         -- time step of 30 s of the last code that was used: it and older ones are refused
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Codes for whoever lost the device. One that was used is deleted.
CREATE TABLE IF NOT EXISTS recovery_codes ( -- no noun: a part of their second factor
    account_id UUID NOT NULL REFERENCES second_factors (account_id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL,                     -- SHA-256 of account and code, which is 80 random bits
    PRIMARY KEY (account_id, hash)
);

-- A login whose password was right and whose code is not there yet.
CREATE TABLE IF NOT EXISTS pending_logins ( -- no noun: they only expire
    id         UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL UNIQUE,              -- SHA-256 of the secret, which is 256 random bits
    tries      INT4 NOT NULL DEFAULT 0,            -- wrong codes
    expires_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS pending_logins_of_account ON pending_logins (account_id);

CREATE INDEX IF NOT EXISTS pending_logins_expired ON pending_logins (expires_at);

-- +goose Down
SELECT 1;
