package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

var hostProbe = handler{
	steps: map[string]step{
		"host_key": {do: checkHostKey},
		"probe":    {do: probe},
	},
	apply: func(ctx context.Context, tx *store.Tx, r *run) error {
		if r.facts == nil {
			return fmt.Errorf("probe returned no facts")
		}
		if err := tx.SetHostFacts(ctx, r.host.ID, *r.facts); err != nil {
			return err
		}
		return tx.ProvedHostKey(ctx, r.host.ID, r.host.key)
	},
}

// checkHostKey looks at the host's key before anything is sent to the host. A
// key that is not known is trusted where that was asked for, else offered to a
// person; a key that changed stops everything.
func checkHostKey(ctx context.Context, r *run) error {
	known := r.host.HostKey
	offered, err := r.host.offeredKey(ctx)
	r.host.HostKey = known
	switch {
	case err != nil:
		return err
	case offered == known:
		r.log.Note("The host offers the confirmed key, %s.", fingerprint(offered))
		if r.host.OfferedHostKey == "" {
			return nil
		}
		// What was offered at another time is not to be confirmed by mistake.
		return r.write(ctx, func(tx *store.Tx) error { return tx.OfferHostKey(ctx, r.host.ID, "") })
	case known != "":
		if err := r.write(ctx, func(tx *store.Tx) error { return tx.OfferHostKey(ctx, r.host.ID, offered) }); err != nil {
			return fmt.Errorf("note the offered key: %w", err)
		}
		return &domain.JobError{
			Code: domain.ErrCodeHostKeyChanged, Host: r.host.Name,
			Message: fmt.Sprintf("The host offers the key %s; the confirmed key is %s.", fingerprint(offered), fingerprint(known)),
		}
	case r.host.TrustOnFirstUse:
		r.log.Note("Trusting the host's key on first use: %s.", fingerprint(offered))
		r.host.HostKey = offered
		return r.write(ctx, func(tx *store.Tx) error {
			if err := tx.SetHostKey(ctx, r.host.ID, offered, ""); err != nil {
				return err
			}
			a := r.audit("trusted on first use", nil)
			a.Action, a.After["fingerprint"] = "host.trust_key", fingerprint(offered)
			return tx.AddEvent(ctx, r.actor(), a)
		})
	default:
		if err := r.write(ctx, func(tx *store.Tx) error { return tx.OfferHostKey(ctx, r.host.ID, offered) }); err != nil {
			return fmt.Errorf("note the offered key: %w", err)
		}
		r.waits = fmt.Sprintf("Needs attention: confirm the host's key %s.", fingerprint(offered))
		r.log.Note("%s", r.waits)
		return nil
	}
}

func fingerprint(hostKey string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(hostKey))
	if err != nil {
		return "(unreadable)"
	}
	return ssh.FingerprintSHA256(key) + " (" + key.Type() + ")"
}

func probe(ctx context.Context, r *run) error {
	if err := r.play(ctx, inputs.OfProbe(), false); err != nil {
		return err
	}
	facts, bad := factsOf(r.host.Host, r.result)
	if bad != nil {
		return bad
	}
	r.facts, r.outcome = &facts, inShort(facts)
	return nil
}

// factsOf is what a probe read of a host, if that can be so.
func factsOf(h store.Host, result json.RawMessage) (domain.Facts, *domain.JobError) {
	var facts domain.Facts
	bad := json.Unmarshal(result, &facts)
	if bad == nil {
		bad = facts.Clean()
	}
	if bad != nil {
		return facts, &domain.JobError{Code: domain.ErrCodeHostUnsupported, Host: h.Name, Message: fmt.Sprintf("The facts of the probe are invalid: %v.", bad)}
	}
	if h.MachineID != nil && *h.MachineID != facts.MachineID {
		return facts, &domain.JobError{
			Code: domain.ErrCodeHostDiffers, Host: h.Name,
			Message: fmt.Sprintf("The machine-id is %s; it was %s when the host was first probed.", facts.MachineID, *h.MachineID),
		}
	}
	facts.KeepUplink(h.Facts)
	if h.Layout != nil {
		if err := h.Layout.Fits(facts); err != nil {
			facts.Faults = append(facts.Faults, fmt.Sprintf("The host has less than its layout promises: %v.", err))
		}
	}
	return facts, nil
}

