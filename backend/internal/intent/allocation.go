package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// CreateAllocation is what is asked of a unit and given to its tenant.
type CreateAllocation struct {
	CPUs           int        // at least so many; not with UnitID
	UnitID, HostID *uuid.UUID // this unit; on this host
	Region, Zone   string
	Network        string
	HostLabels     map[string]string
	LoginUser      string // "": a generated one
	SSHKeys        []string
	Labels         map[string]string
}

// NoCapacity says that nothing fits, and why.
type NoCapacity struct{ Why domain.WhyNot }

func (e *NoCapacity) Error() string {
	return fmt.Sprintf("no unit fits: %d units, ruled out by %v", e.Why.Units, e.Why.RuledOut)
}

// placementTries bounds how often a placement begins again. Each time someone
// else was faster and got theirs.
const placementTries = 64

var errAddressGone = domain.Conflictf("address_gone", "another request took the last free address")

// CreateAllocation places an allocation: a free unit that fits, an address of
// a network that its host carries, a UID that nobody has, and the job that
// sets it up, in one transaction.
func (in *Intents) CreateAllocation(ctx context.Context, call Call, r CreateAllocation) (allocation, jobID uuid.UUID, err error) {
	keys, err := checkAllocation(&r)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	generated := r.LoginUser == ""
	for range placementTries {
		if generated {
			r.LoginUser = fmt.Sprintf("user-%08x", rand.Uint32())
		}
		err = in.do(ctx, call, func(tx *store.Tx) error {
			if call.plan != nil {
				allocation, jobID, err = in.placeAsPlanned(ctx, tx, call, r, keys)
				return err
			}
			allocation = uuid.New()
			jobID, err = in.place(ctx, tx, call, allocation, r, keys)
			return err
		})
		// Taken by someone who committed since the unit was picked: pick again,
		// now with that host, or that network, ruled out.
		if !errors.Is(err, store.ErrLoginTaken) && !errors.Is(err, errAddressGone) && !errors.Is(err, iam.ErrNoHostGrant) {
			break
		}
	}
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	return allocation, jobID, nil
}

// CheckAllocation tells what is wrong with a request, as CreateAllocation would.
func CheckAllocation(r CreateAllocation) error {
	_, err := checkAllocation(&r)
	return err
}

func checkAllocation(r *CreateAllocation) (keys []string, err error) {
	var bad domain.Invalid
	if r.UnitID == nil && r.CPUs < 1 {
		bad.Add("cpu_count", "give the number of CPUs, at least 1, or a unit")
	}
	if r.CPUs > domain.MaxCPU {
		bad.Add("cpu_count", "must be at most %d", domain.MaxCPU)
	}
	if r.UnitID != nil && r.CPUs > 0 {
		bad.Add("cpu_count", "leave it out when you name a unit")
	}
	if r.Region != "" {
		bad.Check("region", domain.CheckPlace(r.Region))
	}
	if r.Zone != "" {
		bad.Check("zone", domain.CheckPlace(r.Zone))
	}
	if r.Network != "" {
		bad.Check("network", domain.CheckPlace(r.Network))
	}
	if r.LoginUser != "" {
		bad.Check("login_user", domain.CheckLoginUser(r.LoginUser))
	}
	bad.Check("host_labels", domain.CheckLabels(r.HostLabels))
	bad.Check("labels", domain.CheckLabels(r.Labels))
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	keys = checkKeys(r.SSHKeys, &bad)
	return keys, bad.OrNil()
}

func checkKeys(lines []string, bad *domain.Invalid) []string {
	if len(lines) == 0 || len(lines) > domain.MaxSSHKeys {
		bad.Add("ssh_keys", "give 1 to %d SSH public keys", domain.MaxSSHKeys)
	}
	keys := make([]string, 0, len(lines))
	seen := map[string]bool{}
	for i, line := range lines {
		key, err := domain.ParseSSHKey(line)
		bad.Check(fmt.Sprintf("ssh_keys[%d]", i), err)
		if err == nil && seen[key.Fingerprint] {
			bad.Add(fmt.Sprintf("ssh_keys[%d]", i), "is given twice")
		}
		seen[key.Fingerprint] = true
		keys = append(keys, key.Line)
	}
	return keys
}

