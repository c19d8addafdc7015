-- +goose NO TRANSACTION
-- +goose Up

-- The audit trail is sealed in batches, one chain for each organization (zeros: what is in none). A seal holds the hash of
-- each event of its batch, and its chain value covers the one before.
CREATE TABLE IF NOT EXISTS event_seals (
    organization_id UUID NOT NULL,
    number          INT8 NOT NULL CHECK (number > 0),
    events          INT8 NOT NULL CHECK (events > 0),
    first_at        TIMESTAMPTZ NOT NULL,
    last_at         TIMESTAMPTZ NOT NULL,
    hashes          BYTEA NOT NULL,               -- SHA-256 of each event, in the order of time and id
    chain           BYTEA NOT NULL,               -- SHA-256 over the chain value before, this number and the hashes
    code            BYTEA NOT NULL,               -- of chain, by the keyset: who only writes the database can't make one
    sealed_at       TIMESTAMPTZ NOT NULL DEFAULT now(),
    expired_at      TIMESTAMPTZ,                  -- its events were removed by retention; the chain goes on over it
    PRIMARY KEY (organization_id, number)
);

CREATE INDEX IF NOT EXISTS event_seals_by_age ON event_seals (last_at) WHERE expired_at IS NULL;

ALTER TABLE events ADD COLUMN IF NOT EXISTS seal INT8;

CREATE INDEX IF NOT EXISTS events_unsealed ON events (organization_id, at, id) WHERE seal IS NULL;

CREATE INDEX IF NOT EXISTS events_of_seal ON events (organization_id, seal) WHERE seal IS NOT NULL;

-- +goose Down
SELECT 1;
