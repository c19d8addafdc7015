package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// allocationHandlers answers the routes about allocations.
type allocationHandlers struct{ *Server }

func (s allocationHandlers) register() {
	register(s.Server, "list-allocations", s.listAllocations, sorted(store.AllocationSorting))
	register(s.Server, "create-allocation", s.createAllocation, orPlan[api.Allocation](s.Server), means(func(ctx context.Context, _ string, b api.CreateAllocation) error {
		_, err := s.wanted(ctx, b)
		return err
	}, follows{"cpu_count": {"unit"}}))
	register(s.Server, "get-allocation", s.getAllocation)
	register(s.Server, "replace-allocation-keys", s.replaceKeys, orPlan[api.Allocation](s.Server))
	register(s.Server, "move-allocation-network", s.moveNetwork, orPlan[api.Allocation](s.Server))
	register(s.Server, "deallocate", s.deallocate, orPlan[api.Allocation](s.Server))
}

func (s allocationHandlers) allocation(ctx context.Context, ref string) (store.Allocation, error) {
	u, ok := id(ref)
	if !ok { // login users are unique on a host only
		return store.Allocation{}, domain.ErrNotFound
	}
	a, err := s.db.Allocation(ctx, u)
	if err == nil && a.WorkspaceID != workspace(ctx) {
		err = domain.ErrNotFound
	}
	return a, err
}

func (s allocationHandlers) listAllocations(ctx context.Context, in *struct{ api.AllocationFilter }) (*object[api.Page[api.Allocation]], error) {
	if err := oneOf("state", in.State, append(domain.AllocationLifecycle.Names(), "live")); err != nil {
		return nil, err
	}
	if err := oneOf("unit_network", in.UnitNetwork, []string{string(domain.NetworkOfHost), string(domain.NetworkOfUnit)}); err != nil {
		return nil, err
	}
	labels, err := labelFilter(in.Labels)
	if err != nil {
		return nil, err
	}
	host, err := hostHandlers(s).hostFilter(ctx, in.Host)
	if err != nil {
		return nil, err
	}
	narrowed := []string{in.State, in.Host, in.Region, in.Zone, in.Labels, in.LoginUser, in.Search}
	if in.UnitNetwork != "" { // the cursors of older backends have none
		narrowed = append(narrowed, in.UnitNetwork)
	}
	return pageOf(s.listOf("list-allocations", in.PageQuery, narrowed...), store.AllocationSorting,
		func(after *store.Position, limit int) ([]store.Allocation, error) {
			return s.db.Allocations(ctx, store.AllocationFilter{
				WorkspaceID: workspace(ctx), State: in.State, Region: in.Region, Zone: in.Zone, Labels: labels, LoginUser: in.LoginUser, UnitNetwork: in.UnitNetwork, Search: in.Search, HostID: host, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		s.presentAllocation)
}

func (s allocationHandlers) getAllocation(ctx context.Context, in *ByID) (*versioned[api.Allocation], error) {
	a, err := s.allocation(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &versioned[api.Allocation]{ETag: etag(a.Version), Body: s.presentAllocation(a)}, nil
}

func (s allocationHandlers) acceptedAllocation(ctx context.Context, m made) (*accepted[api.Allocation], error) {
	a, err := s.db.Allocation(ctx, m.object)
	if err != nil {
		return nil, err
	}
	return &accepted[api.Allocation]{Location: jobURL(m.job), ETag: etag(a.Version), Body: s.presentAllocation(a)}, nil
}

func (s allocationHandlers) createAllocation(ctx context.Context, in *struct {
	api.Planning
	Body api.CreateAllocation
},
) (*planned, error) {
	r := intent.PlanRequest{Action: domain.ActionAllocate, Body: in.Body}
	return planOrDo(ctx, s.Server, in.Planning, r, func(ctx context.Context, call intent.Call) (*accepted[api.Allocation], error) {
		return s.allocate(ctx, call, in.Body)
	})
}

func (s allocationHandlers) allocate(ctx context.Context, call intent.Call, body api.CreateAllocation) (*accepted[api.Allocation], error) {
	m, err := s.once(ctx, call, func(ctx context.Context, call intent.Call) (made, error) {
		r, err := s.wanted(ctx, body)
		if err != nil {
			return made{}, err
		}
		allocation, job, err := s.intents.CreateAllocation(ctx, call, r)
		return made{object: allocation, job: job}, err
	})
	if err != nil {
		return nil, err
	}
	return s.acceptedAllocation(ctx, m)
}

// wanted resolves the names in a request, and looks at all of its fields
// together.
func (s allocationHandlers) wanted(ctx context.Context, b api.CreateAllocation) (intent.CreateAllocation, error) {
	r := intent.CreateAllocation{
		CPUs: b.CPUs, Region: b.Region, Zone: b.Zone, Network: b.Network, HostLabels: b.HostLabels, LoginUser: b.LoginUser,
		SSHKeys: b.SSHKeys, Labels: b.Labels,
	}
	var bad domain.Invalid
	if b.Unit != "" {
		u, err := unitHandlers(s).unit(ctx, b.Unit)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return r, err
		}
		if err != nil {
			bad.Add("unit", "there is no compute unit %q", b.Unit)
		}
		r.UnitID = &u.ID
	}
	if b.Host != "" {
		id, err := s.hostToUse(ctx, b.Host)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return r, err
		}
		if err != nil {
			bad.Add("host", "there is no host %q", b.Host)
		}
		r.HostID = &id
	}
	var other *domain.Invalid
	if errors.As(intent.CheckAllocation(r), &other) {
		bad.Fields = append(bad.Fields, other.Fields...)
	}
	return r, bad.OrNil()
}

// hostToUse finds a host of the workspace, or one that is granted to it.
func (s allocationHandlers) hostToUse(ctx context.Context, ref string) (uuid.UUID, error) {
	h, err := hostHandlers(s).host(ctx, ref)
	if !errors.Is(err, domain.ErrNotFound) {
		return h.ID, err
	}
	return s.db.SharedHost(ctx, workspace(ctx), ref)
}

func (s allocationHandlers) onAllocation(ctx context.Context, call intent.Call, in Change, do func(ctx context.Context, call intent.Call, allocation uuid.UUID, ifMatch int64) (uuid.UUID, error)) (*accepted[api.Allocation], error) {
	a, err := s.allocation(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	m, err := s.onceJob(ctx, call, a.ID, func(ctx context.Context, call intent.Call) (uuid.UUID, error) { return do(ctx, call, a.ID, version) })
	if err != nil {
		return nil, err
	}
	return s.acceptedAllocation(ctx, m)
}

// plannedAllocation is onAllocation for actions that can be planned.
func (s allocationHandlers) plannedAllocation(ctx context.Context, in Change, p api.Planning, r intent.PlanRequest, do func(ctx context.Context, call intent.Call, allocation uuid.UUID, ifMatch int64) (uuid.UUID, error)) (*planned, error) {
	return planOrDo(ctx, s.Server, p, r, func(ctx context.Context, call intent.Call) (*accepted[api.Allocation], error) {
		return s.onAllocation(ctx, call, in, do)
	})
}

func (s allocationHandlers) replaceKeys(ctx context.Context, in *struct {
	Change
	api.Planning
	Body api.ReplaceKeys
},
) (*planned, error) {
	return s.plannedAllocation(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionReplaceKeys, Body: in.Body}, func(ctx context.Context, call intent.Call, allocation uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.ReplaceKeys(ctx, call, allocation, ifMatch, in.Body.SSHKeys)
	})
}

func (s allocationHandlers) moveNetwork(ctx context.Context, in *struct {
	Change
	api.Planning
},
) (*planned, error) {
	return s.plannedAllocation(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionMoveNetwork}, s.intents.MoveToOwnNetwork)
}

func (s allocationHandlers) deallocate(ctx context.Context, in *struct {
	Change
	api.Planning
	Body api.Deallocate
},
) (*planned, error) {
	return s.plannedAllocation(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionDeallocate, Body: in.Body}, func(ctx context.Context, call intent.Call, allocation uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.Deallocate(ctx, call, allocation, ifMatch, in.Body.Confirm)
	})
}

