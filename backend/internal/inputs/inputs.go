// Package inputs owns what the plays of a job are given: it turns rows into
// variables, and tells by two checksums whether what a plan was made of has
// moved. Intents and workers compute them from the same rows by the same code,
// or a plan could never be compared with what is then done.
//
// It reads, and refuses to decide what a difference means.
package inputs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// Play is one play of a playbook with its variables.
type Play struct {
	File string `json:"file"` // at the top of the bundle
	Vars any    `json:"vars"`
}

// Files of a bundle that are plays.
const (
	Main = "playbook.yml"
	// Bootstrap brings the fence to a host.
	Bootstrap = "bootstrap.yml"
	// Agent installs the agent of a host. A version of a playbook may lack it.
	Agent = "agent.yml"
)

// Rows is all that the plays of a job depend on.
type Rows struct {
	Kind       domain.JobKind
	Host       store.Host
	Units      []store.Unit // of the host, for jobs about all of it
	Unit       store.Unit
	Allocation store.Allocation
	Refence    bool
	// Runs is how often another job that may have changed the host, or the unit,
	// has begun.
	Runs int64
}

// About says what a job is about.
type About struct {
	Kind    domain.JobKind
	Subject job.Subject
	Refence bool
	// Proposal stands for the allocation or the layout, or for what their rows
	// do not say yet.
	Proposal *store.Proposal
	// Job is left out of the runs that are counted: the one that is being done.
	Job uuid.UUID
}

// Load reads everything afresh.
func Load(ctx context.Context, r store.Reads, about About) (rows Rows, err error) {
	s := about.Subject
	rows = Rows{Kind: about.Kind, Refence: about.Refence}
	if rows.Host, err = r.Host(ctx, s[domain.OfHost]); err != nil {
		return Rows{}, fmt.Errorf("load host: %w", err)
	}
	if rows.Runs, err = r.Runs(ctx, s[domain.OfHost], s[domain.OfUnit], about.Job); err != nil {
		return Rows{}, fmt.Errorf("count runs: %w", err)
	}
	if s[domain.OfUnit] == uuid.Nil {
		if rows.Units, err = r.UnitsOfHost(ctx, s[domain.OfHost]); err != nil {
			return Rows{}, fmt.Errorf("load units: %w", err)
		}
		if rows.Kind == domain.KindHostRelayout {
			rows.relay(about.Proposal)
		}
		return rows, nil
	}
	if rows.Unit, err = r.Unit(ctx, s[domain.OfUnit]); err != nil {
		return Rows{}, fmt.Errorf("load unit: %w", err)
	}
	if about.Proposal == nil {
		if rows.Allocation, err = r.Allocation(ctx, s[domain.OfAllocation]); err != nil {
			return Rows{}, fmt.Errorf("load allocation: %w", err)
		}
		return rows, nil
	}
	p := about.Proposal
	rows.Allocation = store.Allocation{
		ID: s[domain.OfAllocation], UnitID: s[domain.OfUnit], HostID: s[domain.OfHost], LoginUser: p.LoginUser, UID: p.UID, Address: p.Address, Network: p.Network, UnitNetwork: cmp.Or(p.UnitNetwork, domain.NetworkOfHost),
		SSHKeys: p.SSHKeys,
	}
	return rows, nil
}

// relay takes a new layout as done, since its play is given what there will be:
// without the units that go, and with those that are only proposed.
func (r *Rows) relay(p *store.Proposal) {
	if p == nil {
		r.Units = Staying(r.Units)
		return
	}
	r.Units = slices.DeleteFunc(r.Units, func(u store.Unit) bool {
		if slices.Contains(p.Replaced, u.ID) {
			_, err := domain.UnitLifecycle.Next(u.State, domain.ReplaceRequested)
			return err == nil // else it was given to someone meanwhile, and the plan no longer holds
		}
		return goes(u)
	})
	if p.Layout == nil {
		return
	}
	r.Host.Layout = p.Layout
	for _, u := range p.Units {
		r.Units = append(r.Units, u.On(r.Host))
	}
}

// Staying are the units that a new layout leaves or makes.
func Staying(units []store.Unit) []store.Unit {
	return slices.DeleteFunc(slices.Clone(units), goes)
}

