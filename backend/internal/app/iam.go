package app

import (
	"kloigos/backend/internal/area/iam/iamhttp"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/kernel/reconcile"
)

// iamArea is organizations, projects, workspaces, accounts, roles and grants.
func iamArea(p Parts) Area {
	return Area{
		Policies: []reconcile.Policy{iamwork.Quotas(p.DB), iamwork.ExpiredLogins(p.DB)},
		Routes:   iamhttp.Routes(iamhttp.Parts{Engine: p.Engine, Keys: p.Keyset, Release: p.Version}),
	}
}