func (s allocationHandlers) presentAllocation(a store.Allocation) api.Allocation {
	host, port := sshTarget(a)
	command := fmt.Sprintf("ssh %s@%s", a.LoginUser, host)
	if port != 22 {
		command = fmt.Sprintf("ssh -p %d %s@%s", port, a.LoginUser, host)
	}
	return api.Allocation{
		SharedHost: a.OnSharedHost(),
		ID:         a.ID.String(), Workspace: a.WorkspaceID.String(), UnitID: a.UnitID.String(), Unit: a.Unit, HostID: a.HostID.String(),
		Host: a.Host, Region: a.Region, Zone: a.Zone, LoginUser: a.LoginUser, UID: a.UID, Address: a.Address, Network: a.Network, UnitNetwork: string(a.UnitNetwork), RestartNeeded: s.intents.RestartNeeded(a),
		SSHCommand: command, SSHHost: host, SSHPort: port, SSHKeys: orEmpty(a.SSHKeys), KeysApplied: a.KeysApplied == a.KeysVersion,
		Labels: a.Labels, State: string(a.State), StateMeans: domain.AllocationLifecycle.Info(a.State).Means, StateMessage: a.StateMessage,
		CPUCount: a.CPUCount, CPUs: a.CPUs, MemoryBytes: a.MemoryMaxBytes, VolumeBytes: a.VolumeBytes, TasksMax: a.TasksMax, Use: presentUse(a.Use), HostKey: a.HostKey,
		Operations: presentOperations(s.intents.AllocationOperations(a)), ActiveJob: text(a.ActiveJob), CreatedBy: a.CreatedBy,
		Version: a.Version, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, EndedAt: a.EndedAt,
	}
}

// sshTarget is where SSH reaches a unit: its own address, or what an operator
// said reaches it from outside.
func sshTarget(a store.Allocation) (host string, port int) {
	if host, text, err := net.SplitHostPort(value(a.Endpoint)); err == nil {
		if port, err := strconv.Atoi(text); err == nil {
			return host, port
		}
	}
	return a.Address, 22
}
