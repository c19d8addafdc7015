package httpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// hostHandlers answers the routes about hosts.
type hostHandlers struct{ *Server }

func (s hostHandlers) register() {
	register(s.Server, "list-hosts", s.listHosts, sorted(store.HostSorting))
	register(s.Server, "register-host", s.registerHost, means(func(_ context.Context, _ string, b api.RegisterHost) error {
		return s.intents.CheckHost(hostRequest(b))
	}, nil))
	register(s.Server, "get-host", s.getHost)
	register(s.Server, "update-host", s.updateHost)
	register(s.Server, "probe-host", s.probeHost)
	register(s.Server, "probe-hosts", s.probeHosts)
	register(s.Server, "measure-host", s.measureHost)
	register(s.Server, "confirm-host-key", s.confirmHostKey)
	register(s.Server, "set-layout", layoutHandlers(s).setLayout, means(layoutHandlers(s).checkLayout, layoutFollows))
	register(s.Server, "preview-layout", layoutHandlers(s).previewLayout, means(layoutHandlers(s).checkLayout, layoutFollows))
	register(s.Server, "relayout-host", layoutHandlers(s).relayoutHost, orPlan[api.Host](s.Server), means(layoutHandlers(s).checkLayout, layoutFollows))
	register(s.Server, "initialize-host", s.initializeHost, orPlan[api.Host](s.Server))
	register(s.Server, "refence-host", s.refenceHost, orPlan[api.Host](s.Server))
	register(s.Server, "drain-host", s.drainHost)
	register(s.Server, "undrain-host", s.undrainHost)
	register(s.Server, "decommission-host", s.decommissionHost, orPlan[api.Host](s.Server))
	register(s.Server, "declare-host-lost", s.declareHostLost)
	register(s.Server, "remove-host", s.removeHost)
}

// host finds the host that a path names. One that is not there, one that was
// removed and one in a workspace that the bearer may not see are all the same.
func (s hostHandlers) host(ctx context.Context, ref string) (store.ShownHost, error) {
	h, err := s.hostRow(ctx, ref)
	if err == nil && (h.RemovedAt != nil || h.WorkspaceID != workspace(ctx)) {
		err = domain.ErrNotFound
	}
	return h, err
}

func (s hostHandlers) hostRow(ctx context.Context, ref string) (store.ShownHost, error) {
	if u, ok := id(ref); ok {
		return s.db.ShownHost(ctx, u)
	}
	if domain.CheckHostName(ref) != nil {
		return store.ShownHost{}, domain.ErrNotFound
	}
	return s.db.ShownHostByName(ctx, workspace(ctx), ref)
}

// workspace is the one whose objects a request is about.
func workspace(ctx context.Context) uuid.UUID { return requestOf(ctx).at.Workspace }

// hostFilter turns a filter's id or name into an id. A name that no host has
// is an id that no host has.
func (s hostHandlers) hostFilter(ctx context.Context, ref string) (*uuid.UUID, error) {
	if ref == "" {
		return nil, nil
	}
	if u, ok := id(ref); ok {
		return &u, nil
	}
	h, err := s.host(ctx, ref)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, err
	}
	return &h.ID, nil
}

