package dns

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// Limits of a name in octets (RFC 1035, section 2.3.4). maxName counts the length octet of each label and the root.
const (
	maxLabel = 63
	maxName  = 255
)

// Name is an absolute name in canonical form: lower-case A-labels and a final dot, such as "www.example.org.".
// ParseName makes one. Names that a server sent may also contain escapes (RFC 1035, section 5.1).
type Name string

// ideographicDots are read as dots (RFC 3490, section 3.1).
var ideographicDots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// ParseName reads an absolute name. The final dot is optional. It accepts Unicode labels (IDNA 2008 with the mapping for
// lookups), labels with underscores, and a wildcard as the left-most label. The error is a Refusal.
func ParseName(text string) (Name, error) {
	text = strings.TrimSuffix(ideographicDots.Replace(strings.TrimSpace(text)), ".")
	if text == "" {
		return "", refuse("The name is empty.")
	}
	// No valid name is longer in UTF-8. Longer input is not worth the work of IDNA.
	if len(text) > 4*maxName {
		return "", refuse("The name is too long. At most %d octets are allowed.", maxName)
	}
	labels := strings.Split(text, ".")
	for i, label := range labels {
		if label == "*" && i == 0 {
			continue
		}
		ascii, err := parseLabel(label)
		if err != nil {
			return "", err
		}
		labels[i] = ascii
	}
	name := Name(strings.Join(labels, ".") + ".")
	if octets := name.octets(); octets > maxName {
		return "", refuse("The name has %d octets. At most %d are allowed.", octets, maxName)
	}
	return name, nil
}

// ParseNameIn reads a name of a zone. "@" and the empty text are the apex. A name that ends with the zone's name or with a
// dot is absolute. Any other name is relative to the zone. The error is a Refusal.
func ParseNameIn(zone Name, text string) (Name, error) {
	text = ideographicDots.Replace(strings.TrimSpace(text))
	if text == "" || text == "@" {
		return zone, nil
	}
	name, err := ParseName(text)
	if err != nil {
		return "", err
	}
	if name.Within(zone) {
		return name, nil
	}
	if strings.HasSuffix(text, ".") {
		return "", refuse("%s is not in the zone %s.", name.Display(), zone.Display())
	}
	name += zone
	if octets := name.octets(); octets > maxName {
		return "", refuse("The name has %d octets with its zone. At most %d are allowed.", octets, maxName)
	}
	return name, nil
}

// parseLabel returns the A-label or the lower-case ASCII label.
func parseLabel(label string) (string, error) {
	if label == "" {
		return "", refuse("The name has an empty label. Remove the second dot.")
	}
	if strings.Contains(label, "*") {
		return "", refuse("A wildcard must be the whole first label, as in *.example.org.")
	}
	lower := strings.ToLower(label)
	if !isASCII(label) || strings.HasPrefix(lower, "xn--") {
		ascii, err := idna.Lookup.ToASCII(label)
		if err != nil {
			return "", refuse("%q is not a valid internationalized label.", label)
		}
		// A mapping may give ASCII. Then its result must be an ordinary label, and a stable one.
		if again, err := idna.Lookup.ToASCII(ascii); err != nil || again != ascii {
			return "", refuse("%q is not a valid internationalized label.", label)
		}
		lower = ascii
	}
	if len(lower) > maxLabel {
		return "", refuse("The label %q has %d octets. At most %d are allowed.", label, len(lower), maxLabel)
	}
	if lower == "" || lower[0] == '-' || lower[len(lower)-1] == '-' {
		return "", refuse("The label %q must not begin or end with a hyphen.", label)
	}
	for i := range len(lower) {
		if c := lower[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return "", refuse("The label %q may contain letters, digits, hyphens and underscores only.", label)
		}
	}
	return lower, nil
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// parseHost reads the name of a host in the data of a record: no wildcard, no address.
func parseHost(text string) (Name, error) {
	if _, err := netip.ParseAddr(strings.TrimSuffix(text, ".")); err == nil {
		return "", refuse("%s is an address. A name is needed here.", text)
	}
	name, err := ParseName(text)
	if err == nil && name.Wildcard() {
		return "", refuse("%s is a wildcard. The name of one host is needed here.", text)
	}
	return name, err
}

// octets is the length of the name on the wire. It is exact for names without escapes.
func (n Name) octets() int { return len(n) + 1 }

// Within reports whether the name is the zone's apex or below it.
func (n Name) Within(zone Name) bool {
	return zone == "." || n == zone || strings.HasSuffix(string(n), "."+string(zone))
}

// Wildcard reports whether the left-most label is "*".
func (n Name) Wildcard() bool { return strings.HasPrefix(string(n), "*.") }

// Relative is the name without its zone and the dot in between: "@" for the apex. A name outside stays absolute.
func (n Name) Relative(zone Name) string {
	if n == zone {
		return "@"
	}
	if !n.Within(zone) {
		return string(n)
	}
	return strings.TrimSuffix(string(n), "."+string(zone))
}

// Display is the name for people: Unicode labels and no final dot. ParseName reads it back.
func (n Name) Display() string {
	labels := strings.Split(strings.TrimSuffix(string(n), "."), ".")
	for i, label := range labels {
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		// A server may send any label. One that IDNA refuses is shown as it stands.
		if ascii, err := parseLabel(label); err != nil || ascii != label {
			continue
		}
		unicode, err := idna.Lookup.ToUnicode(label)
		if err != nil {
			continue
		}
		if ascii, err := parseLabel(unicode); err == nil && ascii == label {
			labels[i] = unicode
		}
	}
	return strings.Join(labels, ".")
}
