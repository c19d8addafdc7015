package bench

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
	"sync"
	"sync/atomic"
	"time"

	"kloigos/backend/api"
)

// audience is all who follow one job through one backend. Each is little more than a connection, since thousands of
// them share the machine with what they measure.
type audience struct {
	backend *backend
	job     string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	fast    sync.WaitGroup // those that hear the end
	all     sync.WaitGroup
	there   atomic.Int64
	mu      sync.Mutex
	last    []int64 // that each of the fast ones heard at the end
}

func newAudience(ctx context.Context, s *backend, job string) *audience {
	a := &audience{backend: s, job: job}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	return a
}

// follow adds a viewer: one that hears what comes after a sequence, or one that begins at the beginning and reads a byte a
// second, and comes back when it is cut for that.
func (a *audience) follow(after int64, slow bool) {
	if !slow {
		a.fast.Add(1)
	}
	a.all.Go(func() {
		var err error
		if slow {
			err = a.crawl()
		} else {
			err = a.listen(after)
			a.fast.Done()
		}
		if err != nil && a.ctx.Err() == nil {
			a.cancel(err)
		}
	})
}

// await waits until so many have heard their first word.
func (a *audience) await(viewers int) error {
	end := time.Now().Add(startLimit)
	for a.there.Load() < int64(viewers) && a.ctx.Err() == nil {
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d viewers are there", a.there.Load(), viewers)
		}
		time.Sleep(time.Millisecond)
	}
	return context.Cause(a.ctx)
}

// heard waits until all but the slow ones have heard the end, and fails unless each has heard everything until then.
func (a *audience) heard(last int64) error {
	a.fast.Wait()
	if err := context.Cause(a.ctx); err != nil {
		return err
	}
	for _, l := range a.last {
		if l != last {
			return fmt.Errorf("a viewer heard %d of %d entries", l, last)
		}
	}
	return nil
}

// leave ends all that are left.
func (a *audience) leave() error {
	err := context.Cause(a.ctx)
	a.cancel(nil)
	a.all.Wait()
	return err
}

// connect asks for the stream.
func (a *audience) connect(after int64) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(a.ctx, "tcp", a.backend.listen)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "GET %s/jobs/%s/log/stream?after=%d HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n",
		api.Prefix, a.job, after, a.backend.token)
	return conn, err
}

// listen reads to the end of the log, and holds that each entry comes once, in order.
func (a *audience) listen(after int64) error {
	conn, err := a.connect(after)
	if err != nil {
		return err
	}
	defer context.AfterFunc(a.ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return fmt.Errorf("a viewer: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("a viewer was told %s", answer.Status)
	}
	lines := bufio.NewReader(answer.Body)
	for first := true; ; {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("a viewer at entry %d: %w", after, err)
		}
		switch {
		case bytes.HasPrefix(line, []byte("event: state")) && first:
			first = false
			a.there.Add(1)
		case bytes.HasPrefix(line, []byte("id: ")):
			id, err := strconv.ParseInt(string(bytes.TrimSpace(line[4:])), 10, 64)
			if err != nil || id != after+1 {
				return fmt.Errorf("entry %q follows entry %d", line, after)
			}
			after = id
		case bytes.HasPrefix(line, []byte("event: end")):
			a.mu.Lock()
			defer a.mu.Unlock()
			a.last = append(a.last, after)
			return nil
		}
	}
}

// crawl reads a byte a second.
func (a *audience) crawl() error {
	for first := true; a.ctx.Err() == nil; first = false {
		conn, err := a.connect(0)
		if err != nil {
			return err
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		stop := context.AfterFunc(a.ctx, func() { _ = conn.Close() })
		one := make([]byte, 1)
		for {
			if _, err = io.ReadFull(conn, one); err != nil {
				break
			}
			if first {
				first = false
				a.there.Add(1)
			}
			select {
			case <-a.ctx.Done():
			case <-time.After(time.Second):
			}
		}
		stop()
		_ = conn.Close()
	}
	return nil
}
