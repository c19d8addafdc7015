package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sys/unix"
)

// How long one address has to answer: where there are others to try, a node
// that is silent must not hold up everything.
const (
	connectTimeout     = 10 * time.Second
	connectTimeoutEach = 3 * time.Second
)

// How long a node may be silent on a connection that stands. One that loses its
// power or its network says no goodbye, and the kernel would wait for it for a
// quarter of an hour.
const (
	pingTimeout   = 2 * time.Second  // of a connection that was idle, before it is used
	silentTimeout = 10 * time.Second // of what was sent and not acknowledged
	keepAlive     = 5 * time.Second  // between what is sent for it to be acknowledged
)

// leaveTheSilent has connections given up whose node is gone without a word, so
// that what comes next goes to another one, or fails while there is still time.
func leaveTheSilent(cfg *pgxpool.Config) {
	cfg.PingTimeout = pingTimeout
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: int(silentTimeout / keepAlive)},
		Control: func(network, _ string, c syscall.RawConn) (err error) {
			if network == "unix" {
				return nil
			}
			return errors.Join(c.Control(func(fd uintptr) {
				err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silentTimeout.Milliseconds()))
			}), err)
		},
	}
	cfg.ConnConfig.DialFunc = dialer.DialContext
}

// onlyWritable passes over a standby, where the URL says nothing of it: all that
// it could do is answer what is old.
func onlyWritable(cfg *pgxpool.Config) {
	if !strings.Contains(cfg.ConnString(), "target_session_attrs=") {
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

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