func inShort(f domain.Facts) string {
	short := fmt.Sprintf("%d CPUs on %d NUMA nodes, %d MiB of memory, %d disks; %s.", len(f.CPUs), len(f.Nodes),
		f.MemoryBytes>>20, len(f.Devices), f.OS.Name)
	for _, fault := range f.Faults {
		short += " " + fault
	}
	if len(f.IDOverlaps) > 0 {
		short += " Subordinate IDs of others reach into tenants: " + strings.Join(f.IDOverlaps, "; ") + "."
	}
	if missing := f.Missing(); len(missing) > 0 {
		short += " It can't carry units yet: " + strings.Join(missing, "; ") + "."
	}
	return short
}

var hostInitialize = handler{
	steps: map[string]step{
		"bootstrap":  {lock: true, do: bootstrap},
		"initialize": {lock: true, do: initialize},
	},
	apply: volumeGroupRead,
}

// hostRelayout runs the playbook that prepared the host once more, for other
// units than then.
var hostRelayout = handler{
	steps: map[string]step{
		"bootstrap": {lock: true, do: func(ctx context.Context, r *run) error {
			if r.host.Fenced {
				r.log.Note("The host has its fence.")
				return nil
			}
			return bootstrap(ctx, r)
		}},
		"relayout": {lock: true, do: relayout},
	},
	apply: volumeGroupRead,
}

// volumeGroupRead renews the part of the facts that making volumes changed.
func volumeGroupRead(ctx context.Context, tx *store.Tx, r *run) error {
	if r.host.Layout == nil {
		return nil
	}
	var result struct {
		VolumeGroup struct {
			SizeBytes int64 `json:"size_bytes"`
			FreeBytes int64 `json:"free_bytes"`
		} `json:"volume_group"`
	}
	said := json.Unmarshal(r.result, &result)
	now := domain.VolumeGroup{Name: r.host.Layout.VolumeGroup, SizeBytes: result.VolumeGroup.SizeBytes, FreeBytes: result.VolumeGroup.FreeBytes}
	if said != nil || now.SizeBytes == 0 || !now.Sensible() {
		return nil //nolint:nilerr // a version that says nothing of the group, or a lie, leaves what the last probe read
	}
	groups := []domain.VolumeGroup{now}
	for _, g := range r.host.Facts.VolumeGroups {
		if g.Name != r.host.Layout.VolumeGroup {
			groups = append(groups, g)
		}
	}
	return tx.SetStorage(ctx, r.host.ID, groups, taken(r.host.Facts.Devices, r.host.Layout.Devices))
}

// taken marks the disks that were given to the volume group as what they are
// now: not empty, as the next probe will find them.
func taken(devices []domain.Device, byID []string) []domain.Device {
	out := append([]domain.Device{}, devices...)
	for i, d := range out {
		if d.ByID != "" && slices.Contains(byID, d.ByID) && len(d.Signatures) == 0 {
			out[i].Signatures = []string{"LVM2_member"}
		}
	}
	return out
}

// bootstrap brings the fence to a host that has none. On one that has, it runs
// under it, unless the operator asked for another incarnation, or for a number that
// this database no longer knows of, to be replaced.
func bootstrap(ctx context.Context, r *run) error {
	refence := replacesFence(r.job)
	if err := r.play(ctx, inputs.OfBootstrap(r.host.Host, refence, r.host.fence), r.host.Fenced && !refence); err != nil {
		return err
	}
	var known struct {
		Number int64 `json:"number"` // the highest that the host has seen of ours
	}
	if refence {
		_ = json.Unmarshal(r.result, &known) // of an older version of the playbook nothing
	}
	return r.fenced(ctx, known.Number)
}

// mostAhead is how far a host's numbers may be above ours: farther than any lost
// database can have come, and so near that no host ever brings them to their end,
// at which the claims of all would fail.
const mostAhead = 1 << 32

// fenced notes that the host has its fence, and the number that it has come to.
func (r *run) fenced(ctx context.Context, seen int64) error {
	if seen > r.host.fence+mostAhead {
		return &domain.JobError{
			Code: domain.ErrCodeTaskFailed, Host: r.host.Name,
			Message: fmt.Sprintf("The host's fence has number %d, ours is %d, and this control plane never issued the higher one. Look at /etc/kloigos/fence/token and /var/log/kloigos/tokens.log on the host to find who wrote it.", seen, r.host.fence),
		}
	}
	err := r.write(ctx, func(tx *store.Tx) error {
		if err := tx.RaiseNumber(ctx, r.host.ID, seen); err != nil {
			return fmt.Errorf("raise the number of the lock: %w", err)
		}
		return tx.SetFenced(ctx, r.host.ID, true)
	})
	r.host.Fenced = r.host.Fenced || err == nil
	return err
}

