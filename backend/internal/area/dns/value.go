package dns

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	mdns "github.com/miekg/dns"
)

// Canonical returns the one text of a value of a type, so that values can be compared by equality:
//
//   - A, AAAA: the address as netip writes it (RFC 5952)
//   - CNAME, NS, PTR: the absolute name in lower case; MX and SRV end with it, after numbers without leading zeros
//   - TXT: quoted strings of 255 bytes each; bytes outside printable ASCII, quotes and backslashes are escaped
//   - CAA: flags, the tag in lower case, the value in quotes
//
// A TXT value that does not begin with a quote is taken as it stands. The error is a Refusal.
func Canonical(recordType Type, text string) (string, error) {
	data, err := Rdata(recordType, text)
	if err != nil {
		return "", err
	}
	return FromRdata(recordType, data)
}

// Rdata returns the data of a value on the wire, names uncompressed. The error is a Refusal.
func Rdata(recordType Type, text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	switch recordType {
	case A, AAAA:
		return addressData(recordType, text)
	case CNAME, NS, PTR:
		return hostData(nil, text)
	case MX:
		return numbersAndHost(text, "a preference and a name, as in 10 mail.example.org", 1)
	case SRV:
		return numbersAndHost(text, "priority, weight, port and a name, as in 10 5 443 host.example.org", 3)
	case TXT:
		return textData(text)
	case CAA:
		return caaData(text)
	}
	return nil, refuse("Records of type %s are not supported.", recordType)
}

func addressData(recordType Type, text string) ([]byte, error) {
	address, err := netip.ParseAddr(text)
	switch {
	case recordType == A && (err != nil || !address.Is4()):
		return nil, refuse("%q is not an IPv4 address.", text)
	case recordType == AAAA && (err != nil || !address.Is6() || address.Zone() != ""):
		return nil, refuse("%q is not an IPv6 address.", text)
	case recordType == AAAA && address.Is4In6():
		return nil, refuse("%q is an IPv4 address in IPv6 form. Use an A record.", text)
	}
	return address.AsSlice(), nil
}

func hostData(data []byte, text string) ([]byte, error) {
	name, err := parseHost(text)
	if err != nil {
		return nil, err
	}
	return appendName(data, name)
}

// appendName appends a name as labels with their lengths (RFC 1035, section 3.1).
func appendName(data []byte, name Name) ([]byte, error) {
	buffer := make([]byte, maxName)
	end, err := mdns.PackDomainName(string(name), buffer, 0, nil, false)
	if err != nil {
		return nil, refuse("%q is not a name.", string(name))
	}
	return append(data, buffer[:end]...), nil
}

func numbersAndHost(text, shape string, numbers int) ([]byte, error) {
	words := strings.Fields(text)
	if len(words) != numbers+1 {
		return nil, refuse("The value must be %s.", shape)
	}
	var data []byte
	for _, word := range words[:numbers] {
		number, err := strconv.ParseUint(word, 10, 16)
		if err != nil {
			return nil, refuse("%q is not a number between 0 and 65535. The value must be %s.", word, shape)
		}
		data = binary.BigEndian.AppendUint16(data, uint16(number))
	}
	// The root means "no service here" (RFC 7505, RFC 2782).
	if words[numbers] == "." {
		return append(data, 0), nil
	}
	return hostData(data, words[numbers])
}

func textData(text string) ([]byte, error) {
	content := []byte(text)
	if strings.HasPrefix(text, `"`) {
		parts, err := unquote(text)
		if err != nil {
			return nil, err
		}
		content = bytes.Join(parts, nil)
	} else if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, refuse("The text contains a control character. Write it in quotes, with an escape such as \\009.")
	}
	if len(content) > maxText {
		return nil, refuse("The text has %d bytes. At most %d are allowed.", len(content), maxText)
	}
	if len(content) == 0 {
		return []byte{0}, nil
	}
	var data []byte
	for part := range slices.Chunk(content, 255) {
		data = append(append(data, byte(len(part))), part...)
	}
	return data, nil
}