func goes(u store.Unit) bool { return u.State == domain.UnitRemoving }

// kept are the ids of the units that a new layout leaves alone, also where one
// is half made or half wiped.
func kept(units []store.Unit) []string {
	ids := []string{}
	for _, u := range units {
		if u.State != domain.UnitPreparing {
			ids = append(ids, u.ID.String())
		}
	}
	return ids
}

// Plays are the plays of a job of this kind, in order; number is that of the
// host's holder.
func (r Rows) Plays(number int64) ([]Play, error) {
	whole := r.Host.Purpose == store.PurposeKubernetes // it is not cut
	if r.Host.Layout == nil && !whole || r.Host.Facts == nil {
		return nil, fmt.Errorf("plays of %s: the host has no layout", r.Kind)
	}
	if whole && r.Kind == domain.KindHostInitialize {
		return []Play{OfBootstrap(r.Host, r.Refence, number)}, nil
	}
	switch r.Kind {
	case domain.KindHostInitialize:
		return []Play{OfBootstrap(r.Host, r.Refence, number), OfInitialize(r.Host, r.Units, []string{})}, nil
	case domain.KindHostRelayout: // the first only where there is no fence
		return []Play{OfBootstrap(r.Host, false, number), OfRelayout(r.Host, r.Units)}, nil
	case domain.KindHostDecommission:
		return []Play{OfBootstrap(r.Host, false, number), OfDecommission(r.Host, r.Units)}, nil
	case domain.KindUnitAllocate, domain.KindAllocationKeys:
		return []Play{OfAllocate(r.Host, r.Unit, r.Allocation)}, nil
	case domain.KindAllocationNetwork:
		moved := r.Allocation
		moved.UnitNetwork = domain.NetworkOfUnit
		return []Play{OfAllocate(r.Host, r.Unit, moved)}, nil
	case domain.KindUnitDeallocate:
		return []Play{OfDeallocate(r.Host, r.Unit, r.Allocation)}, nil
	default:
		return nil, fmt.Errorf("plays of %s: such a job changes no host", r.Kind)
	}
}

// VariablesSHA256 is the checksum of all that the plays are given, in hex, but
// for the number of the holder, which is another with each run.
func (r Rows) VariablesSHA256() (string, error) {
	plays, err := r.Plays(0)
	if err != nil {
		return "", err
	}
	return Sum(plays)
}

// What of the rows a play depends on beside its variables. States and counters
// of versions are left out: the asking itself moves them, and whether the
// action may be taken in a state is asked again when it is.
type (
	observedHost struct {
		ID          uuid.UUID      `json:"id"`
		Address     string         `json:"address"`
		Port        int            `json:"port"`
		AdminUser   string         `json:"admin_user"`
		HostKey     string         `json:"host_key"`
		Incarnation uuid.UUID      `json:"incarnation"`
		Profile     string         `json:"profile"`
		Facts       *domain.Facts  `json:"facts"`
		Layout      *domain.Layout `json:"layout"`
	}
	observedUnit struct {
		ID      uuid.UUID  `json:"id"`
		Vars    unitVars   `json:"vars"`
		Holder  *uuid.UUID `json:"holder"` // another allocation
		WipedAt int64      `json:"wiped_at"`
	}
	observed struct {
		Host       observedHost   `json:"host"`
		Units      []observedUnit `json:"units"`
		Allocation *tenantVars    `json:"allocation"`
		Runs       int64          `json:"runs"`
	}
)

// RowsSHA256 is the checksum of the rows that the plays depend on, in hex. It
// is the same before and after the action is asked for, until its job ends.
func (r Rows) RowsSHA256() (string, error) {
	h := r.Host
	o := observed{
		Host: observedHost{
			ID: h.ID, Address: h.Address, Port: h.Port, AdminUser: h.AdminUser, HostKey: h.HostKey, Incarnation: h.Incarnation,
			Profile: h.Profile, Facts: h.Facts, Layout: h.Layout,
		},
		Runs: r.Runs,
	}
	units := r.Units
	if r.Unit.ID != uuid.Nil {
		units = []store.Unit{r.Unit}
		tenant := varsOfTenant(r.Allocation)
		o.Allocation = &tenant
	}
	for _, u := range units {
		one := observedUnit{ID: u.ID, Vars: varsOfUnit(u)}
		if u.AllocationID != nil && *u.AllocationID != r.Allocation.ID {
			one.Holder = u.AllocationID
		}
		if u.WipedAt != nil {
			one.WipedAt = u.WipedAt.UnixMicro()
		}
		o.Units = append(o.Units, one)
	}
	return Sum(o)
}

