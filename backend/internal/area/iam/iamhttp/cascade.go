package iamhttp

import (
	"context"
	"net/url"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
)

// registerCascades registers deletions of scopes with all that is in them. Their plans are like those of hosts.
func registerCascades(h handlers) {
	for _, level := range []iam.Level{iam.Organizations, iam.Projects, iam.Workspaces} {
		httpapi.RegisterCascade(h.server, httpapi.Cascade{Noun: level.Noun, Find: func(ctx context.Context, text string) (httpapi.CascadeScope, error) {
			return h.cascadable(ctx, level, text)
		}})
	}
}

// deleteParts are needed for what lives in the workspaces: whoever may not delete a host can't have it deleted so.
var deleteParts = []string{
	"project.workspace.allocation:delete", "project.workspace.cluster:delete", "project.workspace.dns_record_set:delete",
	"project.workspace.dns_zone:delete", "project.workspace.remedy:delete", "project.workspace.channel:delete", "project.workspace.host:delete",
	"project.workspace.address:delete", "project.workspace.network:delete",
}

// cascadePermissions are needed at a scope to delete it with all that is in it, by its kind.
var cascadePermissions = map[string][]string{
	iam.OrganizationNoun: append([]string{deleteOrganization, deleteProject, deleteWorkspace}, deleteParts...),
	iam.ProjectNoun:      append([]string{deleteProject, deleteWorkspace}, deleteParts...),
	iam.WorkspaceNoun:    append([]string{deleteWorkspace}, deleteParts...),
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