func (s hostHandlers) listHosts(ctx context.Context, in *struct{ api.HostFilter }) (*object[api.Page[api.Host]], error) {
	if err := oneOf("state", in.State, domain.HostLifecycle.Names()); err != nil {
		return nil, err
	}
	labels, err := labelFilter(in.Labels)
	if err != nil {
		return nil, err
	}
	key, err := s.authorizedKey(ctx)
	if err != nil {
		return nil, err
	}
	return pageOf(s.listOf("list-hosts", in.PageQuery, in.State, in.Region, in.Zone, in.Labels, in.Search), store.HostSorting,
		func(after *store.Position, limit int) ([]store.ShownHost, error) {
			return s.db.Hosts(ctx, store.HostFilter{
				WorkspaceID: workspace(ctx), State: in.State, Region: in.Region, Zone: in.Zone, Labels: labels, Search: in.Search, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		func(h store.ShownHost) api.Host { return presentHost(h, key) })
}

func (s hostHandlers) getHost(ctx context.Context, in *ByID) (*versioned[api.Host], error) {
	h, err := s.host(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return s.shownHost(ctx, h)
}

func (s hostHandlers) shownHost(ctx context.Context, h store.ShownHost) (*versioned[api.Host], error) {
	key, err := s.authorizedKey(ctx)
	if err != nil {
		return nil, err
	}
	return &versioned[api.Host]{ETag: etag(h.Version), Body: presentHost(h, key)}, nil
}

// acceptedHost is the answer to a request that made a job about a host.
func (s hostHandlers) acceptedHost(ctx context.Context, m made) (*accepted[api.Host], error) {
	h, err := s.db.ShownHost(ctx, m.object)
	if err != nil {
		return nil, err
	}
	shown, err := s.shownHost(ctx, h)
	if err != nil {
		return nil, err
	}
	return &accepted[api.Host]{Location: jobURL(m.job), ETag: shown.ETag, Body: shown.Body}, nil
}

func (s hostHandlers) registerHost(ctx context.Context, in *struct{ Body api.RegisterHost }) (*accepted[api.Host], error) {
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		host, job, err := s.intents.RegisterHost(ctx, call, hostRequest(in.Body))
		return made{object: host, job: job}, err
	})
	if err != nil {
		return nil, err
	}
	return s.acceptedHost(ctx, m)
}

func hostRequest(b api.RegisterHost) intent.RegisterHost {
	return intent.RegisterHost{
		Name: b.Name, Address: b.Address, Port: b.Port, AdminUser: b.AdminUser, Region: b.Region, Zone: b.Zone, Networks: b.Networks,
		Labels: b.Labels, Profile: domain.Profile(b.Profile), HostKey: b.HostKey, TrustOnFirstUse: b.TrustOnFirstUse, Purpose: b.Purpose,
	}
}

// changed is the answer to a change that may have made a job.
type changed struct {
	Location string `header:"Location" doc:"URL of the job that probes it at its new address; not of another change"`
	ETag     string `header:"ETag" doc:"the object's version"`
	Body     api.Host
}

func (s hostHandlers) updateHost(ctx context.Context, in *struct {
	Change
	Body api.UpdateHost
},
) (*changed, error) {
	b := in.Body
	out, err := s.onHost(ctx, callOf(ctx), in.Change, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.UpdateHost(ctx, call, host, ifMatch, intent.UpdateHost{
			Address: b.Address, Port: b.Port, HostKey: b.HostKey, Region: b.Region, Zone: b.Zone, Networks: b.Networks, Labels: b.Labels, Profile: b.Profile, Purpose: b.Purpose,
		})
	})
	if err != nil {
		return nil, err
	}
	return &changed{Location: out.Location, ETag: out.ETag, Body: out.Body}, nil
}

// onHost carries out a change of a host that makes a job.
func (s hostHandlers) onHost(ctx context.Context, call intent.Call, in Change, do func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error)) (*accepted[api.Host], error) {
	h, err := s.host(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	m, err := s.onceJob(ctx, call, h.ID, func(ctx context.Context, call intent.Call) (uuid.UUID, error) { return do(ctx, call, h.ID, version) })
	if err != nil {
		return nil, err
	}
	return s.acceptedHost(ctx, m)
}

// plannedHost is onHost for actions that can be planned.
func (s hostHandlers) plannedHost(ctx context.Context, in Change, p api.Planning, r intent.PlanRequest, do func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error)) (*planned, error) {
	return planOrDo(ctx, s.Server, p, r, func(ctx context.Context, call intent.Call) (*accepted[api.Host], error) {
		return s.onHost(ctx, call, in, do)
	})
}

