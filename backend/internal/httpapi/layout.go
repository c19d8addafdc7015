package httpapi

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
)

// layoutHandlers answers the routes about layouts.
type layoutHandlers struct{ *Server }

func (s layoutHandlers) setLayout(ctx context.Context, in *struct {
	Change
	Body api.SetLayout
},
) (*versioned[api.Host], error) {
	h, err := hostHandlers(s).host(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	if _, err := s.intents.SetLayout(ctx, callOf(ctx), h.ID, version, layoutRequest(in.Body)); err != nil {
		return nil, err
	}
	if h, err = s.db.ShownHost(ctx, h.ID); err != nil {
		return nil, err
	}
	return hostHandlers(s).shownHost(ctx, h)
}

func (s layoutHandlers) relayoutHost(ctx context.Context, in *struct {
	Change
	api.Planning
	Body api.SetLayout
},
) (*planned, error) {
	return hostHandlers(s).plannedHost(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionRelayout, Body: in.Body}, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.RelayoutHost(ctx, call, host, ifMatch, layoutRequest(in.Body))
	})
}

func (s layoutHandlers) previewLayout(ctx context.Context, in *struct {
	ByID
	Body api.SetLayout
},
) (*object[api.Layout], error) {
	h, err := hostHandlers(s).host(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	l, err := s.intents.PreviewLayout(ctx, h.ID, layoutRequest(in.Body))
	if err != nil {
		return nil, err
	}
	return &object[api.Layout]{Body: presentLayout(l)}, nil
}

var layoutFollows = follows{
	"count": {"units", "cpus_each", "system_cpus"}, "units": {"count", "cpus_each"}, "units[].cpus": {"system_cpus"}, "devices": {"volume_group"},
}

// checkLayout looks at each field of a layout against the host's facts.
func (s layoutHandlers) checkLayout(ctx context.Context, ref string, b api.SetLayout) error {
	h, err := hostHandlers(s).host(ctx, ref)
	if err != nil {
		return err
	}
	return s.intents.CheckLayout(ctx, h.ID, layoutRequest(b))
}

func layoutRequest(r api.SetLayout) domain.LayoutRequest {
	out := domain.LayoutRequest{
		SystemCPUs: r.SystemCPUs, Count: r.Count, CPUsEach: r.CPUsEach, VolumeGroup: r.VolumeGroup, Devices: r.Devices,
		SystemMemoryBytes: r.SystemMemoryBytes, DefaultVolumeBytes: r.VolumeBytes,
	}
	for _, u := range r.Units {
		volume := u.VolumeBytes
		if volume == 0 {
			volume = r.VolumeBytes
		}
		out.Units = append(out.Units, domain.LayoutUnit{CPUs: u.CPUs, VolumeBytes: volume})
	}
	return out
}

func presentLayout(l domain.Layout) api.Layout {
	out := api.Layout{
		SystemCPUs: l.SystemCPUs, VolumeGroup: l.VolumeGroup, Devices: orEmpty(l.Devices), SystemMemoryBytes: l.SystemMemoryBytes,
		VolumeSpaceBytes: l.VolumeSpaceBytes, ReservedCPUs: l.ReservedCPUs, ReservedMemoryBytes: l.ReservedMemoryBytes, Units: make([]api.LayoutUnit, len(l.Units)),
	}
	for i, u := range l.Units {
		out.Units[i] = api.LayoutUnit(u)
	}
	return out
}
