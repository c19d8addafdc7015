package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/store"
)

// hostsProbe reads several hosts in one Ansible process. Each host is told of by
// itself, and as it comes: what was read is kept however the others end, and a
// further attempt is only about those that are left.
var hostsProbe = handler{steps: map[string]step{"probe": {do: probeTogether}}}

// together is several hosts that are being read.
type together struct {
	r      *run
	hosts  map[string]store.Host               // still to be read, by name
	keys   map[uuid.UUID]store.OrganizationKey // by host
	failed []*domain.JobError                  // one for each that could not be read in this attempt
	broken error                               // what was read could not be stored
}

func probeTogether(ctx context.Context, r *run) error {
	hosts, err := r.w.db.HostsToDo(ctx, r.job.ID)
	if err != nil {
		return err
	}
	t := &together{r: r, hosts: map[string]store.Host{}}
	ids := make([]uuid.UUID, len(hosts))
	for i, h := range hosts {
		t.hosts[h.Name], ids[i] = h, h.ID
	}
	if t.keys, err = r.w.db.KeysOfHosts(ctx, ids); err != nil {
		return err
	}
	for _, h := range hosts {
		if _, ok := t.keys[h.ID]; !ok {
			return fmt.Errorf("the organization of host %s has no key", h.Name)
		}
	}
	targets, err := t.targets(ctx, hosts)
	if err != nil {
		return err
	}
	if len(targets) > 0 {
		if err := t.play(ctx, targets); err != nil {
			return err
		}
	}
	return t.end(ctx)
}

// looking is how many hosts are looked at side by side before a play.
const looking = 16

