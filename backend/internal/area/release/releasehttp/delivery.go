// Package releasehttp owns the routes of deliveries of releases.
package releasehttp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/release"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine intent.Engine
	// Rule says where web apps may be.
	Rule egress.Rule
}

type handlers struct {
	Parts
	server *httpapi.Server
}

type delivery = httpapi.Versioned[api.ReleaseDelivery]

// Routes registers the routes of the area.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		httpapi.Register(s, "list-release-deliveries", h.list, httpapi.Sorted(release.DeliverySorting))
		httpapi.Register(s, "create-release-delivery", h.create, httpapi.Created, httpapi.Example(api.CreateReleaseDelivery{
			Name: "v1.5.0", Release: "v1.5.0", Canaries: []string{"backend-3"}, WebApps: []string{"https://web-1.example.org:8090"},
		}))
		httpapi.Register(s, "get-release-delivery", h.get)
		httpapi.Register(s, "pause-release-delivery", h.moves(release.PauseDelivery))
		httpapi.Register(s, "resume-release-delivery", h.moves(release.ResumeDelivery))
		httpapi.Register(s, "roll-back-release-delivery", h.moves(release.RollBackDelivery))
		httpapi.Register(s, "list-release-targets", h.targets, httpapi.Sorted(rollout.TargetSorting))
	}
}

func (h handlers) list(ctx context.Context, in *struct{ api.ReleaseDeliveryFilter }) (*httpapi.Object[api.Page[api.ReleaseDelivery]], error) {
	return httpapi.PageOf(h.server, "list-release-deliveries", in.PageQuery, []string{in.State}, release.DeliverySorting,
		func(after *db.Position, limit int) ([]release.Delivery, error) {
			return release.Deliveries(ctx, h.server.DB().Reader, release.DeliveryFilter{
				State: in.State, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		func(d release.Delivery) api.ReleaseDelivery { return present(ctx, d) })
}

func (h handlers) get(ctx context.Context, in *httpapi.ByID) (*delivery, error) {
	d, _, err := release.FindDelivery(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return nil, err
	}
	waves, err := rollout.Waves(ctx, h.server.DB().Reader, d.ID)
	if err != nil {
		return nil, err
	}
	out := present(ctx, d)
	out.Waves = httpapi.PresentWaves(waves)
	if out.Running, err = h.versions(ctx, d); err != nil {
		return nil, err
	}
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

// defaultProof is how many seconds a machine may take: people replace programs, and do so in working hours.
const defaultProof = 3600

func (h handlers) create(ctx context.Context, in *httpapi.BodyOf[api.CreateReleaseDelivery]) (*delivery, error) {
	b := in.Body
	draft := release.DeliveryDraft{
		Name: b.Name, Version: b.Release, WebApps: b.WebApps,
		Plan: httpapi.PlanOf(api.DeliveryPlan{Canaries: b.Canaries, GapSeconds: b.GapSeconds, ProofSeconds: cmp.Or(b.ProofSeconds, defaultProof), Window: b.Window}),
	}
	return h.do(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return release.CreateDelivery(ctx, tx, draft, h.Rule)
	})
}

// moves is the handler of something that a person does with a delivery.
func (h handlers) moves(do func(ctx context.Context, tx *intent.Tx, ref scope.Ref[release.Delivery], revision int64) error) func(context.Context, *httpapi.Change) (*delivery, error) {
	return func(ctx context.Context, in *httpapi.Change) (*delivery, error) {
		_, ref, err := release.FindDelivery(ctx, h.server.DB().Reader, in.ID)
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
func (h handlers) named(ctx context.Context, text string) (release.Delivery, error) {
	q := h.server.DB().Reader
	if text == "" {
		newest, err := release.Deliveries(ctx, q, release.DeliveryFilter{Limit: 1})
		if err != nil || len(newest) == 0 {
			return release.Delivery{}, err
		}
		return newest[0], nil
	}
	d, _, err := release.FindDelivery(ctx, q, text)
	if errors.Is(err, fault.ErrNotFound) {
		err = httpapi.BadField("delivery", "There is no such delivery.")
	}
	return d, err
}

// running says which versions run on the targets of a delivery, by their ids.
func (h handlers) running(ctx context.Context, d release.Delivery) (map[uuid.UUID]string, error) {
	machines, err := release.Machines(ctx, h.server.DB().Reader)
	if err != nil {
		return nil, err
	}
	apps, err := release.WebApps(ctx, h.server.DB().Reader, d.ID)
	return release.Running(machines, apps), err
}

// versions counts the machines by what runs there.
func (h handlers) versions(ctx context.Context, d release.Delivery) (out []api.ReleaseVersion, err error) {
	running, err := h.running(ctx, d)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, version := range running {
		counts[version]++
	}
	for _, version := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, api.ReleaseVersion{Release: version, Count: counts[version]})
	}
	return out, nil
}

func (h handlers) targets(ctx context.Context, in *struct{ api.ReleaseTargetFilter }) (*httpapi.Object[api.Page[api.ReleaseTarget]], error) {
	d, err := h.named(ctx, in.Delivery)
	if err != nil {
		return nil, err
	}
	running, err := h.running(ctx, d)
	if err != nil {
		return nil, err
	}
	r := d.Rollout()
	return httpapi.PageOf(h.server, "list-release-targets", in.PageQuery, []string{d.ID.String(), in.State}, rollout.TargetSorting,
		func(after *db.Position, limit int) ([]rollout.Target, error) {
			return rollout.Targets(ctx, h.server.DB().Reader, rollout.TargetFilter{Rollout: d.ID, State: in.State, Sort: in.Sort, After: after, Limit: limit})
		},
		func(t rollout.Target) api.ReleaseTarget {
			return api.ReleaseTarget{
				ID: t.ID.String(), Name: t.Name, Kind: t.Zone, Runs: running[t.ID], Wave: t.Wave, State: string(t.State), Reason: r.Why(t),
				ToldAt: t.ToldAt, EndedAt: t.EndedAt,
			}
		})
}

func present(ctx context.Context, d release.Delivery) api.ReleaseDelivery {
	may := func(can error) error {
		const permission = "installation.release_delivery:update"
		if can == nil && !httpapi.AccessOf(ctx).At(permission, scope.Place{}) {
			return fault.Conflictf("forbidden", "You do not have the permission %s.", permission)
		}
		return can
	}
	r := d.Rollout()
	return api.ReleaseDelivery{
		ID: d.ID.String(), Name: d.Name, Release: d.Version,
		DeliveryProgress: httpapi.PresentProgress(r), CreatedAt: d.CreatedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("pause", may(r.CanPause())), httpapi.OperationOf("resume", may(r.CanResume())),
			httpapi.OperationOf("roll_back", may(r.CanRollBack())),
		},
	}
}
