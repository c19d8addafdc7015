// Package proxy shows a client what differs on the wire where the database is a CockroachDB, with a PostgreSQL behind
// it: the version, SERIALIZABLE for every transaction, the savepoint `cockroach_restart` (its release commits, a
// rollback to it begins anew), transactions refused with 40001, and the codes that only CockroachDB has.
//
// It is for tests. It proves that a client speaks the protocol right, not what a CockroachDB does with a statement: the
// planner, the locks, the ranges and the clocks behind it are PostgreSQL's.
package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// DefaultVersion is the release that the proxy claims to be.
const DefaultVersion = "v25.2.4"

// Options say how the database behaves. Shares are between 0 and 1.
type Options struct {
	Version string  // as in v25.2.4; "" for DefaultVersion
	Seed    uint64  // of all draws
	Refuse  float64 // share of releases of the savepoint, the commits of a retry loop, that are refused with 40001
	Commits float64 // share of other commits that are
	Reads   float64 // share of reads outside of a transaction that are refused with 40001
	Unknown float64 // share of commits that are answered with 40003; half of them were applied
}

// Proxy is one that runs.
type Proxy struct {
	URL string // of the database, through the proxy

	options  Options
	server   *pgconn.Config // how it is reached; its address is target
	target   atomic.Pointer[string]
	listener net.Listener
	trips    atomic.Int64
	refused  atomic.Int64
	restarts atomic.Int64

	mu   sync.Mutex
	draw *rand.Rand
	open map[net.Conn]bool
	shut bool
	all  sync.WaitGroup
}

// Start listens on loopback before the database that a URL names.
func Start(database string, o Options) (*Proxy, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, errors.New("the database URL can't be read") // its text may hold the password
	}
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		return nil, errors.New("the database URL can't be read")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen before the database: %w", err)
	}
	if o.Version == "" {
		o.Version = DefaultVersion
	}
	p := &Proxy{options: o, server: config, listener: l, draw: rand.New(rand.NewPCG(o.Seed, 1)), open: map[net.Conn]bool{}}
	p.Lead(net.JoinHostPort(config.Host, fmt.Sprint(config.Port)))
	u.Host = l.Addr().String()
	q := u.Query()
	for _, name := range []string{"host", "port", "sslrootcert", "sslcert", "sslkey"} {
		q.Del(name)
	}
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	p.URL = u.String()
	p.all.Go(p.accept)
	return p, nil
}

// Lead makes new connections go to another address of the database.
func (p *Proxy) Lead(address string) { p.target.Store(&address) }

// RoundTrips is how often a client has waited for an answer so far.
func (p *Proxy) RoundTrips() int { return int(p.trips.Load()) }

// Refused is how many commits and reads were refused so far because Options say so.
func (p *Proxy) Refused() int { return int(p.refused.Load()) }

// Restarts is how often so far a transaction began anew at its savepoint.
func (p *Proxy) Restarts() int { return int(p.restarts.Load()) }

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.shut = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
}

func (p *Proxy) drawn(share float64) bool {
	if share == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.draw.Float64() < share
}

func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shut {
		p.open[c] = true
	}
	return !p.shut
}

func (p *Proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() {
			defer p.drop(client)
			if p.hold(client) {
				p.connect(client)
			}
		})
	}
}

// dial connects to the database, with TLS where its URL wants it.
func (p *Proxy) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", *p.target.Load())
	if err != nil || p.server.TLSConfig == nil {
		return conn, err
	}
	answer := make([]byte, 1)
	ask, err := (&pgproto3.SSLRequest{}).Encode(nil)
	if err == nil {
		_, err = conn.Write(ask)
	}
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("ask for TLS: %w", err)
	}
	if answer[0] == 'N' {
		return conn, nil
	}
	return tls.Client(conn, p.server.TLSConfig), nil
}

// connect carries one connection until either end is gone.
func (p *Proxy) connect(conn net.Conn) {
	client := pgproto3.NewBackend(conn, conn)
	var begins *pgproto3.StartupMessage
	for begins == nil {
		first, err := client.ReceiveStartupMessage()
		if err != nil {
			return
		}
		switch m := first.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := conn.Write([]byte{'N'}); err != nil {
				return
			}
		case *pgproto3.CancelRequest:
			p.cancel(m)
			return
		case *pgproto3.StartupMessage:
			begins = m
		}
	}
	upstream, err := p.dial()
	if err != nil {
		return
	}
	defer p.drop(upstream)
	if !p.hold(upstream) {
		return
	}
	s := &session{proxy: p, client: client, server: pgproto3.NewFrontend(upstream, upstream), kinds: map[string]kind{}, portals: map[string]kind{}}
	if s.logIn(begins) != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		defer func() { _ = upstream.Close() }()
		s.ask()
	})
	both.Go(func() {
		defer func() { _ = conn.Close() }()
		s.answer()
	})
	both.Wait()
}

func (p *Proxy) cancel(m *pgproto3.CancelRequest) {
	upstream, err := p.dial()
	if err != nil {
		return
	}
	defer func() { _ = upstream.Close() }()
	if raw, err := m.Encode(nil); err == nil {
		_, _ = upstream.Write(raw)
		_, _ = upstream.Read(make([]byte, 1)) // it ends when the server has taken it
	}
}
