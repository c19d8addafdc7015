package ansible

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// cleanText makes text from a host harmless where it is stored and shown: valid UTF-8, no NUL (PostgreSQL refuses
// it), and of terminal control only SGR colours. A carriage return becomes a line break. Controls of the writing
// direction go too: they make a log show other words than it has.
func cleanText(s string) string {
	clean := !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || isControl(r) })
	if clean {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b':
			n, keep := escape(s[i:])
			if keep {
				out.WriteString(s[i : i+n])
			}
			i += n
			continue
		case r == '\u009b': // CSI in one character; the rest of it is text then
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				out.WriteByte('\n')
			}
		case r == '\u2028' || r == '\u2029':
			out.WriteByte('\n')
		case isControl(r):
		default:
			out.WriteRune(r) // U+FFFD for what is not UTF-8
		}
		i += size
	}
	return out.String()
}

func isControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r == '\u061c' || r == '\u200e' || r == '\u200f' || r == '\u2028' || r == '\u2029':
		return true
	case r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// escape measures the escape sequence at the start of s, and tells whether it is one for colours (ECMA-48, SGR).
func escape(s string) (length int, keep bool) {
	if len(s) < 2 {
		return 1, false
	}
	switch s[1] {
	case '[':
		i := 2
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i == len(s) || s[i] < 0x40 || s[i] > 0x7e {
			return i, false
		}
		return i + 1, s[i] == 'm' && i <= 32 && strings.Trim(s[2:i], "0123456789;:") == ""
	case ']', 'P', 'X', '^', '_':
		// A string for the terminal, up to BEL or ST; one that does not end goes no further than its line.
		for i := 2; i < len(s); i++ {
			switch s[i] {
			case '\a':
				return i + 1, false
			case '\x1b':
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2, false
				}
				return i, false
			case '\n':
				return i, false
			}
		}
		return len(s), false
	}
	if s[1] >= 0x20 && s[1] < 0x7f {
		return 2, false
	}
	return 1, false
}

// cut shortens text to a number of bytes, at a character's border, and says so.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	keep := max(limit-48, 0)
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return fmt.Sprintf("%s\n[%d bytes left out]", s[:keep], len(s)-keep)
}

// tail keeps the end instead.
func tail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	from := len(s) - limit
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// minSecret is the length from which on a secret is redacted.
const minSecret = 4

// newRedactor replaces secrets in text. The callback plugin has done so already; this one also covers what Ansible
// and ssh write by themselves.
func newRedactor(secrets []string) *strings.Replacer {
	var found []string
	for _, s := range secrets {
		parts := []string{s}
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= 8 {
				parts = append(parts, line)
			}
		}
		for _, part := range parts {
			if len(part) < minSecret {
				continue
			}
			found = append(found, secretForms(part)...)
		}
	}
	// The longest first, so that no part of a longer one stays.
	slices.SortFunc(found, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(found))
	for _, s := range slices.Compact(found) {
		pairs = append(pairs, s, "[redacted]")
	}
	return strings.NewReplacer(pairs...)
}

// minEncoded is the length from which on a secret is looked for in other alphabets: of shorter ones, what is left by
// the shifts of base64 could stand anywhere.
const minEncoded = 8

// secretForms are the ways in which Ansible, modules and shells write a string: as JSON, as Python shows text and bytes
// (what ssh brought, with -vvv), between quotes of a shell, in base64 at each of its three shifts, in hexadecimal and
// in a URL.
func secretForms(s string) []string {
	quoted, _ := json.Marshal(s)
	forms := []string{s, string(quoted[1 : len(quoted)-1]), asciiJSON(s)}
	for _, form := range forms {
		forms = append(forms, pythonBytes(form), strings.ReplaceAll(form, "'", `'"'"'`))
	}
	if len(s) < minEncoded {
		return forms
	}
	for shift := range 3 {
		// Only the characters that are made of nothing but the secret.
		coded := base64.StdEncoding.EncodeToString(append(make([]byte, shift), s...))
		coded = coded[(8*shift+5)/6 : (shift+len(s))*8/6]
		forms = append(forms, coded, strings.NewReplacer("+", "-", "/", "_").Replace(coded))
	}
	return append(forms, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))), url.QueryEscape(s), url.PathEscape(s))
}

// asciiJSON is a string as Python's json.dumps writes it, without its quotes.
func asciiJSON(s string) string {
	quoted, _ := json.Marshal(s)
	var out strings.Builder
	for _, r := range strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted[1 : len(quoted)-1])) {
		switch {
		case r < 0x7f:
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// pythonBytes is what stands between the quotes of a bytes object that Python shows.
func pythonBytes(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch b := s[i]; {
		case b == '\\' || b == '\'':
			out.WriteString(`\` + string(rune(b)))
		case b == '\n':
			out.WriteString(`\n`)
		case b == '\r':
			out.WriteString(`\r`)
		case b == '\t':
			out.WriteString(`\t`)
		case b < 0x20 || b >= 0x7f:
			fmt.Fprintf(&out, `\x%02x`, b)
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}

// keySecrets are the lines of a private key that give something away. Its frame and the first line of OpenSSH's
// format are the same in every key.
func keySecrets(pem []byte) []string {
	var secrets []string
	for line := range strings.Lines(string(pem)) {
		line = strings.TrimSpace(line)
		if len(line) >= 16 && !strings.HasPrefix(line, "-----") && !strings.HasPrefix(line, "b3BlbnNzaC1rZXktdjEAAAAA") {
			secrets = append(secrets, line)
		}
	}
	return secrets
}

// cleanJSON cleans every string in a document of a host.
func cleanJSON(raw []byte, text func(string) string) (json.RawMessage, error) {
	tree, err := decodeTree(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(cleanTree(tree, text))
}

func cleanTree(value any, text func(string) string) any {
	switch v := value.(type) {
	case string:
		return text(v)
	case []any:
		for i := range v {
			v[i] = cleanTree(v[i], text)
		}
		return v
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, element := range v {
			clean[text(key)] = cleanTree(element, text)
		}
		return clean
	default:
		return v
	}
}
