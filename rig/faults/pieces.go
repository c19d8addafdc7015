package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// piece is a piece of work on a host, in which something is made to go wrong.
type piece struct {
	kind string // of its job
	job  string // "" until it is asked for
	host *host.Host
	ask  func(context.Context) (job string, err error)
	// mend has the work done, or undone, however its job has ended.
	mend func(context.Context) error
}

// slow has the tasks of the piece's own playbook take longer, and no others: the
// bootstrap before it changes nothing that a fence could end.
func (p *piece) slow(pause time.Duration) host.Manners {
	playbook := map[string]string{"allocation_keys": "unit_allocate", "host_relayout": "host_initialize"}[p.kind]
	if playbook == "" {
		playbook = p.kind
	}
	return host.Manners{Pause: pause, Of: playbook}
}

// begin asks for it, on a host that behaves so from now on.
func (p *piece) begin(ctx context.Context, m host.Manners) (err error) {
	p.host.Behave(m)
	if p.job, err = p.ask(ctx); err != nil {
		return fmt.Errorf("ask for %s: %w", p.kind, err)
	}
	return nil
}

// prepare makes all that a job of this kind needs, on one of the hosts or, where
// it is about the whole host, on one of its own.
func (w *World) prepare(ctx context.Context, kind string) (*piece, error) {
	p := &piece{kind: kind, host: w.hosts[w.someInt(w.spec.Hosts)]}
	p.mend = func(ctx context.Context) error { return w.retry(ctx, p.job) }
	var err error
	switch kind {
	case "host_probe":
		p.ask = w.ofHost(p, (*client.Client).ProbeHost)
	case "hosts_probe":
		p.ask = func(ctx context.Context) (string, error) {
			_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) {
				return c.ProbeHosts(ctx, api.ProbeHosts{Hosts: w.names()}, o)
			})
			return job, err
		}
	case "host_initialize", "host_relayout", "host_decommission":
		err = w.prepareForHost(ctx, p)
	case "unit_allocate":
		return w.allocating(p.host), nil
	case "unit_deallocate", "allocation_keys", "host_measure":
		err = w.prepareForTenant(ctx, p)
	default:
		err = errors.New("nobody knows it")
	}
	if err != nil {
		return nil, fmt.Errorf("prepare for %s: %w", kind, err)
	}
	return p, nil
}

// names are those of the hosts that are there from the beginning.
func (w *World) names() (names []string) {
	for _, h := range w.hosts[:w.spec.Hosts] {
		names = append(names, h.Name)
	}
	return names
}

// allocating needs nothing but a free unit.
func (w *World) allocating(h *host.Host) *piece {
	p := &piece{kind: "unit_allocate", host: h}
	p.ask = func(ctx context.Context) (string, error) {
		a, job, err := w.place(ctx, h.Name)
		p.mend = func(ctx context.Context) error { return w.giveBack(ctx, a) } // what is left is cleaned as after a failure
		return job, err
	}
	return p
}

func (w *World) prepareForHost(ctx context.Context, p *piece) (err error) {
	if p.host, err = w.addHost(len(w.hosts) + 1); err != nil {
		return err
	}
	switch p.kind {
	case "host_initialize":
		p.ask = w.ofHost(p, (*client.Client).InitializeHost)
		if err := w.register(ctx, p.host); err != nil {
			return err
		}
		return w.layOut(ctx, p.host)
	case "host_relayout": // around a tenant
		p.ask = w.ofHost(p, func(c *client.Client, ctx context.Context, name string, o ...client.Option) (api.Host, string, error) {
			return c.RelayoutHost(ctx, name, api.SetLayout{Count: unitsEach / 2, CPUsEach: 1}, o...)
		})
	default:
		p.ask = w.ofHost(p, (*client.Client).DecommissionHost)
	}
	err = w.prepareHost(ctx, p.host)
	if err == nil && p.kind == "host_relayout" {
		_, err = w.tenant(ctx, p.host)
	}
	return err
}