func (in *Intents) place(ctx context.Context, tx *store.Tx, call Call, id uuid.UUID, r CreateAllocation, keys []string) (uuid.UUID, error) {
	wanted := r.wanted(call.Workspace, in.cfg.UnitNetwork)
	unit, ok, err := tx.PickUnit(ctx, wanted)
	if err != nil {
		return uuid.Nil, fmt.Errorf("pick unit: %w", err)
	}
	if !ok {
		return uuid.Nil, in.noCapacity(ctx, tx, wanted)
	}
	grant, err := letIn(ctx, tx, call.Workspace, unit)
	if err != nil {
		return uuid.Nil, err
	}
	address, network, err := takeAddress(ctx, tx, id, r.Network, unit)
	if err != nil {
		return uuid.Nil, err
	}
	if address == "" {
		return uuid.Nil, errAddressGone
	}
	uid, err := in.takeUID(ctx, tx, id)
	if err != nil {
		return uuid.Nil, err
	}
	return in.placed(ctx, tx, call, store.Allocation{
		ID: id, WorkspaceID: call.Workspace, UnitID: unit.ID, Unit: unit.Name, HostID: unit.HostID, LoginUser: r.LoginUser, UID: uid,
		Address: address, Network: network, UnitNetwork: in.networkOn(unit), SSHKeys: keys, Labels: r.Labels, CreatedBy: call.Actor.Name, HostGrant: grant,
	}, r.CPUs)
}

// networkOn is the kind of network that a unit gets.
func (in *Intents) networkOn(unit store.Picked) domain.UnitNetwork {
	switch {
	case in.cfg.UnitNetwork != domain.NetworkAuto:
		return in.cfg.UnitNetwork
	case unit.UnitNetworks:
		return domain.NetworkOfUnit
	default:
		return domain.NetworkOfHost
	}
}

// letIn is the grant by which a workspace takes a unit of another one; nil for a unit of its own.
func letIn(ctx context.Context, tx *store.Tx, workspace uuid.UUID, unit store.Picked) (*uuid.UUID, error) {
	if unit.WorkspaceID == workspace {
		return nil, nil
	}
	grant, err := iam.LetIn(ctx, tx.Tx, workspace, unit.HostID)
	return &grant, err
}

func (r CreateAllocation) wanted(workspace uuid.UUID, kind domain.UnitNetwork) store.Wanted {
	return store.Wanted{
		WorkspaceID: workspace, UnitID: r.UnitID, HostID: r.HostID, MinCPUs: r.CPUs, Region: r.Region, Zone: r.Zone,
		Network: r.Network, HostLabels: r.HostLabels, LoginUser: r.LoginUser, UnitNetworks: kind == domain.NetworkOfUnit,
	}
}

// placed writes an allocation whose unit, address and UID have been taken.
func (in *Intents) placed(ctx context.Context, tx *store.Tx, call Call, a store.Allocation, cpus int) (uuid.UUID, error) {
	a.State = domain.AllocationLifecycle.Initial
	if err := tx.InsertAllocation(ctx, a); err != nil {
		return uuid.Nil, err
	}
	if call.draft != nil { // a plan ends with the job
		if err := iam.AllocationBegins(ctx, tx.Tx, a.ID); err != nil {
			return uuid.Nil, err
		}
	}
	args := job.UnitAllocate{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID}
	jobID, err := in.enqueued(ctx, tx, call, args, store.Audit{
		Workspace: a.WorkspaceID, Action: "allocation.create", ObjectKind: "allocation",
		ObjectID: a.ID, ObjectName: a.LoginUser, After: map[string]any{"unit": a.Unit, "address": a.Address, "uid": a.UID, "cpus": cpus},
	})
	if err != nil {
		return uuid.Nil, err
	}
	return jobID, iam.AllocationBegins(ctx, tx.Tx, a.ID)
}

