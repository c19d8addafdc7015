package playbook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
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

// CreateDelivery begins to give a version of a playbook to hosts. playable are the playbooks that jobs of one host play.
func CreateDelivery(ctx context.Context, tx *intent.Tx, draft DeliveryDraft, playable []string) (uuid.UUID, error) {
	if err := draft.check(); err != nil {
		return uuid.Nil, err
	}
	before, err := defaultOf(ctx, tx.Reader, draft, playable)
	if err != nil {
		return uuid.Nil, err
	}
	hosts, err := reached(ctx, tx.Reader, draft)
	if err != nil {
		return uuid.Nil, err
	}
	id := uuid.New()
	err = tx.One(ctx, fault.Conflictf("playbook_delivery_exists", "There is a delivery %s already.", draft.Name), sqlInsertDelivery, id, draft.Name, draft.Playbook,
		draft.Version, before, draft.Region, draft.Zone)
	if _, taken := db.UniqueViolation(err); taken {
		return uuid.Nil, errOpen
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("insert a delivery of a playbook: %w", err)
	}
	if _, err := rollout.Start(ctx, tx.Tx, id, draft.Plan, hosts); err != nil {
		return uuid.Nil, err
	}
	d, err := DeliveryByID(ctx, tx.Reader, id)
	if err != nil {
		return uuid.Nil, err
	}
	return id, tx.Changed(ctx, d.entry("create", nil, d.facts()))
}

// defaultOf is the present default of the playbook, if the version can be delivered.
func defaultOf(ctx context.Context, q db.Reader, draft DeliveryDraft, playable []string) (int, error) {
	var bad fault.Invalid
	p, err := db.First[present](ctx, q, fault.ErrNotFound, sqlPresent, draft.Playbook, draft.Version)
	switch {
	case errors.Is(err, fault.ErrNotFound):
		bad.Add("playbook", "There is no such playbook.")
	case err != nil:
		return 0, fmt.Errorf("read the default of a playbook: %w", err)
	case !slices.Contains(playable, draft.Playbook):
		bad.Add("playbook", "Its jobs are about clusters or several hosts, and play one version everywhere. Make the version the default.")
	case !p.Known:
		bad.Add("playbook_version", "There is no version %d of %s.", draft.Version, draft.Playbook)
	case p.Default == draft.Version:
		bad.Add("playbook_version", "It is the default already.")
	}
	return p.Default, bad.OrNil()
}

// reached are the hosts that a delivery is to reach.
func reached(ctx context.Context, q db.Reader, draft DeliveryDraft) ([]rollout.Candidate, error) {
	var bad fault.Invalid
	hosts, err := candidates(ctx, q, draft.Playbook, draft.Region, draft.Zone)
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		bad.Add("region", "No initialized host is there.")
	}
	for i, name := range draft.Plan.Canaries {
		if !slices.ContainsFunc(hosts, func(c rollout.Candidate) bool { return c.Name == name }) {
			bad.Add(fmt.Sprintf("canaries[%d]", i), "No initialized host of this name is reached by the delivery.")
		}
	}
	return hosts, bad.OrNil()
}

var errOpen = fault.Conflictf("playbook_delivery_open", "Another delivery of the playbook has not ended. Wait for it, or roll it back.")

// deliveries is what people and policies do with each.
var deliveries = rollout.Object[Delivery]{
	Noun: DeliveryNoun, Load: DeliveryByID, Stand: Delivery.Rollout, Entry: Delivery.entry, Facts: Delivery.facts, SetOpen: sqlSetOpen, ErrOpen: errOpen,
	At: func(d Delivery, r rollout.Rollout) Delivery {
		d.State, d.Wave, d.Reason = r.State, r.Wave, r.Reason
		return d
	},
	Driver: func(d Delivery) rollout.Driver { return d.driver(nil, Proof{}) }, CanRollBack: Delivery.CanRollBack,
}

// PauseDelivery keeps the version from further hosts.
func PauseDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.Pause(ctx, tx, ref.ID(), revision)
}

// ResumeDelivery goes on with a delivery that is paused or halted. Failures until now count no more.
func ResumeDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.Resume(ctx, tx, ref.ID(), revision)
}

// RollBackDelivery binds jobs of all hosts to the default again.
func RollBackDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.RollBack(ctx, tx, ref.ID(), revision)
}

// Proof is how hosts are asked to prove a version.
type Proof struct {
	// Ask asks for a job that plays the playbook on a host and changes nothing there. asked is false if there is none: jobs that
	// others ask for are the proof then. allocation is one of the host; uuid.Nil for none.
	Ask func(ctx context.Context, playbook string, workspace, host, allocation uuid.UUID) (asked bool, err error)
	// Innocent are the codes of failures that no version is to blame for.
	Innocent []string
}

// Advance makes the steps of a delivery that are due; by is the policy that events name.
func Advance(ctx context.Context, store *db.DB, d Delivery, proof Proof, by string, observe bool) (rollout.Rollout, int, error) {
	driver := d.driver(store, proof)
	driver.Moved = func(ctx context.Context, tx *db.Tx, before, after rollout.Rollout) error {
		return d.moved(ctx, tx, before, after, by)
	}
	return rollout.Advance(ctx, store, d.ID, driver, observe)
}

