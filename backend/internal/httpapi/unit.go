package httpapi

import (
	"context"
	"errors"
	"strconv"

	"kloigos/backend/internal/intent"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// unitHandlers answers the routes about units.
type unitHandlers struct{ *Server }

func (s unitHandlers) register() {
	register(s.Server, "list-compute-units", s.listUnits, sorted(store.UnitSorting))
	register(s.Server, "get-compute-unit", s.getUnit)
	register(s.Server, "close-compute-unit", s.closeUnit)
	register(s.Server, "open-compute-unit", s.openUnit)
}

func (s unitHandlers) unit(ctx context.Context, ref string) (store.Unit, error) {
	u, err := s.unitRow(ctx, ref)
	if err == nil && u.WorkspaceID != workspace(ctx) {
		err = domain.ErrNotFound
	}
	return u, err
}

func (s unitHandlers) unitRow(ctx context.Context, ref string) (store.Unit, error) {
	if u, ok := id(ref); ok {
		return s.db.Unit(ctx, u)
	}
	if domain.CheckPlace(ref) != nil { // a host's name and -cuNN: no other characters
		return store.Unit{}, domain.ErrNotFound
	}
	return s.db.UnitByName(ctx, workspace(ctx), ref)
}

// unitFilter turns a filter's id or name into an id. A name that no unit has is
// an id that no unit has.
func (s unitHandlers) unitFilter(ctx context.Context, ref string) (*uuid.UUID, error) {
	if ref == "" {
		return nil, nil
	}
	if u, ok := id(ref); ok {
		return &u, nil
	}
	u, err := s.unit(ctx, ref)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, err
	}
	return &u.ID, nil
}

func (s unitHandlers) listUnits(ctx context.Context, in *struct{ api.UnitFilter }) (*object[api.Page[api.ComputeUnit]], error) {
	if err := oneOf("state", in.State, domain.UnitLifecycle.Names()); err != nil {
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
	return pageOf(s.listOf("list-compute-units", in.PageQuery, in.State, in.Host, in.Region, in.Zone, in.Labels, in.Search, strconv.Itoa(in.MinCPUs)), store.UnitSorting,
		func(after *store.Position, limit int) ([]store.Unit, error) {
			return s.db.Units(ctx, store.UnitFilter{
				WorkspaceID: workspace(ctx), State: in.State, Region: in.Region, Zone: in.Zone, Labels: labels, Search: in.Search, HostID: host, MinCPUs: in.MinCPUs, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentUnit)
}

func (s unitHandlers) getUnit(ctx context.Context, in *ByID) (*versioned[api.ComputeUnit], error) {
	u, err := s.unit(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &versioned[api.ComputeUnit]{ETag: etag(u.Version), Body: presentUnit(u)}, nil
}

func (s unitHandlers) changeUnit(ctx context.Context, in Change, do func(ctx context.Context, call intent.Call, unit uuid.UUID, ifMatch int64) error) (*versioned[api.ComputeUnit], error) {
	u, err := s.unit(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	if err := s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return do(ctx, call, u.ID, version) }); err != nil {
		return nil, err
	}
	return s.getUnit(ctx, &ByID{ID: u.ID.String()})
}

func (s unitHandlers) closeUnit(ctx context.Context, in *Change) (*versioned[api.ComputeUnit], error) {
	return s.changeUnit(ctx, *in, s.intents.CloseUnit)
}

func (s unitHandlers) openUnit(ctx context.Context, in *Change) (*versioned[api.ComputeUnit], error) {
	return s.changeUnit(ctx, *in, s.intents.OpenUnit)
}

func presentUnit(u store.Unit) api.ComputeUnit {
	shared := u.Tenant != nil && *u.Tenant != u.WorkspaceID
	if shared { // who it is, and what they do, is theirs
		u.AllocationID, u.LoginUser = nil, nil
	}
	return api.ComputeUnit{
		OtherTenant: shared,
		ID:          u.ID.String(), Name: u.Name, Workspace: u.WorkspaceID.String(), HostID: u.HostID.String(), Host: u.Host, Region: u.Region,
		Zone: u.Zone, HostLabels: u.HostLabels, HostState: string(u.HostState), Ordinal: u.Ordinal, State: string(u.State),
		StateMeans: domain.UnitLifecycle.Info(u.State).Means, StateMessage: u.StateMessage, CPUs: u.CPUs, CPUCount: u.CPUCount,
		MemoryNodes: u.MemoryNodes, MemoryMaxBytes: u.MemoryMaxBytes, MemoryHighBytes: u.MemoryHighBytes, VolumeBytes: u.VolumeBytes,
		TasksMax: u.TasksMax, Mount: domain.MountPoint(u.Host, u.Ordinal), AllocationID: text(u.AllocationID), LoginUser: value(u.LoginUser),
		UnitNetwork: value(u.UnitNetwork),
		Use:         presentUse(u.Use),
		Wipe:        presentWipe(u.Wipe), WipedAt: u.WipedAt, Version: u.Version, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	}
}

func presentUse(u *domain.Use) *api.Use {
	if u == nil {
		return nil
	}
	shown := api.Use(*u)
	return &shown
}

func presentWipe(w *domain.Wipe) *api.Wipe {
	if w == nil {
		return nil
	}
	out := &api.Wipe{
		JobID: w.JobID, AllocationID: w.AllocationID, LoginUser: w.LoginUser, UID: w.UID, Method: w.Method, Device: w.Device, Bytes: w.Bytes,
		BytesReadBack: w.BytesReadBack, Seconds: w.Seconds, FileSystem: w.FileSystem, WipedAt: w.WipedAt, Removed: make([]api.Removed, len(w.Removed)),
		RemovedMore: w.RemovedMore, Leftovers: orEmpty(w.Leftovers), LeftoversMore: w.LeftoversMore,
	}
	for i, r := range w.Removed {
		out.Removed[i] = api.Removed(r)
	}
	return out
}
