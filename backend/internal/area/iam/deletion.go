package iam

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Deletion is what it means to delete a scope with all that is in it.
type Deletion struct {
	Top    Scope
	Scopes []Scope // that go, from the inside out; the last one is Top
	Parts  []Part  // that go with them
	Stops  []Stop  // what does not go by itself; nothing is deleted while there is one
}

// Part is an object that goes with a scope.
type Part struct {
	Noun    string    `db:"noun"`
	ID      uuid.UUID `db:"id"`
	Name    string    `db:"name"`
	State   string    `db:"state"`    // "" of what has none
	ScopeID uuid.UUID `db:"scope_id"` // that it is in
}

// Stop is a part that does not go by itself.
type Stop struct {
	Part
	Why string // a sentence
}

// Bounds of one deletion.
const (
	mostScopesDeleted = 200
	mostPartsDeleted  = 5000
)

func tooMuch(s Scope) error {
	return fault.Conflictf("too_much_in_scope", "The %s %s has more than %d scopes, or more than %d objects. Delete some of what is in it first.",
		s.Kind, s.Path(), mostScopesDeleted, mostPartsDeleted)
}

// Nouns of what lives in a workspace, in the order in which they go.
const (
	PartCluster    = "cluster"
	PartAllocation = "allocation"
	PartRecordSet  = "dns_record_set"
	PartZone       = "dns_zone"
	PartRemedy     = "remedy"
	PartChannel    = "channel"
	PartHost       = "host"
	PartAddress    = "address"
	PartNetwork    = "network"
	partDelivery   = "update_delivery"
	partZoneGrant  = "dns_zone_grant"
	partNetGrant   = "network_grant"
)

// Workspaces are those that go.
func (d Deletion) Workspaces() (ids []uuid.UUID) {
	for _, s := range d.Scopes {
		if s.Kind == WorkspaceNoun {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// IDs are those of all scopes that go.
func (d Deletion) IDs() (ids []uuid.UUID) {
	for _, s := range d.Scopes {
		ids = append(ids, s.ID)
	}
	return ids
}

// Anchor is the workspace that the plan and the job of the deletion stand in.
func (d Deletion) Anchor() (uuid.UUID, error) {
	if in := d.Workspaces(); len(in) > 0 {
		return in[0], nil
	}
	return uuid.Nil, fault.Conflictf("no_workspace", "There is no workspace in the %s %s, so nothing lives in it and no plan is needed. Confirm its name to delete it at once.", d.Top.Kind, d.Top.Path())
}

// StopsNow tells why nothing of it can be deleted; nil if it can.
func (d Deletion) StopsNow() error {
	if len(d.Stops) == 0 {
		return nil
	}
	return fault.Conflictf("scope_stays", "The %s %s stops the deletion. %s", d.Stops[0].Noun, d.Stops[0].Name, d.Stops[0].Why)
}

// Approvers are the scopes whose approvers decide about the deletion: the one that goes, and those above it.
func (d Deletion) Approvers() []uuid.UUID {
	ids := []uuid.UUID{d.Top.ID}
	if d.Top.Kind == WorkspaceNoun {
		ids = append(ids, *d.Top.ProjectID)
	}
	if d.Top.Kind != OrganizationNoun {
		ids = append(ids, d.Top.OrganizationID)
	}
	return ids
}

// Path names the scope that something of a deletion is in.
func (d Deletion) Path(id uuid.UUID) string {
	for _, s := range d.Scopes {
		if s.ID == id {
			return s.Path()
		}
	}
	return ""
}

// Digest is another one as soon as something else would go, or what goes is called otherwise.
func (d Deletion) Digest() string {
	sum := sha256.New()
	for _, s := range d.Scopes {
		_, _ = fmt.Fprintf(sum, "%q %s %q\n", s.Kind, s.ID, s.Path()) // never fails
	}
	for _, p := range d.Parts {
		_, _ = fmt.Fprintf(sum, "%q %s %q %s\n", p.Noun, p.ID, p.Name, p.ScopeID)
	}
	for _, p := range d.Stops {
		_, _ = fmt.Fprintf(sum, "stop %q %s %q %s\n", p.Noun, p.ID, p.Name, p.ScopeID)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// sort tells apart what goes and what stops a deletion.
func (d *Deletion) sort(parts []Part) {
	for _, s := range d.Scopes {
		switch {
		case slices.Contains(first, s.ID):
			d.Stops = append(d.Stops, s.stop("It came with the installation and stays."))
		case s.suspended():
			d.Stops = append(d.Stops, s.stop("It is suspended. Resume it first."))
		case s.State == ScopeDeleting:
			d.Stops = append(d.Stops, s.stop("It is being deleted already."))
		}
	}
	for _, p := range parts {
		if why := p.stays(); why != "" {
			d.Stops = append(d.Stops, Stop{p, why})
		} else {
			d.Parts = append(d.Parts, p)
		}
	}
}

func (s Scope) stop(why string) Stop {
	return Stop{Part{Noun: s.Kind, ID: s.ID, Name: s.Path(), State: string(s.State), ScopeID: s.ID}, why}
}

// emptyHosts are the states of hosts on which there is nothing of ours.
var emptyHosts = []string{"registered", "awaiting_host_key", "probed", "decommissioned", "lost"}

// stays says why a part does not go by itself; "" if it does. A host with units may have tenants of others, and taking Kloigos off a
// machine is a decision of its own: whoever owns the host decommissions it first.
func (p Part) stays() string {
	switch {
	case p.Noun == PartHost && !slices.Contains(emptyHosts, p.State):
		return fmt.Sprintf("The host is %s. Decommission and remove it first, or declare it lost.", p.State)
	case p.Noun == PartAddress && p.State == "quarantined":
		return "A host that was declared lost may still use the address. Release it first."
	case p.Noun == partZoneGrant && p.State == "in_use":
		return "Other workspaces have names in the zone. Revoke the grant and remove their names first."
	case p.Noun == partNetGrant && p.State == "in_use":
		return "Hosts of other workspaces have addresses of the network. Revoke the grant, and wait until their allocations end."
	case p.Noun == partDelivery:
		return "The delivery has not ended. Roll it back, or let it end first."
	}
	return ""
}

// Ended tells whether the part's own removal came to an end, and failed.
func (p Part) Ended() bool {
	return p.Noun == PartAllocation && p.State == "deallocation_failed" || p.Noun == PartCluster && p.State == "delete_failed"
}

// Under tells whether its removal is under way.
func (p Part) Under() bool { return p.State == "deallocating" || p.State == "deleting" }
