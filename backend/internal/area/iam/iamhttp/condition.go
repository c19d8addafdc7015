package iamhttp

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
)

// listObjectConditions lists what policies found of an object. The object is in the workspace of the request, where the
// caller has the permission; one of another workspace is not found.
func (h handlers) listObjectConditions(ctx context.Context, in *struct{ api.ObjectConditionFilter }) (*httpapi.Object[api.Page[api.Condition]], error) {
	object, ok := httpapi.ID(in.Object)
	if !ok {
		return nil, httpapi.BadField("object", "must be an id")
	}
	workspace, err := iam.WorkspaceOf(ctx, h.server.DB().Reader, object)
	if err != nil {
		return nil, err
	}
	if workspace != httpapi.PlaceOf(ctx).Workspace {
		return nil, fault.ErrNotFound
	}
	return httpapi.ConditionsOf(ctx, h.server, in.Noun, object)
}
