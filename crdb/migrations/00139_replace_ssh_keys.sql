-- +goose NO TRANSACTION
-- +goose Up

-- The SSH key of an organization is replaced: the next one stands beside it until every host lets it in. Older backends use
-- public_key and private_sealed, which every host lets in until the next key takes their place.
ALTER TABLE organization_keys ADD COLUMN IF NOT EXISTS version INT8 NOT NULL DEFAULT 1; -- of public_key; counts replacements

ALTER TABLE organization_keys ADD COLUMN IF NOT EXISTS next_public_key TEXT; -- one authorized_keys line; NULL: no replacement is under way

ALTER TABLE organization_keys ADD COLUMN IF NOT EXISTS next_sealed BYTEA; -- OpenSSH PEM, sealed as private_sealed is

ALTER TABLE organization_keys ADD COLUMN IF NOT EXISTS former_public_keys TEXT[] NOT NULL DEFAULT '{}'; -- lines that hosts are to lose; their private keys are gone

ALTER TABLE organization_keys ADD COLUMN IF NOT EXISTS replaced_by TEXT; -- who asked for the last replacement; NULL: nobody yet

ALTER TABLE organization_keys ADD COLUMN IF NOT EXISTS replaced_at TIMESTAMPTZ; -- when it was asked for

ALTER TABLE hosts ADD COLUMN IF NOT EXISTS ssh_key_version INT8 NOT NULL DEFAULT 1; -- newest key of its organization that a login with it proved

ALTER TABLE hosts ADD COLUMN IF NOT EXISTS ssh_key_only INT8 NOT NULL DEFAULT 1; -- no key from before this version is left on it

ALTER TABLE hosts ADD COLUMN IF NOT EXISTS ssh_key_left INT8 NOT NULL DEFAULT 0; -- a person said that the host stays behind this version

-- +goose Down
SELECT 1;
