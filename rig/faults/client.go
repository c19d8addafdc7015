package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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
	return under(ctx, w, uuid.NewString(), do)
}

// under is ask with a key that is known.
func under[T any](ctx context.Context, w *World, key string, do func(*client.Client, client.Option) (T, string, error)) (out T, job string, err error) {
	for {
		out, job, err = do(w.api(), client.IdempotencyKey(key))
		w.judge(err)
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
		w.judge(err)
		if err == nil || definite(err) {
			return out, err
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return out, fmt.Errorf("no answer: %w", err)
		}
	}
}

// judge notes the answer that no fault of anything else excuses: 500 is a
// defect of Kloigos (docs/operations.md), however well a second try ends.
func (w *World) judge(err error) {
	var p *api.Problem
	if errors.As(err, &p) && p.Status == http.StatusInternalServerError {
		w.sees("an answer is 500: %v", err)
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

// order is a request for a unit: the same key and body are the same request.
type order struct {
	key string
	in  api.CreateAllocation
}

// create asks for a unit and notes what it was told. What it never heard the
// end of, or heard a refusal of after a try without an answer, is in doubt.
func (w *World) create(ctx context.Context, on string) (api.Allocation, string, error) {
	tries, o := 0, order{uuid.NewString(), api.CreateAllocation{CPUs: 1, Host: on, SSHKeys: []string{w.key}}}
	a, job, err := under(ctx, w, o.key, func(c *client.Client, key client.Option) (api.Allocation, string, error) {
		tries++
		return c.CreateAllocation(ctx, o.in, key)
	})
	switch {
	case err == nil:
		w.acknowledge(a.ID)
	case !definite(err) || tries > 1:
		w.mu.Lock()
		w.doubtful = append(w.doubtful, o)
		w.mu.Unlock()
	}
	return a, job, err
}

// place is create that waits while all units are taken: tenants who gave theirs back a moment ago may still have jobs to come.
func (w *World) place(ctx context.Context, on string) (a api.Allocation, job string, err error) {
	full := await(ctx, "a free unit", patience, func() bool {
		a, job, err = w.create(ctx, on)
		p := (*api.Problem)(nil)
		return !errors.As(err, &p) || p.Code != "no_capacity" || !sleep(ctx, 200*time.Millisecond)
	})
	return a, job, errors.Join(full, err)
}

// clearUp asks again for all that is in doubt, under the same keys: then there
// are just the allocations that clients were told of.
func (w *World) clearUp(ctx context.Context) error {
	w.mu.Lock()
	doubtful := w.doubtful
	w.doubtful = nil
	w.mu.Unlock()
	for _, o := range doubtful {
		a, _, err := under(ctx, w, o.key, func(c *client.Client, key client.Option) (api.Allocation, string, error) {
			return c.CreateAllocation(ctx, o.in, key)
		})
		switch {
		case err == nil:
			w.acknowledge(a.ID)
		case !definite(err):
			return fmt.Errorf("ask again for an allocation: %w", err)
		}
	}
	return nil
}

func (w *World) acknowledge(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids = append(w.ids, id)
}

// sees notes something that may never be.
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
