package iam

import (
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// NetworkGrantNoun names grants of networks in events and problems.
const NetworkGrantNoun = "network_grant"

// MaxGrantedAddresses is the most addresses that a grant can be limited to: those of the widest range.
const MaxGrantedAddresses = 1 << 24

// NetworkGrant lets hosts of a scope carry a network of another workspace, and their allocations take addresses of its pool.
type NetworkGrant struct {
	ID          uuid.UUID  `db:"id"`
	WorkspaceID uuid.UUID  `db:"workspace_id"` // of the network
	NetworkID   uuid.UUID  `db:"network_id"`
	Network     string     `db:"network"`
	Scope       string     `db:"scope"` // noun of the scope
	ScopeID     uuid.UUID  `db:"scope_id"`
	Path        string     `db:"path"`      // of the scope
	Addresses   *int64     `db:"addresses"` // at once; nil: the whole pool
	InUse       int64      `db:"in_use"`    // until they are free again
	Version     int64      `db:"version"`
	CreatedBy   string     `db:"created_by"`
	CreatedAt   time.Time  `db:"created_at"`
	UpdatedAt   time.Time  `db:"updated_at"`
	RevokedAt   *time.Time `db:"revoked_at"`
}

// NetworkGrantDraft is a grant as somebody asks for it.
type NetworkGrantDraft struct {
	Addresses *int64 // nil: the whole pool
}

func (d NetworkGrantDraft) check() error {
	var bad fault.Invalid
	if d.Addresses != nil && (*d.Addresses < 1 || *d.Addresses > MaxGrantedAddresses) {
		bad.Add("addresses", "Use 1 to %d addresses, or none for the whole pool.", MaxGrantedAddresses)
	}
	return bad.OrNil()
}

// CanChange tells why a grant can't be changed or revoked; nil if it can.
func (g NetworkGrant) CanChange() error {
	if g.RevokedAt != nil {
		return fault.Conflictf("network_grant_revoked", "The grant is revoked. It ends when the last address that it gave is free again.")
	}
	return nil
}

func (g NetworkGrant) facts() map[string]any {
	facts := map[string]any{"network": g.Network, "scope": g.Path}
	if g.Addresses != nil {
		facts["addresses"] = *g.Addresses
	}
	return facts
}

// SharedNetwork is a network of another workspace as a workspace sees it whose hosts may carry it.
type SharedNetwork struct {
	ID           uuid.UUID `db:"id"`
	Name         string    `db:"name"`
	CIDR         string    `db:"cidr"` // "" for any address
	Organization string    `db:"organization"`
	Addresses    *int64    `db:"addresses"` // that the grants give at once; nil: the whole pool
	InUse        int64     `db:"in_use"`    // of this workspace
	Free         int64     `db:"free"`      // that this workspace could get now
	Hosts        int64     `db:"hosts"`     // of this workspace that carry it
}
