package store

import (
	"context"
	"fmt"

	"kloigos/backend/internal/kernel/db"
)

// RequestLevel is how full the bucket of one who asks is.
type RequestLevel struct {
	Key   string  `db:"key"`
	Level float64 `db:"level"` // requests
	Rate  float64 `db:"rate"`  // by which it falls, requests a second
}

const sqlAddRequests = `
INSERT INTO request_levels (key, level, rate, at)
SELECT n.key, n.level, n.rate, now()
  FROM unnest($1::TEXT[], $2::FLOAT8[], $3::FLOAT8[]) AS n(key, level, rate)
 ORDER BY n.key
ON CONFLICT (key) DO UPDATE
   SET level = excluded.level + greatest(0, request_levels.level - excluded.rate * greatest(0, EXTRACT(EPOCH FROM now() - request_levels.at)::FLOAT8)),
       rate = excluded.rate, at = now()
RETURNING key, level, rate`

// AddRequests adds what one backend counted since it last did, and returns what all backends counted. The keys are in order, so
// that no two backends wait for each other.
func (tx *Tx) AddRequests(ctx context.Context, counted []RequestLevel) ([]RequestLevel, error) {
	keys, levels, rates := make([]string, len(counted)), make([]float64, len(counted)), make([]float64, len(counted))
	for i, c := range counted {
		keys[i], levels[i], rates[i] = c.Key, c.Level, c.Rate
	}
	all, err := db.Collect[RequestLevel](ctx, tx.q, sqlAddRequests, keys, levels, rates)
	if err != nil {
		return nil, fmt.Errorf("add requests: %w", err)
	}
	return all, nil
}

const sqlForgetRequests = `
DELETE FROM request_levels
 WHERE key IN (SELECT l.key
                 FROM request_levels l
                WHERE l.at < now() - INTERVAL '1 hour'
                ORDER BY l.at
                LIMIT $1)`

// ForgetRequests takes away the levels of those who have asked little for an hour.
func (tx *Tx) ForgetRequests(ctx context.Context) (n int64, more bool, err error) {
	return tx.removeSome(ctx, sqlForgetRequests)
}
