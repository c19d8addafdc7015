// Package nodes connects to a database that has several nodes, some of which may
// be dead, silent, or only able to read.
package nodes

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"
)

// How long one address has to answer: where there are others to try, a node
// that is silent must not hold up everything.
const (
	connectTimeout     = 10 * time.Second
	ConnectTimeoutEach = 3 * time.Second
)

// How long a node may be silent on a connection that stands. One that loses its
// power or its network says no goodbye, and the kernel would wait for it for a
// quarter of an hour.
const (
	PingTimeout   = 2 * time.Second  // of a connection that was idle, before it is used
	silentTimeout = 10 * time.Second // of what was sent and not acknowledged
	keepAlive     = 5 * time.Second  // between what is sent for it to be acknowledged
)

// Prepare has connections made and kept as they should be with several nodes,
// where the URL says nothing else.
func Prepare(c *pgx.ConnConfig) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
		if len(all(c)) > 1 {
			c.ConnectTimeout = ConnectTimeoutEach
		}
	}
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: int(silentTimeout / keepAlive)},
		Control:         giveUpSilent,
	}
	c.DialFunc = dialer.DialContext
	// All that a standby could do is answer what is old.
	if !strings.Contains(c.ConnString(), "target_session_attrs=") && os.Getenv("PGTARGETSESSIONATTRS") == "" {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

func giveUpSilent(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silentTimeout.Milliseconds()))
	})
	return errors.Join(err, set)
}

// Spread, called before each new connection, makes it begin at another one of
// the nodes that the URL names. The driver tries them in their order, so that
// without this all backends would sit on the first, and none would come back to
// a node that returned.
func Spread(_ context.Context, c *pgx.ConnConfig) error {
	nodes := all(c)
	if len(nodes) < 2 {
		return nil
	}
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	c.Host, c.Port, c.TLSConfig = nodes[0].Host, nodes[0].Port, nodes[0].TLSConfig
	c.Fallbacks = nodes[1:]
	return nil
}

// Renew has the next connection use the certificates that the files of a URL hold now: pgx reads them once. Files that can't be
// read just now change nothing.
func Renew(c *pgx.ConnConfig, url string) {
	if c.TLSConfig == nil {
		return
	}
	now, err := pgx.ParseConfig(url)
	if err != nil {
		return
	}
	of := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	fresh := map[string]*tls.Config{of(now.Host, now.Port): now.TLSConfig}
	for _, f := range now.Fallbacks {
		if f.TLSConfig != nil {
			fresh[of(f.Host, f.Port)] = f.TLSConfig
		}
	}
	if renewed := fresh[of(c.Host, c.Port)]; renewed != nil {
		c.TLSConfig = renewed
	}
	for _, f := range c.Fallbacks {
		if renewed := fresh[of(f.Host, f.Port)]; renewed != nil && f.TLSConfig != nil {
			f.TLSConfig = renewed
		}
	}
}

// all are the addresses of a configuration, in its order; none if they can't be
// exchanged: sslmode=prefer and allow try each with TLS and without, and which
// comes first matters.
func all(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	nodes := []*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}
	for _, f := range c.Fallbacks {
		if (f.TLSConfig == nil) != (c.TLSConfig == nil) {
			return nil
		}
		nodes = append(nodes, f)
	}
	return nodes
}
