package app

import (
	"kloigos/backend/internal/area/release"
	"kloigos/backend/internal/area/release/releasehttp"
	"kloigos/backend/internal/area/release/releasework"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/reconcile"
)

// releaseArea is deliveries of releases of Kloigos.
func releaseArea(p Parts) Area {
	rule := egress.Rule{Allowed: p.Config.ReleaseNetworks, Denied: p.Config.DeniedNetworks}
	proof := release.Proof{Soak: p.Config.DeliverySoak, Ask: releasework.Asker(rule)}
	return Area{
		Routes:   releasehttp.Routes(releasehttp.Parts{Engine: p.Engine, Rule: rule}),
		Policies: []reconcile.Policy{releasework.Policy(releasework.Config{DB: p.DB, Proof: proof})},
	}
}
