package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// reply is what a request made or changed, as its client was told.
type reply struct{ object, job string }

// letter is a request that was carried out, with all that it takes to send it
// again.
type letter struct {
	what string
	send func(context.Context, *client.Client) (reply, error)
	// bound requests have no key but the version that they change: they conflict
	// with what they have done themselves.
	bound bool
	first reply
}

// post delivers every request 2 to 10 times, and those of before at any time,
// in any order: a create behind its deallocate, a cancel behind the retry.
type post struct {
	w    *World
	mu   sync.Mutex
	sent []*letter
}

// deliver sends a new request several times at once, to several backends.
func (p *post) deliver(ctx context.Context, l *letter) (reply, error) {
	answers, errs := make(chan reply, 10), make(chan error, 10)
	var all sync.WaitGroup
	for range 2 + p.w.someInt(9) {
		all.Go(func() {
			a, err := l.send(ctx, p.w.alive().api(p.w.token))
			switch {
			case err == nil:
				answers <- a
			case !l.bound || !conflicts(err):
				errs <- err
			}
		})
	}
	all.Wait()
	close(answers)
	close(errs)
	for err := range errs {
		return reply{}, fmt.Errorf("%s: %w", l.what, err)
	}
	heard := 0
	for a := range answers {
		if heard++; heard > 1 && (l.bound || a != l.first) {
			return a, fmt.Errorf("%s: one request, two answers: %+v and %+v", l.what, l.first, a)
		}
		l.first = a
	}
	if heard == 0 {
		return reply{}, fmt.Errorf("%s: no copy was carried out", l.what)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, l)
	return l.first, nil
}

func conflicts(err error) bool {
	var p *api.Problem
	return errors.As(err, &p) && (p.Status == http.StatusConflict || p.Status == http.StatusPreconditionFailed)
}

// again sends a request of before, and holds that it is answered as it was.
func (p *post) again(ctx context.Context, l *letter) error {
	got, err := l.send(ctx, p.w.alive().api(p.w.token))
	switch {
	case l.bound && conflicts(err):
		return nil
	case l.bound:
		return fmt.Errorf("%s, once more, bound to a version of before: %+v, %v", l.what, got, err)
	case err != nil:
		return fmt.Errorf("%s, once more: %w", l.what, err)
	case got != l.first:
		return fmt.Errorf("%s, once more: %+v, and at first it was %+v", l.what, got, l.first)
	}
	return nil
}

// keep sends requests of before, until it is told to stop.
func (p *post) keep(ctx context.Context) {
	for sleep(ctx, p.w.between(10*time.Millisecond, 60*time.Millisecond)) {
		p.mu.Lock()
		sent := p.sent
		p.mu.Unlock()
		if len(sent) == 0 {
			continue
		}
		if err := p.again(ctx, sent[p.w.someInt(len(sent))]); err != nil && ctx.Err() == nil {
			p.w.sees("%v", err)
		}
	}
}

// all sends everything that was ever sent, 2 to 10 times, shuffled.
func (p *post) all(ctx context.Context) error {
	var bag []*letter
	for _, l := range p.sent {
		for range 2 + p.w.someInt(9) {
			bag = append(bag, l)
		}
	}
	p.w.mu.Lock()
	p.w.draw.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
	p.w.mu.Unlock()
	next, errs := make(chan *letter), make(chan error, len(bag))
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for l := range next {
				if err := p.again(ctx, l); err != nil {
					errs <- err
				}
			}
		})
	}
	for _, l := range bag {
		next <- l
	}
	close(next)
	senders.Wait()
	close(errs)
	for err := range errs {
		return err // the first will do
	}
	return nil
}

// keyed makes a letter of a request with a key of its own.
func keyed[T any](what string, id func(T) string, do func(context.Context, *client.Client, client.Option) (T, string, error)) *letter {
	key := client.IdempotencyKey(uuid.NewString())
	return &letter{what: what, send: func(ctx context.Context, c *client.Client) (reply, error) {
		out, job, err := do(ctx, c, key)
		if err != nil {
			return reply{}, err
		}
		return reply{id(out), job}, nil
	}}
}

func hostID(h api.Host) string             { return h.ID }
func allocationID(a api.Allocation) string { return a.ID }
func unitID(u api.ComputeUnit) string      { return u.ID }
func jobID(j api.Job) string               { return j.ID }
