package intent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/store"
)

// borrowAddress takes an address of one of the networks that a host names by their ids, those of other workspaces. They are
// looked at in one order by all requests, because each holds the grants of those that it looked at.
func borrowAddress(ctx context.Context, tx *store.Tx, allocation uuid.UUID, networks []string, workspace uuid.UUID) (address, name string, err error) {
	for _, n := range slices.Sorted(slices.Values(networks)) {
		id, ok := network.SharedID(n)
		if !ok {
			continue
		}
		from, err := iam.Lend(ctx, tx.Tx, workspace, id)
		if errors.Is(err, iam.ErrNoNetworkGrant) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		address, ok, err := tx.ReserveAddress(ctx, from.WorkspaceID, from.Name, allocation)
		if err != nil {
			return "", "", fmt.Errorf("reserve address: %w", err)
		}
		if ok {
			return address, n, tx.LendAddress(ctx, allocation, from.ID)
		}
	}
	return "", "", nil
}

// takeThisAddress takes the address that a plan proposed; false if it can't be had any more.
func takeThisAddress(ctx context.Context, tx *store.Tx, allocation uuid.UUID, p store.Proposal, unit store.Picked) (bool, error) {
	if !unit.Lent {
		return tx.ReserveThisAddress(ctx, unit.WorkspaceID, p.Network, p.Address, allocation)
	}
	id, ok := network.SharedID(p.Network)
	if !ok {
		return false, nil
	}
	from, err := iam.Lend(ctx, tx.Tx, unit.WorkspaceID, id)
	if errors.Is(err, iam.ErrNoNetworkGrant) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if ok, err = tx.ReserveThisAddress(ctx, from.WorkspaceID, from.Name, p.Address, allocation); !ok || err != nil {
		return ok, err
	}
	return true, tx.LendAddress(ctx, allocation, from.ID)
}
