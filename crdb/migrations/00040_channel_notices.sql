-- +goose NO TRANSACTION
-- +goose Up

-- Which false conditions a channel was told of, until it is told that they hold again.
CREATE TABLE IF NOT EXISTS channel_notices ( -- no noun: what a policy did
    channel_id UUID NOT NULL REFERENCES channels (id),
    noun       TEXT NOT NULL,
    object_id  UUID NOT NULL,
    type       TEXT NOT NULL,                     -- of the condition
    name       TEXT NOT NULL,                     -- of the object when it was told
    told_at    TIMESTAMPTZ NOT NULL,              -- when it was last told
    PRIMARY KEY (channel_id, noun, object_id, type)
);

-- +goose Down
SELECT 1;
