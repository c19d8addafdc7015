package db

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/crdb/nodes"
)

// gate stands for a node of a cluster: what connects to it reaches the one
// server that there is, until it dies or falls silent.
type gate struct {
	listener net.Listener
	network  string
	server   string

	mu     sync.Mutex
	open   map[net.Conn]bool
	taken  int // connections so far
	silent bool
	gone   bool
}

func newGate(t *testing.T, serverURL string) *gate {
	t.Helper()
	cfg, err := pgconn.ParseConfig(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{open: map[net.Conn]bool{}}
	g.network, g.server = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	if g.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := g.listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { g.carry(conn) })
		}
	})
	t.Cleanup(func() { g.die(); all.Wait() })
	return g
}

func (g *gate) carry(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	g.mu.Lock()
	g.taken++
	silent := g.silent
	g.open[conn] = !g.gone
	gone := g.gone
	g.mu.Unlock()
	if gone {
		return
	}
	if silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	server, err := net.Dial(g.network, g.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() { _, _ = io.Copy(unlessSilent{g, server}, conn); _ = server.Close() }()
	_, _ = io.Copy(unlessSilent{g, conn}, server)
}

// unlessSilent takes what comes to a node that fell silent, and tells nobody.
type unlessSilent struct {
	g  *gate
	to io.Writer
}

func (u unlessSilent) Write(b []byte) (int, error) {
	u.g.mu.Lock()
	silent := u.g.silent
	u.g.mu.Unlock()
	if silent {
		return len(b), nil
	}
	return u.to.Write(b)
}

func (g *gate) hush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent = true
}

// die ends it as a kill -9 does: every connection breaks, and none is taken.
func (g *gate) die() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	_ = g.listener.Close()
	for conn := range g.open {
		_ = conn.Close()
	}
}

func (g *gate) connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.taken
}

func (g *gate) address() string { return g.listener.Addr().String() }

// through leads to a database over these addresses, in this order.
func through(t *testing.T, database string, addresses ...string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("host")
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	u.Host = strings.Join(addresses, ",")
	return u.String()
}

// dead is an address at which nobody listens.
func dead(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestADeadNodeIsPassedOver(t *testing.T) {
	t.Parallel()
	c := setup(t)
	alive := newGate(t, c.url)
	for range 8 { // whichever comes first
		db := open(t, through(t, c.url, dead(t), alive.address()))
		if err := db.InTx(t.Context(), func(tx *Tx) error { return tx.One(t.Context(), nil, sqlAdd, "a") }); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.read(t, "a"); n != 8 {
		t.Errorf("counted %d", n)
	}
}

// A node that takes connections and says nothing costs its share of time and no more.
func TestASilentNodeIsPassedOver(t *testing.T) {
	t.Parallel()
	c := setup(t)
	silent, alive := newGate(t, c.url), newGate(t, c.url)
	silent.silent = true
	begun := time.Now()
	for silent.connections() == 0 {
		db, err := Open(t.Context(), through(t, c.url, silent.address(), alive.address())+"&connect_timeout=1")
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
		if time.Since(begun) > 30*time.Second {
			t.Fatal("it was never tried: this test would show nothing")
		}
	}
	begun = time.Now()
	db := open(t, through(t, c.url, silent.address(), alive.address()))
	if took := time.Since(begun); took > nodes.ConnectTimeoutEach+5*time.Second || db.Ping(t.Context()) != nil {
		t.Errorf("it took %s", took)
	}
}

// fill opens as many connections as the pool has, until each node got some.
func fill(t *testing.T, db *DB, all ...*gate) {
	t.Helper()
	for range 50 {
		before := make([]int, len(all))
		for i, g := range all {
			before[i] = g.connections()
		}
		var full, held sync.WaitGroup
		held.Add(16)
		for range 16 {
			full.Go(func() {
				done := sync.OnceFunc(held.Done)
				err := db.InTx(t.Context(), func(tx *Tx) error {
					_, err := tx.Exec(t.Context(), `SELECT 1`)
					done()
					held.Wait()
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		full.Wait()
		missed := false
		for i, g := range all {
			missed = missed || g.connections() == before[i]
		}
		if !missed || t.Failed() {
			return
		}
		db.pool.Reset()
	}
	t.Fatal("one of the nodes never got a connection")
}

// TestANodeFallsSilent while connections to it stand, as when its machine loses
// its power: they are found out before they are used, and left.
func TestANodeFallsSilent(t *testing.T) {
	t.Parallel()
	c := setup(t)
	one, two, three := newGate(t, c.url), newGate(t, c.url), newGate(t, c.url)
	// What was idle for less than a second is not asked, but for this test.
	always := func(cfg *pgxpool.Config) {
		cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	}
	db := open(t, through(t, c.url, one.address(), two.address(), three.address()), always)
	fill(t, db, one, two, three)
	two.hush()
	within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			err := db.InTx(within, func(tx *Tx) error { return tx.One(within, errors.New("none"), sqlAdd, "a") })
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	two.die() // the driver waits to say goodbye
	if n := c.read(t, "a"); n != 16 {
		t.Errorf("counted %d", n)
	}
}

// A standby is no node to connect to: what it says is old, and it takes nothing.
func TestAStandbyIsPassedOver(t *testing.T) {
	t.Parallel()
	c := setup(t)
	db, err := Open(t.Context(), c.url+"&default_transaction_read_only=on")
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, pgconn.ErrReadOnlyConnection) || !Unavailable(err) {
		t.Errorf("connected to one that only reads: %v", err)
	}
	open(t, c.url+"&default_transaction_read_only=on&target_session_attrs=any")
	open(t, c.url+"&default_transaction_read_only=on", ReadsOnly())
}

// TestANodeDies under load: what was in the middle of a transaction is told so,
// everything else goes on over the others, and nothing is done twice.
func TestANodeDies(t *testing.T) {
	t.Parallel()
	c := setup(t)
	one, two, three := newGate(t, c.url), newGate(t, c.url), newGate(t, c.url)
	db := open(t, through(t, c.url, one.address(), two.address(), three.address()))
	add := func() error {
		return db.InTx(t.Context(), func(tx *Tx) error { return tx.One(t.Context(), errors.New("none"), sqlAdd, "a") })
	}
	fill(t, db, one, two, three)
	two.die()
	for n := range 100 { // each idle connection to it is met once
		if err := add(); err != nil {
			t.Fatalf("transaction %d: %v", n, err)
		}
	}
	if n := c.read(t, "a"); n != 100 {
		t.Errorf("counted %d", n)
	}
	// In the middle of one: an error, and not a second run behind the caller's back.
	runs := 0
	err := db.InTx(t.Context(), func(tx *Tx) error {
		if runs++; runs == 1 {
			if _, err := tx.Exec(t.Context(), `SELECT 1`); err != nil {
				return err
			}
			one.die()
			three.die()
		}
		return tx.One(t.Context(), errors.New("none"), sqlAdd, "b")
	})
	if err == nil || runs != 1 || c.read(t, "b") != 0 {
		t.Errorf("%d runs, %v, counted %d", runs, err, c.read(t, "b"))
	}
	if !Unavailable(err) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("not seen as the database's absence: %v", err)
	}
}
