package agent

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
		Workspace: d.WorkspaceID, Action: DeliveryNoun + "." + action, ObjectKind: DeliveryNoun, ObjectID: d.ID, ObjectName: d.Name, Before: before, After: after,
	}
}

// CreateDelivery begins to bring a version to the hosts of the call's workspace.
func CreateDelivery(ctx context.Context, tx *intent.Tx, draft DeliveryDraft) (uuid.UUID, error) {
	if err := draft.check(); err != nil {
		return uuid.Nil, err
	}
	var bad fault.Invalid
	offers, err := builds(ctx, tx.Reader, draft.Version)
	if err != nil {
		return uuid.Nil, err
	}
	if len(offers) == 0 {
		bad.Add("version", "There is no build of this version. Run kloigos-backend init with the folder of the release.")
	}
	if slices.ContainsFunc(offers, func(o offered) bool { return o.ExpiresAt.Before(time.Now()) }) {
		bad.Add("version", "A build of this version has expired. Take a newer release.")
	}
	hosts, err := candidates(ctx, tx.Reader, tx.Call().Workspace, draft.Region, draft.Zone)
	if err != nil {
		return uuid.Nil, err
	}
	if len(hosts) == 0 {
		bad.Add("region", "No host with an agent is there.")
	}
	for i, name := range draft.Plan.Canaries {
		if !slices.ContainsFunc(hosts, func(c rollout.Candidate) bool { return c.Name == name }) {
			bad.Add(fmt.Sprintf("canaries[%d]", i), "No host of this name has an agent and is reached by the delivery.")
		}
	}
	if err := bad.OrNil(); err != nil {
		return uuid.Nil, err
	}
	id := uuid.New()
	err = tx.One(ctx, fault.Conflictf("update_delivery_exists", "The workspace already has a delivery %s.", draft.Name), sqlInsertDelivery, id, tx.Call().Workspace,
		draft.Name, draft.Version, draft.Region, draft.Zone)
	if _, taken := db.UniqueViolation(err); taken {
		return uuid.Nil, errOpen
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("insert a delivery: %w", err)
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

var errOpen = fault.Conflictf("update_delivery_open", "Another delivery of the workspace has not ended. Wait for it, or roll it back.")

// deliveries is what people and policies do with each.
var deliveries = rollout.Object[Delivery]{
	Noun: DeliveryNoun, Load: DeliveryByID, Stand: Delivery.Rollout, Entry: Delivery.entry, Facts: Delivery.facts, SetOpen: sqlSetOpen, ErrOpen: errOpen,
	At: func(d Delivery, r rollout.Rollout) Delivery {
		d.State, d.Wave, d.Reason = r.State, r.Wave, r.Reason
		return d
	},
	Driver: func(d Delivery) rollout.Driver { return d.driver(nil, Proof{}) },
}

// PauseDelivery keeps further hosts from being told.
func PauseDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.Pause(ctx, tx, ref.ID(), revision)
}

// ResumeDelivery goes on with a delivery that is paused or halted. Failures until now count no more.
func ResumeDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.Resume(ctx, tx, ref.ID(), revision)
}

// RollBackDelivery sends the hosts that were told back to the version that they ran before.
func RollBackDelivery(ctx context.Context, tx *intent.Tx, ref scope.Ref[Delivery], revision int64) error {
	return deliveries.RollBack(ctx, tx, ref.ID(), revision)
}

// Proof is what hosts have to show for a version.
type Proof struct {
	Soak time.Duration // how long it must run without a new fault
	// Probe asks for the job that reads hosts of a workspace with a play; nil: no play looks at them.
	Probe func(ctx context.Context, workspace uuid.UUID, hosts []uuid.UUID) (job uuid.UUID, err error)
}

// probedTogether is how many hosts one job reads.
const probedTogether = 50

// Advance makes the steps of a delivery that are due. soak is how long a version must run before it is proven; by is the policy
// that events name.
func Advance(ctx context.Context, store *db.DB, d Delivery, proof Proof, by string, observe bool) (rollout.Rollout, int, error) {
	driver := d.driver(store, proof)
	driver.Moved = func(ctx context.Context, tx *db.Tx, before, after rollout.Rollout) error {
		return deliveries.Told(ctx, tx, d, before, after, audit.Actor{Kind: audit.Policy, Name: by})
	}
	return rollout.Advance(ctx, store, d.ID, driver, observe)
}

// driver is what a delivery means for hosts.
func (d Delivery) driver(store *db.DB, proof Proof) rollout.Driver {
	return rollout.Driver{
		Prove: func(ctx context.Context, _ rollout.Rollout, targets []rollout.Target, back bool) (map[uuid.UUID]rollout.Finding, error) {
			return d.prove(ctx, store.Reader, targets, proof, back)
		},
		Late: func(ctx context.Context, _ rollout.Rollout) ([]rollout.Candidate, error) {
			return candidates(ctx, store.Reader, d.WorkspaceID, d.Region, d.Zone)
		},
		Give: d.give, Take: d.take,
	}
}

