package faults

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api"
)

// viewer follows a job's log with nothing between it and the backend: our own
// client drops what comes twice, and would hide it.
type viewer struct {
	world *World
	http  *http.Client
	base  string // of the API's address
	job   string
	there func() // called once, when the first word is heard; may be nil
	// once is for viewers whose backend lives: they are served at once, and to the end.
	once bool
	last int64 // sequence that was heard last
}

// raw makes a viewer of a backend.
func (w *World) raw(b *Backend, job string) *viewer {
	return &viewer{world: w, http: http.DefaultClient, base: "http://" + b.listen, job: job}
}

// follow reads to the end of the log, and holds that each of its entries, so
// many at least, comes just once, in order, over all connections that it takes.
func (v *viewer) follow(ctx context.Context, least int64) error {
	for {
		over, err := v.connect(ctx)
		switch {
		case over && v.last < least:
			return fmt.Errorf("a raw viewer saw %d entries", v.last)
		case over:
			return nil
		case v.once || errors.Is(err, errRepeated):
			return fmt.Errorf("a raw viewer after entry %d: %w", v.last, err)
		case !sleep(ctx, 100*time.Millisecond):
			return fmt.Errorf("a raw viewer after entry %d: %w, and then: %w", v.last, err, ctx.Err())
		}
	}
}

var errRepeated = errors.New("not what comes next")

// connect reads one connection, from where the one before broke; over tells that
// the end of the log came.
func (v *viewer) connect(ctx context.Context) (over bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+api.Prefix+"/jobs/"+v.job+"/log/stream", nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+v.world.token)
	if v.last > 0 {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(v.last, 10))
	}
	answer, err := v.http.Do(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the answer is %s", answer.Status)
	}
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false, err
		}
		if v.there != nil && bytes.HasPrefix(line, []byte("event: ")) {
			v.there()
			v.there = nil
		}
		switch {
		case bytes.HasPrefix(line, []byte("id: ")):
			id, err := strconv.ParseInt(string(bytes.TrimSpace(line[4:])), 10, 64)
			if err != nil || id != v.last+1 {
				return false, fmt.Errorf("%w: %q", errRepeated, line)
			}
			v.last = id
		case bytes.HasPrefix(line, []byte("event: end")):
			return true, nil
		}
	}
}

// crawl follows a job, a byte a second, and comes back when it is cut for that.
// It hears nothing but 200.
func (v *viewer) crawl(ctx context.Context) error {
	for ctx.Err() == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(v.base, "http://"))
		if err != nil {
			return fmt.Errorf("a slow viewer: %w", err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10) // as little as the system gives
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		err = v.bytes(ctx, conn)
		stop()
		_ = conn.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// bytes reads them one by one until the connection breaks, which is no error.
func (v *viewer) bytes(ctx context.Context, conn net.Conn) error {
	_, _ = fmt.Fprintf(conn, "GET %s/jobs/%s/log/stream HTTP/1.1\r\nHost: faults\r\nAuthorization: Bearer %s\r\n\r\n", api.Prefix, v.job, v.world.token)
	status := make([]byte, len("HTTP/1.1 200"))
	_, broken := io.ReadFull(conn, status)
	if broken == nil && string(status) != "HTTP/1.1 200" {
		return fmt.Errorf("a slow viewer was answered %q", status)
	}
	if broken == nil && v.there != nil {
		v.there()
		v.there = nil
	}
	for one := make([]byte, 1); broken == nil; sleep(ctx, time.Second) {
		_, broken = io.ReadFull(conn, one)
	}
	return nil
}
