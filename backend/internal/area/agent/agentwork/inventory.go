package agentwork

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/reconcile"
)

// HostInventory is the name of the policy, and Inventory that of its condition.
const (
	HostInventory = "host_inventory"
	Inventory     = "inventory"
)

// inventory compares what a host has with what its layout was made for. It changes neither: a layout is a person's decision.
func inventory(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: HostInventory, Noun: agent.HostNoun,
		Why:      "a host that lost a disk, CPUs or memory cannot keep what its layout promises, and one that got more has room that nobody uses",
		Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: 30 * time.Second, Triggers: []string{agent.HostNoun}, Observes: true,
		Objects: reconcile.List(config.DB, agent.InventoryHosts),
		Run: reconcile.Look(config.DB, agent.StockOf, func(ctx context.Context, item reconcile.Item, s agent.Stock) (out reconcile.Outcome, err error) {
			if !item.Observe {
				if out.Changed, err = agent.RecordStock(ctx, config.DB, HostInventory, s); err != nil {
					return out, err
				}
			}
			out.Conditions = []reconcile.Condition{asLaidOut(s)}
			return out, nil
		}),
	}
}

func asLaidOut(s agent.Stock) reconcile.Condition {
	c := reconcile.Condition{Type: Inventory, Status: reconcile.True, Reason: "as_laid_out", Message: "It has what its layout was made for.", Threshold: 1}
	if differences := s.Differences(); len(differences) > 0 {
		c.Status, c.Reason, c.Fault = reconcile.False, "changed", reconcile.FaultDependency
		c.Message = fmt.Sprintf("Since the layout was made (%s): %s Put the machine right and probe it, or change the layout.",
			s.LaidOutAt.UTC().Format(time.DateOnly), strings.Join(differences, " "))
	}
	return c
}