func (s hostHandlers) probeHost(ctx context.Context, in *struct {
	Change
	Plan bool `query:"plan" doc:"refused: a probe only reads"`
},
) (*accepted[api.Host], error) {
	if in.Plan {
		return nil, badField("plan", "a probe only reads the host: there is nothing that a plan could show")
	}
	return s.onHost(ctx, callOf(ctx), in.Change, s.intents.ProbeHost)
}

func (s hostHandlers) probeHosts(ctx context.Context, in *struct{ Body api.ProbeHosts }) (*followJob, error) {
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		hosts := make([]uuid.UUID, len(in.Body.Hosts))
		for i, ref := range in.Body.Hosts {
			h, err := s.host(ctx, ref)
			if errors.Is(err, domain.ErrNotFound) {
				return made{}, badField(fmt.Sprintf("hosts[%d]", i), "there is no such host")
			}
			if err != nil {
				return made{}, err
			}
			hosts[i] = h.ID
		}
		job, err := s.intents.ProbeHosts(ctx, call, hosts)
		return made{object: job, job: job}, err
	})
	if err != nil {
		return nil, err
	}
	return jobHandlers(s).followed(ctx, m.job, m.job)
}

func (s hostHandlers) measureHost(ctx context.Context, in *struct {
	Change
	api.Measuring
},
) (*accepted[api.Host], error) {
	return s.onHost(ctx, callOf(ctx), in.Change, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.MeasureHost(ctx, call, host, ifMatch, in.Samples)
	})
}

func (s hostHandlers) confirmHostKey(ctx context.Context, in *struct {
	Change
	Body api.ConfirmHostKey
},
) (*accepted[api.Host], error) {
	return s.onHost(ctx, callOf(ctx), in.Change, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.ConfirmHostKey(ctx, call, host, ifMatch, in.Body.Fingerprint)
	})
}

func (s hostHandlers) initializeHost(ctx context.Context, in *struct {
	Change
	api.Planning
},
) (*planned, error) {
	return s.plannedHost(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionInitialize}, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.InitializeHost(ctx, call, host, ifMatch, false)
	})
}

func (s hostHandlers) refenceHost(ctx context.Context, in *struct {
	Change
	api.Planning
},
) (*planned, error) {
	return s.plannedHost(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionRefence}, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) (uuid.UUID, error) {
		return s.intents.InitializeHost(ctx, call, host, ifMatch, true)
	})
}

func (s hostHandlers) decommissionHost(ctx context.Context, in *struct {
	Change
	api.Planning
},
) (*planned, error) {
	return s.plannedHost(ctx, in.Change, in.Planning, intent.PlanRequest{Action: domain.ActionDecommission}, s.intents.DecommissionHost)
}

// atOnce carries out a change of a host that makes no job.
func (s hostHandlers) atOnce(ctx context.Context, in Change, do func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) error) (*versioned[api.Host], error) {
	h, err := s.host(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	if err := s.onceNothing(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) error { return do(ctx, call, h.ID, version) }); err != nil {
		return nil, err
	}
	if h, err = s.db.ShownHost(ctx, h.ID); err != nil {
		return nil, err
	}
	return s.shownHost(ctx, h)
}

func (s hostHandlers) drainHost(ctx context.Context, in *Change) (*versioned[api.Host], error) {
	return s.atOnce(ctx, *in, s.intents.DrainHost)
}

func (s hostHandlers) undrainHost(ctx context.Context, in *Change) (*versioned[api.Host], error) {
	return s.atOnce(ctx, *in, s.intents.UndrainHost)
}

func (s hostHandlers) declareHostLost(ctx context.Context, in *struct {
	Change
	Body api.DeclareLost
},
) (*versioned[api.Host], error) {
	return s.atOnce(ctx, in.Change, func(ctx context.Context, call intent.Call, host uuid.UUID, ifMatch int64) error {
		return s.intents.DeclareHostLost(ctx, call, host, ifMatch, in.Body.Confirm)
	})
}

