package iam

import (
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/fault"
)

// ZoneGrantNoun names grants of DNS zones in events and problems.
const ZoneGrantNoun = "dns_zone_grant"

// ZoneGrant lets a scope have names in a DNS zone of another workspace.
type ZoneGrant struct {
	ID          uuid.UUID  `db:"id"`
	WorkspaceID uuid.UUID  `db:"workspace_id"` // of the zone
	ZoneID      uuid.UUID  `db:"zone_id"`
	Zone        dns.Name   `db:"zone"`
	Scope       string     `db:"scope"` // noun of the scope
	ScopeID     uuid.UUID  `db:"scope_id"`
	Path        string     `db:"path"`   // of the scope
	Suffix      dns.Name   `db:"suffix"` // names are this one or end with it
	InUse       int64      `db:"in_use"` // record sets
	Version     int64      `db:"version"`
	CreatedBy   string     `db:"created_by"`
	CreatedAt   time.Time  `db:"created_at"`
	UpdatedAt   time.Time  `db:"updated_at"`
	RevokedAt   *time.Time `db:"revoked_at"`
}

// ZoneGrantDraft is a grant as somebody asks for it.
type ZoneGrantDraft struct {
	Suffix string // relative to the zone or absolute; "" for the whole zone
}

// suffixIn is the suffix that a draft means in a zone.
func (d ZoneGrantDraft) suffixIn(zone dns.Name) (dns.Name, error) {
	if d.Suffix == "" {
		return zone, nil
	}
	var bad fault.Invalid
	name, err := dns.ParseNameIn(zone, d.Suffix)
	bad.Check("suffix", err)
	if err == nil && name.Wildcard() {
		bad.Add("suffix", "Name the part of the zone without a wildcard: all names that end with it are granted.")
	}
	return name, bad.OrNil()
}

// CanChange tells why a grant can't be changed or revoked; nil if it can.
func (g ZoneGrant) CanChange() error {
	if g.RevokedAt != nil {
		return fault.Conflictf("dns_zone_grant_revoked", "The grant is revoked. It ends with the last name that it let in.")
	}
	return nil
}

// CanRemoveNames tells why the names that a grant let in can't be removed; nil if they can.
func (g ZoneGrant) CanRemoveNames() error {
	if g.RevokedAt == nil {
		return fault.Conflictf("dns_zone_grant_counts", "The grant counts. Revoke it first: those who have names there can move them until you remove them.")
	}
	return nil
}

func (g ZoneGrant) facts() map[string]any {
	return map[string]any{"zone": g.Zone.Display(), "scope": g.Path, "suffix": g.Suffix.Display()}
}
