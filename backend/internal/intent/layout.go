package intent

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// SetLayout sets how a probed host is cut. Until the host is initialized it
// may be set again; units that were planned are then forgotten, and since none
// of them ever reached the host, ordinals begin at 1 again.
func (in *Intents) SetLayout(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, r domain.LayoutRequest) (layout domain.Layout, err error) {
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if err := canSetLayout(h); err != nil {
			return err
		}
		if layout, err = domain.PlanLayout(*h.Facts, r); err != nil {
			return err
		}
		// The host's row first: whoever sets a layout at the same time waits here
		// and then finds another version.
		if err := tx.SetHostLayout(ctx, h, layout, len(layout.Units)+1); err != nil {
			return err
		}
		if err := tx.DropPlannedUnits(ctx, h.ID); err != nil {
			return err
		}
		for i, u := range layout.Units {
			if err := tx.InsertUnit(ctx, h, uuid.New(), i+1, u); err != nil {
				return err
			}
		}
		audit := hostAudit(h, "host.set_layout")
		audit.Before, audit.After = map[string]any{"layout": h.Layout}, map[string]any{"layout": layout}
		return tx.AddEvent(ctx, call.Actor, audit)
	})
	return layout, err
}

// PreviewLayout computes a layout and writes nothing: of a host that was
// initialized, the one that RelayoutHost would set.
func (in *Intents) PreviewLayout(ctx context.Context, id uuid.UUID, r domain.LayoutRequest) (l domain.Layout, err error) {
	err = in.onFacts(ctx, id,
		func(f domain.Facts) error { l, err = domain.PlanLayout(f, r); return err },
		func(around domain.Relayout) error { l, err = domain.PlanRelayout(around, r); return err })
	return l, err
}

// CheckLayout looks at each field of a layout by itself.
func (in *Intents) CheckLayout(ctx context.Context, id uuid.UUID, r domain.LayoutRequest) error {
	return in.onFacts(ctx, id,
		func(f domain.Facts) error { return domain.CheckLayout(f, r) },
		func(around domain.Relayout) error { return domain.CheckRelayout(around, r) })
}

// onFacts looks at a host that is to be laid out for the first time, or anew.
func (in *Intents) onFacts(ctx context.Context, id uuid.UUID, first func(domain.Facts) error, again func(domain.Relayout) error) error {
	h, err := in.db.Host(ctx, id)
	if err == nil {
		err = notRemoved(h)
	}
	switch {
	case err != nil:
		return err
	case isForUnits(h) != nil:
		return isForUnits(h)
	case h.Facts == nil:
		return domain.Conflictf("host_state", "it has not been probed")
	case h.State == domain.HostProbed || h.Layout == nil:
		return first(*h.Facts)
	}
	units, err := in.db.UnitsOfHost(ctx, h.ID)
	if err != nil {
		return err
	}
	around, _ := relayoutOf(h, units, domain.ReplaceRequested)
	return again(around)
}

// isForUnits refuses a layout of a host that is not to be cut.
func isForUnits(h store.Host) error {
	if h.Purpose == store.PurposeKubernetes {
		return domain.Conflictf("host_purpose", "it is for kubernetes; a cluster uses all of it, and it has no layout")
	}
	return nil
}

func canSetLayout(h store.Host) error {
	if err := isForUnits(h); err != nil {
		return err
	}
	if h.State != domain.HostProbed {
		if h.Facts == nil {
			return domain.Conflictf("host_state", "it is %s; set a layout after a probe", h.State)
		}
		return domain.Conflictf("host_state", "it is %s; set a layout before the host is initialized, or change the layout of its free part afterwards", h.State)
	}
	return nil
}

// RelayoutHost lays the free part of a host out anew, by a job. Units that are
// in use, on their way, failed with a tenant or closed stay as they are; those
// that are free or could not be made go, and new ones take their CPUs and their
// space. An ordinal is never used again.
func (in *Intents) RelayoutHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, r domain.LayoutRequest) (jobID uuid.UUID, err error) {
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		jobID, err = in.relayout(ctx, tx, call, h, hostAudit(h, "host.relayout"), domain.ReplaceRequested, func(around domain.Relayout) (domain.Layout, error) {
			return domain.PlanRelayout(around, r)
		})
		return err
	})
	return jobID, err
}

// withdrawLayout gives a layout that could not be brought about up: its new
// units go, and their part of the host belongs to no unit.
func (in *Intents) withdrawLayout(ctx context.Context, tx *store.Tx, call Call, host uuid.UUID, audit store.Audit) (uuid.UUID, error) {
	h, err := tx.Host(ctx, host)
	if err == nil {
		err = notRemoved(h)
	}
	if err != nil {
		return uuid.Nil, err
	}
	// On a host that is ready the layout was brought about after all, by a
	// retry or an initialization: its free units are nothing to clean.
	if h.State != domain.HostInitFailed {
		return uuid.Nil, domain.Conflictf("host_state", "the host is %s; this job has nothing left to clean", h.State)
	}
	return in.relayout(ctx, tx, call, h, audit, domain.LayoutWithdrawn, func(around domain.Relayout) (domain.Layout, error) {
		l := around.Present
		l.Units = around.Kept
		return l, nil
	})
}

