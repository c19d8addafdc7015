package iamhttp

import (
	"context"
	"net/url"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
)

// registerCascades registers deletions of scopes with all that is in them. Their plans are like those of hosts.
func (h handlers) registerCascades() {
	for _, level := range []iam.Level{iam.Organizations, iam.Projects, iam.Workspaces} {
		httpapi.RegisterCascade(h.server, httpapi.Cascade{Noun: level.Noun, Find: func(ctx context.Context, text string) (httpapi.CascadeScope, error) {
			return h.cascadable(ctx, level, text)
		}})
	}
}

// deleteAllocations is needed beside the permissions to delete scopes.
const deleteAllocations = "project.workspace.allocation:delete"

// cascadePermissions are what somebody needs, at the scope that goes, to delete all that is in it.
var cascadePermissions = map[string][]string{
	iam.OrganizationNoun: {deleteOrganization, deleteProject, deleteWorkspace, deleteAllocations},
	iam.ProjectNoun:      {deleteProject, deleteWorkspace, deleteAllocations},
	iam.WorkspaceNoun:    {deleteWorkspace, deleteAllocations},
}

// cascadable finds a scope that the bearer may delete with all that is in it.
func (h handlers) cascadable(ctx context.Context, level iam.Level, text string) (httpapi.CascadeScope, error) {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	a, err := h.asker(ctx)
	if err != nil {
		return httpapi.CascadeScope{}, err
	}
	found, _, err := level.Find(ctx, h.server.DB().Reader, a.viewer, text)
	if err != nil {
		return httpapi.CascadeScope{}, err
	}
	for _, permission := range cascadePermissions[level.Noun] {
		if err := a.needs(permission, found); err != nil {
			return httpapi.CascadeScope{}, err
		}
	}
	return httpapi.CascadeScope{ID: found.ID, Version: found.Version, Shown: a.presentScope(found)}, nil
}
