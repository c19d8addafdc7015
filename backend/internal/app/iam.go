package app

import (
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamhttp"
	"kloigos/backend/internal/area/iam/iamoidc"
	"kloigos/backend/internal/area/iam/iamstream"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
)

// iamArea is organizations, projects, workspaces, accounts, roles, grants and identity providers.
func iamArea(p Parts) Area {
	providers := &iamoidc.Client{Rule: egress.Rule{Allowed: p.Config.IdentityNetworks, Denied: p.Config.DeniedNetworks}}
	streams := egress.Rule{Allowed: p.Config.ChannelNetworks, Denied: p.Config.DeniedNetworks}
	return Area{
		Nouns:    iam.ScopeJobs(),
		Kinds:    []work.Kind{iam.ScopeDelete},
		Handlers: deletions(p).Handlers(),
		Policies: []reconcile.Policy{
			iamstream.Policy(iamstream.Config{DB: p.DB, Keys: p.Keyset, Rule: streams}),
			iamwork.Quotas(p.DB), iamwork.ExpiredLogins(p.DB), iamwork.ExpiredInvitations(p.DB), iamwork.ExpiredChallenges(p.DB),
		},
		Routes: iamhttp.Routes(iamhttp.Parts{Engine: p.Engine, Keys: p.Keyset, Release: p.Version, Providers: providers, Streams: streams, Web: p.Config.WebURL, Passkeys: iam.NewPasskeys(p.Config.WebURL, p.Keyset)}),

		NotReconciled: iam.NotReconciled(),
	}
}
