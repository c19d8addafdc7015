package agenthttp

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

type handlers struct {
	Parts
	server *httpapi.Server
}

func (h handlers) register() {
	s := h.server
	httpapi.Register(s, "list-agents", h.list, httpapi.Sorted(agent.Sorting))
	httpapi.Register(s, "get-agent", h.get)
	httpapi.Register(s, "create-agent-token", h.createToken, httpapi.Created, httpapi.Example(api.CreateAgentToken{Host: "fra2-042", Minutes: 10}))
	httpapi.Register(s, "revoke-agent", h.revoke)
	httpapi.Register(s, "quarantine-agent", h.quarantine, httpapi.Example(api.QuarantineAgent{Reason: "The machine is being replaced."}))
	httpapi.Register(s, "release-agent", h.release)
	h.registerDeliveries()
}

func (h handlers) list(ctx context.Context, in *struct{ api.AgentFilter }) (*httpapi.Object[api.Page[api.Agent]], error) {
	host := uuid.Nil
	if in.Host != "" {
		found, _, err := agent.FindHost(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Host)
		if errors.Is(err, fault.ErrNotFound) {
			return nil, httpapi.BadField("host", "There is no such host.")
		}
		if err != nil {
			return nil, err
		}
		host = found.ID
	}
	return httpapi.PageOf(h.server, "list-agents", in.PageQuery, []string{in.Host, in.State}, agent.Sorting,
		func(after *db.Position, limit int) ([]agent.Agent, error) {
			return agent.Agents(ctx, h.server.DB().Reader, agent.Filter{
				WorkspaceID: httpapi.Workspace(ctx), HostID: host, State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		h.present)
}

func (h handlers) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Agent], error) {
	a, _, err := agent.Find(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.Agent]{ETag: httpapi.ETag(a.Version), Body: h.present(a)}, nil
}

func (h handlers) createToken(ctx context.Context, in *struct{ Body api.CreateAgentToken }) (*httpapi.Object[api.AgentToken], error) {
	_, ref, err := agent.FindHost(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Body.Host)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.BadField("host", "There is no such host.")
	}
	if err != nil {
		return nil, err
	}
	var issued agent.Issued
	made, err := httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			issued, err = agent.IssueToken(ctx, tx, ref, time.Duration(in.Body.Minutes)*time.Minute)
			made.Object = issued.ID
			return err
		})
		return made, err
	})
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		return nil, fault.Conflictf("token_shown", "This request made its token before, and a token is shown once. Make another one.")
	}
	return &httpapi.Object[api.AgentToken]{Body: api.AgentToken{
		ID: issued.ID.String(), HostID: issued.Host.ID.String(), Host: issued.Host.Name, Token: issued.Token, ExpiresAt: issued.ExpiresAt,
	}}, nil
}

// act runs an intent on an agent and shows what came of it.
func (h handlers) act(ctx context.Context, in httpapi.Change, do func(ctx context.Context, tx *intent.Tx, ref scope.Ref[agent.Agent], version int64) error) (*httpapi.Versioned[api.Agent], error) {
	_, ref, err := agent.Find(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		made.Object = ref.ID()
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error { return do(ctx, tx, ref, version) })
		return made, err
	})
	if err != nil {
		return nil, err
	}
	return h.get(ctx, &in.ByID)
}

func (h handlers) revoke(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Agent], error) {
	return h.act(ctx, *in, agent.Revoke)
}

func (h handlers) release(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Agent], error) {
	return h.act(ctx, *in, agent.Release)
}

func (h handlers) quarantine(ctx context.Context, in *struct {
	httpapi.Change
	Body api.QuarantineAgent
},
) (*httpapi.Versioned[api.Agent], error) {
	return h.act(ctx, in.Change, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[agent.Agent], version int64) error {
		return agent.Quarantine(ctx, tx, ref, version, in.Body.Reason)
	})
}

func (h handlers) present(a agent.Agent) api.Agent {
	out := api.Agent{
		ID: a.ID.String(), Workspace: a.WorkspaceID.String(), HostID: a.HostID.String(), Host: a.HostName, MachineID: a.MachineID,
		State: string(a.State), StateMeans: agent.Lifecycle.Info(a.State).Means, Message: a.StateMessage, Liveness: string(a.Liveness()),
		ReceivedAt: a.ReceivedAt, ExpiresAt: a.ExpiresAt, ReportedAt: a.ReportedAt, Causes: []api.AgentCause{}, Version: a.Version,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		Operations: []api.Operation{
			operation("revoke", a.CanRevoke()), operation("quarantine", a.CanQuarantine()), operation("release", a.CanRelease()),
		},
	}
	if a.AgentVersion == nil || a.BootID == nil || a.SkewMS == nil {
		return out
	}
	out.AgentVersion, out.BootID, out.SkewMS = *a.AgentVersion, *a.BootID, *a.SkewMS
	reading := agent.Reading{Report: a.Report, SkewMS: *a.SkewMS, Version: *a.AgentVersion, Desired: h.Desired}
	for _, told := range reading.Tell(a.Causes) {
		out.Causes = append(out.Causes, api.AgentCause{Name: told.Name, Message: told.Message, Next: told.Next, Since: told.Since})
	}
	if r := a.Report; r != nil {
		out.Report = presentReport(r)
	}
	return out
}

func presentReport(r *agent.Report) *api.AgentReport {
	out := &api.AgentReport{
		UptimeSeconds: r.UptimeSeconds, CPUs: r.CPUs, Load: r.Load,
		Pressure:    api.AgentPressure{CPUSome: r.CPUSome, MemorySome: r.MemorySome, MemoryFull: r.MemoryFull, IOSome: r.IOSome, IOFull: r.IOFull},
		MemoryTotal: r.MemoryTotal, MemoryAvailable: r.MemoryAvailable, FailedUnits: r.FailedUnits, RebootRequired: r.RebootRequired, Disks: []api.AgentDisk{},
	}
	for _, d := range r.Disks {
		out.Disks = append(out.Disks, api.AgentDisk(d))
	}
	return out
}

// operation says whether something can be done now.
func operation(name string, prevents error) api.Operation {
	if prevents == nil {
		return api.Operation{Name: name, Allowed: true}
	}
	text := prevents.Error()
	var conflict *fault.Conflict
	if errors.As(prevents, &conflict) {
		text = conflict.Detail
	}
	return api.Operation{Name: name, Prevents: text}
}