// Sum is the SHA-256 of a value as JSON, in hex. Names of maps are sorted by
// the encoder, so that equal values are equal bytes.
func Sum(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("checksum: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// OfBootstrap claims a host and brings the fence.
func OfBootstrap(h store.Host, refence bool, number int64) Play {
	return Play{File: Bootstrap, Vars: HostBootstrap{Incarnation: h.Incarnation.String(), Refence: refence, Number: number}}
}

// OfProbe reads a host.
func OfProbe() Play { return Play{File: Main, Vars: struct{}{}} }

// OfMeasure measures the tenants of a host.
func OfMeasure(tenants []store.Allocation, samples int) Play {
	units := make([]measuredVars, len(tenants))
	for i, a := range tenants {
		units[i] = measuredVars{ID: a.UnitID.String(), UID: a.UID, Mount: domain.MountPoint(a.Host, a.Ordinal)}
	}
	turns := make([]int, samples)
	for i := range turns {
		turns[i] = i + 1
	}
	return Play{File: Main, Vars: HostMeasure{Units: units, Samples: turns}}
}

// OfInitialize prepares a host and its units, but for those that are to be kept
// as they are.
func OfInitialize(h store.Host, units []store.Unit, keep []string) Play {
	return Play{File: Main, Vars: HostInitialize{
		Host: varsOfHost(h), Profile: h.Profile, SystemCPUs: h.Layout.SystemCPUs, Devices: orEmpty(h.Layout.Devices),
		VolumeGroup: h.Layout.VolumeGroup, Uplink: h.Facts.Uplink.Interface, Units: varsOfUnits(units), Keep: keep,
	}}
}

// OfAgent installs the agent of a host.
func OfAgent(a HostAgent) Play { return Play{File: Agent, Vars: a} }

// OfRelayout makes the units that are to be made, of those that will be there.
// Volumes and mounts of no unit are removed.
func OfRelayout(h store.Host, units []store.Unit) Play { return OfInitialize(h, units, kept(units)) }

// OfDecommission takes everything of Kloigos off a host.
func OfDecommission(h store.Host, units []store.Unit) Play {
	layout := domain.Layout{VolumeGroup: domain.DefaultVolumeGroup} // of a host that was never cut: there is none of ours
	if h.Layout != nil {
		layout = *h.Layout
	}
	return Play{File: Main, Vars: HostDecommission{
		Host: varsOfHost(h), Units: varsOfUnits(units), VolumeGroup: layout.VolumeGroup, Devices: orEmpty(layout.Devices),
		Uplink: h.Facts.Uplink.Interface,
	}}
}

// OfAllocate sets a unit up for its tenant.
func OfAllocate(h store.Host, u store.Unit, a store.Allocation) Play {
	return Play{File: Main, Vars: UnitAllocate{
		Host: varsOfHost(h), Unit: varsOfUnit(u), VolumeGroup: h.Layout.VolumeGroup, Uplink: h.Facts.Uplink.Interface, Network: string(a.UnitNetwork),
		Allocation: allocationVars{
			tenantVars: varsOfTenant(a), Gateway: h.Facts.Uplink.Gateway, Prefix: h.Facts.Uplink.Prefix, SSHKeys: a.SSHKeys,
		},
	}}
}

// OfDeallocate takes a unit back and wipes it.
func OfDeallocate(h store.Host, u store.Unit, a store.Allocation) Play {
	return Play{File: Main, Vars: UnitDeallocate{
		Host: varsOfHost(h), Unit: varsOfUnit(u), VolumeGroup: h.Layout.VolumeGroup, Uplink: h.Facts.Uplink.Interface,
		Allocation: varsOfTenant(a),
	}}
}
