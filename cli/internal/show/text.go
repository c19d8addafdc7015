package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text of a server safe for a terminal, on one line: whatever could
// move the cursor, change colours or turn the order of letters around is shown
// as its code.
func Line(s string) string { return clean(s, "") }

// Text is Line for text of several lines: line breaks and tabs stay.
func Text(s string) string { return clean(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

func clean(s, keep string) string {
	if !strings.ContainsFunc(s, hostile) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strings.ContainsRune(keep, r) || !hostile(r):
			b.WriteString(s[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// hostile tells whether a terminal may do something else than show the rune.
// The byte order and joining controls (category Cf) are among them.
func hostile(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// escapeHostile writes hostile runes of JSON as their escapes, which mean the
// same there.
func escapeHostile(raw []byte) []byte {
	return escape(raw, func(b *strings.Builder, r rune) {
		r -= 0x10000
		fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
	})
}

// escapeHostileYAML does so in YAML, where such runes stand in double quotes and
// YAML has an escape of its own for those beyond 16 bits.
func escapeHostileYAML(raw []byte) []byte {
	return escape(raw, func(b *strings.Builder, r rune) { fmt.Fprintf(b, `\U%08x`, r) })
}

func escape(raw []byte, large func(*strings.Builder, rune)) []byte {
	s := string(raw)
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7f && hostile(r) }) {
		return raw
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x7f || !hostile(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			large(&b, r)
		}
	}
	return []byte(b.String())
}
