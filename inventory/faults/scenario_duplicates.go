package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// duplicates sends every request several times at once, to several backends,
// late ones included: each is done once, and all hear the same.
func duplicates(ctx context.Context, w *World) error {
	for range 12 {
		a, job, err := often(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
			return c.CreateAllocation(ctx, api.CreateAllocation{CPUs: 1, SSHKeys: []string{w.key}}, o)
		}, func(a api.Allocation) string { return a.ID })
		if err != nil {
			return err
		}
		w.acknowledge(a.ID)
		if err := w.succeeds(ctx, job); err != nil {
			return err
		}
		_, job, err = often(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
			return c.Deallocate(ctx, a.ID, api.Deallocate{Confirm: a.LoginUser}, o)
		}, func(a api.Allocation) string { return a.ID })
		if err == nil {
			err = w.succeeds(ctx, job)
		}
		if err != nil {
			return err
		}
	}
	made, err := retried(ctx, w, func(c *client.Client) (api.Page[api.Allocation], error) {
		return c.ListAllocations(ctx, api.AllocationFilter{PageQuery: api.PageQuery{Limit: 100}})
	})
	if err == nil && len(made.Items) != 12 {
		err = fmt.Errorf("12 requests made %d allocations", len(made.Items))
	}
	return err
}

// often sends a request 2 to 10 times, some at once and the last one late.
func often[T any](ctx context.Context, w *World, do func(*client.Client, client.Option) (T, string, error), id func(T) string) (T, string, error) {
	key := client.IdempotencyKey(uuid.NewString())
	var mu sync.Mutex
	var out T
	var job string
	var errs []error
	send := func() {
		got, itsJob, err := do(w.alive().api(w.token), key)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			errs = append(errs, err)
		case job != "" && (id(got) != id(out) || itsJob != job):
			errs = append(errs, fmt.Errorf("one request, two answers: %s with job %s, %s with job %s", id(out), job, id(got), itsJob))
		default:
			out, job = got, itsJob
		}
	}
	var all sync.WaitGroup
	for range 1 + w.someInt(9) {
		all.Go(send)
	}
	all.Wait()
	sleep(ctx, w.between(time.Millisecond, 300*time.Millisecond))
	send()
	return out, job, errors.Join(errs...)
}
