package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"kloigos/agent/release"
	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/area/agent/agenthttp"
	"kloigos/backend/internal/area/agent/agentwork"
	"kloigos/backend/internal/area/drift/driftwork"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/config"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/worker"
)

// agentArea is agents on hosts, and the health of hosts by their heartbeats.
func agentArea(p Parts) Area {
	desired := Version()
	if strings.HasPrefix(desired, "devel") || strings.HasPrefix(desired, "(") || strings.HasPrefix(desired, "v0.0.0-") { // no release: agents of any build belong to it
		desired = ""
	}
	http := agenthttp.New(agenthttp.Parts{
		DB: p.DB, Engine: p.Engine, Keys: p.Keyset, Backend: p.Backend, Desired: desired, Programs: programs(p.Config), DriftPolicy: driftwork.Drift,
	})
	return Area{
		Routes:   http.Routes,
		Run:      http.Run,
		Policies: agentwork.Policies(agentwork.Config{DB: p.DB, Desired: desired, Soak: p.Config.DeliverySoak, Probe: p.Probe, Ask: p.Ask}),
	}
}

// programs are those of agents, in the directory that is set or beside this program.
func programs(cfg config.Config) *agent.Programs {
	dir := cfg.AgentDir
	if dir == "" {
		if self, err := os.Executable(); err == nil {
			dir = filepath.Dir(self)
		}
	}
	return agent.NewPrograms(dir)
}

// releaseKeys are the public keys whose builds hosts take; none where none are set.
func releaseKeys(cfg config.Config) (release.Keys, error) {
	if cfg.AgentReleaseKeys == "" {
		return nil, nil
	}
	return release.LoadKeys(cfg.AgentReleaseKeys)
}

// agents is how jobs install the agents of hosts, and end them.
func (b *Backend) agents() worker.Agents {
	all := programs(b.cfg)
	keys := make([]string, 0, len(b.keys))
	for _, key := range b.keys {
		keys = append(keys, key.String())
	}
	return worker.Agents{
		Offer: func(architecture string) (inputs.HostAgent, string) {
			if b.cfg.AgentURL == "" {
				return inputs.HostAgent{}, "KLOIGOS_AGENT_URL is not set"
			}
			program, why := all.Of(architecture)
			return inputs.HostAgent{
				URL: b.cfg.AgentURL, CA: string(b.cfg.AgentCA), SHA256: program.SHA256, Size: program.Size, ReleaseKeys: keys,
			}, why
		},
		Token: func(ctx context.Context, host uuid.UUID) (string, error) {
			return agent.TokenForJob(ctx, kernel.Engine{DB: b.jobs.DB}, host, b.name)
		},
		Gone: func(ctx context.Context, tx *store.Tx, host uuid.UUID) error {
			return agent.TouchAgents(ctx, tx.Tx, host)
		},
	}
}

// probes asks for the job that reads hosts, on behalf of the policy that delivers versions. The intents are made after the areas.
func probes(intents **intent.Intents) func(ctx context.Context, workspace uuid.UUID, hosts []uuid.UUID) (uuid.UUID, error) {
	return func(ctx context.Context, workspace uuid.UUID, hosts []uuid.UUID) (uuid.UUID, error) {
		return (*intents).ProbeHosts(ctx, intent.By(audit.Actor{Kind: audit.Policy, Name: agentwork.UpdateDeliveries}).In(workspace), hosts)
	}
}