// relayout makes the plan come true. The event is what takes the units that go.
func (in *Intents) relayout(ctx context.Context, tx *store.Tx, call Call, h store.Host, audit store.Audit, going domain.Event, plan func(domain.Relayout) (domain.Layout, error)) (uuid.UUID, error) {
	if err := canRelayout(h); err != nil {
		return uuid.Nil, err
	}
	units, err := tx.UnitsOfHost(ctx, h.ID)
	if err != nil {
		return uuid.Nil, err
	}
	// Only a job has units on their way; this host had none a moment ago.
	if slices.ContainsFunc(units, func(u store.Unit) bool { return u.State == domain.UnitPreparing || u.State == domain.UnitRemoving }) {
		return uuid.Nil, domain.Conflictf("host_changed", "another request is changing the layout; reload the host")
	}
	around, replaced := relayoutOf(h, units, going)
	layout, err := plan(around)
	if err != nil {
		return uuid.Nil, err
	}
	// The host's row first: whoever does the same waits here, and then finds
	// another version.
	made := layout.Units[len(around.Kept):]
	if err := tx.SetHostLayout(ctx, h, layout, h.NextOrdinal+len(made)); err != nil {
		return uuid.Nil, err
	}
	// A unit that was placed or given back since they were read is counted
	// otherwise than it was planned for.
	moved, err := tx.ReplaceUnits(ctx, h.ID, going)
	if err != nil {
		return uuid.Nil, err
	}
	if moved != int64(len(replaced)) {
		return uuid.Nil, domain.Conflictf("host_changed", "a unit was allocated or deallocated in the meantime; reload the host")
	}
	ids, err := idsOfUnits(ctx, tx, call.plan, len(made))
	if err != nil {
		return uuid.Nil, err
	}
	for i, u := range made {
		if err := tx.InsertUnit(ctx, h, ids[i], h.NextOrdinal+i, u); err != nil {
			return uuid.Nil, err
		}
	}
	audit.Before["layout"], audit.After = h.Layout, map[string]any{"layout": layout, "removed_units": names(replaced)}
	return in.startAndEnqueue(ctx, tx, call, job.HostRelayout{HostID: h.ID}, audit)
}

// idsOfUnits are those of the plan that the call is bound to, or new ones.
func idsOfUnits(ctx context.Context, tx *store.Tx, b *binding, n int) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
	}
	if b == nil {
		return ids, nil
	}
	p, err := b.load(ctx, tx)
	if err != nil {
		return nil, err
	}
	if p.Proposal != nil && len(p.Proposal.Units) == n { // else another layout comes of it by now, and the plan is refused for that
		for i, u := range p.Proposal.Units {
			ids[i] = u.ID
		}
	}
	return ids, nil
}

func names(units []store.Unit) []string {
	all := make([]string, len(units))
	for i, u := range units {
		all[i] = u.Name
	}
	return all
}

// relayoutOf tells what of a host stays and what goes with an event.
func relayoutOf(h store.Host, units []store.Unit, going domain.Event) (around domain.Relayout, replaced []store.Unit) {
	around = domain.Relayout{Facts: *h.Facts, Present: *h.Layout}
	var having []domain.UnitLayout
	for _, u := range units {
		l := layoutOf(u)
		l.Kept = u.Name
		if u.State != domain.UnitPreparing && u.State != domain.UnitPreparationFailed && u.State != domain.UnitRemoving {
			having = append(having, l)
		}
		if _, err := domain.UnitLifecycle.Next(u.State, going); err == nil {
			replaced = append(replaced, u)
			continue
		}
		around.Kept = append(around.Kept, l)
	}
	around.SpaceBytes = domain.VolumeSpace(*h.Facts, *h.Layout, having, h.State == domain.HostReady)
	return around, replaced
}

func layoutOf(u store.Unit) domain.UnitLayout {
	return domain.UnitLayout{
		CPUs: u.CPUs, CPUCount: u.CPUCount, MemoryNodes: u.MemoryNodes, MemoryMaxBytes: u.MemoryMaxBytes, MemoryHighBytes: u.MemoryHighBytes,
		VolumeBytes: u.VolumeBytes, TasksMax: u.TasksMax,
	}
}

func canRelayout(h store.Host) error {
	if err := isForUnits(h); err != nil {
		return err
	}
	switch h.State {
	case domain.HostReady, domain.HostInitFailed:
	case domain.HostDraining:
		return domain.Conflictf("host_state", "it is draining; end the drain first")
	case domain.HostProbed, domain.HostRegistered, domain.HostProbing, domain.HostAwaitingHostKey:
		return domain.Conflictf("host_state", "it is %s; set its layout and initialize it first", h.State)
	default:
		return domain.Conflictf("host_state", "it is %s: %s", h.State, domain.HostLifecycle.Info(h.State).Means)
	}
	if missing := h.Facts.Missing(); len(missing) > 0 {
		return domain.Conflictf(domain.ErrCodeHostUnsupported, "the host can't run units: %s", strings.Join(missing, "; "))
	}
	return nil
}