func (s hostHandlers) removeHost(ctx context.Context, in *Change) (*nothing, error) {
	h, err := s.host(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	return nil, s.intents.RemoveHost(ctx, callOf(ctx), h.ID, version)
}

// authorizedKey is the public key that belongs on the hosts of an organization: that
// of the request's workspace, or the first one.
func (s hostHandlers) authorizedKey(ctx context.Context) (string, error) {
	organization := PlaceOf(ctx).Organization
	if organization == uuid.Nil {
		organization = domain.DefaultOrganization
	}
	key, err := s.db.NewestPublicKey(ctx, organization)
	if errors.Is(err, domain.ErrNotFound) {
		return "", nil
	}
	return key, err
}

func presentHost(h store.ShownHost, authorizedKey string) api.Host {
	out := api.Host{
		ID: h.ID.String(), Name: h.Name, Workspace: h.WorkspaceID.String(), Address: h.Address, Port: h.Port, AdminUser: h.AdminUser,
		Region: h.Region, Zone: h.Zone, Networks: orEmpty(h.Networks), Labels: h.Labels, Profile: h.Profile, Purpose: h.Purpose,
		TrustOnFirstUse: h.TrustOnFirstUse, State: string(h.State), StateMeans: domain.HostLifecycle.Info(h.State).Means,
		Health: string(h.Health), HealthMessage: h.HealthMessage, HealthAt: h.HealthAt, HostKey: h.HostKey,
		Fingerprint: intent.Fingerprint(h.HostKey), OfferedKey: h.OfferedHostKey, OfferedPrint: intent.Fingerprint(h.OfferedHostKey),
		AuthorizedKey: authorizedKey, FactsAt: h.FactsAt, Units: h.Units, Operations: presentOperations(intent.HostOperations(h.Host)),
		ActiveJob: text(h.ActiveJob), Version: h.Version, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt, Conditions: []string{},
		FenceIncarnation: h.Incarnation.String(), FenceNumber: h.FenceNumber,
	}
	if h.Facts != nil {
		out.Facts, out.Conditions = presentFacts(*h.Facts), orEmpty(h.Facts.Missing())
	}
	if h.Layout != nil {
		l := presentLayout(*h.Layout)
		out.Layout = &l
	}
	return out
}

func presentOperations(operations []domain.Operation) []api.Operation {
	out := make([]api.Operation, len(operations))
	for i, o := range operations {
		out[i] = api.Operation{Name: o.Name, Allowed: o.Allowed, Prevents: sentence(o.Prevents)}
	}
	return out
}

func presentFacts(f domain.Facts) *api.HostFacts {
	out := &api.HostFacts{
		MachineID: f.MachineID, Hostname: f.Hostname, Kernel: f.Kernel, Architecture: f.Architecture, OS: api.HostOS(f.OS),
		CPUs: make([]api.HostCPU, len(f.CPUs)), Nodes: make([]api.HostNode, len(f.Nodes)), MemoryBytes: f.MemoryBytes,
		Devices: make([]api.HostDevice, len(f.Devices)), VolumeGroups: make([]api.HostVG, len(f.VolumeGroups)),
		Uplink: api.HostUplink(f.Uplink), Capabilities: api.HostCapabilities(f.Capabilities),
	}
	for i, c := range f.CPUs {
		out.CPUs[i] = api.HostCPU(c)
	}
	for i, n := range f.Nodes {
		out.Nodes[i] = api.HostNode(n)
	}
	out.ReservedCPUs = make([]api.HostReserved, len(f.ReservedCPUs))
	for i, r := range f.ReservedCPUs {
		out.ReservedCPUs[i] = api.HostReserved(r)
	}
	for i, d := range f.Devices {
		out.Devices[i] = api.HostDevice(d)
		out.Devices[i].Signatures = orEmpty(d.Signatures)
	}
	for i, g := range f.VolumeGroups {
		out.VolumeGroups[i] = api.HostVG(g)
	}
	return out
}
