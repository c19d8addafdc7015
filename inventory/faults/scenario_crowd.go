package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"kloigos/backend/api"
	"kloigos/inventory/faults/host"
)

const (
	crowdLines = 400      // that each task tells: more than sockets hold
	slowOne    = 10       // of so many viewers reads a byte a second
	roomEach   = 64 << 10 // of a backend's memory, for each viewer
	roomAtAll  = 64 << 20 // beside what it has without any
)

// crowd has very many follow one job through one backend, some of which read a
// byte a second: all others hear everything in time, who wants something else
// is answered, and the memory that it takes is bounded.
func crowd(ctx context.Context, w *World) error {
	many := 300
	if w.long {
		many = 5000
	}
	h, b := w.hosts[0], w.backends[0]
	h.Behave(host.Manners{Lines: crowdLines, Pause: 5 * time.Second})
	_, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	before, err := resident(b.PID())
	if err != nil {
		return err
	}
	watching, leave := context.WithCancel(ctx)
	var slow, fast sync.WaitGroup
	defer slow.Wait()
	defer leave()
	errs := make(chan error, many)
	for n := range many {
		if n%slowOne == 0 {
			slow.Go(func() { w.crawl(watching, b, job) })
			continue
		}
		fast.Go(func() {
			if err := w.follow(watching, b.api(w.token), job, 2*crowdLines); err != nil {
				errs <- err
			}
		})
		if n%50 == 0 { // the queue of connections that nobody has taken yet is short
			sleep(ctx, 20*time.Millisecond)
		}
	}
	err = w.succeeds(ctx, job) // asks all the while, within the patience of any client
	fast.Wait()
	for len(errs) > 0 {
		err = errors.Join(err, <-errs)
	}
	after, lookErr := resident(b.PID())
	if err = errors.Join(err, lookErr); err == nil && after > before+int64(many)*roomEach+roomAtAll {
		err = fmt.Errorf("%d viewers took %d MiB of a backend that had %d", many, after>>20, before>>20)
	}
	return err
}

// crawl follows a job, a byte a second, and comes back when it is cut for that.
func (w *World) crawl(ctx context.Context, b *Backend, job string) {
	for ctx.Err() == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", b.listen)
		if err != nil {
			sleep(ctx, time.Second)
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10) // as little as the system gives
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "GET %s/jobs/%s/log/stream HTTP/1.1\r\nHost: faults\r\nAuthorization: Bearer %s\r\n\r\n", api.Prefix, job, w.token)
		for one := make([]byte, 1); err == nil; sleep(ctx, time.Second) {
			_, err = io.ReadFull(conn, one)
		}
		stop()
		_ = conn.Close()
	}
}

// resident is the memory of a process that is not mapped from files, in bytes.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("look at process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("the kernel does not tell how much memory a process has")
}