// placeAsPlanned takes exactly what the plan proposed: the unit, if it still is
// free and fits, the address and the UID.
func (in *Intents) placeAsPlanned(ctx context.Context, tx *store.Tx, call Call, r CreateAllocation, keys []string) (allocation, jobID uuid.UUID, err error) {
	p, err := call.plan.load(ctx, tx)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	if p.Proposal == nil || p.UnitID == nil || p.AllocationID == nil {
		return uuid.Nil, uuid.Nil, domain.Conflictf("plan_mismatch", "the plan is not for an allocation")
	}
	gone := func(what string) error {
		return &PlanStale{Moved: []string{domain.MovedState}, Why: []string{what + " that the plan proposed can't be had any more."}}
	}
	r.LoginUser = p.Proposal.LoginUser
	kind := cmp.Or(p.Proposal.UnitNetwork, domain.NetworkOfHost)
	wanted := r.wanted(call.Workspace, kind)
	wanted.UnitID, wanted.Network = p.UnitID, p.Proposal.Network
	unit, ok, err := tx.PickUnit(ctx, wanted)
	if err != nil {
		return uuid.Nil, uuid.Nil, fmt.Errorf("pick unit: %w", err)
	}
	if !ok {
		return uuid.Nil, uuid.Nil, gone("The unit")
	}
	grant, err := letIn(ctx, tx, call.Workspace, unit)
	if errors.Is(err, iam.ErrNoHostGrant) {
		return uuid.Nil, uuid.Nil, gone("The unit")
	}
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	ok, err = takeThisAddress(ctx, tx, *p.AllocationID, *p.Proposal, unit)
	if err != nil {
		return uuid.Nil, uuid.Nil, fmt.Errorf("reserve address: %w", err)
	}
	if !ok {
		return uuid.Nil, uuid.Nil, gone("The address")
	}
	if _, ok, err = tx.TakeUID(ctx, []int64{p.Proposal.UID}, *p.AllocationID); err == nil && !ok {
		_, ok, err = tx.ReuseUID(ctx, p.Proposal.UID, p.Proposal.UID, *p.AllocationID)
	}
	if err != nil {
		return uuid.Nil, uuid.Nil, fmt.Errorf("take UID: %w", err)
	}
	if !ok {
		return uuid.Nil, uuid.Nil, gone("The UID")
	}
	jobID, err = in.placed(ctx, tx, call, store.Allocation{
		ID: *p.AllocationID, WorkspaceID: call.Workspace, UnitID: unit.ID, Unit: unit.Name, HostID: unit.HostID, LoginUser: r.LoginUser, UID: p.Proposal.UID,
		Address: p.Proposal.Address, Network: p.Proposal.Network, UnitNetwork: kind, SSHKeys: keys, Labels: r.Labels, CreatedBy: call.Actor.Name, HostGrant: grant,
	}, r.CPUs)
	if errors.Is(err, store.ErrLoginTaken) {
		err = gone("The login user")
	}
	return *p.AllocationID, jobID, err
}

func takeAddress(ctx context.Context, tx *store.Tx, allocation uuid.UUID, wanted string, unit store.Picked) (address, network string, err error) {
	networks := unit.Networks
	if wanted != "" {
		networks = []string{wanted}
	}
	if unit.Lent {
		return borrowAddress(ctx, tx, allocation, networks, unit.WorkspaceID)
	}
	for _, n := range networks {
		address, ok, err := tx.ReserveAddress(ctx, unit.WorkspaceID, n, allocation)
		if err != nil {
			return "", "", fmt.Errorf("reserve address: %w", err)
		}
		if ok {
			return address, n, nil
		}
	}
	return "", "", nil
}

