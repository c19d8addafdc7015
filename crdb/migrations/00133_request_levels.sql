-- +goose NO TRANSACTION
-- +goose Up

-- How full the buckets of requests are, of accounts, keys and addresses that ask much. A level falls by itself, at its rate.
CREATE TABLE IF NOT EXISTS request_levels ( -- no noun: backends count requests together in it
    key   TEXT PRIMARY KEY,               -- `account:ID`, `key:ID`, `address:PREFIX`
    level FLOAT8 NOT NULL,                -- requests, at that time
    rate  FLOAT8 NOT NULL,                -- by which it falls, requests a second
    at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS request_levels_by_age ON request_levels (at);

-- +goose Down
SELECT 1;
