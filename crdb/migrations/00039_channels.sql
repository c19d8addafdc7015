-- +goose NO TRANSACTION
-- +goose Up

-- Where notifications of a workspace go. A column that does not belong to the type of the channel is empty.
CREATE TABLE IF NOT EXISTS channels ( -- noun: channel
    id              UUID PRIMARY KEY,
    workspace_id    UUID NOT NULL,
    name            TEXT NOT NULL,
    type            TEXT NOT NULL CHECK (type IN ('webhook', 'email')),
    enabled         BOOL NOT NULL,                -- nothing is sent by itself if not; a test is
    subscribes      TEXT[] NOT NULL,              -- 'noun', 'noun/condition' or '*': which conditions are sent
    url             TEXT NOT NULL DEFAULT '',     -- of a webhook
    server          TEXT NOT NULL DEFAULT '',     -- 'host:port' that takes mail
    tls             TEXT NOT NULL DEFAULT '' CHECK (tls IN ('', 'tls', 'starttls', 'none')),
    username        TEXT NOT NULL DEFAULT '',     -- for the mail server; empty: no login
    password_sealed BYTEA,                        -- for the mail server, sealed with 'channels/<id>'
    sender          TEXT NOT NULL DEFAULT '',     -- address that mail comes from
    recipients      TEXT[] NOT NULL DEFAULT '{}', -- addresses that mail goes to
    version         INT8 NOT NULL DEFAULT 1,      -- counts changes; the ETag
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (workspace_id, name),
    CHECK ((type = 'webhook') = (url <> '')),
    CHECK ((type = 'email') = (server <> ''))
);

CREATE INDEX IF NOT EXISTS channels_by_type ON channels (workspace_id, type, name, id);

-- Secrets that a webhook is signed with, each by itself: there are two while one replaces the other.
CREATE TABLE IF NOT EXISTS channel_secrets ( -- no noun: a part of their channel
    id         UUID PRIMARY KEY,
    channel_id UUID NOT NULL REFERENCES channels (id),
    sealed     BYTEA NOT NULL,                    -- sealed with 'channel_secrets/<id>'
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS channel_secrets_of_channel ON channel_secrets (channel_id, created_at, id);

-- One attempt to deliver one message. Without a foreign key: deliveries outlive their channel until they expire.
CREATE TABLE IF NOT EXISTS channel_deliveries ( -- no noun: a log
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    channel_id   UUID NOT NULL,
    message_id   UUID NOT NULL,                   -- the same for all attempts of a message
    kind         TEXT NOT NULL CHECK (kind IN ('test', 'conditions')),
    attempt      INT8 NOT NULL,                   -- of the message, from 1
    at           TIMESTAMPTZ NOT NULL DEFAULT now(),
    outcome      TEXT NOT NULL CHECK (outcome IN ('delivered', 'failed')),
    status_code  INT8,                            -- of HTTP or SMTP; NULL if nothing was answered
    duration     INT8 NOT NULL,                   -- milliseconds
    error        TEXT NOT NULL DEFAULT '',        -- why it failed, in a sentence
    retry        BOOL NOT NULL,                   -- whether the same attempt may succeed later
    fault        TEXT NOT NULL DEFAULT ''         -- who can mend it: 'user', 'provider' or 'dependency'
);

CREATE INDEX IF NOT EXISTS channel_deliveries_by_workspace ON channel_deliveries (workspace_id, at DESC, id DESC);

CREATE INDEX IF NOT EXISTS channel_deliveries_by_channel ON channel_deliveries (channel_id, at DESC, id DESC);

CREATE INDEX IF NOT EXISTS channel_deliveries_of_message ON channel_deliveries (message_id, attempt);

-- What expires.
CREATE INDEX IF NOT EXISTS channel_deliveries_by_age ON channel_deliveries (at);

-- +goose Down
SELECT 1;
