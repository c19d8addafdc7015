package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
)

// expiry reads and writes through a backend while what is old is removed, and without, in turns: every round of the first
// has a fresh copy of the same history, eleven twelfths of which are too old.
func expiry(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	prepared, err := b.withHistory(ctx, scale.History/10)
	if prepared != "" {
		defer func() { _ = b.dropDatabase(ctx, prepared) }()
	}
	if err != nil {
		return nil, err
	}
	var with, without []float64 // p99
	var removed []float64
	for range scale.Rounds {
		alone, _, err := b.besideExpiry(ctx, prepared, scale, false)
		if err != nil {
			return nil, err
		}
		beside, n, err := b.besideExpiry(ctx, prepared, scale, true)
		if err != nil {
			return nil, err
		}
		without, with, removed = append(without, float64(alone)), append(with, float64(beside)), append(removed, n)
		b.say("   p99 %s, beside expiry %s, which removed %.0f rows a second", milliseconds(alone), milliseconds(beside), n)
	}
	return []Result{{
		What: "p99 of requests, half of them writes, while old logs and events are removed, over without", Limit: Limit{Value: 1.5},
		Measured: median(with) / median(without),
		Raw: fmt.Sprintf("%s, without %s; %.0f rows removed a second", milliseconds(time.Duration(median(with))),
			milliseconds(time.Duration(median(without))), median(removed)),
	}}, nil
}

// besideExpiry returns the p99 of requests, and how many rows were removed a second meanwhile.
func (b *Bed) besideExpiry(ctx context.Context, prepared string, scale Scale, expire bool) (p99 time.Duration, removed float64, err error) {
	database, err := b.copyDatabase(ctx, prepared)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = b.dropDatabase(context.WithoutCancel(ctx), database) }()
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Kill()) }()
	if _, err := s.mixed(ctx, 20); err != nil { // warm up
		return 0, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	var did struct {
		Removed int64   `json:"removed"`
		Seconds float64 `json:"seconds"`
	}
	if expire {
		go func() { ended <- b.benchjobSays(ctx, database, &did, "expire") }()
	} else {
		ended <- nil
	}
	m, err := s.mixed(ctx, scale.Pages)
	if err != nil {
		return 0, 0, err
	}
	if err := <-ended; err != nil {
		return 0, 0, err
	}
	return percentile(m.latencies, 99), float64(did.Removed) / max(did.Seconds, 0.001), nil
}

// mixed reads and writes in turns: pages of jobs and of events, and addresses that are added.
func (s *backend) mixed(ctx context.Context, requests int) (measured, error) {
	return load{
		address: s.listen, clients: 1, each: requests,
		next: func(_, n int, r *fasthttp.Request) bool {
			if n%2 == 1 {
				s.post(r, "/tokens", api.CreateToken{Name: fmt.Sprintf("t%d", n), Days: 1})
				return true
			}
			r.SetRequestURI("http://" + s.listen + api.Prefix + []string{"/jobs", "/events"}[n/2%2])
			r.Header.Set("Authorization", "Bearer "+s.token)
			return true
		},
		take: func(_, n int, r *fasthttp.Response) error {
			if n%2 == 1 {
				return expect(http.StatusCreated)(0, n, r)
			}
			return expect(http.StatusOK)(0, n, r)
		},
	}.run(ctx)
}
