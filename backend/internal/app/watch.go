package app

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/area/watch/watchhttp"
	"kloigos/backend/internal/area/watch/watchwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/work"
)

// watchArea is notification channels, and remedies.
func watchArea(p Parts) Area {
	rule := egress.Rule{Allowed: p.Config.ChannelNetworks, Denied: p.Config.DeniedNetworks}
	config := watchwork.Config{DB: p.DB, Keys: p.Keyset, Rule: rule, Jobs: remedyJobs(p)}
	return Area{
		Nouns:    []work.Noun{watch.ChannelJobs},
		Kinds:    []work.Kind{watch.ChannelTest},
		Handlers: watchwork.Handlers(config),
		Routes: routes(
			watchhttp.Routes(watchhttp.Parts{Engine: p.Engine, Keys: p.Keyset, Kinds: p.Kinds, Rule: rule}),
			watchhttp.RemedyRoutes(p.Engine, config.Jobs.Kinds()),
		),
		Policies: watchwork.Policies(config),
	}
}

// remedyJobs are the jobs that remedies may ask for.
func remedyJobs(p Parts) watchwork.Jobs {
	return watchwork.Jobs{
		domain.HostLifecycle.Noun: hostJobs(p.Intents),
		dns.ZoneNoun:              {dns.ZoneSync.Name: zoneSync(p)},
	}
}

func zoneSync(p Parts) watchwork.Ask {
	return func(ctx context.Context, by audit.Actor, workspace, id uuid.UUID) (job uuid.UUID, err error) {
		zone, err := dns.ZoneByID(ctx, p.DB.Reader, id)
		if err == nil && zone.WorkspaceID != workspace {
			err = fault.ErrNotFound
		}
		if err != nil {
			return uuid.Nil, err
		}
		err = p.Engine.Do(ctx, kernel.Call{Actor: by, Workspace: workspace}, func(tx *kernel.Tx) (err error) {
			job, err = dns.AskSync(ctx, tx, p.Kinds, zone)
			return err
		})
		return job, err
	}
}

// hostJobs are those about hosts. The intents are made after the areas.
func hostJobs(intents **intent.Intents) map[string]watchwork.Ask {
	return map[string]watchwork.Ask{
		string(domain.KindHostProbe): func(ctx context.Context, by audit.Actor, workspace, host uuid.UUID) (uuid.UUID, error) {
			return (*intents).ProbeAsRemedy(ctx, intent.By(by).In(workspace), host)
		},
		string(domain.KindHostInitialize): func(ctx context.Context, by audit.Actor, workspace, host uuid.UUID) (uuid.UUID, error) {
			return (*intents).InitializeAsRemedy(ctx, intent.By(by).In(workspace), host)
		},
	}
}
