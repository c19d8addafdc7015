package dns

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Mode says how much of the difference is applied.
type Mode string

const (
	Sync       Mode = "sync"        // creates, updates and deletes
	UpsertOnly Mode = "upsert_only" // creates and updates; what is not desired any more stays
	Observe    Mode = "observe"     // changes nothing and tells the difference
)

// Modes lists the modes of a zone.
func Modes() []Mode { return []Mode{Sync, UpsertOnly, Observe} }

// Adoption says whether a record set that exists without our ownership record may be taken over. It is an explicit act for
// one record set.
type Adoption string

const (
	AdoptNone    Adoption = ""
	AdoptUnowned Adoption = "unowned" // nobody's ownership record is there
	AdoptForeign Adoption = "foreign" // even from another owner, or with an ownership record that cannot be read
)

// Desired is a record set of the intent.
type Desired struct {
	RecordSet
	ID      string // goes into the ownership record
	Applied bool   // an earlier synchronization wrote it, so its ownership record should be there
	Adopt   Adoption
}

// Settings of a zone that a difference depends on.
type Settings struct {
	Zone         Name
	ZoneID       string
	Installation string
	Mode         Mode
	Patterns     []Pattern // what the credential may change; empty for the whole zone
}

// Outcome is what a plan says of one record set. In mode observe it says what would be done.
type Outcome string

const (
	InSync         Outcome = "in_sync"
	Create         Outcome = "create"
	Update         Outcome = "update"
	Delete         Outcome = "delete"
	Adopt          Outcome = "adopt"
	Kept           Outcome = "kept"             // ours and not desired any more, but the mode does not delete
	Foreign        Outcome = "foreign"          // not ours and not desired: never touched
	AdoptionNeeded Outcome = "adoption_needed"  // desired, and there without an owner
	OwnerLost      Outcome = "owner_lost"       // we wrote it, and its ownership record is gone
	OwnerForeign   Outcome = "owner_foreign"    // desired, and another installation or zone owns it
	OwnerUnread    Outcome = "owner_unreadable" // desired, and its ownership record is not of our form
	Blocked        Outcome = "blocked"          // a CNAME record would stand beside others
	NotDelegated   Outcome = "not_delegated"    // outside the patterns of the credential
)

// Change is one update of a server: a record set together with its ownership record. Before and OwnerBefore are what must
// still be there; nil means that nothing may be. After and OwnerAfter are what will be; nil means nothing.
type Change struct {
	Action      Outcome // create, update, delete or adopt
	Name        Name
	Type        Type
	Before      *Stored
	After       *RecordSet
	OwnerBefore *Stored
	OwnerAfter  *RecordSet
}

// Result is what the plan says of one record set.
type Result struct {
	Name    Name
	Type    Type
	ID      string // of the desired record set, or "" if none is desired
	Outcome Outcome
	Text    string     // a plain sentence, where the outcome needs one
	Desired *RecordSet // nil if none is desired
	Actual  *RecordSet // nil if the server holds none
}

// Limits of the brake, as octoDNS has them.
const (
	brakeFrom    = 10 // owned record sets
	brakePercent = 30
)

// Brake asks for a confirmation: the plan updates or deletes many of the zone's owned record sets.
type Brake struct {
	Owned   int // record sets on the server that are ours
	Touched int // of these, how many the plan updates or deletes
	Percent int // the limit that Touched exceeds
}

// Plan is a difference. Its order depends on its input only. Changes are in the order in which they can be applied:
// deletions first, since a CNAME record needs its name for itself.
type Plan struct {
	Changes []Change
	Results []Result // one for each record set, sorted by name and type
	Brake   *Brake   // nil if no confirmation is needed
}

// Confirmation names the updates and deletions of owned record sets that a person has seen: one digest each, sorted. It
// covers every later plan that does not go beyond them, so a job that was killed halfway needs no second one, and a record
// set that was created in between does not void it.
type Confirmation []byte

// digestSize is how many bytes of a SHA-256 a digest has.
const digestSize = 16

// Confirmation is what a person has to confirm of this plan. It is empty if the plan updates and deletes nothing of ours.
func (p Plan) Confirmation() Confirmation {
	var digests [][]byte
	for _, change := range p.Changes {
		if change.touches() {
			// Strings, numbers and bytes only: this cannot fail.
			text, _ := json.Marshal(change)
			sum := sha256.Sum256(text)
			digests = append(digests, sum[:digestSize])
		}
	}
	slices.SortFunc(digests, bytes.Compare)
	return bytes.Join(digests, nil)
}

