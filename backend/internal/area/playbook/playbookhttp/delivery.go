// Package playbookhttp owns the routes of deliveries of playbooks.
package playbookhttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/playbook"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine   intent.Engine
	Playable []string // playbooks that jobs of one host play
}

type handlers struct {
	Parts
	server *httpapi.Server
}

type delivery = httpapi.Versioned[api.PlaybookDelivery]

// Routes registers the routes of the area.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		httpapi.Register(s, "list-playbook-deliveries", h.list, httpapi.Sorted(playbook.DeliverySorting))
		httpapi.Register(s, "create-playbook-delivery", h.create, httpapi.Created, httpapi.Example(api.CreatePlaybookDelivery{
			Name: "allocate-4", Playbook: "unit_allocate", PlaybookVersion: 4, DeliveryPlan: api.DeliveryPlan{Canaries: []string{"fra2-042"}},
		}))
		httpapi.Register(s, "get-playbook-delivery", h.get)
		httpapi.Register(s, "pause-playbook-delivery", h.moves(playbook.PauseDelivery))
		httpapi.Register(s, "resume-playbook-delivery", h.moves(playbook.ResumeDelivery))
		httpapi.Register(s, "roll-back-playbook-delivery", h.moves(playbook.RollBackDelivery))
		httpapi.Register(s, "list-playbook-delivery-targets", h.targets, httpapi.Sorted(rollout.TargetSorting))
	}
}

func (h handlers) list(ctx context.Context, in *struct{ api.PlaybookDeliveryFilter }) (*httpapi.Object[api.Page[api.PlaybookDelivery]], error) {
	return httpapi.PageOf(h.server, "list-playbook-deliveries", in.PageQuery, []string{in.Playbook, in.State}, playbook.DeliverySorting,
		func(after *db.Position, limit int) ([]playbook.Delivery, error) {
			return playbook.Deliveries(ctx, h.server.DB().Reader, playbook.DeliveryFilter{
				Playbook: in.Playbook, State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		func(d playbook.Delivery) api.PlaybookDelivery { return present(ctx, d) })
}

func (h handlers) get(ctx context.Context, in *httpapi.ByID) (*delivery, error) {
	d, _, err := playbook.FindDelivery(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return nil, err
	}
	waves, err := rollout.Waves(ctx, h.server.DB().Reader, d.ID)
	if err != nil {
		return nil, err
	}
	out := present(ctx, d)
	out.Waves = httpapi.PresentWaves(waves)
	return &delivery{ETag: httpapi.ETag(d.Revision), Body: out}, nil
}

// do runs an intent of the installation once.
func (h handlers) do(ctx context.Context, f func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error)) (*delivery, error) {
	made, err := httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		call.Workspace, call.Installation = uuid.Nil, true
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			made.Object, err = f(ctx, tx)
			return err
		})
		return made, err
	})
	if err != nil {
		return nil, err
	}
	return h.get(ctx, &httpapi.ByID{ID: made.Object.String()})
}

func (h handlers) create(ctx context.Context, in *httpapi.BodyOf[api.CreatePlaybookDelivery]) (*delivery, error) {
	b := in.Body
	draft := playbook.DeliveryDraft{
		Name: b.Name, Playbook: b.Playbook, Version: b.PlaybookVersion, Region: b.Region, Zone: b.Zone, Plan: httpapi.PlanOf(b.DeliveryPlan),
	}
	return h.do(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return playbook.CreateDelivery(ctx, tx, draft, h.Playable)
	})
}

// moves is the handler of something that a person does with a delivery.
func (h handlers) moves(do func(ctx context.Context, tx *intent.Tx, ref scope.Ref[playbook.Delivery], revision int64) error) func(context.Context, *httpapi.Change) (*delivery, error) {
	return func(ctx context.Context, in *httpapi.Change) (*delivery, error) {
		_, ref, err := playbook.FindDelivery(ctx, h.server.DB().Reader, in.ID)
		if err != nil {
			return nil, err
		}
		revision, err := in.Version()
		if err != nil {
			return nil, err
		}
		return h.do(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
			return ref.ID(), do(ctx, tx, ref, revision)
		})
	}
}

// named is a delivery, or the newest one if none is named; an empty one if there is none.
func (h handlers) named(ctx context.Context, text string) (playbook.Delivery, error) {
	q := h.server.DB().Reader
	if text == "" {
		newest, err := playbook.Deliveries(ctx, q, playbook.DeliveryFilter{Limit: 1})
		if err != nil || len(newest) == 0 {
			return playbook.Delivery{}, err
		}
		return newest[0], nil
	}
	d, _, err := playbook.FindDelivery(ctx, q, text)
	if errors.Is(err, fault.ErrNotFound) {
		err = httpapi.BadField("delivery", "There is no such delivery.")
	}
	return d, err
}

func (h handlers) targets(ctx context.Context, in *struct {
	api.PlaybookDeliveryTargetFilter
},
) (*httpapi.Object[api.Page[api.DeliveryTarget]], error) {
	d, err := h.named(ctx, in.Delivery)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf(h.server, "list-playbook-delivery-targets", in.PageQuery, []string{d.ID.String(), in.State}, rollout.TargetSorting,
		func(after *db.Position, limit int) ([]rollout.Target, error) {
			return rollout.Targets(ctx, h.server.DB().Reader, rollout.TargetFilter{Rollout: d.ID, State: in.State, Sort: in.Sort, After: after, Limit: limit})
		},
		func(t rollout.Target) api.DeliveryTarget { return httpapi.PresentTarget(d.Rollout(), t) })
}

func present(ctx context.Context, d playbook.Delivery) api.PlaybookDelivery {
	may := func(can error) error {
		const permission = "installation.playbook_delivery:update"
		if can == nil && !httpapi.AccessOf(ctx).At(permission, scope.Place{}) {
			return fault.Conflictf("forbidden", "You do not have the permission %s.", permission)
		}
		return can
	}
	r := d.Rollout()
	return api.PlaybookDelivery{
		ID: d.ID.String(), Name: d.Name, Playbook: d.Playbook, PlaybookVersion: d.Version, Before: d.Before, Region: d.Region, Zone: d.Zone,
		DeliveryProgress: httpapi.PresentProgress(r), CreatedAt: d.CreatedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("pause", may(r.CanPause())), httpapi.OperationOf("resume", may(r.CanResume())),
			httpapi.OperationOf("roll_back", may(d.CanRollBack())),
		},
	}
}
