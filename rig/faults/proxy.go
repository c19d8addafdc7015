package faults

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Wire stands between one backend and the database: it can be slow, cut, or
// silent, lose the answer of a COMMIT, and make the database work at
// SERIALIZABLE, where transactions that meet are refused with 40001. The
// database behind it can be another one from one moment to the next.
type Wire struct {
	URL string // of the database, through the wire

	listener net.Listener
	target   atomic.Pointer[string]
	delay    atomic.Int64 // each way, in nanoseconds
	cut      atomic.Bool
	silence  gate
	losses   losses
	strict   atomic.Bool
	refused  atomic.Int64

	mu   sync.Mutex
	open map[net.Conn]bool
	all  sync.WaitGroup
}

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
	w := &Wire{listener: l, open: map[net.Conn]bool{}, silence: gate{moved: make(chan struct{})}}
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

// Silence lets nothing through any more, either way, not even that a connection
// has ended, until Mend: packets vanish, and the ends retransmit. Connections
// are still taken, and nobody says a word on them.
func (w *Wire) Silence() { w.silence.set(true) }

// SilenceAt is Silence from the moment that the next COMMIT for a purpose is
// sent: the database has all of the transaction and waits for it.
func (w *Wire) SilenceAt(of Purpose) { w.losses.silent[of].Store(1) }

// Silent tells whether it is.
func (w *Wire) Silent() bool { return w.silence.closed() }

// Mend takes connections again, passes on what was held back, and loses no more.
func (w *Wire) Mend() {
	w.losses.none()
	w.cut.Store(false)
	w.silence.set(false)
}

// Strict makes all transactions SERIALIZABLE, or no longer. Connections break
// for it: the driver prepares BEGIN, and what is prepared stays as it is.
func (w *Wire) Strict(on bool) {
	if w.strict.Swap(on) != on {
		w.breakAll()
	}
}

// Refused is how many statements the database refused with 40001.
func (w *Wire) Refused() int { return int(w.refused.Load()) }

// Close ends the wire.
func (w *Wire) Close() {
	_ = w.listener.Close()
	w.Cut()
	w.silence.set(false)
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
	w.silence.pass()
	server, err := net.DialTimeout("tcp", *w.target.Load(), 5*time.Second)
	if err != nil {
		return
	}
	defer w.drop(server)
	if !w.hold(server) {
		return
	}
	var t transaction
	var both sync.WaitGroup
	both.Go(func() {
		defer func() { _ = server.Close() }()
		w.carry(client, server, func(part []byte) []byte { return w.readRequest(part, &t) })
	})
	both.Go(func() {
		defer func() { _ = client.Close() }()
		w.carry(server, client, func(part []byte) []byte { return w.answered(part, &t) })
	})
	both.Wait()
}

// carry carries bytes one way until either end is gone, or seen returns nil.
func (w *Wire) carry(from, to net.Conn, seen func([]byte) []byte) {
	defer w.silence.pass() // that an end is gone is not heard of before
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if d := time.Duration(w.delay.Load()); d > 0 {
				time.Sleep(d)
			}
			part := seen(buffer[:n])
			w.silence.pass()
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

// gate is open or closed.
type gate struct {
	mu    sync.Mutex
	shut  bool
	moved chan struct{} // closed when it is opened; another one each time
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut && !shut {
		close(g.moved)
		g.moved = make(chan struct{})
	}
	g.shut = shut
}

func (g *gate) closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// pass waits until the gate is open.
func (g *gate) pass() {
	for {
		g.mu.Lock()
		shut, moved := g.shut, g.moved
		g.mu.Unlock()
		if !shut {
			return
		}
		<-moved
	}
}
