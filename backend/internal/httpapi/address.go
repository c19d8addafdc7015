package httpapi

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// addressHandlers answers the routes about addresses.
type addressHandlers struct{ *Server }

func (s addressHandlers) register() {
	register(s.Server, "list-addresses", s.listAddresses, sorted(store.AddressSorting))
	register(s.Server, "add-addresses", s.addAddresses, created, means(func(_ context.Context, _ string, b api.AddAddresses) error {
		if b.Network == "" {
			b.Network = "default" // as the types do
		}
		return intent.CheckAddresses(b.Network, addressRanges(b))
	}, nil))
	register(s.Server, "remove-address", s.removeAddress)
	register(s.Server, "close-address", s.closeAddress)
	register(s.Server, "open-address", s.openAddress)
	register(s.Server, "release-address", s.releaseAddress)
}

// address finds an address of the pool by its id or by itself.
func (s addressHandlers) address(ctx context.Context, ref string) (store.Address, error) {
	p, err := s.addressRow(ctx, ref)
	if err == nil && p.WorkspaceID != workspace(ctx) {
		err = domain.ErrNotFound
	}
	return p, err
}

func (s addressHandlers) addressRow(ctx context.Context, ref string) (store.Address, error) {
	if u, ok := id(ref); ok {
		return s.db.Address(ctx, u)
	}
	a, err := netip.ParseAddr(ref)
	if err != nil || a.Zone() != "" {
		return store.Address{}, domain.ErrNotFound
	}
	return s.db.AddressByValue(ctx, a.String())
}

func (s addressHandlers) listAddresses(ctx context.Context, in *struct{ api.AddressFilter }) (*object[api.Page[api.Address]], error) {
	if err := oneOf("state", in.State, domain.AddressLifecycle.Names()); err != nil {
		return nil, err
	}
	return pageOf(s.listOf("list-addresses", in.PageQuery, in.State, in.Network), store.AddressSorting,
		func(after *store.Position, limit int) ([]store.Address, error) {
			return s.db.Addresses(ctx, store.AddressFilter{WorkspaceID: workspace(ctx), State: in.State, Network: in.Network, Sort: in.Sort, After: after, Limit: limit})
		},
		presentAddress)
}

func (s addressHandlers) addAddresses(ctx context.Context, in *struct{ Body api.AddAddresses }) (*object[api.Page[api.Address]], error) {
	ranges := addressRanges(in.Body)
	_, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		_, err := s.intents.AddAddresses(ctx, call, in.Body.Network, ranges)
		return made{}, err
	})
	if err != nil {
		return nil, err
	}
	// What was added is what was asked for, now or by an earlier request with
	// the same key.
	var values []string
	for _, r := range ranges {
		all, err := domain.ExpandAddresses(r.Range)
		if err != nil {
			return nil, fmt.Errorf("expand what was added: %w", err)
		}
		for _, a := range all {
			values = append(values, a.String())
		}
	}
	rows, err := s.db.AddressesByValue(ctx, workspace(ctx), values)
	if err != nil {
		return nil, err
	}
	return whole(rows, presentAddress), nil
}

func addressRanges(b api.AddAddresses) []intent.AddressRange {
	ranges := make([]intent.AddressRange, len(b.Addresses))
	for i, r := range b.Addresses {
		ranges[i] = intent.AddressRange{Range: r.Range, Endpoint: r.Endpoint}
	}
	return ranges
}

func (s addressHandlers) removeAddress(ctx context.Context, in *Change) (*nothing, error) {
	p, err := s.address(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	return nil, s.intents.RemoveAddress(ctx, callOf(ctx), p.ID, version)
}

func (s addressHandlers) changeAddress(ctx context.Context, in Change, do func(ctx context.Context, call intent.Call, address uuid.UUID, ifMatch int64) error) (*versioned[api.Address], error) {
	p, err := s.address(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	if err := s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return do(ctx, call, p.ID, version) }); err != nil {
		return nil, err
	}
	if p, err = s.db.Address(ctx, p.ID); err != nil {
		return nil, err
	}
	return &versioned[api.Address]{ETag: etag(p.Version), Body: presentAddress(p)}, nil
}

func (s addressHandlers) closeAddress(ctx context.Context, in *Change) (*versioned[api.Address], error) {
	return s.changeAddress(ctx, *in, s.intents.CloseAddress)
}

func (s addressHandlers) openAddress(ctx context.Context, in *Change) (*versioned[api.Address], error) {
	return s.changeAddress(ctx, *in, s.intents.OpenAddress)
}

func (s addressHandlers) releaseAddress(ctx context.Context, in *Change) (*versioned[api.Address], error) {
	return s.changeAddress(ctx, *in, s.intents.ReleaseAddress)
}

func presentAddress(p store.Address) api.Address {
	if p.Tenant != nil && *p.Tenant != p.WorkspaceID { // who it is, is theirs
		p.AllocationID, p.LoginUser = nil, nil
	}
	return api.Address{
		ID: p.ID.String(), Workspace: p.WorkspaceID.String(), Network: p.Network, Address: p.Address, Endpoint: p.Endpoint,
		State: string(p.State), StateMeans: domain.AddressLifecycle.Info(p.State).Means, AllocationID: text(p.AllocationID),
		LoginUser: value(p.LoginUser), Version: p.Version, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}
