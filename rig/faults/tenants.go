package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

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
	cancelled := false
	if w.chance(0.1) {
		_, _, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.CancelJob(ctx, job, o) })
		if err != nil && !definite(err) { // refused: it has ended
			return err
		}
		cancelled = err == nil
	}
	if err := w.mend(ctx, job, cancelled); err != nil {
		return err
	}
	if w.chance(0.3) {
		if err := w.changeKeys(ctx, a); err != nil {
			return err
		}
	}
	if w.chance(0.2) {
		var room bool
		if a, room = w.stays(a); room {
			return nil
		}
	}
	return w.leave(ctx, a)
}

// stays leaves an allocation where it is when its client is done with it. A few
// may: where there is no room for another, the one that stayed longest must go.
func (w *World) stays(a api.Allocation) (goes api.Allocation, room bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.staying = append(w.staying, a)
	if len(w.staying) <= unitsEach*w.spec.Hosts/3 {
		return api.Allocation{}, true
	}
	goes, w.staying = w.staying[0], w.staying[1:]
	return goes, false
}

// changeKeys changes an allocation's keys, where it has come to have any.
func (w *World) changeKeys(ctx context.Context, a api.Allocation) error {
	in := api.ReplaceKeys{SSHKeys: []string{w.key + " again"}}
	_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
		return c.ReplaceKeys(ctx, a.ID, in, o)
	})
	if definite(err) {
		return nil
	}
	if err != nil {
		return err
	}
	j, err := w.over(ctx, job)
	if err == nil {
		w.excuse(j, false)
	}
	return err
}

// leave gives an allocation back, as often as it takes: each that was left
// behind would hold its unit for good, until nothing goes on any more.
func (w *World) leave(ctx context.Context, a api.Allocation) error {
	for range 8 {
		job, err := w.remove(ctx, a)
		if err == nil {
			err = w.mend(ctx, job, false)
		}
		if err != nil && !definite(err) { // refused: it was given up and is gone
			return err
		}
		a, err = retried(ctx, w, func(c *client.Client) (api.Allocation, error) { return c.GetAllocation(ctx, a.ID) })
		if err != nil || a.State == "deallocated" {
			return err
		}
	}
	return fmt.Errorf("allocation %s can't be given back: it is %s", a.ID, a.State)
}

// vacate gives all allocations back, so that each host has room.
func (w *World) vacate(ctx context.Context) error {
	for a, err := range w.alive().api(w.token).AllAllocations(ctx, api.AllocationFilter{State: "live"}) {
		if err == nil {
			_, err = w.remove(ctx, a)
		}
		if err != nil {
			return fmt.Errorf("give all allocations back: %w", err)
		}
	}
	return w.settle(ctx)
}

// mend follows a job, and where it failed retries it or gives it up, a few
// times. No job is under way when it returns.
func (w *World) mend(ctx context.Context, job string, cancelled bool) error {
	for tries := 0; ; tries++ {
		j, err := w.over(ctx, job)
		if err != nil {
			return err
		}
		w.excuse(j, cancelled && tries == 0)
		if cancelled && j.State == "cancelled" && j.Attempt == 0 { // it never began, so the allocation has ended
			return nil
		}
		if j.State == "succeeded" || tries == 4 {
			return nil
		}
		var next string
		if w.chance(0.5) {
			_, next, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) {
				return c.RetryJob(ctx, job, api.RetryJob{}, o)
			})
		} else {
			_, next, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.GiveUpJob(ctx, job, o) })
		}
		if err != nil && !definite(err) {
			return err
		}
		if err != nil && cancelled && j.State == "cancelled" {
			return nil // it was put back before it did anything, and cancelled then: the allocation has ended here too
		}
		if err == nil && next != "" {
			job = next
		}
	}
}

// excuse notes a job that did not succeed for a reason that the scenario does
// not have: whatever else goes wrong, a job whose hosts are well ends well.
func (w *World) excuse(j api.Job, cancelled bool) {
	if j.State == "succeeded" || j.State == "cancelled" && cancelled {
		return
	}
	if j.State == "failed" && j.Error != nil && slices.Contains(w.spec.MayFail, j.Error.Code) {
		return
	}
	w.sees("job %s (%s) is %s after attempt %d: %+v", j.ID, j.Kind, j.State, j.Attempt, j.Error)
}
