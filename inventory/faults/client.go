package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// definite tells whether an error is an answer: the request was refused and
// nothing of it was done. Anything else may have been done or not.
func definite(err error) bool {
	var p *api.Problem
	return errors.As(err, &p) && p.Status < http.StatusInternalServerError
}

// api is the way of the next request: the balancer, where there is one, else
// one of the backends that run.
func (w *World) api() *client.Client {
	if w.front != nil {
		return w.front.WithToken(w.token)
	}
	return w.alive().api(w.token)
}

// ask sends a request to one backend after the other, always under one key,
// until there is an answer: what a client does that must know.
func ask[T any](ctx context.Context, w *World, do func(*client.Client, client.Option) (T, string, error)) (out T, job string, err error) {
	key := client.IdempotencyKey(uuid.NewString())
	for {
		out, job, err = do(w.api(), key)
		if err == nil || definite(err) {
			return out, job, err
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return out, job, fmt.Errorf("no answer: %w", err)
		}
	}
}

// retried is ask for what can be repeated without a key.
func retried[T any](ctx context.Context, w *World, do func(*client.Client) (T, error)) (out T, err error) {
	for {
		out, err = do(w.api())
		if err == nil || definite(err) {
			return out, err
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return out, fmt.Errorf("no answer: %w", err)
		}
	}
}

// over follows a job to its end.
func (w *World) over(ctx context.Context, id string) (api.Job, error) {
	for {
		j, err := retried(ctx, w, func(c *client.Client) (api.Job, error) { return c.GetJob(ctx, id) })
		if err != nil || j.FinishedAt != nil {
			return j, err
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return j, fmt.Errorf("job %s (%s) is still %s, attempt %d, error %+v", j.ID, j.Kind, j.State, j.Attempt, j.Error)
		}
	}
}

func (w *World) succeeds(ctx context.Context, id string) error {
	j, err := w.over(ctx, id)
	if err == nil && j.State != "succeeded" {
		err = fmt.Errorf("job %s (%s) is %s: %+v", j.ID, j.Kind, j.State, j.Error)
	}
	return err
}

// create asks for a unit and notes what it was told.
func (w *World) create(ctx context.Context, on string) (api.Allocation, string, error) {
	in := api.CreateAllocation{CPUs: 1, Host: on, SSHKeys: []string{w.key}}
	a, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
		return c.CreateAllocation(ctx, in, o)
	})
	if err == nil {
		w.acknowledge(a.ID)
	}
	return a, job, err
}

func (w *World) acknowledge(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids = append(w.ids, id)
}

// sees notes something that no client may ever see.
func (w *World) sees(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.odd = append(w.odd, fmt.Sprintf(format, args...))
}

func (w *World) writeAcknowledged() (file string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	file = filepath.Join(w.dir, "acknowledged")
	return file, os.WriteFile(file, []byte(strings.Join(w.ids, "\n")+"\n"), 0o600)
}

func (w *World) remove(ctx context.Context, a api.Allocation) (job string, err error) {
	_, job, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
		return c.Deallocate(ctx, a.ID, api.Deallocate{Confirm: a.LoginUser}, o)
	})
	return job, err
}

// roundTrip allocates a unit and gives it back, and holds that both succeed.
func (w *World) roundTrip(ctx context.Context, on string) error {
	a, job, err := w.create(ctx, on)
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	if err == nil {
		job, err = w.remove(ctx, a)
	}
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	return err
}

// tenants run until the returned function is called, which waits for them:
// each allocates, changes keys, cancels, retries, gives up and gives back as
// the draw has it.
func (w *World) tenants(ctx context.Context, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := w.tenancy(ctx); err != nil && ctx.Err() == nil {
					w.sees("%v", err)
					return
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// tenancy is one life of an allocation, as one client leads it.
func (w *World) tenancy(ctx context.Context) error {
	a, job, err := w.create(ctx, "")
	if definite(err) { // nothing is free at the moment
		if p := (*api.Problem)(nil); errors.As(err, &p) && p.Code != "no_capacity" {
			return fmt.Errorf("an allocation was refused: %w", err)
		}
		sleep(ctx, w.between(50*time.Millisecond, 300*time.Millisecond))
		return nil
	}
	if err != nil {
		return err
	}
	if w.chance(0.1) {
		_, _, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.CancelJob(ctx, job, o) })
		if err != nil && !definite(err) { // refused: it has ended
			return err
		}
	}
	if err := w.mend(ctx, job); err != nil {
		return err
	}
	if w.chance(0.3) {
		in := api.ReplaceKeys{SSHKeys: []string{w.key + " again"}}
		_, keys, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
			return c.ReplaceKeys(ctx, a.ID, in, o)
		})
		if err == nil {
			_, err = w.over(ctx, keys)
		}
		if err != nil && !definite(err) {
			return err
		}
	}
	if w.chance(0.2) {
		return nil // it stays
	}
	job, err = w.remove(ctx, a)
	if definite(err) {
		return nil // given up and cleaned already, or still on its way
	}
	if err != nil {
		return err
	}
	return w.mend(ctx, job)
}

// mend follows a job, and where it failed retries it or gives it up, a few
// times.
func (w *World) mend(ctx context.Context, job string) error {
	for range 4 {
		j, err := w.over(ctx, job)
		if err != nil || j.State == "succeeded" {
			return err
		}
		var next string
		if w.chance(0.5) {
			_, next, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) {
				return c.RetryJob(ctx, job, api.RetryJob{}, o)
			})
		} else {
			_, next, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.GiveUpJob(ctx, job, o) })
		}
		if definite(err) {
			continue
		}
		if err != nil {
			return err
		}
		if next != "" {
			job = next
		}
	}
	return nil
}

// follow reads a job's log to its end, and holds that it is whole and in order
// and has at least so many entries.
func (w *World) follow(ctx context.Context, c *client.Client, job string, least int64) error {
	var last int64
	over := false
	for e, err := range c.StreamJobLog(ctx, job, 0) {
		switch {
		case err != nil:
			return fmt.Errorf("a viewer: %w", err)
		case e.Log == nil:
			over = over || e.End
		case e.Log.Sequence != last+1:
			return fmt.Errorf("a viewer: entry %d follows entry %d", e.Log.Sequence, last)
		default:
			last++
		}
	}
	if !over || last < least {
		return fmt.Errorf("a viewer saw %d entries, the end: %t", last, over)
	}
	return nil
}