// targets are those of the hosts that answer, and that may be read by this job.
func (t *together) targets(ctx context.Context, hosts []store.Host) ([]ansible.Host, error) {
	found, errs := make([]*ansible.Host, len(hosts)), make([]error, len(hosts))
	var g errgroup.Group
	g.SetLimit(looking)
	for i, h := range hosts {
		g.Go(func() error {
			found[i], errs[i] = t.target(ctx, h)
			return nil
		})
	}
	_ = g.Wait()
	var targets []ansible.Host
	at := map[string]string{}
	for i, h := range hosts {
		if errs[i] == nil {
			// Ansible's connections are shared by what has one address.
			where := net.JoinHostPort(found[i].Address, strconv.Itoa(found[i].Port))
			if other, taken := at[where]; taken {
				errs[i] = &domain.JobError{
					Code: domain.ErrCodeDuplicate, Host: h.Name,
					Message: fmt.Sprintf("Its address %s is also the address of %s. Probe it alone.", where, other),
				}
			} else {
				at[where] = h.Name
			}
		}
		if errs[i] == nil {
			targets = append(targets, *found[i])
			continue
		}
		if err := t.fail(ctx, h, errs[i]); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// target is one host as a play is given it, which has just answered.
func (t *together) target(ctx context.Context, h store.Host) (*ansible.Host, error) {
	if err := stays(h); err != nil {
		return nil, err
	}
	one := targetHost{Host: h, w: t.r.w, key: t.keys[h.ID]}
	to, err := one.access(ctx)
	if err != nil {
		return nil, err
	}
	target := one.unfenced(*to)
	return &target, nil
}

// stays tells whether a probe still leaves a host as it is. It did when the job
// was asked for.
func stays(h store.Host) error {
	if h.RemovedAt == nil && domain.HostLifecycle.Stays(h.State, domain.ProbeSucceeded) {
		return nil
	}
	now := string(h.State)
	if h.RemovedAt != nil {
		now = "removed"
	}
	return &domain.JobError{Code: domain.ErrCodeSuperseded, Host: h.Name, Message: fmt.Sprintf("The host is now %s.", now)}
}

// play runs one Ansible on all of the targets.
func (t *together) play(ctx context.Context, targets []ansible.Host) error {
	r := t.r
	if r.job.PlaybookVersionID == nil {
		return errors.New("job is bound to no playbook version")
	}
	what := inputs.OfProbe()
	var taking sync.Mutex
	out, err := r.carryOut(ctx, r.playOn(what, targets, false), what, func(e ansible.Event) {
		if e.Kind != ansible.EventResult {
			return
		}
		taking.Lock()
		defer taking.Unlock()
		if h, ok := t.hosts[e.Host]; ok && t.broken == nil {
			t.broken = t.take(ctx, h, e)
		}
	})
	var why *domain.JobError
	switch {
	case err != nil && !errors.As(err, &why):
		return err
	case t.broken != nil:
		return t.broken
	}
	if why == nil {
		r.w.cfg.Failpoints.Hit(failpoint.PlayDone(r.playbook, what.File))
	}
	left := &domain.JobError{Code: domain.ErrCodePlaybookError, Message: "The playbook returned no facts of this host."}
	for _, f := range out.Failures {
		failure := failureOf(f, f.Host)
		switch h, waits := t.hosts[f.Host]; {
		case waits:
			if err := t.fail(ctx, h, failure); err != nil {
				return err
			}
		case f.Code == ansible.CodeCancelled, f.Code == ansible.CodeKilled: // it was ended, and says nothing of hosts
			return failure
		case f.Host == "": // one that hangs, or tells what can't be read, has the play end for all that are left
			left = failure
		case slices.ContainsFunc(targets, func(a ansible.Host) bool { return a.Name == f.Host }):
			t.failed = append(t.failed, failure) // after it had been read
		}
	}
	for _, target := range targets {
		if h, ok := t.hosts[target.Name]; ok {
			why := *left
			why.Host = h.Name
			if err := t.fail(ctx, h, &why); err != nil {
				return err
			}
		}
	}
	return nil
}

// take stores what was read of a host.
func (t *together) take(ctx context.Context, h store.Host, e ansible.Event) error {
	facts, bad := factsOf(h, e.Result)
	if bad != nil {
		return t.fail(ctx, h, bad)
	}
	r := t.r
	err := r.write(ctx, func(tx *store.Tx) error {
		now, err := held(ctx, tx, h)
		if err != nil {
			return err
		}
		if err := tx.SetHostFacts(ctx, now.ID, facts); err != nil {
			return err
		}
		if err := tx.ProvedHostKey(ctx, now.ID, t.keys[now.ID]); err != nil {
			return err
		}
		if err := tx.EndJobHost(ctx, r.job.ID, now.ID, "", inShort(facts)); err != nil {
			return err
		}
		a := r.audit("succeeded", nil)
		a.Action, a.ObjectKind, a.ObjectID, a.ObjectName = "host.probed", "host", now.ID, now.Name
		return tx.AddEvent(ctx, r.actor(), a)
	})
	var conflict *domain.Conflict
	var why *domain.JobError
	switch {
	case errors.As(err, &conflict):
		return t.fail(ctx, h, &domain.JobError{Code: conflict.Code, Host: h.Name, Message: conflict.Detail})
	case errors.As(err, &why):
		return t.fail(ctx, h, why)
	case err != nil:
		return fmt.Errorf("store what was read of %s: %w", h.Name, err)
	}
	delete(t.hosts, h.Name)
	return nil
}

// held is a host as it is now, and stays until the transaction ends.
func held(ctx context.Context, tx *store.Tx, h store.Host) (store.Host, error) {
	if _, err := tx.HoldHost(ctx, h.ID); err != nil {
		return h, err
	}
	now, err := tx.Host(ctx, h.ID)
	if err != nil {
		return h, fmt.Errorf("load host: %w", err)
	}
	return now, stays(now)
}

// fail notes why a host could not be read. It may be tried once more.
func (t *together) fail(ctx context.Context, h store.Host, err error) error {
	var why *domain.JobError
	if !errors.As(err, &why) {
		return err
	}
	if ctx.Err() != nil { // it was the attempt that ended
		return ctx.Err()
	}
	if why.Code == domain.ErrCodeHostKeyChanged {
		more := *why
		more.Message += " Probe it by itself: then the key that it offers can be confirmed."
		why = &more
	}
	told := why
	err = t.r.write(ctx, func(tx *store.Tx) error {
		told = why
		now, err := held(ctx, tx, h)
		var gone *domain.JobError
		switch {
		case errors.As(err, &gone):
			told = gone
		case err != nil:
			return err
		default:
			if err := t.seen(ctx, tx, now, why); err != nil {
				return err
			}
		}
		return tx.EndJobHost(ctx, t.r.job.ID, h.ID, told.Code, told.Message)
	})
	if err != nil {
		return fmt.Errorf("store what came of %s: %w", h.Name, err)
	}
	delete(t.hosts, h.Name)
	t.failed = append(t.failed, told)
	t.r.log.Note("%s: %s", h.Name, told.Message)
	return nil
}

// seen is [run.seen] for one of several hosts that could not be read.
func (t *together) seen(ctx context.Context, tx *store.Tx, h store.Host, why *domain.JobError) error {
	switch {
	case why.Code == domain.ErrCodeUnreachable:
		return tx.SetHostHealth(ctx, h.ID, domain.HealthUnreachable, why.Message)
	case why.Answered() && h.Health == domain.HealthUnreachable:
		return answered(ctx, tx, h.ID, domain.HealthUnknown)
	default:
		return nil
	}
}

// mostNamed is how many hosts an error names.
const mostNamed = 5

// end tells what came of all. Hosts that were only unreachable have the job
// tried again by itself.
func (t *together) end(ctx context.Context) error {
	all, err := t.r.w.db.HostsOfJob(ctx, t.r.job.ID)
	if err != nil {
		return err
	}
	if len(t.failed) == 0 {
		t.r.outcome = counted(len(all), "host") + " read."
		return nil
	}
	first := t.failed[0]
	why := &domain.JobError{Code: first.Code, Host: first.Host, Message: first.Message}
	for _, f := range t.failed {
		if f.Healable() {
			why.Code = f.Code
			break
		}
	}
	if len(all) == 1 {
		return why
	}
	var named []string
	for _, f := range t.failed[:min(len(t.failed), mostNamed)] {
		named = append(named, f.Host+": "+f.Message)
	}
	if more := len(t.failed) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more; the job lists them", more))
	}
	why.Host = ""
	why.Message = fmt.Sprintf("%d of %s could not be read; what was read of the others is kept.\n%s", len(t.failed), counted(len(all), "host"), strings.Join(named, "\n"))
	return why
}
