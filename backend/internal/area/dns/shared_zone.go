package dns

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// SharedZoneNoun names zones of other workspaces in events and problems.
const SharedZoneNoun = "shared_dns_zone"

// ErrGrantEnded says that a zone of another workspace takes no names of this one any more.
var ErrGrantEnded = fault.Conflictf("dns_zone_grant_ended", "The zone is not granted to this workspace any more. What is there can only be deleted.")

var errNamesAlready = fault.Conflictf("dns_zone_names", "Another zone names the allocations of this workspace. Take that from it first.")

// SharedZone is a zone of another workspace as a workspace sees it that may have names there: without its server and its key.
type SharedZone struct {
	ID               uuid.UUID  `db:"id"` // of the grant
	ZoneID           uuid.UUID  `db:"zone_id"`
	WorkspaceID      uuid.UUID  `db:"workspace_id"` // that may use it
	Name             Name       `db:"name"`
	Suffix           Name       `db:"suffix"` // names are this one or end with it
	Organization     string     `db:"organization"`
	State            ZoneState  `db:"state"`
	Mode             Mode       `db:"mode"`
	NegativeTTL      int64      `db:"negative_ttl"` // seconds
	SyncedAt         *time.Time `db:"synced_at"`
	InUse            int64      `db:"in_use"` // record sets of this workspace
	NamesAllocations bool       `db:"names_allocations"`
	RevokedAt        *time.Time `db:"revoked_at"`
	CreatedAt        time.Time  `db:"created_at"`
}

// CanName tells why the zone cannot begin to name allocations; nil if it can.
func (z SharedZone) CanName() error {
	switch {
	case z.RevokedAt != nil:
		return ErrGrantEnded
	case z.NamesAllocations:
		return fault.Conflictf("dns_zone_names", "The zone names the allocations of this workspace already.")
	}
	return nil
}

// CanStopNaming tells why the zone cannot cease to name allocations; nil if it can.
func (z SharedZone) CanStopNaming() error {
	if !z.NamesAllocations {
		return fault.Conflictf("dns_zone_names_not", "The zone does not name the allocations of this workspace.")
	}
	return nil
}

// zoneGrant is a grant of a zone that lets a workspace in.
type zoneGrant struct {
	ID     uuid.UUID `db:"id"`
	Suffix Name      `db:"suffix"`
}

// allows says why a grant of a zone does not allow a record set; nil if it does. Who may use the whole zone must not hide what
// others have in it: a delegation hides all names below it, and a wildcard answers for those that are not there yet.
func (g zoneGrant) allows(zone Name, set RecordSet) error {
	switch {
	case !set.Name.Within(g.Suffix):
		return Problems{{"name", fmt.Sprintf("The zone is granted for %s and names that end with it.", g.Suffix.Display())}}.invalid()
	case g.Suffix == zone && set.Type == NS:
		return Problems{{"type", "The whole zone is granted. NS record sets need a grant for a part of it."}}.invalid()
	case g.Suffix == zone && set.Name.Wildcard():
		return Problems{{"name", "The whole zone is granted. Wildcards need a grant for a part of it."}}.invalid()
	}
	return nil
}
