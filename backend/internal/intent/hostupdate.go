package intent

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// UpdateHost is what is changed of a host; nil is left as it is.
type UpdateHost struct {
	Address, HostKey, Region, Zone, Profile, Purpose *string
	Port                                             *int
	Networks                                         *[]string
	Labels                                           *map[string]string
}

// UpdateHost changes a host. At another address it must show its confirmed SSH
// host key, or the one that is given, so it is probed there before anything
// else happens; uuid.Nil for a change that needs no probe.
func (in *Intents) UpdateHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, u UpdateHost) (jobID uuid.UUID, err error) {
	err = in.do(ctx, call, func(tx *store.Tx) error {
		jobID = uuid.Nil
		// Held whether a version is named or not: what is left out must stay as it is.
		version, err := tx.HoldHost(ctx, id)
		if err == nil {
			err = checkVersion("host", version, ifMatch)
		}
		if err != nil {
			return err
		}
		was, err := tx.Host(ctx, id)
		if err == nil {
			err = notRemoved(was)
		}
		if err != nil {
			return err
		}
		if err := canUpdate(was); err != nil {
			return err
		}
		h, err := in.updated(was, u)
		if err != nil {
			return err
		}
		before, after := changesOf(was, h)
		if len(after) == 0 {
			return recordMade(ctx, tx, call, "host", h.ID, uuid.Nil)
		}
		if err := canBecome(ctx, tx, was, h); err != nil {
			return err
		}
		if !slices.Equal(was.Networks, h.Networks) {
			if err := keepNetworks(ctx, tx, h.WorkspaceID, was.Networks, h.Networks); err != nil {
				return err
			}
		}
		if err := tx.UpdateHost(ctx, was, h); err != nil {
			return err
		}
		audit := hostAudit(h, "host.update")
		audit.Before, audit.After = before, after
		if elsewhere(was, h) {
			jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostProbe{HostID: h.ID}, audit)
			return err
		}
		if err := tx.AddEvent(ctx, call.Actor, audit); err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "host", h.ID, uuid.Nil)
	})
	return jobID, err
}

// updated is the host as it is to be.
func (in *Intents) updated(h store.Host, u UpdateHost) (store.Host, error) {
	var bad domain.Invalid
	was := h
	if u.Address != nil {
		h.Address = *u.Address
		bad.Check("address", domain.CheckHostAddress(h.Address, in.cfg.Targets))
	}
	if u.Port != nil {
		h.Port = *u.Port
	}
	if u.Region != nil {
		if h.Region = *u.Region; h.Region != "" {
			bad.Check("region", domain.CheckPlace(h.Region))
		}
	}
	if u.Zone != nil {
		if h.Zone = *u.Zone; h.Zone != "" {
			bad.Check("zone", domain.CheckPlace(h.Zone))
		}
	}
	if u.Networks != nil {
		h.Networks = *u.Networks
		checkNetworks(&bad, h.Networks)
	}
	if u.Labels != nil {
		h.Labels = *u.Labels
		bad.Check("labels", domain.CheckLabels(h.Labels))
	}
	if u.Profile != nil {
		h.Profile = *u.Profile
	}
	if u.Purpose != nil {
		h.Purpose = *u.Purpose
	}
	if u.HostKey != nil {
		key, err := checkHostKey(*u.HostKey)
		switch {
		case err != nil:
			bad.Check("host_key", err)
		case key == "":
			bad.Add("host_key", "is empty; leave it out to keep the confirmed key")
		case !elsewhere(was, h):
			bad.Add("host_key", "goes with a new address or port; confirm a key that the host offers where it is")
		default:
			h.HostKey = key
		}
	}
	return h, bad.OrNil()
}

func elsewhere(was, h store.Host) bool { return was.Address != h.Address || was.Port != h.Port }

func checkNetworks(bad *domain.Invalid, networks []string) {
	for i, n := range networks {
		bad.Check(fmt.Sprintf("networks[%d]", i), domain.CheckPlace(n))
		if slices.Contains(networks[:i], n) {
			bad.Add(fmt.Sprintf("networks[%d]", i), "%q is named twice", n)
		}
	}
}

