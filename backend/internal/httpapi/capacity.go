package httpapi

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/recent"
	"kloigos/backend/internal/store"
)

const (
	capacityHosts = 1000
	// capacityFor is how old the counts may be: overviews ask every few seconds,
	// and 100,000 units are not counted anew for each of them.
	capacityFor = 2 * time.Second
	// countWithin is how long all who asked wait for a count at most.
	countWithin = 10 * time.Second
)

// capacityHandlers answers the routes about capacity.
type capacityHandlers struct{ *Server }

func (s capacityHandlers) register() {
	register(s.Server, "get-capacity", s.getCapacity)
}

// newCapacity counts for a workspace.
func newCapacity(db *store.DB) *recent.Reads[uuid.UUID, api.Capacity] {
	return &recent.Reads[uuid.UUID, api.Capacity]{For: capacityFor, Within: countWithin, Read: func(ctx context.Context, workspace uuid.UUID) (api.Capacity, error) {
		rows, err := db.Capacity(ctx, workspace, capacityHosts)
		if err != nil {
			return api.Capacity{}, err
		}
		counted := presentCapacity(rows)
		counted.At = time.Now()
		return counted, nil
	}}
}

func (s capacityHandlers) getCapacity(ctx context.Context, _ *struct{}) (*object[api.Capacity], error) {
	c, err := s.capacity.Get(ctx, workspace(ctx))
	if err != nil {
		return nil, err
	}
	return &object[api.Capacity]{Body: c}, nil
}

func presentCapacity(c store.Capacity) api.Capacity {
	out := api.Capacity{Places: []api.CapacityPlace{}, Hosts: make([]api.CapacityHost, len(c.Short)), Shared: api.CapacityShared(c.Shared)}
	index := map[[2]string]int{}
	place := func(region, zone string) *api.CapacityPlace {
		i, ok := index[[2]string{region, zone}]
		if !ok {
			i = len(out.Places)
			index[[2]string{region, zone}] = i
			out.Places = append(out.Places, api.CapacityPlace{Region: region, Zone: zone, Hosts: map[string]int{}, Units: map[string]api.CapacityShare{}})
		}
		return &out.Places[i]
	}
	for _, h := range c.Hosts {
		place(h.Region, h.Zone).Hosts[string(h.State)] = h.Hosts
		out.LeftOut += h.Hosts
	}
	for _, u := range c.Units {
		place(u.Region, u.Zone).Units[string(u.State)] = api.CapacityShare{Units: u.Units, CPUs: u.CPUs, MemoryBytes: u.MemoryBytes, VolumeBytes: u.VolumeBytes}
	}
	for i, h := range c.Short {
		out.Hosts[i] = api.CapacityHost{
			ID: h.ID.String(), Name: h.Name, Region: h.Region, Zone: h.Zone, State: string(h.State), StateMeans: domain.HostLifecycle.Info(h.State).Means,
			Health: string(h.Health), HealthMessage: h.HealthMessage, OffersKey: h.OffersKey, LaidOut: h.LaidOut, Units: h.Units,
		}
	}
	out.LeftOut = max(out.LeftOut-len(out.Hosts), 0)
	return out
}
