package app

import (
	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/area/watch/watchhttp"
	"kloigos/backend/internal/area/watch/watchwork"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/work"
)

// watchArea is notification channels.
func watchArea(p Parts) Area {
	rule := egress.Rule{Allowed: p.Config.ChannelNetworks, Denied: p.Config.DeniedNetworks}
	config := watchwork.Config{DB: p.DB, Keys: p.Keyset, Rule: rule}
	return Area{
		Nouns:    []work.Noun{watch.ChannelJobs},
		Kinds:    []work.Kind{watch.ChannelTest},
		Handlers: watchwork.Handlers(config),
		Routes:   watchhttp.Routes(watchhttp.Parts{Engine: p.Engine, Keys: p.Keyset, Kinds: p.Kinds, Rule: rule}),
		Policies: watchwork.Policies(config),
	}
}
