package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"kloigos/backend/internal/kernel/recent"
	"kloigos/backend/internal/store"
)

const (
	heartbeat    = 10 * time.Second // with bearerFor also how soon an ended token ends its streams
	bearerFor    = 2 * time.Second  // how long a bearer that was found is one, for all viewers that have its token
	stallTimeout = 30 * time.Second
	streamLength = 6 * time.Hour // then the viewer comes back by itself
	maxViewers   = 6000
	// viewerSocket is what the kernel keeps for a viewer that takes nothing, in
	// bytes; by itself it would take megabytes.
	viewerSocket = 64 << 10
	// chunkFrame is what the server writes around a piece of a stream, so that
	// both fill its buffer and no more.
	chunkFrame = 16
)

// viewer is one who follows a job. The server reads from it as fast as the
// connection takes what was read, so that a slow one holds one part of the log
// and no more.
type viewer struct {
	s       *Server
	watch   *watch
	request string // its id
	hash    []byte // of the bearer's token
	conn    net.Conn
	after   int64 // sequence that was told last
	moves   int   // of the job that were told
	told    bool  // all was
	rest    []byte
	beat    *time.Ticker
	until   time.Time
	why     error // its end
	closed  bool
}

// newViewer takes the place that its request has in s.viewers, until Close.
func (s logHandlers) newViewer(j store.Job, after int64, r *request, conn net.Conn) *viewer {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetWriteBuffer(viewerSocket) // at worst it stays as large as it is
	}
	s.metrics.viewers.Inc()
	return &viewer{
		s: s.Server, watch: joinWatch(s.Server, j), request: r.id, hash: r.hash, conn: conn, after: after, rest: []byte("retry: 1000\n\n"),
		beat: time.NewTicker(heartbeat), until: time.Now().Add(streamLength), why: errGone,
	}
}

var (
	errGone       = errors.New("the viewer is gone")
	errClosing    = errors.New("this backend stops")
	errLongEnough = errors.New("the stream has lasted long enough")
)

// Read implements io.Reader for the server, which writes what it was given
// before it comes again.
func (v *viewer) Read(p []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.s.log.Error("panic in a stream", "request_id", v.request, "panic", fmt.Sprint(p))
			n, err = 0, errors.New("panic")
		}
		if err != nil {
			v.why = err
		}
	}()
	for len(v.rest) == 0 {
		if v.told {
			return 0, io.EOF
		}
		if v.rest, err = v.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p[:max(1, len(p)-chunkFrame)], v.rest)
	if v.rest = v.rest[n:]; len(v.rest) == 0 {
		v.rest = nil
	}
	// The time that the viewer has for taking it.
	return n, v.conn.SetWriteDeadline(time.Now().Add(v.s.cfg.StallTimeout))
}

// Close implements io.Closer: the server has no more use for the viewer.
func (v *viewer) Close() error {
	if v.closed {
		return nil
	}
	v.closed = true
	v.beat.Stop()
	v.watch.leave()
	v.s.metrics.viewers.Dec()
	<-v.s.viewers
	v.s.log.Debug("stream ended", "request_id", v.request, "job", v.watch.job, "after", v.after, "why", v.why)
	return nil
}

// next is what is to be told next; it waits until there is something.
func (v *viewer) next() ([]byte, error) {
	for {
		select {
		case <-v.beat.C: // in time also for one who is always behind
			return v.stillHere()
		default:
		}
		now := v.watch.seen.Load()
		switch {
		case now.err != nil:
			return nil, now.err
		case now.moves > v.moves:
			v.moves = now.moves
			return now.state, nil
		case v.after < now.last:
			p, err := v.part(now)
			v.after = p.last
			return p.events, err
		case now.over:
			v.told = true
			return []byte("event: end\ndata: {}\n\n"), nil
		}
		select {
		case <-v.s.life.Done():
			return nil, errClosing
		case <-now.replaced:
		case <-v.beat.C:
			return v.stillHere()
		}
	}
}

// part is the part of the log behind what was told: one that all viewers share,
// or for one who is further behind one of its own, up to where those begin.
func (v *viewer) part(now *sight) (part, error) {
	until := now.last
	for _, p := range now.tail {
		if p.after == v.after {
			return p, nil
		}
		if p.after > v.after {
			until = p.after
			break
		}
	}
	ctx, cancel := context.WithTimeout(v.s.life, streamQuery)
	defer cancel()
	return v.watch.readPart(ctx, v.after, until)
}

// newBearers reads whose tokens are still good.
func newBearers(db *store.DB) *recent.Reads[string, store.Bearer] {
	return &recent.Reads[string, store.Bearer]{For: bearerFor, Within: streamQuery, Read: func(ctx context.Context, hash string) (store.Bearer, error) {
		return db.Bearer(ctx, []byte(hash))
	}}
}

// stillHere keeps the connection known to be alive, and ends the stream of a
// token that was ended.
func (v *viewer) stillHere() ([]byte, error) {
	if time.Now().After(v.until) {
		return nil, errLongEnough
	}
	if _, err := v.s.bearers.Get(v.s.life, string(v.hash)); err != nil {
		return nil, err
	}
	return []byte(": still here\n\n"), nil
}
