package iam

import (
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// HostGrantNoun names grants of hosts in events and problems.
const HostGrantNoun = "host_grant"

// MaxGrantedUnits is the most units that a grant can be limited to; a host has fewer.
const MaxGrantedUnits = 1024

// HostGrant lets a scope place allocations on a host of another workspace.
type HostGrant struct {
	ID          uuid.UUID  `db:"id"`
	WorkspaceID uuid.UUID  `db:"workspace_id"` // of the host
	HostID      uuid.UUID  `db:"host_id"`
	Host        string     `db:"host"`
	Scope       string     `db:"scope"` // noun of the scope
	ScopeID     uuid.UUID  `db:"scope_id"`
	Path        string     `db:"path"`  // of the scope
	Units       *int64     `db:"units"` // at once; nil: the whole host
	InUse       int64      `db:"in_use"`
	Version     int64      `db:"version"`
	CreatedBy   string     `db:"created_by"`
	CreatedAt   time.Time  `db:"created_at"`
	UpdatedAt   time.Time  `db:"updated_at"`
	RevokedAt   *time.Time `db:"revoked_at"`
}

// HostGrantDraft is a grant as somebody asks for it.
type HostGrantDraft struct {
	Units *int64 // nil: the whole host
}

func (d HostGrantDraft) check() error {
	var bad fault.Invalid
	if d.Units != nil && (*d.Units < 1 || *d.Units > MaxGrantedUnits) {
		bad.Add("units", "Use 1 to %d units, or none for the whole host.", MaxGrantedUnits)
	}
	return bad.OrNil()
}

// CanChange tells why a grant can't be changed or revoked; nil if it can.
func (g HostGrant) CanChange() error {
	if g.RevokedAt != nil {
		return fault.Conflictf("host_grant_revoked", "The grant is revoked. It ends with the last allocation that it let in.")
	}
	return nil
}

func (g HostGrant) facts() map[string]any {
	facts := map[string]any{"host": g.Host, "scope": g.Path}
	if g.Units != nil {
		facts["units"] = *g.Units
	}
	return facts
}

// SharedHost is a host of another workspace as a workspace sees it that may use it.
type SharedHost struct {
	ID        uuid.UUID `db:"id"`
	Name      string    `db:"name"`
	Region    string    `db:"region"`
	Zone      string    `db:"zone"`
	Available bool      `db:"available"` // takes allocations now
	Units     *int64    `db:"units"`     // that the grants let in at once; nil: the whole host
	InUse     int64     `db:"in_use"`    // of this workspace
	Free      int64     `db:"free"`      // that this workspace could get now
}
