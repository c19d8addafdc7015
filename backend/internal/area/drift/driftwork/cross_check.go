package driftwork

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/drift"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
)

// CrossCheck is the name of the policy that has Ansible look at what agents look at.
const CrossCheck = "cross_check"

// CrossChecked is the condition of hosts and units of which Ansible's check mode says the same as the agent.
const CrossChecked = "cross_checked"

const (
	crossEvery = 24 * time.Hour
	crossLook  = 15 * time.Second // how often a check that runs is looked at
	crossLater = 10 * time.Minute // a host that takes no check now
	namedMost  = 5
)

// crossCheck is the slow second opinion: the plays that made a host and its units run in check mode, one after the other.
func crossCheck(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: CrossCheck, Noun: drift.HostNoun,
		Why:      "Ansible's check mode compares all that the playbooks put on a host, and must come to the same answer as the agent",
		Interval: crossEvery, Jitter: 2 * time.Hour, Timeout: 30 * time.Second, Observes: true, // a check changes nothing
		Objects: reconcile.List(config.DB, drift.HostIDs),
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			return cross(ctx, config, item.ObjectID)
		},
	}
}

// cross goes one step on in the pass over a host: it begins one, asks for the next check, or judges one that ended.
func cross(ctx context.Context, config Config, host uuid.UUID) (reconcile.Outcome, error) {
	h, err := drift.HostByID(ctx, config.DB.Reader, host)
	if errors.Is(err, fault.ErrNotFound) || err == nil && h.Gone {
		err = config.DB.InTx(ctx, func(tx *db.Tx) error { return drift.ForgetCross(ctx, tx, host) })
		return reconcile.Outcome{Gone: true}, err
	}
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("load host %s: %w", host, err)
	}
	rows, err := drift.CrossedOf(ctx, config.DB.Reader, host)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	at := slices.IndexFunc(rows, func(c drift.Crossed) bool { return c.JudgedAt == nil })
	switch {
	case at < 0 && h.Busy:
		return reconcile.Outcome{Again: crossLater}, nil
	case at < 0:
		return reconcile.Outcome{Again: time.Second}, beginCross(ctx, config, h)
	case rows[at].PlanID == nil:
		return askCross(ctx, config, rows[at], at == len(rows)-1)
	case rows[at].PlanState != nil && *rows[at].PlanState == "checking":
		return reconcile.Outcome{Again: crossLook}, nil
	}
	_, _, agent, err := drift.SeenOn(ctx, config.DB.Reader, host)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	condition, err := judge(rows[at], agent)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	return judged(ctx, config, rows[at], at == len(rows)-1, condition)
}

func beginCross(ctx context.Context, config Config, h drift.Host) error {
	units, err := drift.Units(ctx, config.DB.Reader, h.ID)
	if err != nil {
		return err
	}
	return config.DB.InTx(ctx, func(tx *db.Tx) error { return drift.BeginCross(ctx, tx, h, units) })
}

// askCross asks for the check of one object. One whose state takes no check now is passed over until the next pass.
func askCross(ctx context.Context, config Config, c drift.Crossed, last bool) (reconcile.Outcome, error) {
	plan, err := config.Check(ctx, audit.Actor{Kind: audit.Policy, Name: CrossCheck}, c.HostID, c.AllocationID)
	var conflict *fault.Conflict
	switch {
	case errors.As(err, &conflict) || errors.Is(err, fault.ErrNotFound):
		return judged(ctx, config, c, last)
	case err != nil:
		return reconcile.Outcome{}, err
	}
	err = config.DB.InTx(ctx, func(tx *db.Tx) error { return drift.CrossAsked(ctx, tx, c, plan) })
	return reconcile.Outcome{Changed: 1, Again: crossLook}, err
}

func judged(ctx context.Context, config Config, c drift.Crossed, last bool, conditions ...reconcile.Condition) (reconcile.Outcome, error) {
	out := reconcile.Outcome{Conditions: conditions, Again: time.Second}
	if last {
		out.Again = 0
	}
	return out, config.DB.InTx(ctx, func(tx *db.Tx) error { return drift.CrossJudged(ctx, tx, c) })
}

type change struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Action string `json:"action"`
}

// judge compares what a check told with what the agent found meanwhile.
func judge(c drift.Crossed, agent bool) (reconcile.Condition, error) {
	out := reconcile.Condition{Type: CrossChecked, Status: reconcile.True, Noun: drift.HostNoun, ObjectID: c.HostID, Threshold: 1}
	if !c.OfHost() {
		out.Noun, out.ObjectID = drift.UnitNoun, c.UnitID
	}
	if c.PlanState == nil || *c.PlanState == "failed" {
		out.Status, out.Reason, out.Fault, out.RetryHelps = reconcile.Unknown, "check_failed", reconcile.FaultDependency, true
		out.Message = fmt.Sprintf("Ansible's check of %s failed. The job of its plan says why.", c.Name)
		return out, nil
	}
	var changes []change
	if len(c.Changes) > 0 {
		if err := json.Unmarshal(c.Changes, &changes); err != nil {
			return out, fmt.Errorf("read what the check of %s told: %w", c.Name, err)
		}
	}
	changes = slices.DeleteFunc(changes, func(c change) bool { return c.Action == "follows" }) // it comes with another change
	by := "Ansible's check mode"
	if c.Version != nil {
		by = fmt.Sprintf("Ansible's check mode, with version %d of the playbook,", *c.Version)
	}
	switch {
	case len(changes) == 0 && len(c.Promises) == 0:
		out.Reason = "same"
		out.Message = by + " would change nothing."
	case len(changes) > 0 && len(c.Promises) > 0:
		out.Reason = "same"
		out.Message = fmt.Sprintf("%s and the agent both find that %s is not as promised: %s.", by, c.Name, named(changes))
	case len(changes) == 0:
		out.Status, out.Reason, out.Fault = reconcile.False, "only_agent", reconcile.FaultOurs
		out.Message = fmt.Sprintf("The agent finds that these promises do not hold, and %s would change nothing: %s.", by, strings.Join(c.Promises, ", "))
	case !agent:
		out.Status, out.Reason, out.Fault = reconcile.False, "drifted", reconcile.FaultDependency
		out.Message = fmt.Sprintf("No agent looks at the host. %s would change: %s.", by, named(changes))
	default:
		out.Status, out.Reason, out.Fault = reconcile.False, "only_ansible", reconcile.FaultDependency
		out.Message = fmt.Sprintf("The agent finds nothing, and %s would change: %s.", by, named(changes))
	}
	return out, nil
}

// named names the first of some changes.
func named(changes []change) string {
	var names []string
	for _, c := range changes[:min(len(changes), namedMost)] {
		names = append(names, strings.TrimSpace(c.Kind+" "+c.Name))
	}
	if more := len(changes) - namedMost; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	text := strings.Join(names, ", ")
	return strings.ToValidUTF8(text[:min(len(text), 600)], "") // a cut character is no text to a database
}
