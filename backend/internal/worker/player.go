package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
)

// player carries out plays for one attempt at a job, and writes for it.
type player struct {
	w     *Worker
	claim store.Claim
	log   *queue.Log
	host  targetHost

	playbook  string   // its name; "" for a job without one
	content   []byte   // of its version
	secrets   []string // beside keys, that no log may show
	unchecked bool     // the attempt has begun a play that changes the host and that no fence checks
	played    bool     // the host answered
}

// write writes on behalf of the attempt, if it is still the running one.
func (p *player) write(ctx context.Context, f func(*store.Tx) error) error {
	return p.w.db.InTx(ctx, func(tx *store.Tx) error {
		if err := tx.OwnJob(ctx, p.claim.ID, p.claim.Attempt); err != nil {
			return err
		}
		return f(tx)
	})
}

// carryOut runs a play and tells the log of it. A play that failed is a JobError.
func (p *player) carryOut(ctx context.Context, play ansible.Play, what inputs.Play, seen func(ansible.Event)) (ansible.Outcome, error) {
	began := time.Now()
	out, err := p.w.runner.Run(ctx, play, func(e ansible.Event) {
		if e.Kind == ansible.EventTaskStarted {
			p.w.cfg.Failpoints.Hit(failpoint.PlayUnderWay)
		}
		if seen != nil {
			seen(e)
		}
		if e.Kind != ansible.EventChange && e.Kind != ansible.EventResult {
			p.log.Add(entryOf(e))
		}
	})
	p.w.metrics.played(p.claim.Kind, p.playbook, out, err, time.Since(began))
	if err != nil {
		return ansible.Outcome{}, fmt.Errorf("run play %s: %w", what.File, err)
	}
	if out.Failure != nil {
		why := failureOf(*out.Failure, p.host.Name)
		p.played = why.Answered()
		return out, why
	}
	p.played = true
	return out, nil
}

// playOf is a play on the job's host.
func (p *player) playOf(what inputs.Play, to access, fenced, check bool) ansible.Play {
	return p.playOn(what, []ansible.Host{p.target(to, fenced)}, check)
}

// playOn is a play as the runner takes it.
func (p *player) playOn(what inputs.Play, hosts []ansible.Host, check bool) ansible.Play {
	content := p.content // Unpack outlives the run: it is kept for the next one
	timeout := p.w.cfg.PlayTimeout
	if own := job.PolicyOf(p.claim.Kind).Play; own > 0 {
		timeout = min(timeout, own)
	}
	return ansible.Play{
		Name: p.playbook, Playbook: what.File, Hosts: hosts, Vars: what.Vars, Timeout: timeout,
		Check: check, Diff: check, Secrets: p.secrets,
		BundleSHA256: bundle.Digest(content),
		Unpack:       func(dir string) error { return bundle.Unpack(content, dir, bundle.DefaultLimits) },
	}
}

// target is the host as a play is given it.
func (p *player) target(a access, fenced bool) ansible.Host {
	host := p.host.unfenced(a)
	if fenced {
		host.Fence = &ansible.Fence{Incarnation: p.host.Incarnation.String(), Number: p.host.fence, Run: p.claim.ID.String()}
	}
	return host
}

// endWithin bounds how long a host is asked to end what still runs on it: the
// whole of a cancel is to take no longer than ten seconds, of which one may pass
// until it is heard, and some with the end of the play and of the job.
const endWithin = 6 * time.Second

// endOnHost has the host's fence end what the job left there, by a number that
// is newer than all of its own. Where another job holds the host by now, or another
// worker has this one, their first task has done so, or will.
func (p *player) endOnHost(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	err := p.w.db.InTx(ctx, func(tx *store.Tx) (err error) {
		if err := tx.OwnJob(ctx, p.claim.ID, p.claim.Attempt); err != nil {
			return err
		}
		p.host.fence, err = tx.LockHost(ctx, p.host.ID, p.claim.ID, p.claim.Attempt)
		return err
	})
	if errors.Is(err, store.ErrHostBusy) || errors.Is(err, store.ErrLost) {
		return
	}
	if err == nil {
		err = p.comeAsNewest(ctx)
	}
	if err != nil {
		slog.Warn("end running tasks on the host failed", "job", p.claim.ID, "host", p.host.Name, "error", err)
		p.log.Note("The host did not answer the request to end running tasks. Its last task may still finish; the next job on the host ends it first.")
		return
	}
	if p.unchecked {
		p.log.Note("All tasks that ran under the host's fence were ended. The play that installs the fence runs without one: its last task may still finish.")
		return
	}
	p.log.Note("No task of the job runs on the host any more.")
}

func (p *player) comeAsNewest(ctx context.Context) error {
	a, err := p.host.access(ctx)
	if err != nil {
		return fmt.Errorf("reach the host: %w", err)
	}
	return p.w.runner.End(ctx, p.target(*a, true))
}

var codes = map[ansible.FailureCode]string{
	ansible.CodeUnreachable:    domain.ErrCodeUnreachable,
	ansible.CodeHostKeyChanged: domain.ErrCodeHostKeyChanged,
	ansible.CodeLoginRefused:   domain.ErrCodeAccessDenied,
	ansible.CodeAccountClosed:  domain.ErrCodeAccountClosed,
	ansible.CodeLoginPrints:    domain.ErrCodeLoginPrints,
	ansible.CodeSudoRefused:    domain.ErrCodeSudoRefused,
	ansible.CodeTaskFailed:     domain.ErrCodeTaskFailed,
	ansible.CodeFenced:         domain.ErrCodeFenced,
	ansible.CodeNoFence:        domain.ErrCodeNoFence,
	ansible.CodeFenceUnchecked: domain.ErrCodeFenceUnchecked,
	ansible.CodeIdentityTaken:  domain.ErrCodeIdentityTaken,
	ansible.CodeAddressOnHost:  domain.ErrCodeAddressOnHost,
	ansible.CodeTimeout:        domain.ErrCodeTimeout,
	ansible.CodeCancelled:      domain.ErrCodeCancelled,
	ansible.CodeKilled:         domain.ErrCodeKilled,
	ansible.CodePlaybookError:  domain.ErrCodePlaybookError,
}

// failureOf is the failure of a play as an error of the job.
func failureOf(f ansible.Failure, host string) *domain.JobError {
	code, ok := codes[f.Code]
	if !ok {
		code = domain.ErrCodeTaskFailed
	}
	message := strings.TrimSpace(f.Message)
	if message == "" {
		message = "The task failed without a message."
	}
	return &domain.JobError{Code: code, Message: message, Host: host, Task: f.Task, NextStep: domain.NextStep(code)}
}

func entryOf(e ansible.Event) store.LogEntry {
	return store.LogEntry{
		Time: e.Time, Kind: string(e.Kind), Play: e.Play, Role: e.Role, Task: e.Task, Action: e.Action, Host: e.Host,
		Item: e.Item, Changed: e.Changed, Message: e.Message, Output: e.Output, Diff: e.Diff, DurationMS: e.DurationMS,
	}
}