// keepNetworks makes those networks of a host that are named and not there yet. One that is named by an id is of another workspace,
// and is granted to this one; that it was carried before is enough.
func keepNetworks(ctx context.Context, tx *store.Tx, workspace uuid.UUID, was, networks []string) error {
	var bad domain.Invalid
	var own []string
	for i, n := range networks {
		id, shared := network.SharedID(n)
		if !shared {
			own = append(own, n)
			continue
		}
		if slices.Contains(was, n) {
			continue
		}
		may, err := iam.MayCarry(ctx, tx.Reader, workspace, id)
		if err != nil {
			return err
		}
		if !may {
			bad.Add(fmt.Sprintf("networks[%d]", i), "No network with this id is shared with the workspace. Name one of the workspace by its name.")
		}
	}
	if err := bad.OrNil(); err != nil || len(own) == 0 {
		return err
	}
	_, err := network.Keep(ctx, tx.Tx, workspace, own...)
	return err
}

// changesOf tells the fields that differ, before and after.
func changesOf(was, h store.Host) (before, after map[string]any) {
	before, after = map[string]any{}, map[string]any{}
	note := func(name string, a, b any, same bool) {
		if !same {
			before[name], after[name] = a, b
		}
	}
	note("address", was.Address, h.Address, was.Address == h.Address)
	note("port", was.Port, h.Port, was.Port == h.Port)
	note("fingerprint", Fingerprint(was.HostKey), Fingerprint(h.HostKey), was.HostKey == h.HostKey)
	note("region", was.Region, h.Region, was.Region == h.Region)
	note("zone", was.Zone, h.Zone, was.Zone == h.Zone)
	note("networks", was.Networks, h.Networks, slices.Equal(was.Networks, h.Networks))
	note("labels", was.Labels, h.Labels, maps.Equal(was.Labels, h.Labels))
	note("profile", was.Profile, h.Profile, was.Profile == h.Profile)
	note("purpose", was.Purpose, h.Purpose, was.Purpose == h.Purpose)
	return before, after
}

// canUpdate refuses a host that is gone.
func canUpdate(h store.Host) error {
	if domain.HostLifecycle.Info(h.State).Final {
		return domain.Conflictf("host_state", "it is %s; nothing of it changes any more", h.State)
	}
	return nil
}

// canBecome refuses what the host's state, or what it carries, does not allow.
func canBecome(ctx context.Context, tx *store.Tx, was, h store.Host) error {
	if elsewhere(was, h) {
		if err := takes(domain.HostLifecycle, was.State, domain.ProbeRequested); err != nil {
			return err
		}
	}
	busy := was.State == domain.HostInitializing || was.State == domain.HostDecommissioning
	if busy && was.Profile != h.Profile {
		return domain.Conflictf("host_state", "it is %s; change the profile when that has ended", was.State)
	}
	if was.Purpose != h.Purpose {
		if err := canHavePurpose(ctx, tx, was, h); err != nil {
			return err
		}
	}
	if slices.Equal(was.Networks, h.Networks) {
		return nil
	}
	live, err := tx.LiveAllocationsOfHost(ctx, h.ID)
	if err != nil {
		return err
	}
	for _, a := range live {
		if !slices.Contains(h.Networks, a.Network) {
			if a.OnSharedHost() {
				return domain.Conflictf("network_in_use", "an allocation of another workspace has the address %s of the network %s; it has to be deallocated first", a.Address, a.Network)
			}
			return domain.Conflictf("network_in_use", "%s has the address %s of the network %s; deallocate it first", a.LoginUser, a.Address, a.Network)
		}
	}
	return nil
}

// canHavePurpose refuses another purpose while there is anything of the present one on the host, or planned for it.
func canHavePurpose(ctx context.Context, tx *store.Tx, was, h store.Host) error {
	switch was.State {
	case domain.HostRegistered, domain.HostAwaitingHostKey, domain.HostProbed:
	default:
		return domain.Conflictf("host_state", "it is %s; its purpose changes only before it is initialized", was.State)
	}
	if was.Layout != nil {
		return domain.Conflictf("host_layout", "it has a layout; only a host without one gets another purpose")
	}
	return hasPurpose(ctx, tx, &h)
}