func initialize(ctx context.Context, r *run) error {
	if r.host.Purpose == store.PurposeKubernetes {
		r.outcome = "The host has its fence. A cluster of the workspace can use it."
		return nil
	}
	units, err := r.w.db.UnitsOfHost(ctx, r.host.ID)
	if err != nil {
		return fmt.Errorf("load units: %w", err)
	}
	err = r.play(ctx, inputs.OfInitialize(r.host.Host, units, []string{}), true)
	if err != nil {
		return err
	}
	said := r.result // of the units: the agent's play says nothing of them
	installed, err := installAgent(ctx, r)
	r.result, r.outcome = said, prepared(units)+installed
	return err
}

func prepared(units []store.Unit) string {
	ready, closed := 0, 0
	for _, u := range units {
		switch u.State {
		case domain.UnitPreparing, domain.UnitFree:
			ready++
		case domain.UnitUnavailable:
			closed++
		default:
		}
	}
	if closed > 0 {
		return fmt.Sprintf("%d units are ready to be allocated, and %d closed: open those that are to be handed out.", ready, closed)
	}
	return fmt.Sprintf("%d units are ready to be allocated.", ready)
}

// relayout makes the new units. Of those that go, volume and mount are removed
// because no unit has them any more.
func relayout(ctx context.Context, r *run) error {
	units, err := r.w.db.UnitsOfHost(ctx, r.host.ID)
	if err != nil {
		return fmt.Errorf("load units: %w", err)
	}
	staying := inputs.Staying(units)
	made := 0
	for _, u := range staying {
		if u.State == domain.UnitPreparing {
			made++
		}
	}
	if err := r.play(ctx, inputs.OfRelayout(r.host.Host, staying), true); err != nil {
		return err
	}
	r.outcome = fmt.Sprintf("%d new units are ready to be allocated; %d stayed as they were.", made, len(staying)-made)
	if made == 0 && len(staying) < len(units) {
		r.outcome = fmt.Sprintf("The units that could not be created were removed; %d units stay unchanged.", len(staying))
	}
	return nil
}

var hostDecommission = handler{
	steps: map[string]step{
		"decommission": {lock: true, do: decommission},
	},
	apply: func(ctx context.Context, tx *store.Tx, r *run) error {
		if err := r.w.cfg.Agents.gone(ctx, tx, r.host.ID); err != nil {
			return err
		}
		return tx.SetFenced(ctx, r.host.ID, false)
	},
}

func decommission(ctx context.Context, r *run) error {
	units, err := r.w.db.UnitsOfHost(ctx, r.host.ID)
	if err != nil {
		return fmt.Errorf("load units: %w", err)
	}
	if err := bringFenceBack(ctx, r); err != nil {
		return err
	}
	err = r.play(ctx, inputs.OfDecommission(r.host.Host, units), true)
	if err == nil {
		r.outcome = "Kloigos was removed from the host; packages and logs stay."
	}
	return err
}

// bringFenceBack makes sure that the host has its fence. Decommissioning ends
// with the fence's removal: when the answer to that was lost, the playbook
// can't run again without. Only a host that says itself that it has none is
// sent a play that no fence checks, and only by the attempt that still has the
// job; the number goes along, which the host compares with those in its log.
func bringFenceBack(ctx context.Context, r *run) error {
	bootstrap := inputs.OfBootstrap(r.host.Host, false, r.host.fence)
	if r.host.Fenced {
		err := r.play(ctx, bootstrap, true)
		var why *domain.JobError
		if !errors.As(err, &why) || why.Code != domain.ErrCodeNoFence {
			return err
		}
		r.log.Note("The host has no fence: an earlier attempt has already removed it.")
	}
	err := r.write(ctx, func(tx *store.Tx) error {
		h, err := tx.Host(ctx, r.host.ID)
		if err != nil {
			return fmt.Errorf("load host: %w", err)
		}
		if h.State != domain.HostDecommissioning || h.Incarnation != r.host.Incarnation {
			return &domain.JobError{Code: domain.ErrCodeSuperseded, Host: h.Name, Message: fmt.Sprintf("The host is now %s.", h.State)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.play(ctx, bootstrap, false); err != nil {
		return err
	}
	return r.fenced(ctx, 0)
}
