-- +goose NO TRANSACTION
-- +goose Up

-- Where sealed events go as they come: of an organization, or (zeros) what is in none.
CREATE TABLE IF NOT EXISTS event_streams ( -- noun: event_stream
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL,
    name            TEXT NOT NULL,
    type            TEXT NOT NULL CHECK (type IN ('webhook', 'syslog')),
    url             TEXT NOT NULL DEFAULT '',      -- of a webhook
    server          TEXT NOT NULL DEFAULT '',      -- 'host:port' of syslog over TLS
    authority       TEXT NOT NULL DEFAULT '',      -- certificates (PEM) that vouch for the server; '' for those of the system
    secret_sealed   BYTEA,                         -- signs what goes to a webhook; sealed with 'event_streams/<id>'
    enabled         BOOL NOT NULL,
    version         INT8 NOT NULL DEFAULT 1,       -- counts changes; the ETag
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (organization_id, name)
);

-- How far each stream is: the last event that its receiver has, in the order of seals.
CREATE TABLE IF NOT EXISTS event_stream_positions ( -- no noun: written with each batch, by the policy of the stream
    stream_id  UUID PRIMARY KEY,
    seal       INT8 NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    event_id   UUID NOT NULL,
    sent       INT8 NOT NULL DEFAULT 0,            -- events since the stream was made
    sent_at    TIMESTAMPTZ,                        -- of the last batch
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- +goose Down
SELECT 1;
