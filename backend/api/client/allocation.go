package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListAllocations returns one page of allocations.
func (c *Client) ListAllocations(ctx context.Context, f api.AllocationFilter) (api.Page[api.Allocation], error) {
	return list[api.Allocation](ctx, c, "/allocations", f)
}

// AllAllocations yields the allocations of all pages.
func (c *Client) AllAllocations(ctx context.Context, f api.AllocationFilter) iter.Seq2[api.Allocation, error] {
	return all(func(cursor string) (api.Page[api.Allocation], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListAllocations(ctx, f)
	})
}

// CreateAllocation allocates a unit. Where none fits, the error is an
// *api.Problem with code no_capacity and Placement set.
func (c *Client) CreateAllocation(ctx context.Context, in api.CreateAllocation, opts ...Option) (a api.Allocation, jobID string, err error) {
	return long[api.Allocation](ctx, c, http.MethodPost, "/allocations", in, opts)
}

// GetAllocation shows an allocation.
func (c *Client) GetAllocation(ctx context.Context, id string) (api.Allocation, error) {
	return get[api.Allocation](ctx, c, pathOf("allocations", id), nil)
}

// ReplaceKeys replaces its SSH keys.
func (c *Client) ReplaceKeys(ctx context.Context, id string, body api.ReplaceKeys, opts ...Option) (a api.Allocation, jobID string, err error) {
	return long[api.Allocation](ctx, c, http.MethodPut, pathOf("allocations", id, "ssh-keys"), body, opts)
}

// MoveNetwork moves the unit to a network of its own; all sessions and services of its tenant end once.
func (c *Client) MoveNetwork(ctx context.Context, id string, opts ...Option) (a api.Allocation, jobID string, err error) {
	return long[api.Allocation](ctx, c, http.MethodPost, pathOf("allocations", id, "move-network"), nil, opts)
}

// Deallocate gives the unit back and wipes it.
func (c *Client) Deallocate(ctx context.Context, id string, body api.Deallocate, opts ...Option) (a api.Allocation, jobID string, err error) {
	return long[api.Allocation](ctx, c, http.MethodPost, pathOf("allocations", id, "deallocate"), body, opts)
}
