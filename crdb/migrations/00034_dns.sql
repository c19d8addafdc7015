-- +goose NO TRANSACTION
-- +goose Up

-- The id of this installation, which ownership records in DNS zones name. A restored database keeps it: with another one,
-- the installation would own none of its records any more.
INSERT INTO settings (name, value)
VALUES ('installation_id', convert_to(gen_random_uuid()::TEXT, 'UTF8'))
ON CONFLICT (name) DO NOTHING;

-- DNS zones, and how their name server is reached. Without a foreign key to workspaces, which is in use; no backend removes
-- one. The keys among the tables of this file keep a zone that has record sets.
CREATE TABLE IF NOT EXISTS dns_zones (
    id              UUID PRIMARY KEY,
    workspace_id    UUID NOT NULL,
    name            TEXT NOT NULL,                -- canonical: lower-case A-labels and a final dot
    provider        TEXT NOT NULL CHECK (provider IN ('rfc2136')),
    server          TEXT NOT NULL,                -- 'host:port' of the name server that takes updates
    allow_private   BOOL NOT NULL,                -- its name servers may have addresses in private ranges
    key_name        TEXT NOT NULL,                -- of the TSIG key, canonical
    key_algorithm   TEXT NOT NULL CHECK (key_algorithm IN ('hmac-sha256', 'hmac-sha512')),
    key_sealed      BYTEA NOT NULL,               -- base64 as in the server's configuration, sealed with 'dns_zones/<id>'
    patterns        TEXT[] NOT NULL,              -- which names the key may change; empty for all
    mode            TEXT NOT NULL CHECK (mode IN ('sync', 'upsert_only', 'observe')),
    state           TEXT NOT NULL CHECK (state IN ('pending', 'syncing', 'live', 'held', 'failed')),
    state_message   TEXT NOT NULL DEFAULT '',     -- why it is held or failed
    reason          TEXT NOT NULL DEFAULT '',     -- of the failure, as a permanent word
    revision        INT8 NOT NULL DEFAULT 1,      -- counts the changes that a synchronization depends on
    synced_revision INT8 NOT NULL DEFAULT 0,      -- the revision that the last synchronization worked with
    soa_serial      INT8,                         -- of the zone when it was last read
    negative_ttl    INT8 NOT NULL DEFAULT 0,      -- seconds for which resolvers deny a name of the zone
    synced_at       TIMESTAMPTZ,                  -- when the last synchronization ended
    plan            BYTEA,                        -- the updates and deletions that the brake holds, as digests
    plan_owned      INT8 NOT NULL DEFAULT 0,      -- record sets on the server that are ours, when it was held
    plan_touched    INT8 NOT NULL DEFAULT 0,      -- of these, how many the plan updates or deletes
    confirmed       BYTEA,                        -- the digests that a person confirmed
    version         INT8 NOT NULL DEFAULT 1,      -- counts changes; the ETag
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (workspace_id, name),
    CHECK ((plan IS NOT NULL) = (state = 'held'))
);

CREATE INDEX IF NOT EXISTS dns_zones_by_state ON dns_zones (workspace_id, state, id);

-- Names that have record sets, or had some. A CNAME record stands alone at its name: all record sets of a name agree on it,
-- since they refer to this row.
CREATE TABLE IF NOT EXISTS dns_names (
    zone_id UUID NOT NULL REFERENCES dns_zones (id),
    name    TEXT NOT NULL,                        -- canonical
    alone   BOOL NOT NULL,                        -- for one CNAME record set
    PRIMARY KEY (zone_id, name),
    UNIQUE (zone_id, name, alone)
);

-- Record sets: what the zones are to tell.
CREATE TABLE IF NOT EXISTS dns_record_sets (
    id            UUID PRIMARY KEY,
    workspace_id  UUID NOT NULL,
    zone_id       UUID NOT NULL REFERENCES dns_zones (id),
    name          TEXT NOT NULL,                  -- canonical
    type          TEXT NOT NULL CHECK (type IN ('A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SRV', 'TXT')),
    ttl           INT8 NOT NULL CHECK (ttl BETWEEN 30 AND 604800), -- seconds
    contents      TEXT[] NOT NULL,                -- its values, canonical and sorted
    owner         TEXT NOT NULL,                  -- 'user', or 'allocation:<id>', which alone may change it
    alone         BOOL,                           -- it is a CNAME; NULL while it is deleted, when others may take the name
    adopt         TEXT NOT NULL DEFAULT '' CHECK (adopt IN ('', 'unowned', 'foreign')), -- what the next synchronization may take over
    state         TEXT NOT NULL CHECK (state IN ('pending', 'live', 'failed', 'deleting')),
    state_message TEXT NOT NULL DEFAULT '',       -- why it is failed, or not live yet
    outcome       TEXT NOT NULL DEFAULT '',       -- what the last synchronization said of it
    revision      INT8 NOT NULL DEFAULT 1,        -- counts changes of the intent
    live_revision INT8 NOT NULL DEFAULT 0,        -- the revision that the server holds; 0 if it never held one
    live_ttl      INT8,                           -- seconds, of that revision
    settles_at    TIMESTAMPTZ,                    -- until then, resolvers may tell what was there before
    version       INT8 NOT NULL DEFAULT 1,        -- counts changes; the ETag
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    FOREIGN KEY (zone_id, name, alone) REFERENCES dns_names (zone_id, name, alone),
    CHECK ((alone IS NULL) = (state = 'deleting')),
    CHECK (alone IS NULL OR alone = (type = 'CNAME'))
);

-- One of a type at a name. A deleted one does not keep its successor waiting.
CREATE UNIQUE INDEX IF NOT EXISTS dns_record_sets_one ON dns_record_sets (zone_id, name, type) WHERE state <> 'deleting';

-- The lists of a workspace and of a zone.
CREATE INDEX IF NOT EXISTS dns_record_sets_by_workspace ON dns_record_sets (workspace_id, name, id);

CREATE INDEX IF NOT EXISTS dns_record_sets_by_zone ON dns_record_sets (zone_id, name, id);

CREATE INDEX IF NOT EXISTS dns_record_sets_by_state ON dns_record_sets (workspace_id, state, id);

-- What the next synchronization of a zone is for.
CREATE INDEX IF NOT EXISTS dns_record_sets_unsynced ON dns_record_sets (zone_id) WHERE state IN ('pending', 'deleting');

-- What an allocation has.
CREATE INDEX IF NOT EXISTS dns_record_sets_of_owner ON dns_record_sets (owner) WHERE owner <> 'user';

-- Record sets that the last synchronization found on the server and that are not in the intent.
CREATE TABLE IF NOT EXISTS dns_foreign_records (
    zone_id  UUID NOT NULL REFERENCES dns_zones (id),
    name     TEXT NOT NULL,                       -- canonical, or with escapes as the server has it
    type     TEXT NOT NULL,                       -- any
    ttl      INT8 NOT NULL,                       -- seconds
    contents TEXT[] NOT NULL,                     -- its values, sorted
    outcome  TEXT NOT NULL,                       -- 'foreign', or 'kept' and others for one of ours that was left
    message  TEXT NOT NULL DEFAULT '',            -- whose it is, if its ownership record says so
    seen_at  TIMESTAMPTZ NOT NULL DEFAULT now(),  -- when it was first found like this
    PRIMARY KEY (zone_id, name, type)
);

-- +goose Down
SELECT 1;
