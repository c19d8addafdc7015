package release

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
)

func (d Delivery) entry(action string, before, after map[string]any) audit.Entry {
	return audit.Entry{
		Action: DeliveryNoun + "." + action, ObjectKind: DeliveryNoun, ObjectID: d.ID, ObjectName: d.Name, Before: before, After: after,
	}
}

// CreateDelivery begins a delivery of a release. rule says where web apps may be.
func CreateDelivery(ctx context.Context, tx *intent.Tx, draft DeliveryDraft, rule egress.Rule) (uuid.UUID, error) {
	if err := draft.check(rule); err != nil {
		return uuid.Nil, err
	}
	machines, err := Machines(ctx, tx.Reader)
	if err != nil {
		return uuid.Nil, err
	}
	var all []rollout.Candidate
	for _, m := range machines {
		all = append(all, m.candidate())
	}
	ids := make([]uuid.UUID, len(draft.WebApps))
	for i, base := range draft.WebApps {
		c := webAppCandidate(base)
		ids[i], all = c.ID, append(all, c)
	}
	var bad fault.Invalid
	for i, name := range draft.Plan.Canaries {
		if !slices.ContainsFunc(all, func(c rollout.Candidate) bool { return c.Name == name }) {
			bad.Add(fmt.Sprintf("canaries[%d]", i), "Neither a backend that is alive nor one of the web apps is there. Use the name of a machine, or name and port of a web app.")
		}
	}
	if err := bad.OrNil(); err != nil {
		return uuid.Nil, err
	}
	id := uuid.New()
	err = tx.One(ctx, fault.Conflictf("release_delivery_exists", "There is a delivery %s already.", draft.Name), sqlInsertDelivery, id, draft.Name, draft.Version)
	if _, taken := db.UniqueViolation(err); taken {
		return uuid.Nil, errOpen
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("insert a delivery of a release: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlInsertWebApps, id, ids, draft.WebApps); err != nil {
		return uuid.Nil, fmt.Errorf("insert the web apps of a delivery: %w", err)
	}
	draft.Plan.OneByOne = true
	if _, err := rollout.Start(ctx, tx.Tx, id, draft.Plan, all); err != nil {
		return uuid.Nil, err
	}
	d, err := DeliveryByID(ctx, tx.Reader, id)
	if err != nil {
		return uuid.Nil, err
	}
	facts := d.facts()
	facts["web_apps"] = draft.WebApps
	return id, tx.Changed(ctx, d.entry("create", nil, facts))
}

var errOpen = fault.Conflictf("release_delivery_open", "Another delivery of a release has not ended. Wait for it, or roll it back.")

// deliveries is what people and policies do with each.
var deliveries = rollout.Object[Delivery]{
	Noun: DeliveryNoun, Load: DeliveryByID, Stand: Delivery.Rollout, Entry: Delivery.entry, Facts: Delivery.facts, SetOpen: sqlSetOpen, ErrOpen: errOpen,
	At: func(d Delivery, r rollout.Rollout) Delivery {
		d.State, d.Wave, d.Reason = r.State, r.Wave, r.Reason
		return d
	},
	Driver: func(d Delivery) rollout.Driver { return d.driver(nil, Proof{}) },
}

// PauseDelivery tells no further machines.
func PauseDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.Pause(ctx, tx, ref.ID(), revision)
}

// ResumeDelivery goes on with a delivery that is paused or halted. Failures until now count no more.
func ResumeDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.Resume(ctx, tx, ref.ID(), revision)
}

// RollBackDelivery tells the machines that were told to go back.
func RollBackDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.RollBack(ctx, tx, ref.ID(), revision)
}

// Proof is how machines prove a release.
type Proof struct {
	Soak time.Duration // how long the version must run without a new fault
	// Ask asks a web app for its version. why is a sentence; "" if it answered.
	Ask func(ctx context.Context, base string) (version, why string)
}