// takeUID tries random numbers, since a counter would be one hot row, and only
// reads the whole range when those are all taken. When each was given once, the
// one whose tenant was wiped longest ago is given again.
func (in *Intents) takeUID(ctx context.Context, tx *store.Tx, allocation uuid.UUID) (int64, error) {
	for range 4 {
		candidates := make([]int64, 8)
		for i := range candidates {
			candidates[i] = in.cfg.FirstUID + rand.Int64N(in.cfg.LastUID-in.cfg.FirstUID+1)
		}
		uid, ok, err := tx.TakeUID(ctx, candidates, allocation)
		if ok || err != nil {
			return uid, err
		}
	}
	uid, ok, err := tx.LowestFreeUID(ctx, in.cfg.FirstUID, in.cfg.LastUID)
	if err != nil {
		return 0, fmt.Errorf("find a UID: %w", err)
	}
	if ok {
		if uid, ok, err = tx.TakeUID(ctx, []int64{uid}, allocation); ok || err != nil {
			return uid, err
		}
	}
	uid, ok, err = tx.ReuseUID(ctx, in.cfg.FirstUID, in.cfg.LastUID, allocation)
	if err != nil {
		return 0, fmt.Errorf("use a UID again: %w", err)
	}
	if ok {
		return uid, nil
	}
	return 0, domain.Conflictf("no_uid_left", "all UIDs from %d to %d are in use or were not wiped completely; widen KLOIGOS_UID_RANGE", in.cfg.FirstUID, in.cfg.LastUID)
}

func (in *Intents) noCapacity(ctx context.Context, tx *store.Tx, w store.Wanted) error {
	why, err := tx.WhyNot(ctx, w)
	if err != nil {
		return fmt.Errorf("explain placement: %w", err)
	}
	return &NoCapacity{Why: domain.WhyNot{Units: why.Units, RuledOut: why.RuledOut, Nearest: nearest(why, w)}}
}

func nearest(e store.Explanation, w store.Wanted) string {
	switch {
	case e.Units == 0:
		return "There are no units yet: add a host, set its layout and initialize it. Or ask for a host to be granted to this workspace, or for more of one."
	case e.LargestFree > 0 && e.Without == "cpu_count":
		return fmt.Sprintf("Ask for %d CPUs: that is the largest free unit that otherwise fits.", e.LargestFree)
	}
	switch e.Without {
	case "region":
		return fmt.Sprintf("Leave out region %q.", w.Region)
	case "zone":
		return fmt.Sprintf("Leave out zone %q.", w.Zone)
	case "host":
		return "Leave out the host."
	case "unit":
		return "Leave out the unit."
	case "host_labels":
		return "Leave out some of the host labels."
	case "login_user", "admin_user":
		return "Choose another login user."
	case "unit_networks":
		return "Probe the hosts: their facts say what they lack for networks of units. Or set KLOIGOS_UNIT_NETWORK to auto."
	case "network":
		return fmt.Sprintf("Leave out network %q.", w.Network)
	case "network_grant":
		return "Ask for more addresses of a shared network that the hosts carry, or let them carry one of this workspace."
	case "address":
		return "Add addresses to a pool of a network that the hosts carry."
	case "host_state":
		return "Wait until a host is ready again, or initialize one."
	case "host_health":
		return "Probe the hosts that are unreachable, or that a job found degraded; their health says why."
	case "unit_state":
		return "Wait until a unit that fits is given back, or add a host."
	default:
		return ""
	}
}

func (in *Intents) onAllocation(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, f func(*store.Tx, store.Allocation) error) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		if err := holdVersion(ctx, "allocation", id, ifMatch, tx.HoldAllocation); err != nil {
			return err
		}
		a, err := tx.Allocation(ctx, id)
		if err != nil {
			return err
		}
		return f(tx, a)
	})
}

// ReplaceKeys replaces the SSH keys of an allocation.
func (in *Intents) ReplaceKeys(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, lines []string) (jobID uuid.UUID, err error) {
	var bad domain.Invalid
	keys := checkKeys(lines, &bad)
	if err := bad.OrNil(); err != nil {
		return uuid.Nil, err
	}
	err = in.onAllocation(ctx, call, id, ifMatch, func(tx *store.Tx, a store.Allocation) error {
		if err := canReplaceKeys(a); err != nil {
			return err
		}
		if err := tx.ReplaceKeys(ctx, a.ID, keys); err != nil {
			return err
		}
		audit := allocationAudit(a, "allocation.replace_keys")
		audit.Before, audit.After = map[string]any{"ssh_keys": a.SSHKeys}, map[string]any{"ssh_keys": keys}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.AllocationKeys{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID}, audit)
		return err
	})
	return jobID, err
}

