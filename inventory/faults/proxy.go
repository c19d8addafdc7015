package faults

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Wire stands between one backend and the database: it can be slow, cut, lose
// the answer of a COMMIT, and make the database work at SERIALIZABLE, where
// transactions that meet are refused with 40001. The database behind it can be
// another one from one moment to the next.
type Wire struct {
	URL string // of the database, through the wire

	listener net.Listener
	target   atomic.Pointer[string]
	delay    atomic.Int64 // each way, in nanoseconds
	cut      atomic.Bool
	lose     atomic.Int64 // COMMITs whose answers are still to be lost
	loseKeys atomic.Int64 // those of requests with an idempotency key
	keys     atomic.Pointer[[]byte]
	lost     atomic.Int64
	strict   atomic.Bool
	refused  atomic.Int64

	mu   sync.Mutex
	open map[net.Conn]bool
	all  sync.WaitGroup
}

// Messages of the simple protocol: its letter, its length, and a text that ends
// with a zero. Both forms of BEGIN have the same length.
var (
	commitMessage = []byte("Q\x00\x00\x00\x0bcommit\x00")
	relaxed       = []byte("begin isolation level read committed\x00")
	strictly      = []byte("begin isolation level serializable  \x00")
	// In the statement that a request with an idempotency key begins with, and
	// how the driver names statements that it has prepared.
	keyStatement   = []byte("INSERT INTO idempotency_keys")
	preparedPrefix = []byte("stmtcache_")
	// Of an error: the field of its code.
	serializationFailure = []byte("C40001\x00")
)

// NewWire leads to the database that a URL names.
func NewWire(database string) (*Wire, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, errors.New("the database URL can't be read") // its text may hold the password
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("lay a wire to the database: %w", err)
	}
	w := &Wire{listener: l, open: map[net.Conn]bool{}}
	w.Lead(u.Host)
	u.Host = l.Addr().String()
	q := u.Query()
	q.Set("sslmode", "disable") // the wire reads what goes by
	u.RawQuery = q.Encode()
	w.URL = u.String()
	w.all.Go(w.accept)
	return w, nil
}

// Lead makes new connections go to another server.
func (w *Wire) Lead(target string) { w.target.Store(&target) }

// Slow makes each answer come so much later.
func (w *Wire) Slow(roundTrip time.Duration) { w.delay.Store(int64(roundTrip / 2)) }

// Cut breaks all connections and takes no new ones, until Mend.
func (w *Wire) Cut() {
	w.cut.Store(true)
	w.breakAll()
}

// Mend takes connections again.
func (w *Wire) Mend() { w.cut.Store(false) }

// LoseCommits makes the next n COMMITs arrive and their answers not.
func (w *Wire) LoseCommits(n int) { w.lose.Store(int64(n)) }

// LoseKeyed is LoseCommits for COMMITs of requests with an idempotency key.
func (w *Wire) LoseKeyed(n int) { w.loseKeys.Store(int64(n)) }

// Lost is how many answers to a COMMIT were lost.
func (w *Wire) Lost() int { return int(w.lost.Load()) }

// Strict makes new transactions SERIALIZABLE, or no longer.
func (w *Wire) Strict(on bool) { w.strict.Store(on) }

// Refused is how many statements the database refused with 40001.
func (w *Wire) Refused() int { return int(w.refused.Load()) }

// Close ends the wire.
func (w *Wire) Close() {
	_ = w.listener.Close()
	w.Cut()
	w.all.Wait()
}

func (w *Wire) breakAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		_ = c.Close()
	}
}

func (w *Wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.all.Go(func() { w.connect(client) })
	}
}

// hold notes a connection, so that a cut reaches it; false if it came too late.
func (w *Wire) hold(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut.Load() {
		return false
	}
	w.open[c] = true
	return true
}

func (w *Wire) drop(c net.Conn) {
	_ = c.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}

func (w *Wire) connect(client net.Conn) {
	defer w.drop(client)
	if !w.hold(client) {
		return
	}
	server, err := net.DialTimeout("tcp", *w.target.Load(), 5*time.Second)
	if err != nil {
		return
	}
	defer w.drop(server)
	if !w.hold(server) {
		return
	}
	var deaf atomic.Bool // the answer to a COMMIT is not to come through
	keyed := false       // the transaction is that of a request with a key
	var both sync.WaitGroup
	both.Go(func() {
		defer func() { _ = server.Close() }()
		w.pass(client, server, func(part []byte) []byte { return w.asked(part, &deaf, &keyed) })
	})
	both.Go(func() {
		defer func() { _ = client.Close() }()
		w.pass(server, client, func(part []byte) []byte {
			if bytes.Contains(part, serializationFailure) {
				w.refused.Add(1)
			}
			if deaf.Load() {
				w.lost.Add(1)
				return nil
			}
			return part
		})
	})
	both.Wait()
}

// asked looks at what a client sends.
func (w *Wire) asked(part []byte, deaf *atomic.Bool, keyed *bool) []byte {
	if w.strict.Load() {
		part = bytes.ReplaceAll(part, relaxed, strictly)
	}
	if at := bytes.Index(part, keyStatement); at > 0 { // prepared here and now; its name stands before it
		if from := bytes.LastIndex(part[:at], preparedPrefix); from >= 0 {
			name, _, _ := bytes.Cut(part[from:at], []byte{0})
			name = bytes.Clone(name)
			w.keys.Store(&name)
		}
	}
	if name := w.keys.Load(); name != nil && bytes.Contains(part, *name) {
		*keyed = true
	}
	if bytes.Contains(part, commitMessage) {
		if countDown(&w.lose) || *keyed && countDown(&w.loseKeys) {
			deaf.Store(true)
		}
		*keyed = false
	}
	return part
}

// countDown takes one, if there is one left.
func countDown(n *atomic.Int64) bool {
	for have := n.Load(); have > 0; have = n.Load() {
		if n.CompareAndSwap(have, have-1) {
			return true
		}
	}
	return false
}

// pass carries bytes one way until either end is gone, or seen returns nil.
func (w *Wire) pass(from, to net.Conn, seen func([]byte) []byte) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if d := time.Duration(w.delay.Load()); d > 0 {
				time.Sleep(d)
			}
			part := seen(buffer[:n])
			if part == nil {
				return
			}
			if _, err := to.Write(part); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