func (w *World) prepareForTenant(ctx context.Context, p *piece) error {
	a, err := w.tenant(ctx, p.host)
	if err != nil {
		return err
	}
	switch p.kind {
	case "unit_deallocate":
		p.ask = func(ctx context.Context) (string, error) { return w.remove(ctx, a) }
		again := p.mend
		p.mend = func(ctx context.Context) error {
			if _, err := w.over(ctx, p.job); err != nil {
				return err
			}
			now, err := retried(ctx, w, func(c *client.Client) (api.Allocation, error) { return c.GetAllocation(ctx, a.ID) })
			if err != nil {
				return err
			}
			if now.State == "allocated" { // cancelled before it began: its tenant must be as he was
				return w.giveBack(ctx, a)
			}
			return again(ctx)
		}
		return nil
	case "host_measure":
		p.ask = w.ofHost(p, func(c *client.Client, ctx context.Context, name string, o ...client.Option) (api.Host, string, error) {
			return c.MeasureHost(ctx, name, 2, o...)
		})
	default:
		p.ask = func(ctx context.Context) (string, error) {
			_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Allocation, string, error) {
				return c.ReplaceKeys(ctx, a.ID, api.ReplaceKeys{SSHKeys: []string{w.key + " another"}}, o)
			})
			return job, err
		}
	}
	again := p.mend
	p.mend = func(ctx context.Context) error {
		if err := again(ctx); err != nil {
			return err
		}
		return w.giveBack(ctx, a)
	}
	return nil
}

// ofHost asks for a job about the piece's host.
func (w *World) ofHost(p *piece, do func(*client.Client, context.Context, string, ...client.Option) (api.Host, string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Host, string, error) { return do(c, ctx, p.host.Name, o) })
		return job, err
	}
}

// tenant has somebody on a unit of the host.
func (w *World) tenant(ctx context.Context, h *host.Host) (api.Allocation, error) {
	a, job, err := w.place(ctx, h.Name)
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	return a, err
}

// giveBack gives a unit back. What is allocated until then was set up whole.
func (w *World) giveBack(ctx context.Context, a api.Allocation) error {
	now, err := retried(ctx, w, func(c *client.Client) (api.Allocation, error) { return c.GetAllocation(ctx, a.ID) })
	if err != nil {
		return err
	}
	for _, h := range w.hosts {
		if tenant, half := h.Tenants()[a.UnitID], h.Half()[a.UnitID]; now.State == "allocated" && h.Name == a.Host && (tenant != a.ID || half) {
			return fmt.Errorf("allocation %s is %s on unit %s, which has %q and is half made: %t", a.ID, now.State, a.Unit, tenant, half)
		}
	}
	if now.State == "deallocated" { // cancelled before it began: nothing of it is anywhere
		return nil
	}
	job, err := w.remove(ctx, a)
	if err != nil {
		return err
	}
	return w.succeeds(ctx, job)
}

// retry has a job succeed, by a person's retry where it ended otherwise.
func (w *World) retry(ctx context.Context, job string) error {
	j, err := w.over(ctx, job)
	if err == nil && j.State != "succeeded" {
		_, _, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) {
			return c.RetryJob(ctx, job, api.RetryJob{}, o)
		})
	}
	if err != nil {
		return err
	}
	return w.succeeds(ctx, job)
}

// running starts a piece of work whose tasks take long, and waits until its play
// changes the host; it returns the backend that runs it.
func (w *World) running(ctx context.Context, kind string, pause time.Duration) (b *Backend, p *piece, err error) {
	if p, err = w.prepare(ctx, kind); err != nil {
		return nil, nil, err
	}
	b, err = w.runs(ctx, p, pause)
	return b, p, err
}

func (w *World) runs(ctx context.Context, p *piece, pause time.Duration) (*Backend, error) {
	if err := p.begin(ctx, p.slow(pause)); err != nil {
		return nil, err
	}
	if err := await(ctx, "the play on the host", patience, func() bool { return len(p.host.Active()) > 0 }); err != nil {
		return nil, err
	}
	for _, b := range w.backends {
		if b.Alive() && len(b.ansibles()) > 0 {
			return b, nil
		}
	}
	return nil, errors.New("no backend runs the play")
}