// SetUpAgain runs the job that set a unit up once more, with the keys that it has: what somebody changed on the host is as promised
// again.
func (in *Intents) SetUpAgain(ctx context.Context, call Call, id uuid.UUID) (jobID uuid.UUID, err error) {
	err = in.onAllocation(ctx, call, id, 0, func(tx *store.Tx, a store.Allocation) error {
		if err := canReplaceKeys(a); err != nil {
			return err
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.AllocationKeys{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID}, allocationAudit(a, "allocation.repair"))
		return err
	})
	return jobID, err
}

// MoveToOwnNetwork moves the unit of an allocation to a network of its own. That ends all sessions and services of its tenant once.
func (in *Intents) MoveToOwnNetwork(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) (jobID uuid.UUID, err error) {
	err = in.onAllocation(ctx, call, id, ifMatch, func(tx *store.Tx, a store.Allocation) error {
		if err := in.canMoveToOwnNetwork(a); err != nil {
			return err
		}
		audit := allocationAudit(a, "allocation.move_network")
		audit.Before, audit.After = map[string]any{"unit_network": a.UnitNetwork}, map[string]any{"unit_network": domain.NetworkOfUnit}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.AllocationNetwork{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID}, audit)
		return err
	})
	return jobID, err
}

func (in *Intents) canMoveToOwnNetwork(a store.Allocation) error {
	switch {
	case a.State != domain.AllocationAllocated:
		return canReplaceKeys(a)
	case a.UnitNetwork == domain.NetworkOfUnit:
		return domain.Conflictf("own_network", "its unit has a network of its own already")
	case in.cfg.UnitNetwork == domain.NetworkOfHost:
		return domain.Conflictf("unit_network_host", "KLOIGOS_UNIT_NETWORK of this installation is host")
	case !a.HostCanOwn:
		return domain.Conflictf("host_lacks_networks", "its host can't give units networks of their own; probe it, its facts say what it lacks")
	case a.ActiveJob != nil:
		return domain.Conflictf("allocation_busy", "a job is queued or running for it; wait until it has ended")
	}
	return nil
}

func canReplaceKeys(a store.Allocation) error {
	if a.State != domain.AllocationAllocated {
		return domain.Conflictf("allocation_state", "it is %s: %s", a.State, domain.AllocationLifecycle.Info(a.State).Means)
	}
	return nil
}

// Deallocate gives a unit back: everything in it is wiped.
func (in *Intents) Deallocate(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, confirm string) (jobID uuid.UUID, err error) {
	err = in.onAllocation(ctx, call, id, ifMatch, func(tx *store.Tx, a store.Allocation) error {
		if confirm != a.LoginUser {
			return &domain.Invalid{Fields: []domain.FieldError{{Field: "confirm", Problem: "type the login user, " + a.LoginUser}}}
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.UnitDeallocate{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID},
			allocationAudit(a, "allocation.deallocate"))
		return err
	})
	return jobID, err
}

func allocationAudit(a store.Allocation, action string) store.Audit {
	return store.Audit{
		Workspace: a.WorkspaceID, Action: action, ObjectKind: "allocation", ObjectID: a.ID, ObjectName: a.LoginUser,
		Before: map[string]any{"state": a.State},
	}
}

// RestartNeeded tells whether the unit of an allocation would be isolated otherwise if it were allocated now.
func (in *Intents) RestartNeeded(a store.Allocation) bool {
	a.ActiveJob = nil
	return in.canMoveToOwnNetwork(a) == nil
}

// AllocationOperations tells what can be done with an allocation now.
func (in *Intents) AllocationOperations(a store.Allocation) []domain.Operation {
	return []domain.Operation{
		operation("replace-keys", canReplaceKeys(a)),
		operation("move-network", in.canMoveToOwnNetwork(a)),
		operation("deallocate", takes(domain.AllocationLifecycle, a.State, domain.DeallocateRequested)),
	}
}
