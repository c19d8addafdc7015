package worker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/store"
)

// play runs one play of the job's playbook on its host and keeps what it
// returned. fenced says whether the host's fence checks every module's start:
// always, but for plays that only read and the one that brings the fence.
func (r *run) play(ctx context.Context, what inputs.Play, fenced bool) error {
	out, err := r.ansible(ctx, what, fenced, false, nil)
	if err != nil {
		return err
	}
	r.result = out.Results[r.host.Name]
	return nil
}

// ansible runs one play, or only checks it. seen is told of every event, those
// that are not for the log among them: what a check would change, and results.
func (r *run) ansible(ctx context.Context, what inputs.Play, fenced, check bool, seen func(ansible.Event)) (ansible.Outcome, error) {
	if r.job.PlaybookVersionID == nil {
		return ansible.Outcome{}, fmt.Errorf("job is bound to no playbook version")
	}
	if r.plan.ID != uuid.Nil && bundle.Digest(r.content) != r.plan.PlaybookSHA256 {
		return ansible.Outcome{}, r.stale(domain.MovedPlaybook, "What is stored as this version of the playbook is not what the plan was made with.")
	}
	to, err := r.access(ctx)
	if err != nil {
		return ansible.Outcome{}, err
	}
	r.unchecked = r.unchecked || r.locked && !fenced && !check
	out, err := r.carryOut(ctx, r.playOf(what, *to, fenced, check), what, seen)
	if err == nil && !check { // a plan uses the same playbook; the failpoint is for what changed the host
		r.w.cfg.Failpoints.Hit(failpoint.PlayDone(*r.job.Playbook, what.File))
	}
	return out, err
}

// carryOut runs a play and tells the log of it. A play that failed is a JobError.
func (r *run) carryOut(ctx context.Context, play ansible.Play, what inputs.Play, seen func(ansible.Event)) (ansible.Outcome, error) {
	began := time.Now()
	out, err := r.w.runner.Run(ctx, play, func(e ansible.Event) {
		if e.Kind == ansible.EventTaskStarted {
			r.w.cfg.Failpoints.Hit(failpoint.PlayUnderWay)
		}
		if seen != nil {
			seen(e)
		}
		if e.Kind != ansible.EventChange && e.Kind != ansible.EventResult {
			r.log.Add(entryOf(e))
		}
	})
	r.w.metrics.played(r.job.Kind, *r.job.Playbook, out, err, time.Since(began))
	if err != nil {
		return ansible.Outcome{}, fmt.Errorf("run play %s: %w", what.File, err)
	}
	if out.Failure != nil {
		why := r.failed(*out.Failure)
		r.played = why.Answered()
		return out, why
	}
	r.played = true
	return out, nil
}

// playOf is a play on the job's host.
func (r *run) playOf(what inputs.Play, to access, fenced, check bool) ansible.Play {
	return r.playOn(what, []ansible.Host{r.target(to, fenced)}, check)
}

// playOn is a play as the runner takes it.
func (r *run) playOn(what inputs.Play, hosts []ansible.Host, check bool) ansible.Play {
	content := r.content // Unpack outlives the run: it is kept for the next one
	timeout := r.w.cfg.PlayTimeout
	if own := job.PolicyOf(r.claim.Kind).Play; own > 0 {
		timeout = min(timeout, own)
	}
	return ansible.Play{
		Name: *r.job.Playbook, Playbook: what.File, Hosts: hosts, Vars: what.Vars, Timeout: timeout,
		Check: check, Diff: check, Secrets: r.secrets,
		BundleSHA256: bundle.Digest(content),
		Unpack:       func(dir string) error { return bundle.Unpack(content, dir, bundle.DefaultLimits) },
	}
}

// target is the job's host as a play is given it.
func (r *run) target(a access, fenced bool) ansible.Host {
	host := ansible.Host{
		Name: r.host.Name, Address: a.address, Port: r.host.Port, User: r.host.AdminUser,
		PrivateKey: a.privateKey, HostKeys: []string{r.host.HostKey},
	}
	if fenced {
		host.Fence = &ansible.Fence{Incarnation: r.host.Incarnation.String(), Number: r.fence, Run: r.job.ID.String()}
	}
	return host
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

func (r *run) failed(f ansible.Failure) *domain.JobError {
	code, ok := codes[f.Code]
	if !ok {
		code = domain.ErrCodeTaskFailed
	}
	message := strings.TrimSpace(f.Message)
	if message == "" {
		message = "The task failed without a message."
	}
	return &domain.JobError{Code: code, Message: message, Host: r.host.Name, Task: f.Task, NextStep: domain.NextStep(code)}
}

func entryOf(e ansible.Event) store.LogEntry {
	return store.LogEntry{
		Time: e.Time, Kind: string(e.Kind), Play: e.Play, Role: e.Role, Task: e.Task, Action: e.Action, Host: e.Host,
		Item: e.Item, Changed: e.Changed, Message: e.Message, Output: e.Output, Diff: e.Diff, DurationMS: e.DurationMS,
	}
}
