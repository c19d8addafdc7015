-- +goose NO TRANSACTION
-- +goose Up

-- With what a session was proved besides a password or the word of a provider, and the tokens that it made; NULL: with nothing.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS second_factor TEXT CHECK (second_factor IN ('code', 'recovery code', 'passkey', 'provider'));

-- Whether sessions and tokens of people without a second factor reach nothing of the organization.
ALTER TABLE organizations ADD COLUMN IF NOT EXISTS second_factor_required BOOL NOT NULL DEFAULT false;

-- +goose Down
SELECT 1;
