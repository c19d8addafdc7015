// Package agentwork owns the policies of agents: what heartbeats mean for hosts, and what an agent itself lacks.
//
// It refuses to read from a host: all that it judges was received before.
package agentwork

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
)

// Config is what the policies need.
type Config struct {
	DB      *db.DB
	Desired string        // version that agents should run; "" for any
	Soak    time.Duration // how long a delivered version must run before it is proven
	// Probe asks for the job that reads hosts with a play, which a delivered version must let happen; nil: no play looks at them.
	Probe func(ctx context.Context, workspace uuid.UUID, hosts []uuid.UUID) (job uuid.UUID, err error)
	// Ask asks a host over SSH whether it is there. why says in words why it did not answer; "" if it did.
	Ask func(ctx context.Context, host uuid.UUID) (why string, err error)
}

// Names of the policies.
const (
	HostHealth = "host_health"
	Agent      = "agent"
)

// Policies of the area.
func Policies(config Config) []reconcile.Policy {
	return []reconcile.Policy{hostHealth(config), hostSSH(config), agents(config), deliveries(config), inventory(config)}
}

// hostHealth is one look at all hosts: an index finds what is due, so that a fleet in good health costs four short reads.
func hostHealth(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name:     HostHealth,
		Why:      "a host that stops sending heartbeats takes no new tenants, and a person must see which ones and why",
		Interval: 5 * time.Second, Timeout: time.Minute, Observes: true,
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			pass, err := agent.Look(ctx, config.DB, HostHealth, item.Observe)
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("judge the health of hosts: %w", err)
			}
			return outcome(pass), nil
		},
	}
}

// outcome is what a look means for hosts, and for the policy itself.
func outcome(pass agent.Pass) reconcile.Outcome {
	receiving := reconcile.Condition{
		Type: "receiving", Status: reconcile.True, Reason: "steady", Noun: reconcile.PolicyNoun, ObjectID: reconcile.PolicyID(HostHealth),
		Threshold: 60, // of 5 s each: a restart of backends is no fault
	}
	if !pass.Receiving && pass.Waiting > 0 {
		receiving.Status, receiving.Reason, receiving.Fault, receiving.RetryHelps = reconcile.False, "gap", reconcile.FaultOurs, true
		receiving.Message = fmt.Sprintf("The backends received nothing for a while, so the silence of %d hosts is not judged for 60 s.", pass.Waiting)
	}
	out := reconcile.Outcome{Changed: int64(len(pass.Changed)), Conditions: []reconcile.Condition{receiving}}
	for _, h := range pass.Changed {
		c := reconcile.Condition{Type: "healthy", Status: reconcile.True, Reason: string(h.Health), Message: h.Message, Noun: agent.HostNoun, ObjectID: h.Host, Threshold: 1}
		switch h.Health {
		case agent.Unreachable:
			c.Status, c.Fault, c.RetryHelps = reconcile.False, reconcile.FaultDependency, true
		case agent.Degraded:
			c.Status, c.Fault = reconcile.False, reconcile.FaultDependency
		}
		out.Conditions = append(out.Conditions, c)
	}
	return out
}

// agents looks at each agent: whether it is listened to, and why not.
func agents(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: Agent, Noun: agent.Noun,
		Why:      "an agent that is silent, copied or behind tells nothing true of its host, and one of a host that is gone must not speak",
		Interval: 5 * time.Minute, Jitter: time.Minute, Timeout: 30 * time.Second, Triggers: []string{agent.Noun}, Observes: true,
		Objects: func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
			if after == uuid.Nil {
				if err := agent.Tidy(ctx, config.DB); err != nil {
					return nil, err
				}
			}
			return db.IDs(ctx, config.DB.Reader, "list agents", agent.IDs, after, limit)
		},
		Run: reconcile.Look(config.DB, agent.ByID, func(ctx context.Context, item reconcile.Item, a agent.Agent) (reconcile.Outcome, error) {
			return run(ctx, config, a, item.Observe)
		}),
	}
}

func run(ctx context.Context, config Config, a agent.Agent, observe bool) (reconcile.Outcome, error) {
	out := reconcile.Outcome{Conditions: conditions(a, config.Desired)}
	speaks, err := agent.Speaks(ctx, config.DB.Reader, a.HostID)
	if err != nil {
		return out, fmt.Errorf("look for the agents of host %s: %w", a.HostID, err)
	}
	if !speaks { // what the last one said counts no more
		out.Conditions = append(out.Conditions, reconcile.Condition{
			Type: "healthy", Status: reconcile.True, Reason: "no_agent", Message: "No agent speaks for the host.", Noun: agent.HostNoun, ObjectID: a.HostID, Threshold: 1,
		})
	}
	if a.State == agent.Revoked || observe {
		return out, nil
	}
	host, err := agent.HostByID(ctx, config.DB.Reader, a.HostID)
	if err != nil {
		return out, fmt.Errorf("load the host of agent %s: %w", a.ID, err)
	}
	var why string
	switch {
	case host.Gone:
		why = "Its host is gone."
	case host.Incarnation != a.Incarnation:
		why = "Its host is another one by now."
	default:
		return out, nil
	}
	if err := agent.RevokeGone(ctx, intent.Engine{DB: config.DB}, a, Agent, why); err != nil {
		return out, fmt.Errorf("revoke agent %s: %w", a.ID, err)
	}
	out.Changed = 1
	return out, nil
}

// conditions of an agent. One that is not enrolled is only asked whether it should be.
func conditions(a agent.Agent, desired string) []reconcile.Condition {
	trusted := reconcile.Condition{Type: "trusted", Status: reconcile.True, Reason: string(a.State), Threshold: 1}
	if a.State == agent.Quarantined {
		trusted.Status, trusted.Fault, trusted.Message = reconcile.False, reconcile.FaultUser, a.StateMessage
	}
	connected := reconcile.Condition{Type: "connected", Status: reconcile.True, Reason: string(a.Liveness()), Threshold: 1}
	current := reconcile.Condition{Type: "current", Status: reconcile.True, Reason: "version", Threshold: 1}
	credential := reconcile.Condition{Type: "credential", Status: reconcile.True, Reason: "valid", Threshold: 1}
	if a.State == agent.Enrolled {
		if a.Liveness() == agent.Silent {
			connected.Status, connected.Fault, connected.RetryHelps = reconcile.False, reconcile.FaultDependency, true
			connected.Message = "It sends no heartbeats. Check that the host runs and kloigos-agent is active there, and that it reaches the backends."
		}
		if desired != "" && a.AgentVersion != nil && *a.AgentVersion != desired {
			current.Status, current.Reason, current.Fault = reconcile.False, "behind", reconcile.FaultUser
			current.Message = fmt.Sprintf("It runs %s; %s belongs to the backends.", *a.AgentVersion, desired)
		}
		if a.ExpiresAt == nil || a.ExpiresAt.Before(time.Now()) {
			credential.Status, credential.Reason, credential.Fault, credential.RetryHelps = reconcile.False, "expired", reconcile.FaultDependency, true
			credential.Message = "Its credential has expired. It gets another one when it reaches a backend."
		}
	}
	return []reconcile.Condition{trusted, connected, current, credential}
}
