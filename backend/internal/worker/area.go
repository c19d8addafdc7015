package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
)

// HostPlay is one play on one host for a job of an area.
type HostPlay struct {
	Host     uuid.UUID
	Playbook string
	File     string // at the top of the bundle
	Vars     any
	Secrets  []string // that no log may show
	// Each takes what the host answers as it comes, of a loop each turn; nil: only the last answer counts. An error of it fails the play once
	// that is over.
	Each func(json.RawMessage) error
}

// hostPause is how long a job of an area waits for a host that another job holds.
const hostPause = 3 * time.Second

// PlayFor runs a play for an attempt of a job of an area, under the host's fence. The attempt holds the host for as long as
// the play takes: the number of the host's lock fences whoever played there before, an attempt that was cut among them. It
// returns what the host answered.
func (w *Worker) PlayFor(ctx context.Context, a *work.Attempt, p HostPlay) (json.RawMessage, error) {
	log, ok := a.Log.(*queue.Log)
	if !ok {
		return nil, errors.New("the job has no log that takes plays")
	}
	r := areaPlay{player{w: w, log: log, secrets: p.Secrets, claim: store.Claim{ID: a.ID, Kind: domain.JobKind(a.Kind), Attempt: a.Number}, host: targetHost{w: w}}}
	if err := r.hold(ctx, p); err != nil {
		return nil, err
	}
	out, err := r.playFor(ctx, p)
	if err != nil && (ctx.Err() != nil || leavesWork(err)) {
		r.endForArea(ctx)
	}
	if released := r.letGo(ctx); err == nil && released != nil {
		return nil, fmt.Errorf("let go of host %s: %w", r.host.Name, released)
	}
	return out, ofArea(err)
}

// areaPlay is a play for a job of an area under way.
type areaPlay struct{ player }

// hold takes the lock of the host and reads what a play needs, in this order: another job may have changed the host before.
func (r *areaPlay) hold(ctx context.Context, p HostPlay) error {
	var version store.PlaybookVersion
	err := r.w.db.InTx(ctx, func(tx *store.Tx) (err error) {
		if err := tx.OwnJob(ctx, r.claim.ID, r.claim.Attempt); err != nil {
			return err
		}
		if r.host.fence, err = tx.LockHost(ctx, p.Host, r.claim.ID, r.claim.Attempt); err != nil {
			return err
		}
		version, err = tx.BoundPlaybook(ctx, r.claim.ID, p.Playbook)
		return err
	})
	if errors.Is(err, store.ErrHostBusy) {
		return work.NotYet(hostPause, "another job holds a host that this one needs")
	}
	if err != nil {
		return fmt.Errorf("take the lock of host %s for playbook %s: %w", p.Host, p.Playbook, err)
	}
	if err := r.readFor(ctx, p, version); err != nil {
		return errors.Join(err, r.letGo(ctx))
	}
	return nil
}

func (r *areaPlay) readFor(ctx context.Context, p HostPlay, version store.PlaybookVersion) (err error) {
	if r.host.Host, err = r.w.db.Host(ctx, p.Host); err != nil {
		return fmt.Errorf("load host %s: %w", p.Host, err)
	}
	if r.host.key, err = r.w.db.KeyOfHost(ctx, p.Host); err != nil {
		return fmt.Errorf("load the key of host %s: %w", r.host.Name, err)
	}
	if r.content, err = r.w.db.PlaybookContent(ctx, version.ID); err != nil {
		return fmt.Errorf("load playbook %s: %w", p.Playbook, err)
	}
	r.playbook = version.Playbook
	r.log.Note("%s on %s, version %d.", p.Playbook, r.host.Name, version.Version)
	return nil
}

func (r *areaPlay) playFor(ctx context.Context, p HostPlay) (json.RawMessage, error) {
	if !r.host.Fenced || r.host.State == domain.HostLost || r.host.RemovedAt != nil {
		return nil, &domain.JobError{Code: domain.ErrCodeSuperseded, Host: r.host.Name, Message: fmt.Sprintf("The host %s is %s and has no fence of ours. Initialize it first.", r.host.Name, r.host.State)}
	}
	to, err := r.host.access(ctx)
	if err != nil {
		return nil, err
	}
	what := inputs.Play{File: p.File, Vars: p.Vars}
	var refused error
	out, err := r.carryOut(ctx, r.playOf(what, *to, true, false), what, func(e ansible.Event) {
		if e.Kind == ansible.EventResult && p.Each != nil && refused == nil {
			refused = p.Each(e.Result)
		}
	})
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	r.w.cfg.Failpoints.Hit(failpoint.PlayDone(p.Playbook, p.File))
	return out.Results[r.host.Name], nil
}

// endForArea has the host's fence end what a play left there that was cut or timed out.
func (r *areaPlay) endForArea(ctx context.Context) {
	if errors.Is(context.Cause(ctx), queue.ErrLeaseLost) || errors.Is(context.Cause(ctx), queue.ErrHandedOver) {
		return // the next holder's first task does so
	}
	r.endOnHost(ctx)
}

// letGo gives the host back. It also does so for an attempt that is being stopped.
func (r *areaPlay) letGo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := r.w.db.InTx(ctx, func(tx *store.Tx) error { return tx.UnlockHostsOf(ctx, r.claim.ID, r.claim.Attempt) })
	if err != nil {
		slog.Warn("let go of a host failed", "job", r.claim.ID, "host", r.host.Name, "error", err)
	}
	return err
}

// ofArea is an error of a play as one of a job of an area.
func ofArea(err error) error {
	var why *domain.JobError
	if !errors.As(err, &why) {
		return err
	}
	message := why.Message
	if why.Task != "" {
		message = fmt.Sprintf("%s (task %q on %s)", message, why.Task, why.Host)
	}
	return &work.Error{Code: why.Code, Message: message, NextStep: why.NextStep, Heals: why.Healable()}
}
