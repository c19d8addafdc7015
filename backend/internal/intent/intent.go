// Package intent owns what may be asked of Kloigos. One function is one
// transaction: the change of state, the job that carries it out and the audit
// event are written together or not at all. It runs nothing and waits for
// nothing.
package intent

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

// Config is what intents need to know beside the database.
type Config struct {
	Targets  domain.TargetPolicy // which addresses may be hosts
	Kinds    *work.Registry      // of jobs that areas handed in; nil: none
	FirstUID int64               // of the range that tenants' UIDs come from
	LastUID  int64
	// UnitNetwork is where addresses of new allocations lie: one of the three; "" for on the host.
	UnitNetwork domain.UnitNetwork
	// Wake is called after every commit: a worker in this process need not
	// wait for its next look at the queue. May be nil.
	Wake func()
}

// Default range of UIDs: above those of people and of systemd's dynamic users,
// below Debian's subordinate ids (from 100000), SSSD's ids (from 200000) and
// systemd's containers (from 524288). It is small, so a UID is given again
// after a wipe that left nothing.
const (
	DefaultFirstUID = 65_536
	DefaultLastUID  = 99_999
)

// Intents is everything that can be asked.
type Intents struct {
	db  *store.DB
	cfg Config
}

// New makes the intents over a database.
func New(db *store.DB, cfg Config) *Intents {
	if cfg.FirstUID == 0 {
		cfg.FirstUID, cfg.LastUID = DefaultFirstUID, DefaultLastUID
	}
	if cfg.UnitNetwork == "" {
		cfg.UnitNetwork = domain.NetworkOfHost
	}
	return &Intents{db: db, cfg: cfg}
}

// do runs one intent: it claims the request's idempotency key, if there is
// one, and runs f, in one transaction.
func (in *Intents) do(ctx context.Context, call Call, f func(tx *store.Tx) error) error {
	err := in.db.InTx(ctx, func(tx *store.Tx) error {
		if err := claimKey(ctx, tx, call); err != nil {
			return err
		}
		if err := call.Keep(ctx, tx.Tx); err != nil {
			return err
		}
		return f(tx)
	})
	if err == nil && in.cfg.Wake != nil {
		in.cfg.Wake()
	}
	return err
}

// startAndEnqueue is the end of every intent that made a job: start what the joint table
// says, write the event, and record for a repeated request what was made.
func (in *Intents) startAndEnqueue(ctx context.Context, tx *store.Tx, call Call, args job.Args, a store.Audit) (uuid.UUID, error) {
	joint, _ := domain.JointOf(args.Kind())
	if err := tx.Apply(ctx, joint.Start, args.Subject(), ""); err != nil {
		return uuid.Nil, err
	}
	return in.enqueued(ctx, tx, call, args, a)
}

// enqueued is asked for objects that were just inserted in their first state.
func (in *Intents) enqueued(ctx context.Context, tx *store.Tx, call Call, args job.Args, a store.Audit) (uuid.UUID, error) {
	if d := call.draft; d != nil {
		return uuid.Nil, d.take(ctx, tx, args, a)
	}
	id, err := in.enqueue(ctx, tx, call, a.Workspace, args)
	if err != nil {
		return uuid.Nil, err
	}
	a.JobID = id
	if err := tx.AddEvent(ctx, call.Actor, a); err != nil {
		return uuid.Nil, err
	}
	return id, recordMade(ctx, tx, call, a.ObjectKind, a.ObjectID, id)
}

func (in *Intents) enqueue(ctx context.Context, tx *store.Tx, call Call, workspace uuid.UUID, args job.Args) (uuid.UUID, error) {
	if call.plan != nil {
		return in.bound(ctx, tx, call, workspace, args)
	}
	if err := withoutApproval(ctx, tx, call.Actor, workspace, args.Kind()); err != nil {
		return uuid.Nil, err
	}
	return tx.Enqueue(ctx, call.Actor, workspace, args)
}

// holdVersion makes sure that an object is at the version asked for, and stays
// so until the transaction ends: hold locks its row. 0 is any version.
func holdVersion(ctx context.Context, noun string, id uuid.UUID, ifMatch int64, hold func(context.Context, uuid.UUID) (int64, error)) error {
	if ifMatch == 0 {
		return nil
	}
	have, err := hold(ctx, id)
	if err != nil {
		return err
	}
	return checkVersion(noun, have, ifMatch)
}

func checkVersion(noun string, have, ifMatch int64) error {
	if ifMatch != 0 && ifMatch != have {
		return domain.Conflictf("version_mismatch", "the %s is at version %d, not %d: another request changed it; reload it", noun, have, ifMatch)
	}
	return nil
}

// operation makes an Operation out of the error that an attempt would give.
func operation(name string, err error) domain.Operation {
	if err == nil {
		return domain.Operation{Name: name, Allowed: true}
	}
	if c := (*domain.Conflict)(nil); errors.As(err, &c) {
		return domain.Operation{Name: name, Prevents: c.Detail}
	}
	return domain.Operation{Name: name, Prevents: err.Error()}
}

func takes[S ~string](l domain.Lifecycle[S], s S, on domain.Event) error {
	_, err := l.Next(s, on)
	if err != nil {
		return domain.Conflictf(l.Noun+"_state", "it is %s: %s", s, l.Info(s).Means)
	}
	return nil
}

func hostAudit(h store.Host, action string) store.Audit {
	return store.Audit{
		Workspace: h.WorkspaceID, Action: action, ObjectKind: "host", ObjectID: h.ID, ObjectName: h.Name,
		Before: map[string]any{"state": h.State},
	}
}

func notRemoved(h store.Host) error {
	if h.RemovedAt != nil {
		return fmt.Errorf("host %s: %w", h.ID, domain.ErrNotFound)
	}
	return nil
}
