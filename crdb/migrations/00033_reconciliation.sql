-- +goose NO TRANSACTION
-- +goose Up

-- One object that a policy looks at. Any reconciler claims those that are due. For a policy about the whole installation there
-- is one item, with the id of zeros; for any other policy that item lists the objects.
CREATE TABLE IF NOT EXISTS reconcile_items (
    policy       TEXT NOT NULL,                       -- permanent name of the policy
    object_id    UUID NOT NULL,
    due_at       TIMESTAMPTZ NOT NULL,                -- a wake only ever moves it earlier
    lease_until  TIMESTAMPTZ,                         -- until then its run belongs to the holder; null: nobody runs it
    holder       UUID,                                -- the reconciler that holds the lease
    run          INT8 NOT NULL DEFAULT 0,             -- counts claims: an end counts only for the run that it belongs to
    token        INT8 NOT NULL DEFAULT 0,             -- counts wakes: one that comes during a run makes the item due again at its end
    token_done   INT8 NOT NULL DEFAULT 0,             -- the token that the last ended run began with
    failures     INT4 NOT NULL DEFAULT 0,             -- in a row
    last_started TIMESTAMPTZ,
    last_ended   TIMESTAMPTZ,
    last_outcome TEXT NOT NULL DEFAULT '' CHECK (last_outcome IN ('', 'ok', 'changed', 'observed', 'failed')),
    last_changed INT8 NOT NULL DEFAULT 0,             -- how many things the last run changed
    last_error   TEXT NOT NULL DEFAULT '',            -- as shown to a person
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (policy, object_id)
);

-- The claim, and how late a policy is.
CREATE INDEX IF NOT EXISTS reconcile_items_due ON reconcile_items (policy, due_at);

-- Items of an object, and those that fail.
CREATE INDEX IF NOT EXISTS reconcile_items_of_object ON reconcile_items (object_id, policy);
CREATE INDEX IF NOT EXISTS reconcile_items_failed ON reconcile_items (policy, object_id) WHERE failures > 0;

-- What is not reconciled for now. Policy '' is every policy, the object of zeros every object of the policy.
CREATE TABLE IF NOT EXISTS reconcile_pauses (
    policy    TEXT NOT NULL,
    object_id UUID NOT NULL,
    mode      TEXT NOT NULL CHECK (mode IN ('pause', 'observe')), -- observe: look, but change nothing
    paused_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    paused_by TEXT NOT NULL,                          -- name of the account
    reason    TEXT NOT NULL,                          -- shown to everyone who waits
    until     TIMESTAMPTZ,                            -- null: until somebody resumes
    PRIMARY KEY (policy, object_id),
    CHECK (policy <> '' OR object_id <> '00000000-0000-0000-0000-000000000000')
);

-- The pauses of an object.
CREATE INDEX IF NOT EXISTS reconcile_pauses_of_object ON reconcile_pauses (object_id, policy);

-- What the last run of a policy found of one property of an object.
CREATE TABLE IF NOT EXISTS conditions (
    noun        TEXT NOT NULL,
    object_id   UUID NOT NULL,
    type        TEXT NOT NULL,                        -- the property, true where all is well
    status      TEXT NOT NULL CHECK (status IN ('true', 'false', 'progressing', 'unknown')),
    reason      TEXT NOT NULL,                        -- one word for programs
    message     TEXT NOT NULL,                        -- a sentence for people
    fault       TEXT NOT NULL CHECK (fault IN ('', 'user', 'capacity', 'provider', 'dependency', 'ours')),
    retry_helps BOOL NOT NULL,
    failing     INT4 NOT NULL,                        -- observations in a row that were not true
    results     TEXT NOT NULL,                        -- the last 21 observations, newest last: t, f or u
    flapping    BOOL NOT NULL,
    since       TIMESTAMPTZ NOT NULL,                 -- of the status
    observed_at TIMESTAMPTZ NOT NULL,
    policy      TEXT NOT NULL,                        -- that wrote it
    history     JSONB NOT NULL,                       -- the last statuses, newest first: [{status, reason, message, since}]
    PRIMARY KEY (noun, object_id, type)
);

-- Everything that is not as it should be, of a noun.
CREATE INDEX IF NOT EXISTS conditions_not_true ON conditions (noun, status, since, object_id, type) WHERE status <> 'true';

-- +goose Down
SELECT 1;
