package agenthttp

import (
	"context"
	"encoding/hex"
	"errors"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

type delivery = httpapi.Versioned[api.UpdateDelivery]

func (h handlers) registerDeliveries() {
	s := h.server
	httpapi.Register(s, "list-agent-builds", h.builds, httpapi.Sorted(agent.BuildSorting))
	httpapi.Register(s, "list-update-deliveries", h.deliveries, httpapi.Sorted(agent.DeliverySorting))
	httpapi.Register(s, "create-update-delivery", h.deliver, httpapi.Created, httpapi.Example(api.CreateUpdateDelivery{
		Name: "agent-1.4.0", AgentVersion: "v1.4.0", DeliveryPlan: api.DeliveryPlan{Canaries: []string{"fra2-042"}, FirstPercent: 10, Groups: 3, ProofSeconds: 900},
	}))
	httpapi.Register(s, "get-update-delivery", h.delivery)
	httpapi.Register(s, "pause-update-delivery", h.moves(agent.PauseDelivery))
	httpapi.Register(s, "resume-update-delivery", h.moves(agent.ResumeDelivery))
	httpapi.Register(s, "roll-back-update-delivery", h.moves(agent.RollBackDelivery))
	httpapi.Register(s, "list-delivery-targets", h.targets, httpapi.Sorted(rollout.TargetSorting))
}

func (h handlers) deliveries(ctx context.Context, in *struct{ api.UpdateDeliveryFilter }) (*httpapi.Object[api.Page[api.UpdateDelivery]], error) {
	return httpapi.PageOf(h.server, "list-update-deliveries", in.PageQuery, []string{in.State}, agent.DeliverySorting,
		func(after *db.Position, limit int) ([]agent.Delivery, error) {
			return agent.Deliveries(ctx, h.server.DB().Reader, agent.DeliveryFilter{
				WorkspaceID: httpapi.Workspace(ctx), State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentDelivery)
}

func (h handlers) delivery(ctx context.Context, in *httpapi.ByID) (*delivery, error) {
	d, _, err := agent.FindDelivery(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	waves, err := rollout.Waves(ctx, h.server.DB().Reader, d.ID)
	if err != nil {
		return nil, err
	}
	out := presentDelivery(d)
	out.Waves = httpapi.PresentWaves(waves)
	return &delivery{ETag: httpapi.ETag(d.Revision), Body: out}, nil
}

func (h handlers) deliver(ctx context.Context, in *struct{ Body api.CreateUpdateDelivery }) (*delivery, error) {
	b := in.Body
	draft := agent.DeliveryDraft{Name: b.Name, Version: b.AgentVersion, Region: b.Region, Zone: b.Zone, Plan: httpapi.PlanOf(b.DeliveryPlan)}
	made, err := httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			made.Object, err = agent.CreateDelivery(ctx, tx, draft)
			return err
		})
		return made, err
	})
	if err != nil {
		return nil, err
	}
	return h.delivery(ctx, &httpapi.ByID{ID: made.Object.String()})
}

// moves is the handler of something that a person does with a delivery.
func (h handlers) moves(do func(ctx context.Context, tx *intent.Tx, ref scope.Ref[agent.Delivery], revision int64) error) func(context.Context, *httpapi.Change) (*delivery, error) {
	return func(ctx context.Context, in *httpapi.Change) (*delivery, error) {
		_, ref, err := agent.FindDelivery(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
		if err != nil {
			return nil, err
		}
		revision, err := in.Version()
		if err != nil {
			return nil, err
		}
		_, err = httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (httpapi.Made, error) {
			return httpapi.Made{Object: ref.ID()}, h.Engine.Do(ctx, call, func(tx *intent.Tx) error { return do(ctx, tx, ref, revision) })
		})
		if err != nil {
			return nil, err
		}
		return h.delivery(ctx, &httpapi.ByID{ID: ref.ID().String()})
	}
}

// named is a delivery of the workspace, or the newest one if none is named; an empty one if there is none.
func (h handlers) named(ctx context.Context, text string) (agent.Delivery, error) {
	q, workspace := h.server.DB().Reader, httpapi.Workspace(ctx)
	if text == "" {
		newest, err := agent.Deliveries(ctx, q, agent.DeliveryFilter{WorkspaceID: workspace, Limit: 1})
		if err != nil || len(newest) == 0 {
			return agent.Delivery{}, err
		}
		return newest[0], nil
	}
	d, _, err := agent.FindDelivery(ctx, q, workspace, text)
	if errors.Is(err, fault.ErrNotFound) {
		err = httpapi.BadField("delivery", "There is no such delivery.")
	}
	return d, err
}

func (h handlers) targets(ctx context.Context, in *struct{ api.DeliveryTargetFilter }) (*httpapi.Object[api.Page[api.DeliveryTarget]], error) {
	d, err := h.named(ctx, in.Delivery)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf(h.server, "list-delivery-targets", in.PageQuery, []string{d.ID.String(), in.State}, rollout.TargetSorting,
		func(after *db.Position, limit int) ([]rollout.Target, error) {
			return rollout.Targets(ctx, h.server.DB().Reader, rollout.TargetFilter{Rollout: d.ID, State: in.State, Sort: in.Sort, After: after, Limit: limit})
		},
		func(t rollout.Target) api.DeliveryTarget { return httpapi.PresentTarget(d.Rollout(), t) })
}

func presentDelivery(d agent.Delivery) api.UpdateDelivery {
	return api.UpdateDelivery{
		ID: d.ID.String(), Workspace: d.WorkspaceID.String(), Name: d.Name, AgentVersion: d.Version, Region: d.Region, Zone: d.Zone,
		DeliveryProgress: httpapi.PresentProgress(d.Rollout()), CreatedAt: d.CreatedAt,
		Operations: []api.Operation{operation("pause", d.CanPause()), operation("resume", d.CanResume()), operation("roll_back", d.CanRollBack())},
	}
}

// builds are the same for every workspace: they came with a release.
func (h handlers) builds(ctx context.Context, in *struct{ api.AgentBuildFilter }) (*httpapi.Object[api.Page[api.AgentBuild]], error) {
	return httpapi.PageOf(h.server, "list-agent-builds", in.PageQuery, []string{in.Arch}, agent.BuildSorting,
		func(after *db.Position, limit int) ([]agent.StoredBuild, error) {
			return agent.StoredBuilds(ctx, h.server.DB().Reader, agent.BuildFilter{Arch: in.Arch, Sort: in.Sort, After: after, Limit: limit})
		},
		func(b agent.StoredBuild) api.AgentBuild {
			return api.AgentBuild{
				AgentVersion: b.Version, Arch: b.Arch, LowestBefore: b.LowestBefore, ExpiresAt: b.ExpiresAt, SizeBytes: b.Size,
				SHA256: hex.EncodeToString(b.SHA256), CreatedAt: b.CreatedAt,
			}
		})
}
