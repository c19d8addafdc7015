-- +goose NO TRANSACTION
-- +goose Up

-- The name of the account that may accept; '' for whoever has the link.
ALTER TABLE invitations ADD COLUMN IF NOT EXISTS account TEXT NOT NULL DEFAULT '';

-- The account that invites: it must still have what the role permits when the invitation is accepted.
ALTER TABLE invitations ADD COLUMN IF NOT EXISTS inviter_id UUID;

-- How many taken names were asked for with the link.
ALTER TABLE invitations ADD COLUMN IF NOT EXISTS taken_names INT8 NOT NULL DEFAULT 0;

CREATE INDEX IF NOT EXISTS invitations_expired ON invitations (expires_at, id);

-- +goose Down
SELECT 1;
