package dns

import (
	"slices"
	"strings"
)

// ownerPrefix begins the first label of an ownership record.
const ownerPrefix = "_kloigos-"

// ownerWildcard follows it if the owned name is a wildcard. The asterisk itself would then be an inner label, which RFC 4592
// allows but which not every provider accepts.
const ownerWildcard = "wildcard-"

// ownerTTL is the TTL of ownership records in seconds. Only transfers read them.
const ownerTTL = 300

// ownerMark begins the text of an ownership record, with the version of its form.
const ownerMark = "kloigos1"

// maxOwnerText bounds the text of an ownership record in bytes.
const maxOwnerText = 255

// Owner says to whom a record set belongs. Each id has 1 to 64 letters, digits and hyphens.
type Owner struct {
	Installation string
	Zone         string // id of the zone
	Set          string // id of the record set
}

// OwnerName is where the ownership record of a record set lies: _kloigos-a.www.example.org. for the A records of
// www.example.org., _kloigos-wildcard-a.example.org. for those of *.example.org. Nothing may stand beside a CNAME record,
// so it lies below the name.
func OwnerName(name Name, recordType Type) Name {
	prefix := ownerPrefix
	if name.Wildcard() {
		prefix, name = prefix+ownerWildcard, name[len("*."):]
	}
	return Name(prefix+strings.ToLower(string(recordType))) + "." + name
}

// OwnedBy is the inverse of OwnerName. It reports false for a name that is not that of an ownership record.
func OwnedBy(owner Name) (name Name, recordType Type, ok bool) {
	label, parent, _ := strings.Cut(string(owner), ".")
	kind, ok := strings.CutPrefix(label, ownerPrefix)
	if !ok {
		return "", "", false
	}
	if inner, wildcard := strings.CutPrefix(kind, ownerWildcard); wildcard {
		kind, parent = inner, "*."+parent
		// Two asterisks cannot come from OwnerName.
		if strings.HasPrefix(parent, "*.*.") {
			return "", "", false
		}
	} else if parent == "" || strings.HasPrefix(parent, "*.") {
		return "", "", false
	}
	recordType = Type(strings.ToUpper(kind))
	if !slices.Contains(Types(), recordType) || kind != strings.ToLower(kind) {
		return "", "", false
	}
	return Name(parent), recordType, true
}

// Record is the ownership record of a record set.
func (o Owner) Record(name Name, recordType Type) RecordSet {
	text := ownerMark + " installation=" + o.Installation + " zone=" + o.Zone + " set=" + o.Set
	return RecordSet{Name: OwnerName(name, recordType), Type: TXT, TTL: ownerTTL, Values: []string{quote([]byte(text))}}
}

// ParseOwner reads the values of an ownership record. A server may send anything; whatever is not exactly one record of our
// form is refused. Unknown keys are ignored, so that a later version may add some. The error is a Refusal.
func ParseOwner(values []string) (Owner, error) {
	if len(values) != 1 {
		return Owner{}, refuse("An ownership record must have one value and has %d.", len(values))
	}
	text, err := TextOf(values[0])
	if err != nil || len(text) > maxOwnerText {
		return Owner{}, refuse("The ownership record cannot be read.")
	}
	words := strings.Split(text, " ")
	if words[0] != ownerMark {
		return Owner{}, refuse("The ownership record has an unknown form.")
	}
	found := make(map[string]string)
	for _, word := range words[1:] {
		key, id, ok := strings.Cut(word, "=")
		if _, twice := found[key]; !ok || twice {
			return Owner{}, refuse("The ownership record has an unknown form.")
		}
		found[key] = id
	}
	owner := Owner{found["installation"], found["zone"], found["set"]}
	return owner, owner.check()
}

func (o Owner) check() error {
	for _, id := range []string{o.Installation, o.Zone, o.Set} {
		if id == "" || len(id) > 64 || strings.ContainsFunc(id, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
		}) {
			return refuse("An id in an ownership record must have 1 to 64 letters, digits and hyphens.")
		}
	}
	return nil
}
