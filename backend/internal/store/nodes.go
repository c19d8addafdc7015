package store

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// How long one address has to answer: where there are others to try, a node
// that is silent must not hold up everything.
const (
	connectTimeout     = 10 * time.Second
	connectTimeoutEach = 3 * time.Second
)

// spread makes each new connection begin at another one of the nodes that the
// URL names. The driver tries them in their order, so that without this all
// backends would sit on the first, and none would come back to a node that
// returned.
func spread(cfg *pgxpool.Config) {
	several := len(nodes(cfg.ConnConfig)) > 1
	if cfg.ConnConfig.ConnectTimeout == 0 { // the URL says nothing of it
		cfg.ConnConfig.ConnectTimeout = connectTimeout
		if several {
			cfg.ConnConfig.ConnectTimeout = connectTimeoutEach
		}
	}
	if !several {
		return
	}
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		all := nodes(c)
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		c.Host, c.Port, c.TLSConfig = all[0].Host, all[0].Port, all[0].TLSConfig
		c.Fallbacks = all[1:]
		return nil
	}
}

// nodes are the addresses of a configuration, in its order; none if they can't
// be exchanged: sslmode=prefer and allow try each with TLS and without, and
// which comes first matters.
func nodes(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	all := []*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}
	for _, f := range c.Fallbacks {
		if (f.TLSConfig == nil) != (c.TLSConfig == nil) {
			return nil
		}
		all = append(all, f)
	}
	return all
}
