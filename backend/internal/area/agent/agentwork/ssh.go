package agentwork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/reconcile"
)

// HostSSH is the name of the policy that asks hosts without an agent.
const HostSSH = "host_ssh"

// hostSSH asks each host for which no agent speaks, over a connection that is kept. The policy host_health judges the answers.
func hostSSH(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: HostSSH, Noun: agent.HostNoun,
		Why:      "a host without an agent sends no heartbeats, so it is asked over SSH whether it is there",
		Interval: 20 * time.Second, Jitter: 2 * time.Second, Timeout: 15 * time.Second, Triggers: []string{agent.HostNoun}, Observes: true,
		Objects: reconcile.List(config.DB, agent.HostsBySSH),
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			asked, err := agent.IsBySSH(ctx, config.DB.Reader, item.ObjectID)
			if err != nil {
				return reconcile.Outcome{}, err
			}
			if !asked {
				if !item.Observe {
					err = agent.ForgetSSH(ctx, config.DB, item.ObjectID)
				}
				return reconcile.Outcome{Gone: true}, err
			}
			why, err := config.Ask(ctx, item.ObjectID)
			if err != nil || item.Observe {
				return reconcile.Outcome{}, err
			}
			return reconcile.Outcome{}, agent.Asked(ctx, config.DB, item.ObjectID, why)
		},
	}
}
