package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// duplicates leads whole lives of hosts and tenants in which every request comes
// several times, and all of those before come again at any time. When all is
// over it all comes once more: everything is answered as it was at first,
// nothing more exists, and nothing has moved.
func duplicates(ctx context.Context, w *World) error {
	p := &post{w: w}
	before, err := w.census(ctx)
	if err != nil {
		return err
	}
	if err := p.ofAll(ctx); err != nil {
		return err
	}
	late, stop := context.WithCancel(ctx)
	var postmen sync.WaitGroup
	for range 2 {
		postmen.Go(func() { p.keep(late) })
	}
	lives := 0
	for range w.times(1) {
		errs := make(chan error, 2)
		for range cap(errs) {
			lives++
			h, addErr := w.addHost(200 + lives)
			if addErr != nil {
				errs <- addErr
				continue
			}
			go func() { errs <- p.life(ctx, h) }()
		}
		for range cap(errs) {
			err = errors.Join(err, <-errs)
		}
	}
	stop()
	postmen.Wait()
	if err != nil {
		return err
	}
	over, err := w.census(ctx)
	if err != nil {
		return err
	}
	jobs := map[string]bool{"": true}
	for _, l := range p.sent {
		jobs[l.first.job] = true
	}
	for what, more := range map[string]int{"hosts": lives, "allocations": 3 * lives, "jobs": len(jobs) - 1} {
		if made := over[what] - before[what]; made != int64(more) {
			return fmt.Errorf("%d %s were made, and %d asked for", made, what, more)
		}
	}
	if err := p.all(ctx); err != nil {
		return err
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	after, err := w.census(ctx)
	for what, n := range over {
		if err == nil && after[what] != n {
			err = fmt.Errorf("when all of it came again, %d %s became %d", n, what, after[what])
		}
	}
	return err
}

// census counts everything that a request can make or move.
func (w *World) census(ctx context.Context) (map[string]int64, error) {
	found := map[string]int64{}
	for what, query := range map[string]string{
		"hosts": "SELECT count(*) FROM hosts", "units": "SELECT count(*) FROM compute_units", "allocations": "SELECT count(*) FROM allocations",
		"addresses": "SELECT count(*) FROM addresses", "UIDs": "SELECT count(*) FROM uids", "jobs": "SELECT count(*) FROM jobs",
		"attempts": "SELECT COALESCE(sum(attempt), 0) FROM jobs", "parts of logs": "SELECT count(*) FROM job_log",
		"pauses": "SELECT count(*) FROM queue_pauses", "keys": "SELECT count(*) FROM idempotency_keys",
		"versions of hosts": "SELECT COALESCE(sum(version), 0) FROM hosts", "versions of units": "SELECT COALESCE(sum(version), 0) FROM compute_units",
		"versions of allocations": "SELECT COALESCE(sum(version), 0) FROM allocations",
		"events":                  "SELECT count(*) FROM events WHERE actor_kind <> 'policy'",
	} {
		n, err := w.ask(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", what, err)
		}
		found[what] = n
	}
	for _, h := range w.hosts {
		found["runs on hosts"] += h.Number()
	}
	return found, nil
}

// ofAll are requests about the installation. A pause that comes again when it
// is over would hold everything up.
func (p *post) ofAll(ctx context.Context) error {
	none := func(api.Queue) string { return "" }
	letters := []*letter{
		keyed("pause the queue", none, func(ctx context.Context, c *client.Client, o client.Option) (api.Queue, string, error) {
			q, err := c.PauseQueue(ctx, api.PauseQueue{Reason: "to see whether it comes again"}, o)
			return q, "", err
		}),
		keyed("resume the queue", none, func(ctx context.Context, c *client.Client, o client.Option) (api.Queue, string, error) {
			q, err := c.ResumeQueue(ctx, o)
			return q, "", err
		}),
		keyed("add addresses", func(all []api.Address) string {
			var ids []string
			for _, a := range all {
				ids = append(ids, a.ID)
			}
			return strings.Join(ids, " ")
		}, func(ctx context.Context, c *client.Client, o client.Option) ([]api.Address, string, error) {
			all, err := c.AddAddresses(ctx, api.AddAddresses{Addresses: []api.AddRange{{Range: "10.8.0.1-10.8.0.50"}}}, o)
			return all, "", err
		}),
	}
	for _, l := range letters {
		if _, err := p.deliver(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// life is that of a host, from its registration to its end, with tenants for
// whom it goes well, badly, and not at all.
func (p *post) life(ctx context.Context, h *host.Host) error {
	for _, part := range []struct {
		name string
		do   func(context.Context, *host.Host) error
	}{{"prepared", p.prepared}, {"well", p.goesWell}, {"badly", p.goesBadly}, {"stopped", p.isStopped}, {"gone", p.goes}} {
		if err := part.do(ctx, h); err != nil {
			return fmt.Errorf("host %s, %s: %w", h.Name, part.name, err)
		}
	}
	return nil
}

// does delivers a request and follows its job, if it makes one, to the end that
// it must have; "" is not waited for.
func (p *post) does(ctx context.Context, l *letter, end string) (reply, error) {
	a, err := p.deliver(ctx, l)
	if err != nil || a.job == "" || end == "" {
		return a, err
	}
	j, err := p.w.over(ctx, a.job)
	if err == nil && j.State != end {
		err = fmt.Errorf("%s: job %s is %s and not %s: %+v", l.what, j.ID, j.State, end, j.Error)
	}
	return a, err
}

func onHost(what string, h *host.Host, do func(*client.Client, context.Context, string, ...client.Option) (api.Host, string, error)) *letter {
	return keyed(what, hostID, func(ctx context.Context, c *client.Client, o client.Option) (api.Host, string, error) {
		return do(c, ctx, h.Name, o)
	})
}

func onJob(what, id string, do func(*client.Client, context.Context, string, ...client.Option) (api.Job, string, error)) *letter {
	return keyed(what, jobID, func(ctx context.Context, c *client.Client, o client.Option) (api.Job, string, error) {
		return do(c, ctx, id, o)
	})
}

func retry(id string) *letter {
	return keyed("retry", jobID, func(ctx context.Context, c *client.Client, o client.Option) (api.Job, string, error) {
		return c.RetryJob(ctx, id, api.RetryJob{}, o)
	})
}

func (p *post) prepared(ctx context.Context, h *host.Host) error {
	in := api.RegisterHost{Name: h.Name, Address: "127.0.0.1", Port: h.Port, AdminUser: "operator1", HostKey: h.Key}
	_, err := p.does(ctx, keyed("register", hostID, func(ctx context.Context, c *client.Client, o client.Option) (api.Host, string, error) {
		return c.RegisterHost(ctx, in, o)
	}), "succeeded")
	if err != nil {
		return err
	}
	now, err := p.w.api().GetHost(ctx, h.Name)
	if err != nil {
		return err
	}
	_, err = p.deliver(ctx, &letter{what: "lay out", bound: true, send: func(ctx context.Context, c *client.Client) (reply, error) {
		layout := api.SetLayout{Count: unitsEach, CPUsEach: 1, Devices: []string{host.Disk}}
		_, err := c.SetLayout(ctx, h.Name, layout, client.IfMatch(now.Version))
		return reply{}, err
	}})
	for _, l := range []*letter{onHost("initialize", h, (*client.Client).InitializeHost), onHost("probe", h, (*client.Client).ProbeHost)} {
		if err == nil {
			_, err = p.does(ctx, l, "succeeded")
		}
	}
	return err
}

// creates asks for a unit of the host; the job must have this end.
func (p *post) creates(ctx context.Context, h *host.Host, end string) (reply, error) {
	l := keyed("create", allocationID, func(ctx context.Context, c *client.Client, o client.Option) (api.Allocation, string, error) {
		return c.CreateAllocation(ctx, api.CreateAllocation{CPUs: 1, Host: h.Name, SSHKeys: []string{p.w.key}}, o)
	})
	a, err := p.does(ctx, l, end)
	if a.object != "" {
		p.w.acknowledge(a.object)
	}
	return a, err
}

func (p *post) givesBack(ctx context.Context, id string) error {
	a, err := p.w.api().GetAllocation(ctx, id)
	if err != nil {
		return err
	}
	_, err = p.does(ctx, keyed("give back", allocationID, func(ctx context.Context, c *client.Client, o client.Option) (api.Allocation, string, error) {
		return c.Deallocate(ctx, id, api.Deallocate{Confirm: a.LoginUser}, o)
	}), "succeeded")
	return err
}

func (p *post) goesWell(ctx context.Context, h *host.Host) error {
	a, err := p.creates(ctx, h, "succeeded")
	if err != nil {
		return err
	}
	now, err := p.w.api().GetAllocation(ctx, a.object)
	if err != nil {
		return err
	}
	if _, err = p.does(ctx, &letter{what: "change keys", bound: true, send: func(ctx context.Context, c *client.Client) (reply, error) {
		_, job, err := c.ReplaceKeys(ctx, a.object, api.ReplaceKeys{SSHKeys: []string{p.w.key + " again"}}, client.IfMatch(now.Version))
		return reply{a.object, job}, err
	}}, "succeeded"); err != nil {
		return err
	}
	return p.givesBack(ctx, a.object)
}

// goesBadly has a job fail, and again, and gives it up.
func (p *post) goesBadly(ctx context.Context, h *host.Host) error {
	h.Behave(host.Manners{Full: true})
	a, err := p.creates(ctx, h, "failed")
	if err == nil {
		_, err = p.does(ctx, retry(a.job), "failed")
	}
	h.Behave(host.Manners{})
	if err == nil {
		_, err = p.does(ctx, onJob("give up", a.job, (*client.Client).GiveUpJob), "succeeded")
	}
	return err
}

// isStopped has a job cancelled while it runs, and then retried: the cancel
// comes again, and must not stop that.
func (p *post) isStopped(ctx context.Context, h *host.Host) error {
	h.Behave(host.Manners{Pause: 30 * time.Second})
	a, err := p.creates(ctx, h, "")
	if err == nil {
		err = await(ctx, "the play on the host", patience, func() bool { return len(h.Active()) > 0 })
	}
	if err == nil {
		_, err = p.deliver(ctx, onJob("cancel", a.job, (*client.Client).CancelJob))
	}
	h.Behave(host.Manners{Pause: time.Second})
	if err != nil {
		return err
	}
	j, err := p.w.over(ctx, a.job)
	if err == nil && j.State != "cancelled" {
		err = fmt.Errorf("the job that was cancelled is %s: %+v", j.State, j.Error)
	}
	if err != nil {
		return err
	}
	if _, err = p.does(ctx, retry(a.job), "succeeded"); err != nil {
		return err
	}
	h.Behave(host.Manners{})
	return p.givesBack(ctx, a.object)
}

// goes closes a unit and the host, opens both again, and ends the host.
func (p *post) goes(ctx context.Context, h *host.Host) error {
	units, err := p.w.api().ListComputeUnits(ctx, api.UnitFilter{Host: h.Name})
	if err != nil {
		return err
	}
	onUnit := func(what string, do func(*client.Client, context.Context, string, ...client.Option) (api.ComputeUnit, error)) *letter {
		return keyed(what, unitID, func(ctx context.Context, c *client.Client, o client.Option) (api.ComputeUnit, string, error) {
			u, err := do(c, ctx, units.Items[0].ID, o)
			return u, "", err
		})
	}
	atOnce := func(what string, do func(*client.Client, context.Context, string, ...client.Option) (api.Host, error)) *letter {
		return onHost(what, h, func(c *client.Client, ctx context.Context, id string, o ...client.Option) (api.Host, string, error) {
			out, err := do(c, ctx, id, o...)
			return out, "", err
		})
	}
	for _, l := range []*letter{
		onUnit("close the unit", (*client.Client).CloseComputeUnit), onUnit("open the unit", (*client.Client).OpenComputeUnit),
		atOnce("drain", (*client.Client).DrainHost), atOnce("undrain", (*client.Client).UndrainHost),
		onHost("decommission", h, (*client.Client).DecommissionHost),
	} {
		if _, err := p.does(ctx, l, "succeeded"); err != nil {
			return err
		}
	}
	return nil
}