func caaData(text string) ([]byte, error) {
	const shape = `flags, a tag and a value, as in 0 issue "ca.example.net"`
	flags, rest, _ := strings.Cut(text, " ")
	tag, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	value = strings.TrimSpace(value)
	number, err := strconv.ParseUint(flags, 10, 8)
	if err != nil {
		return nil, refuse("%q is not a number between 0 and 255. The value must be %s.", flags, shape)
	}
	tag = strings.ToLower(tag)
	if tag == "" || len(tag) > 15 || strings.ContainsFunc(tag, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return nil, refuse("The tag %q must have 1 to 15 letters or digits. The value must be %s.", tag, shape)
	}
	content := []byte(value)
	if strings.HasPrefix(value, `"`) {
		parts, err := unquote(value)
		if err != nil {
			return nil, err
		}
		if len(parts) != 1 {
			return nil, refuse("There is text after the closing quote. The value must be %s.", shape)
		}
		content = parts[0]
	} else if value == "" || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' }) {
		return nil, refuse("The value must be %s.", shape)
	}
	if len(content) > 1024 {
		return nil, refuse("The value has %d bytes. At most 1024 are allowed.", len(content))
	}
	data := append([]byte{byte(number), byte(len(tag))}, tag...)
	return append(data, content...), nil
}

var errData = errors.New("the data of the record is malformed")

// FromRdata returns the canonical text of data that stands on the wire, names uncompressed. Other types than ours, and data
// that is not of its type, are given as RFC 3597 has it: \# 2 abcd. An error is returned for malformed data of our types.
func FromRdata(recordType Type, data []byte) (string, error) {
	switch recordType {
	case A, AAAA:
		address, ok := netip.AddrFromSlice(data)
		if !ok || address.Is4() != (recordType == A) {
			return "", errData
		}
		return address.String(), nil
	case CNAME, NS, PTR:
		return numbersAndName(data, 0)
	case MX:
		return numbersAndName(data, 1)
	case SRV:
		return numbersAndName(data, 3)
	case TXT:
		return textValue(data)
	case CAA:
		if len(data) < 2 || len(data) < 2+int(data[1]) {
			return "", errData
		}
		tag, value := data[2:2+int(data[1])], data[2+int(data[1]):]
		if bytes.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return "", errData
		}
		return fmt.Sprintf("%d %s %s", data[0], bytes.ToLower(tag), quote(value)), nil
	}
	return unknownValue(data), nil
}

func unknownValue(data []byte) string {
	return fmt.Sprintf(`\# %d %s`, len(data), hex.EncodeToString(data))
}

func numbersAndName(data []byte, numbers int) (string, error) {
	if len(data) < 2*numbers+1 {
		return "", errData
	}
	var text strings.Builder
	for i := range numbers {
		fmt.Fprintf(&text, "%d ", binary.BigEndian.Uint16(data[2*i:]))
	}
	// Only the data itself is handed in, so that a compression pointer cannot leave it.
	name, end, err := mdns.UnpackDomainName(data, 2*numbers)
	if err != nil || end != len(data) {
		return "", errData
	}
	return text.String() + strings.ToLower(name), nil
}

func textValue(data []byte) (string, error) {
	if len(data) == 0 {
		return "", errData
	}
	var content []byte
	for len(data) > 0 {
		length := int(data[0])
		if len(data) < 1+length {
			return "", errData
		}
		content, data = append(content, data[1:1+length]...), data[1+length:]
	}
	if len(content) == 0 {
		return `""`, nil
	}
	var quoted []string
	for part := range slices.Chunk(content, 255) {
		quoted = append(quoted, quote(part))
	}
	return strings.Join(quoted, " "), nil
}

