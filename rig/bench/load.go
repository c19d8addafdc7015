package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// load sends requests from many clients at once, each with one request under way at a time, as pgbench does. It is
// thrifty, because it shares the machine with what it measures.
type load struct {
	address string // host:port
	clients int
	each    int // requests of one client; 0: until next says no
	// next prepares a client's nth request; false ends the client.
	next func(client, n int, r *fasthttp.Request) bool
	// take looks at an answer.
	take func(client, n int, r *fasthttp.Response) error
}

func (l load) run(ctx context.Context) (measured, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	host := &fasthttp.HostClient{
		Addr: l.address, MaxConns: l.clients, ReadTimeout: time.Minute, MaxIdleConnDuration: time.Minute, RetryIfErr: func(*fasthttp.Request, int, error) (bool, bool) { return false, false },
		DisablePathNormalizing: true,
	}
	defer host.CloseIdleConnections()
	latencies := make([][]time.Duration, l.clients)
	var all sync.WaitGroup
	begun := time.Now()
	for c := range l.clients {
		all.Go(func() {
			if err := l.client(ctx, host, c, &latencies[c]); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	took := time.Since(begun)
	if err := context.Cause(ctx); err != nil {
		return measured{}, err
	}
	var m measured
	for _, some := range latencies {
		m.latencies = append(m.latencies, some...)
	}
	m.perSecond = float64(len(m.latencies)) / took.Seconds()
	return m, nil
}

// inContext is run for who calls it later.
func (l load) inContext(ctx context.Context) func() (measured, error) {
	return func() (measured, error) { return l.run(ctx) }
}

func (l load) client(ctx context.Context, host *fasthttp.HostClient, c int, latencies *[]time.Duration) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	for n := 0; (l.each == 0 || n < l.each) && ctx.Err() == nil; n++ {
		request.Reset()
		response.Reset()
		if !l.next(c, n, request) {
			return nil
		}
		begun := time.Now()
		if err := host.Do(request, response); err != nil {
			return fmt.Errorf("%s: %w", request.URI().Path(), err)
		}
		*latencies = append(*latencies, time.Since(begun))
		if err := l.take(c, n, response); err != nil {
			return err
		}
	}
	return nil
}

// expect is a take that wants one status.
func expect(status int) func(int, int, *fasthttp.Response) error {
	return func(_, _ int, r *fasthttp.Response) error {
		if r.StatusCode() != status {
			return fmt.Errorf("the answer is %d: %.300s", r.StatusCode(), r.Body())
		}
		return nil
	}
}
