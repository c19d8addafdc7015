package app

import "kloigos/backend/internal/area/iam/iamhttp"

// iamArea is organizations, projects, workspaces, accounts, roles and grants.
func iamArea(p Parts) Area {
	return Area{Routes: iamhttp.Routes(iamhttp.Parts{Engine: p.Engine, Keys: p.Keyset, Release: p.Version})}
}