// TextOf returns the bytes that the strings of a canonical TXT value join to.
func TextOf(value string) (string, error) {
	parts, err := unquote(value)
	return string(bytes.Join(parts, nil)), err
}

func quote(content []byte) string {
	var text strings.Builder
	text.WriteByte('"')
	for _, c := range content {
		switch {
		case c == '"' || c == '\\':
			text.WriteByte('\\')
			text.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&text, `\%03d`, c)
		default:
			text.WriteByte(c)
		}
	}
	text.WriteByte('"')
	return text.String()
}

// unquote reads quoted strings with white space between them.
func unquote(text string) ([][]byte, error) {
	var parts [][]byte
	for text != "" {
		if text[0] != '"' {
			return nil, refuse("There is text outside the quotes.")
		}
		part, rest, err := unquoteOne(text[1:])
		if err != nil {
			return nil, err
		}
		parts, text = append(parts, part), strings.TrimLeft(rest, " \t")
	}
	return parts, nil
}

func unquoteOne(text string) (part []byte, rest string, err error) {
	part = []byte{}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return part, text[i+1:], nil
		case c != '\\':
			if c < ' ' || c == 0x7f {
				return nil, "", refuse("The text contains a control character. Write it as an escape such as \\009.")
			}
			part = append(part, c)
		case i+1 < len(text) && (text[i+1] < '0' || text[i+1] > '9'):
			i++
			part = append(part, text[i])
		default:
			if i+4 > len(text) {
				return nil, "", refuse("An escape in the text is not complete.")
			}
			number, err := strconv.ParseUint(text[i+1:i+4], 10, 8)
			if err != nil {
				return nil, "", refuse("The escape %s is not a number between 000 and 255.", text[i:i+4])
			}
			part = append(part, byte(number))
			i += 3
		}
	}
	return nil, "", refuse("A closing quote is missing.")
}

// Group makes record sets of records that a server sent, sorted by name and type. It holds the first TTL of a set. Records
// of unknown or malformed data are kept as RFC 3597 has them.
func Group(records []mdns.RR) ([]Stored, error) {
	type key struct {
		name Name
		kind uint16
	}
	sets := make(map[key]*Stored)
	for _, record := range records {
		data, err := dataOf(record)
		if err != nil {
			return nil, err
		}
		header := record.Header()
		k := key{Name(strings.ToLower(header.Name)), header.Rrtype}
		set := sets[k]
		if set == nil {
			set = &Stored{RecordSet: RecordSet{Name: k.name, Type: Type(mdns.Type(k.kind).String()), TTL: header.Ttl}}
			sets[k] = set
		}
		value, err := FromRdata(set.Type, data)
		if err != nil {
			value = unknownValue(data)
		}
		set.Rdata = append(set.Rdata, data)
		set.Values = append(set.Values, value)
	}
	grouped := make([]Stored, 0, len(sets))
	for _, set := range sets {
		slices.Sort(set.Values)
		set.Values = slices.Compact(set.Values)
		slices.SortFunc(set.Rdata, bytes.Compare)
		grouped = append(grouped, *set)
	}
	slices.SortFunc(grouped, func(a, b Stored) int { return compareKeys(a.key(), b.key()) })
	return grouped, nil
}

// dataOf returns the data of a record on the wire, names uncompressed and in their case.
func dataOf(record mdns.RR) ([]byte, error) {
	buffer := make([]byte, mdns.Len(record)+maxName)
	end, err := mdns.PackRR(record, buffer, 0, nil, false)
	if err != nil {
		return nil, fmt.Errorf("pack a %s record: %w", mdns.Type(record.Header().Rrtype), err)
	}
	_, start, err := mdns.UnpackDomainName(buffer[:end], 0)
	if err != nil || start+10 > end {
		return nil, fmt.Errorf("pack a %s record: %w", mdns.Type(record.Header().Rrtype), errData)
	}
	return buffer[start+10 : end : end], nil
}