func (d Delivery) prove(ctx context.Context, q db.Reader, targets []rollout.Target, proof Proof, back bool) (map[uuid.UUID]rollout.Finding, error) {
	hosts, times, told := make([]uuid.UUID, len(targets)), make([]time.Time, len(targets)), make(map[uuid.UUID]time.Time, len(targets))
	for i, t := range targets {
		hosts[i] = t.ID
		if t.ToldAt != nil {
			times[i], told[t.ID] = *t.ToldAt, *t.ToldAt
		}
	}
	all, err := stands(ctx, q, hosts, times)
	if err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]rollout.Finding, len(all))
	var unread []uuid.UUID
	for _, s := range all {
		want := d.Version
		if back {
			want = s.Told
		}
		f := d.find(s, want, told[s.HostID], proof.Soak, back)
		if f.Verdict == rollout.Good && !back && !d.Plan.SkipProbe && proof.Probe != nil {
			if f = afterProbe(f, s); s.Probe == "" {
				unread = append(unread, s.HostID)
			}
		}
		found[s.HostID] = f
	}
	return found, d.probe(ctx, proof, unread, found)
}

// probe asks for the play that reads hosts. What prevents it is what they wait for.
func (d Delivery) probe(ctx context.Context, proof Proof, hosts []uuid.UUID, found map[uuid.UUID]rollout.Finding) error {
	for some := range slices.Chunk(hosts, probedTogether) {
		_, err := proof.Probe(ctx, d.WorkspaceID, some)
		if err == nil {
			continue
		}
		var conflict *fault.Conflict
		if !errors.As(err, &conflict) {
			return fmt.Errorf("ask for a probe of hosts: %w", err)
		}
		for _, host := range some {
			found[host] = rollout.Finding{Reason: "It runs the version. A play is to read the host, but " + conflict.Detail}
		}
	}
	return nil
}

// afterProbe judges a host that is well by its heartbeats: a play must have read it since.
func afterProbe(f rollout.Finding, s stand) rollout.Finding {
	switch s.Probe {
	case "succeeded":
		f.Reason = "It runs the version, nothing new is wrong, and a play read the host."
		return f
	case "failed":
		return rollout.Finding{Verdict: rollout.Bad, Reason: "It runs the version, but a play could not read the host: " + s.ProbeSaid}
	}
	return rollout.Finding{Reason: "It runs the version, and nothing new is wrong. A play is to read the host."}
}

// find judges one host: a heartbeat of the version since it was told, for as long as it takes to show a new fault.
func (d Delivery) find(s stand, want string, told time.Time, soak time.Duration, back bool) rollout.Finding {
	silent := s.ReceivedAt == nil || s.ReceivedAt.Before(told.Add(-SilentAfter))
	fault := newFault(s.Causes, told)
	switch {
	case s.AgentID == nil:
		return rollout.Finding{Verdict: rollout.Gone, Reason: "No agent is enrolled on the host."}
	case s.Trouble == want && s.State == "pinned":
		return rollout.Finding{Verdict: rollout.Unproven, Reason: s.Reason}
	case s.Trouble == want && s.State == "failed":
		return rollout.Finding{Verdict: rollout.Bad, Reason: s.Reason}
	case silent:
		return rollout.Finding{Verdict: rollout.Unproven, Reason: "The agent was silent when it was told."}
	case s.Runs != want && want != "":
		return rollout.Finding{Reason: fmt.Sprintf("It runs %s.", s.Runs)}
	case back:
		return rollout.Finding{Verdict: rollout.Good, Reason: fmt.Sprintf("It runs %s.", s.Runs)}
	case s.ReceivedAt.Before(told):
		return rollout.Finding{Reason: "No heartbeat has come since it was told."}
	case fault != "" && s.Now.Sub(s.Causes[fault]) >= holdFor:
		return rollout.Finding{Verdict: rollout.Bad, Reason: "It runs the version, and has a new fault: " + fault + "."}
	case fault != "" || time.Duration(s.RunsMS)*time.Millisecond < soak:
		return rollout.Finding{Reason: fmt.Sprintf("It runs the version; new faults are waited for until it has run for %s.", soak)}
	}
	return rollout.Finding{Verdict: rollout.Good, Reason: "It runs the version, and nothing new is wrong."}
}

// newFault is a cause that began since a time; "" for none. The version itself is none.
func newFault(all Causes, since time.Time) string {
	for _, c := range causes {
		if at, ok := all[c.name]; ok && at.After(since) && c.name != "version_behind" && c.name != "reboot_required" {
			return c.name
		}
	}
	return ""
}
