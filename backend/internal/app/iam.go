package app

import (
	"context"
	"encoding/json"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamhttp"
	"kloigos/backend/internal/area/iam/iamoidc"
	"kloigos/backend/internal/area/iam/iamstream"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/worker"
)

// iamArea is organizations, projects, workspaces, accounts, roles, grants and identity providers.
func iamArea(p Parts) Area {
	providers := &iamoidc.Client{Rule: egress.Rule{Allowed: p.Config.IdentityNetworks, Denied: p.Config.DeniedNetworks}}
	streams := egress.Rule{Allowed: p.Config.ChannelNetworks, Denied: p.Config.DeniedNetworks}
	keys := sshKeys(p)
	return Area{
		Nouns:    iam.ScopeJobs(),
		Kinds:    []work.Kind{iam.ScopeDelete, iam.SSHKeyDeploy, iam.SSHKeyWithdraw},
		Handlers: handlers(deletions(p).Handlers(), keys.Handlers()),
		Policies: []reconcile.Policy{
			iamstream.Policy(iamstream.Config{DB: p.DB, Keys: p.Keyset, Rule: streams}),
			iamwork.Quotas(p.DB), iamwork.ExpiredLogins(p.DB), iamwork.ExpiredInvitations(p.DB), iamwork.ExpiredChallenges(p.DB), keys.Policy(),
		},
		Routes: iamhttp.Routes(iamhttp.Parts{Engine: p.Engine, Keys: p.Keyset, Release: p.Version, Providers: providers, Streams: streams, Web: p.Config.WebURL, Passkeys: iam.NewPasskeys(p.Config.WebURL, p.Keyset)}),

		NotReconciled: iam.NotReconciled(),
	}
}

// sshKeys replace the SSH keys of organizations.
func sshKeys(p Parts) iamwork.SSHKeys {
	return iamwork.SSHKeys{
		DB: p.DB, Keys: p.Keyset, Kinds: p.Kinds, LogIn: p.LogIn,
		Play: func(ctx context.Context, a *work.Attempt, play iamwork.HostPlay) (json.RawMessage, error) {
			return p.Play(ctx, a, worker.HostPlay{Host: play.Host, Playbook: play.Playbook, File: play.File, Vars: play.Vars, Secrets: play.Secrets})
		},
	}
}
