package dnswork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
)

// NamingPolicies give objects a name in the zone of their workspace that names them, and take it away with them.
func NamingPolicies(config Config) (all []reconcile.Policy) {
	for _, kind := range dns.NamedNouns() {
		name := kind.Noun + "_names"
		all = append(all, reconcile.Policy{
			Name: name, Noun: kind.Noun, Why: whyNames[kind.Noun],
			Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute, Triggers: []string{kind.Noun}, Observes: true,
			Objects: reconcile.List(config.DB, kind.ToName),
			Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
				return naming{config, kind, name, item.Observe}.run(ctx, item.ObjectID)
			},
		})
	}
	return all
}

var whyNames = map[string]string{
	dns.AllocationNoun: "a zone can name the allocations of its workspace; they come, go and change their address",
	dns.ClusterNoun:    "a zone can name the cluster of its workspace; its control planes come and go",
}

type naming struct {
	Config
	kind    dns.NamedNoun
	policy  string
	observe bool
}

// load reads an object, and the record sets that belong to it. One that is gone may have left some.
func (n naming) load(ctx context.Context, id uuid.UUID) (object dns.Named, have []dns.ManagedSet, err error) {
	if object, err = n.kind.Load(ctx, n.DB.Reader, id); err != nil && !errors.Is(err, fault.ErrNotFound) {
		return object, nil, fmt.Errorf("load %s %s: %w", n.kind.Noun, id, err)
	}
	gone := err != nil
	if have, err = dns.RecordSetsOf(ctx, n.DB.Reader, dns.OwnedByObject(n.kind.Noun, id)); err != nil {
		return object, nil, fmt.Errorf("load the names of %s %s: %w", n.kind.Noun, id, err)
	}
	if gone {
		object = dns.Named{Noun: n.kind.Noun, ID: id, Ended: true}
		if len(have) > 0 {
			object.WorkspaceID = have[0].WorkspaceID
		}
	}
	return object, have, nil
}

func (n naming) run(ctx context.Context, id uuid.UUID) (reconcile.Outcome, error) {
	object, have, err := n.load(ctx, id)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	zones, err := dns.NamingZones(ctx, n.DB.Reader, object.WorkspaceID)
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("load the zones of workspace %s: %w", object.WorkspaceID, err)
	}
	wanted := object.Wanted(zones)
	out := reconcile.Outcome{Gone: len(wanted) == 0 && (len(have) == 0 || object.Ended)}
	var refused []string
	for _, change := range n.kind.Changes(object, zones, have) {
		if n.observe {
			refused = append(refused, change.Name+" differs, and the policy only observes.")
			continue
		}
		err := intent.Engine{DB: n.DB}.Do(ctx, intent.Call{
			Actor: audit.Actor{Kind: audit.Policy, Name: n.policy}, Workspace: object.WorkspaceID,
		}, func(tx *intent.Tx) error { return change.Do(ctx, tx) })
		switch why := dns.NamingRefused(err); {
		case err == nil:
			out.Changed++
		case why == "":
			return out, fmt.Errorf("name %s %s %s: %w", n.kind.Noun, id, change.Name, err)
		default:
			refused = append(refused, change.Name+": "+why)
		}
	}
	if out.Gone = out.Gone && len(refused) == 0; !out.Gone {
		out.Conditions = []reconcile.Condition{named(wanted, refused)}
	}
	return out, nil
}

// named is the condition of an object that is to have names.
func named(wanted []dns.WantedSet, refused []string) reconcile.Condition {
	c := reconcile.Condition{Type: "named", Status: reconcile.True, Reason: "named", Threshold: 1}
	switch {
	case len(refused) > 0:
		c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "name_refused", strings.Join(refused, " "), reconcile.FaultUser
	case len(wanted) == 0:
		c.Reason, c.Message = "unnamed", "It has no name in a zone any more."
	default:
		c.Message = "Its name is " + wanted[0].Draft.Name // with its final dot
	}
	return c
}