// Advance asks the web apps and makes the steps of a delivery that are due; by is the policy that events name.
func Advance(ctx context.Context, store *db.DB, d Delivery, proof Proof, by string, observe bool) (rollout.Rollout, int, error) {
	if err := d.askAll(ctx, store, proof); err != nil {
		return rollout.Rollout{}, 0, err
	}
	driver := d.driver(store, proof)
	driver.Moved = func(ctx context.Context, tx *db.Tx, before, after rollout.Rollout) error {
		return deliveries.Told(ctx, tx, d, before, after, audit.Actor{Kind: audit.Policy, Name: by})
	}
	return rollout.Advance(ctx, store, d.ID, driver, observe)
}

// askAll asks each web app for its version, and notes what changed.
func (d Delivery) askAll(ctx context.Context, store *db.DB, proof Proof) error {
	apps, err := WebApps(ctx, store.Reader, d.ID)
	if err != nil {
		return err
	}
	for _, a := range apps {
		runs, why := proof.Ask(ctx, a.URL)
		if runs == a.Runs && why == a.Problem || why != "" && why == a.Problem {
			continue
		}
		if err := store.InTx(ctx, func(tx *db.Tx) error { return Answered(ctx, tx, d.ID, a.TargetID, runs, why) }); err != nil {
			return err
		}
	}
	return nil
}

// driver is what a delivery means for machines: they are told and looked at, and nothing is done there.
func (d Delivery) driver(store *db.DB, proof Proof) rollout.Driver {
	nothing := func(context.Context, *db.Tx, []uuid.UUID) error { return nil }
	return rollout.Driver{
		Prove: func(ctx context.Context, _ rollout.Rollout, targets []rollout.Target, back bool) (map[uuid.UUID]rollout.Finding, error) {
			return d.prove(ctx, store.Reader, targets, proof, back)
		},
		Late: func(ctx context.Context, _ rollout.Rollout) (all []rollout.Candidate, err error) {
			machines, err := Machines(ctx, store.Reader)
			for _, m := range machines {
				all = append(all, m.candidate())
			}
			return all, err
		},
		Give: nothing, Take: nothing,
	}
}

func (d Delivery) prove(ctx context.Context, q db.Reader, targets []rollout.Target, proof Proof, back bool) (map[uuid.UUID]rollout.Finding, error) {
	machines, err := Machines(ctx, q)
	if err != nil {
		return nil, err
	}
	apps, err := WebApps(ctx, q, d.ID)
	if err != nil {
		return nil, err
	}
	wrong := ""
	if first := firstTold(targets); !back && first != nil {
		if wrong, err = newFault(ctx, q, *first); err != nil {
			return nil, err
		}
	}
	found := make(map[uuid.UUID]rollout.Finding, len(targets))
	for _, t := range targets {
		found[t.ID] = d.find(t, machines, apps, proof.Soak, back)
		if wrong != "" {
			found[t.ID] = rollout.Finding{Verdict: rollout.Bad, Reason: "Something became wrong since it was told. " + wrong}
		}
	}
	return found, nil
}

// firstTold is when the first of some targets was told; nil if none was.
func firstTold(targets []rollout.Target) (first *time.Time) {
	for _, t := range targets {
		if t.ToldAt != nil && (first == nil || t.ToldAt.Before(*first)) {
			first = t.ToldAt
		}
	}
	return first
}

func (d Delivery) find(t rollout.Target, machines []Machine, apps []WebApp, soak time.Duration, back bool) rollout.Finding {
	if i := slices.IndexFunc(apps, func(a WebApp) bool { return a.TargetID == t.ID }); i >= 0 {
		return d.findWebApp(apps[i], soak, back)
	}
	i := slices.IndexFunc(machines, func(m Machine) bool { return m.candidate().ID == t.ID })
	if i < 0 {
		return d.findMachine(Machine{}, false, soak, back)
	}
	return d.findMachine(machines[i], true, soak, back)
}