// touches reports whether the change updates or deletes a record set that is ours.
func (c Change) touches() bool { return c.Before != nil && (c.Action == Update || c.Action == Delete) }

// Checksum is a short name for the confirmation, which a person sends back.
func (c Confirmation) Checksum() string {
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:digestSize])
}

// Covers reports whether every change that the other asks for stands in this one.
func (c Confirmation) Covers(other Confirmation) bool {
	known := make(map[string]bool)
	for digest := range slices.Chunk(c, digestSize) {
		known[string(digest)] = true
	}
	for digest := range slices.Chunk(other, digestSize) {
		if !known[string(digest)] {
			return false
		}
	}
	return true
}

// setKey identifies a record set in its zone.
type setKey struct {
	name Name
	kind Type
}

func (r RecordSet) key() setKey { return setKey{r.Name, r.Type} }

func compareKeys(a, b setKey) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
}

// generated are types that a server makes itself (DNSSEC, the zone's own data). They are not listed.
var generated = []Type{"SOA", "RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "TYPE65534"}

// Difference compares the intent with what a server holds. It fails if two desired record sets have one name and type, if one
// is outside the zone, or if an id cannot stand in an ownership record.
func Difference(settings Settings, desired []Desired, actual []Stored) (Plan, error) {
	d := difference{
		Settings: settings,
		desired:  make(map[setKey]Desired), actual: make(map[setKey]Stored), owners: make(map[setKey]Stored),
	}
	if err := d.index(desired, actual); err != nil {
		return Plan{}, err
	}
	keys := make(map[setKey]bool)
	for key := range d.desired {
		keys[key] = true
	}
	for key := range d.actual {
		keys[key] = true
	}
	for key, owner := range d.owners {
		if keys[key] {
			continue
		}
		if _, ours, _ := d.ownership(&owner); ours {
			keys[key] = true
			continue
		}
		// Somebody's ownership record without its record set: only a foreign text.
		d.actual[owner.key()] = owner
		keys[owner.key()] = true
	}
	sorted := make([]setKey, 0, len(keys))
	for key := range keys {
		sorted = append(sorted, key)
	}
	slices.SortFunc(sorted, compareKeys)
	decisions := make([]decision, len(sorted))
	for i, key := range sorted {
		decisions[i] = d.decide(key)
	}
	d.block(decisions)
	return d.plan(decisions), nil
}

type difference struct {
	Settings
	desired map[setKey]Desired
	actual  map[setKey]Stored // without ownership records
	owners  map[setKey]Stored // ownership records by the set that they speak of
}

func (d *difference) index(desired []Desired, actual []Stored) error {
	for _, set := range desired {
		if _, twice := d.desired[set.key()]; twice {
			return refuse("%s has two record sets of type %s.", set.Name.Display(), set.Type)
		}
		if !set.Name.Within(d.Zone) {
			return refuse("%s is not in the zone %s.", set.Name.Display(), d.Zone.Display())
		}
		if err := d.owner(set.ID).check(); err != nil {
			return err
		}
		d.desired[set.key()] = set
	}
	for _, set := range actual {
		apexNS := set.Name == d.Zone && set.Type == NS
		if apexNS || slices.Contains(generated, set.Type) {
			continue
		}
		if name, kind, ok := OwnedBy(set.Name); ok && set.Type == TXT && name.Within(d.Zone) {
			d.owners[setKey{name, kind}] = set
			continue
		}
		d.actual[set.key()] = set
	}
	return nil
}

func (d *difference) owner(set string) Owner { return Owner{d.Installation, d.ZoneID, set} }

// ownership reads an ownership record: whose it is, whether it is ours, and whether it can be read.
func (d *difference) ownership(record *Stored) (owner Owner, ours, readable bool) {
	owner, err := ParseOwner(record.Values)
	return owner, err == nil && owner.Installation == d.Installation && owner.Zone == d.ZoneID, err == nil
}

// decision is the result of a record set with the change that it asks for.
type decision struct {
	Result
	change Change
	owned  bool // the server holds it, and it is ours
}

func (d *difference) decide(key setKey) decision {
	desired, wanted := d.desired[key]
	actual, exists := d.actual[key]
	record, recorded := d.owners[key]

	made := decision{Result: Result{Name: key.name, Type: key.kind}, change: Change{Name: key.name, Type: key.kind}}
	if wanted {
		made.ID = desired.ID
		made.Desired = &desired.RecordSet
		after := d.owner(desired.ID).Record(key.name, key.kind)
		made.change.After, made.change.OwnerAfter = &desired.RecordSet, &after
	}
	if exists {
		made.Actual = &actual.RecordSet
		made.change.Before = &actual
	}
	var owner Owner
	var ours, readable bool
	if recorded {
		made.change.OwnerBefore = &record
		owner, ours, readable = d.ownership(&record)
	}
	made.owned = exists && ours
	if (wanted || ours) && !Delegated(d.Patterns, key.name) {
		made.Outcome, made.Text = NotDelegated, "The credential of the zone may not change this name."
		return made
	}
	switch {
	case !wanted && !ours:
		made.Outcome = Foreign
		if readable {
			made.Text = "Owned by installation " + owner.Installation + ", zone " + owner.Zone + "."
		}
	case !wanted && d.Mode == UpsertOnly:
		made.Outcome = Kept
	case !wanted:
		made.Outcome = Delete
		if !exists {
			made.Text = "Only its ownership record is left."
		}
	case recorded && !ours:
		made.Outcome, made.Text = d.decideForeign(desired, exists, readable, owner)
	case !exists:
		made.Outcome = Create
		if ours {
			made.Text = "Somebody deleted it on the server."
		}
	case ours:
		made.Outcome = Update
		if desired.Equal(actual.RecordSet) && slices.Equal(made.change.OwnerAfter.Values, record.Values) {
			made.Outcome = InSync
		}
	case desired.Adopt != AdoptNone:
		made.Outcome = Adopt
	case desired.Applied:
		made.Outcome, made.Text = OwnerLost, "Its ownership record is gone from the server. Adopt it to go on."
	default:
		made.Outcome, made.Text = AdoptionNeeded, "The server already holds this record set, and nobody owns it. Adopt it to manage it here."
	}
	return made
}

// decideForeign decides on a desired record set whose ownership record is not ours.
func (d *difference) decideForeign(desired Desired, exists, readable bool, owner Owner) (Outcome, string) {
	switch {
	case desired.Adopt == AdoptForeign && exists:
		return Adopt, ""
	case desired.Adopt == AdoptForeign:
		return Create, ""
	case !readable:
		return OwnerUnread, "Its ownership record on the server cannot be read."
	case owner.Installation == d.Installation:
		return OwnerForeign, "Another zone of this installation owns it: " + owner.Zone + "."
	}
	return OwnerForeign, "Another installation owns it: " + owner.Installation + "."
}

// Writes reports whether the outcome leads to a change.
func (o Outcome) Writes() bool { return o == Create || o == Update || o == Delete || o == Adopt }

// block refuses what would make a CNAME record stand beside others once all changes are applied.
func (d *difference) block(decisions []decision) {
	byName := make(map[Name][]*decision)
	for i := range decisions {
		byName[decisions[i].Name] = append(byName[decisions[i].Name], &decisions[i])
	}
	for _, group := range byName {
		// What is there and stays comes first; then other types, then the CNAME record.
		for _, made := range group {
			if made.Outcome == Create && made.Type == CNAME && slices.ContainsFunc(group, func(other *decision) bool { return other != made && other.stays() }) {
				made.Outcome, made.Text = Blocked, "Other records stand at this name. A CNAME record cannot stand beside them."
			}
		}
		for _, made := range group {
			if made.Outcome == Create && made.Type != CNAME && slices.ContainsFunc(group, func(other *decision) bool { return other.Type == CNAME && other.stays() }) {
				made.Outcome, made.Text = Blocked, "A CNAME record stands at this name. No other record can stand beside it."
			}
		}
	}
}

// stays reports whether the record set will be on the server when all changes are applied.
func (m *decision) stays() bool {
	return m.Outcome == Create || m.Actual != nil && m.Outcome != Delete
}

func (d *difference) plan(decisions []decision) Plan {
	var plan Plan
	owned, touched := 0, 0
	for _, made := range decisions {
		plan.Results = append(plan.Results, made.Result)
		if made.owned {
			owned++
		}
		if !made.Outcome.Writes() || d.Mode == Observe {
			continue
		}
		made.change.Action = made.Outcome
		if made.change.touches() {
			touched++
		}
		plan.Changes = append(plan.Changes, made.change)
	}
	order := []Outcome{Delete, Update, Adopt, Create}
	slices.SortStableFunc(plan.Changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(order, a.Action), slices.Index(order, b.Action))
	})
	if owned >= brakeFrom && touched*100 > owned*brakePercent {
		plan.Brake = &Brake{Owned: owned, Touched: touched, Percent: brakePercent}
	}
	return plan
}

// String is the change in words for a log: "create www.example.org A".
func (c Change) String() string {
	return strings.Join([]string{string(c.Action), c.Name.Display(), string(c.Type)}, " ")
}
