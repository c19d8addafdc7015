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

const namingPolicyName = "allocation_names"

// NamingPolicy gives allocations a name in the zone of their workspace that names them, and takes it away with them.
func NamingPolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: namingPolicyName, Noun: dns.AllocationNoun,
		Why:      "a zone can name the allocations of its workspace; they come, go and change their address",
		Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute, Triggers: []string{dns.AllocationNoun}, Observes: true,
		Objects: func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
			return dns.AllocationsToName(ctx, config.DB.Reader, after, limit)
		},
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			return naming{config, item.Observe}.run(ctx, item.ObjectID)
		},
	}
}

type naming struct {
	Config
	observe bool
}

func (n naming) run(ctx context.Context, id uuid.UUID) (reconcile.Outcome, error) {
	allocation, err := dns.NamedByID(ctx, n.DB.Reader, id)
	if errors.Is(err, fault.ErrNotFound) {
		return reconcile.Outcome{Gone: true}, nil
	}
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("load allocation %s: %w", id, err)
	}
	zones, err := dns.NamingZones(ctx, n.DB.Reader, allocation.WorkspaceID)
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("load the zones of workspace %s: %w", allocation.WorkspaceID, err)
	}
	have, err := dns.RecordSetsOf(ctx, n.DB.Reader, dns.OwnedByAllocation(id))
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("load the names of allocation %s: %w", id, err)
	}
	wanted := allocation.Wanted(zones)
	out := reconcile.Outcome{Gone: len(wanted) == 0 && (len(have) == 0 || allocation.Ended())}
	var refused []string
	for _, change := range allocation.Changes(zones, have) {
		if n.observe {
			refused = append(refused, change.Name+" differs, and the policy only observes.")
			continue
		}
		err := intent.Engine{DB: n.DB}.Do(ctx, intent.Call{
			Actor: audit.Actor{Kind: audit.Policy, Name: namingPolicyName}, Workspace: allocation.WorkspaceID,
		}, func(tx *intent.Tx) error { return change.Do(ctx, tx) })
		switch why := dns.NamingRefused(err); {
		case err == nil:
			out.Changed++
		case why == "":
			return out, fmt.Errorf("name allocation %s %s: %w", id, change.Name, err)
		default:
			refused = append(refused, change.Name+": "+why)
		}
	}
	if out.Gone = out.Gone && len(refused) == 0; !out.Gone {
		out.Conditions = []reconcile.Condition{named(wanted, refused)}
	}
	return out, nil
}

// named is the condition of an allocation that is to have names.
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