func (d Delivery) moved(ctx context.Context, tx *db.Tx, before, after rollout.Rollout, by string) error {
	who := audit.Actor{Kind: audit.Policy, Name: by}
	if after.State == rollout.Done {
		made, err := d.makeDefault(ctx, tx)
		if err != nil {
			return err
		}
		tx.Touch("playbook", playbookID(d.Playbook))
		if made {
			err = audit.Append(ctx, tx, who, audit.Entry{
				Workspace: firstWorkspace, Action: "playbook.set_default", ObjectKind: "playbook", ObjectName: d.Playbook,
				Before: map[string]any{"default_version": d.Before}, After: map[string]any{"default_version": d.Version, "delivery": d.Name},
			})
		} else {
			after.Reason = "Each host was reached. Another version became the default meanwhile, and stays it."
		}
		if err != nil {
			return err
		}
	}
	return deliveries.Told(ctx, tx, d, before, after, who)
}

// driver is what a delivery means for hosts.
func (d Delivery) driver(store *db.DB, proof Proof) rollout.Driver {
	return rollout.Driver{
		Prove: func(ctx context.Context, _ rollout.Rollout, targets []rollout.Target, back bool) (map[uuid.UUID]rollout.Finding, error) {
			return d.prove(ctx, store.Reader, targets, proof, back)
		},
		Late: func(ctx context.Context, _ rollout.Rollout) ([]rollout.Candidate, error) {
			return candidates(ctx, store.Reader, d.Playbook, d.Region, d.Zone)
		},
		Give: d.give, Take: d.take,
	}
}

func (d Delivery) prove(ctx context.Context, q db.Reader, targets []rollout.Target, proof Proof, back bool) (map[uuid.UUID]rollout.Finding, error) {
	found := make(map[uuid.UUID]rollout.Finding, len(targets))
	if back { // the default holds from the moment that the version was taken
		for _, t := range targets {
			found[t.ID] = rollout.Finding{Verdict: rollout.Good, Reason: "Its jobs are bound to the default."}
		}
		return found, nil
	}
	hosts, times := make([]uuid.UUID, len(targets)), make([]time.Time, len(targets))
	for i, t := range targets {
		hosts[i] = t.ID
		if t.ToldAt != nil {
			times[i] = *t.ToldAt
		}
	}
	all, err := d.stands(ctx, q, hosts, times, proof.Innocent)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		f, ask := d.find(s)
		if ask && proof.Ask != nil {
			if f, err = d.ask(ctx, proof, s); err != nil {
				return nil, err
			}
		}
		found[s.HostID] = f
	}
	return found, nil
}

// askAgain is how long a host is left alone after a job that told nothing of the version.
const askAgain = time.Minute

// find judges one host; ask: a job is to be asked for, which tells more.
func (d Delivery) find(s stand) (f rollout.Finding, ask bool) {
	within := time.Duration(d.Plan.WithinMS) * time.Millisecond
	switch {
	case s.Gone:
		return rollout.Finding{Verdict: rollout.Gone, Reason: "Kloigos no longer changes the host."}, false
	case s.Failed != "":
		return rollout.Finding{Verdict: rollout.Bad, Reason: "A job with the version failed. " + s.Failed}, false
	case s.Condition != "":
		return rollout.Finding{Verdict: rollout.Bad, Reason: "Something became wrong since it has the version. " + s.Condition}, false
	case s.UnderWay:
		return rollout.Finding{Reason: "A job with the version has not ended."}, false
	case s.Succeeded != "":
		return rollout.Finding{Verdict: rollout.Good, Reason: fmt.Sprintf("A job with the version ended well (%s).", s.Succeeded)}, false
	case !s.Now.Before(s.ToldAt.Add(within)):
		return rollout.Finding{Verdict: rollout.Unproven, Reason: fmt.Sprintf("No job told of the version within %s.", within)}, false
	}
	return rollout.Finding{Reason: "No job has played the version there yet."}, s.AskedAt.Equal(s.ToldAt) || s.Now.Sub(s.AskedAt) > askAgain
}

// ask orders a job that proves the version on a host. If the order is refused, the finding tells why.
func (d Delivery) ask(ctx context.Context, proof Proof, s stand) (rollout.Finding, error) {
	var allocation uuid.UUID
	if s.AllocationID != nil {
		allocation = *s.AllocationID
	}
	asked, err := proof.Ask(ctx, d.Playbook, s.WorkspaceID, s.HostID, allocation)
	var conflict *fault.Conflict
	switch {
	case errors.As(err, &conflict):
		return rollout.Finding{Reason: "A check is to play the version there, but " + conflict.Detail}, nil
	case err != nil:
		return rollout.Finding{}, fmt.Errorf("ask for a check of host %s: %w", s.HostID, err)
	case asked:
		return rollout.Finding{Reason: "A check plays the version there, and changes nothing."}, nil
	}
	return rollout.Finding{Reason: "The next job that plays the version there proves it."}, nil
}
