package dns

import (
	"fmt"
	"slices"
	"strings"

	"kloigos/backend/internal/kernel/fault"
)

// Type is the type of a record set, as in "AAAA".
type Type string

// The types that a record set of ours may have. A server may hold others; those stay as they are.
const (
	A     Type = "A"
	AAAA  Type = "AAAA"
	CAA   Type = "CAA"
	CNAME Type = "CNAME"
	MX    Type = "MX"
	NS    Type = "NS"
	PTR   Type = "PTR"
	SRV   Type = "SRV"
	TXT   Type = "TXT"
)

// Types lists the types that a record set of ours may have.
func Types() []Type { return []Type{A, AAAA, CAA, CNAME, MX, NS, PTR, SRV, TXT} }

// Bounds of a record set.
const (
	// MinTTL in seconds. Many resolvers do not respect a shorter time, and each query would reach the servers.
	MinTTL = 30
	// MaxTTL in seconds, a week. A wrong value stays with resolvers for that long.
	MaxTTL = 604800
	// MaxValues of a record set.
	MaxValues = 100
	// maxText is the longest TXT value in bytes.
	maxText = 4096
	// maxData bounds the data of all values in bytes: an update holds it twice in 64 KiB.
	maxData = 16384
)

// RecordSet is all records of one name and type (RFC 2181, section 5). Its values are canonical, sorted and distinct, so two
// sets are the same exactly if their fields are equal.
type RecordSet struct {
	Name   Name
	Type   Type
	TTL    uint32   // seconds
	Values []string // canonical, see Canonical
}

// Equal reports whether name, type, TTL and values are the same.
func (r RecordSet) Equal(other RecordSet) bool {
	return r.Name == other.Name && r.Type == other.Type && r.TTL == other.TTL && slices.Equal(r.Values, other.Values)
}

// Stored is a record set as a server holds it. Rdata is the data of each record on the wire, uncompressed and in no order:
// an update compares with it exactly, where values with the same meaning may differ (case, splits of a text).
type Stored struct {
	RecordSet
	Rdata [][]byte
}

// Draft is a record set as a user writes it.
type Draft struct {
	Name   string // relative to the zone or absolute, see ParseNameIn
	Type   string
	TTL    int // seconds
	Values []string
}

// Problem is a mistake in a draft. Field is "name", "type", "ttl", "values" or "values[2]". Text is a plain sentence.
type Problem struct{ Field, Text string }

// Problems are all mistakes of a draft.
type Problems []Problem

func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Field + ": " + problem.Text
	}
	return strings.Join(texts, " ")
}

// Check returns the record set that the draft describes in a zone, or all of its mistakes. It does not see other record
// sets; CheckBeside does.
func (d Draft) Check(zone Name) (RecordSet, Problems) {
	var problems Problems
	add := func(field string, err error) { problems = append(problems, Problem{field, err.Error()}) }

	set := RecordSet{Type: Type(strings.ToUpper(strings.TrimSpace(d.Type)))}
	known := slices.Contains(Types(), set.Type)
	if !known {
		add("type", refuse("%q is not supported. Supported types: %s.", d.Type, joinTypes()))
	}
	name, err := ParseNameIn(zone, d.Name)
	if err == nil && known {
		err = checkName(zone, name, set.Type)
	}
	if err != nil {
		add("name", err)
	}
	set.Name = name
	if d.TTL < MinTTL || d.TTL > MaxTTL {
		add("ttl", refuse("The TTL must be between %d seconds and %d seconds (a week). Resolvers ignore shorter times, and a mistake with a longer one could not be taken back.", MinTTL, MaxTTL))
	} else {
		set.TTL = uint32(d.TTL)
	}
	if known {
		set.Values, problems = d.checkValues(set.Name, set.Type, problems)
	}
	if len(problems) > 0 {
		return RecordSet{}, problems
	}
	return set, nil
}

func joinTypes() string {
	var names []string
	for _, known := range Types() {
		names = append(names, string(known))
	}
	return strings.Join(names, ", ")
}

// checkName holds a name against what its type allows.
func checkName(zone, name Name, recordType Type) error {
	if name == zone && (recordType == CNAME || recordType == NS) {
		return refuse("A %s record cannot stand at the apex of the zone.", recordType)
	}
	if name.Wildcard() && recordType == NS {
		return refuse("An NS record cannot stand at a wildcard (RFC 4592, section 4.2).")
	}
	for label := range strings.SplitSeq(string(name), ".") {
		if strings.HasPrefix(label, ownerPrefix) {
			return refuse("Labels that begin with %s are reserved for ownership records.", ownerPrefix)
		}
	}
	if octets := OwnerName(name, recordType).octets(); octets > maxName {
		return refuse("The name is too long: its ownership record would have %d octets. At most %d are allowed.", octets, maxName)
	}
	return nil
}

func (d Draft) checkValues(name Name, recordType Type, problems Problems) ([]string, Problems) {
	add := func(field, text string) { problems = append(problems, Problem{field, text}) }
	switch {
	case len(d.Values) == 0:
		add("values", "At least one value is needed.")
	case len(d.Values) > MaxValues:
		add("values", fmt.Sprintf("There are %d values. At most %d are allowed.", len(d.Values), MaxValues))
		return nil, problems
	case recordType == CNAME && len(d.Values) > 1:
		add("values", "A CNAME record has exactly one value.")
	}
	var values []string
	size := 0
	for i, text := range d.Values {
		field := indexed("values", i)
		data, err := Rdata(recordType, text)
		if err != nil {
			add(field, err.Error())
			continue
		}
		value, err := FromRdata(recordType, data)
		switch {
		case err != nil:
			add(field, err.Error())
		case recordType == CNAME && value == string(name):
			add(field, "A CNAME record cannot point to itself.")
		case slices.Contains(values, value):
			add(field, fmt.Sprintf("The value %s is there twice.", value))
		default:
			values = append(values, value)
			size += len(data)
		}
	}
	if recordType == MX && len(values) > 1 && slices.ContainsFunc(values, func(v string) bool { return strings.HasSuffix(v, " .") }) {
		add("values", "The null MX record must be the only value (RFC 7505).")
	}
	if size > maxData {
		add("values", fmt.Sprintf("The values have %d bytes together. At most %d are allowed.", size, maxData))
	}
	slices.Sort(values)
	return values, problems
}

// CheckBeside refuses a record set that cannot stand beside others of its zone: a CNAME record stands alone at its name
// (RFC 2181, section 10.1). A set of the same name and type is ignored. The error is a Refusal.
func CheckBeside(set RecordSet, others []RecordSet) error {
	for _, other := range others {
		if other.Name != set.Name || other.Type == set.Type {
			continue
		}
		if set.Type == CNAME || other.Type == CNAME {
			return refuse("%s already has a %s record. A CNAME record cannot stand beside other records.", set.Name.Display(), other.Type)
		}
	}
	return nil
}

func indexed(field string, index int) string { return fmt.Sprintf("%s[%d]", field, index) }

// invalid are the problems as the kernel's error for requests.
func (p Problems) invalid() error {
	var bad fault.Invalid
	for _, problem := range p {
		bad.Add(problem.Field, "%s", problem.Text)
	}
	return bad.OrNil()
}
