package ansible

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCleanText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"", ""},
		{"grün 日本 🙂", "grün 日本 🙂"},
		{"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"},
		{"\x1b[38:2::1:2:3mrgb", "\x1b[38:2::1:2:3mrgb"},
		{"a\x1b[2Jb\x1b[10;10Hc\x1b[?25ld", "abcd"},
		{"a\x1b[>4mb", "ab"}, // xterm's key modifiers, and no colour
		{"a\x1b]0;title\x07b", "ab"},
		{"a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\b", "alinkb"},
		{"a\x1b]0;never ends\nnext line", "a\nnext line"},
		{"a\x1bP1$r0m\x1b\\b", "ab"},
		{"a\x1bcb", "ab"},
		{"a\x1b", "a"},
		{"a\x1b[", "a"},
		{"a\x1b[31", "a"},
		{"a\u009b31mb", "a31mb"},
		{"50%\r100%\r\ndone", "50%\n100%\ndone"},
		{"nul\x00bell\x07back\x08", "nulbellback"},
		{"bad \xff\xfe utf", "bad \ufffd\ufffd utf"},
		{"user\u202egnp.exe", "usergnp.exe"},
		{"\u2066iso\u2069", "iso"},
		{"a\u2028b", "a\nb"},
	} {
		if got := cleanText(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCleanTextHoldsForAnything(t *testing.T) {
	t.Parallel()
	parts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"\x1b", "\x1b[", "\x1b]", "[", "]", "0;31", "m", "J", "\a", "\\", "\r", "\n", "\x00", "\xff", "\u009b", "\u202e", "x",
	}), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(parts, 0, 20).Draw(t, "parts"), "")
		out := cleanText(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not UTF-8", out)
		}
		if again := cleanText(out); again != out {
			t.Fatalf("not stable: %q, then %q", out, again)
		}
		for i, r := range out {
			if r == '\x1b' {
				if n, keep := escape(out[i:]); !keep || out[i+n-1] != 'm' {
					t.Fatalf("an escape is left in %q", out)
				}
			} else if isControl(r) {
				t.Fatalf("control %q is left in %q", r, out)
			}
		}
		limit := rapid.IntRange(64, 200).Draw(t, "limit")
		if short := cut(out, limit); len(short) > limit || !utf8.ValidString(short) {
			t.Fatalf("cut to %d bytes: %d, %q", limit, len(short), short)
		}
		if end := tail(out, limit); len(end) > limit || !utf8.ValidString(end) || !strings.HasSuffix(out, end) {
			t.Fatalf("tail of %d bytes: %q", limit, end)
		}
	})
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := newRedactor([]string{"abc", "secret", "secret-longer", `quo"ted`, "first line here\nsecond line here\n"})
	for in, want := range map[string]string{
		"abc is too short to hide":                "abc is too short to hide",
		"a secret and a secret-longer one":        "a [redacted] and a [redacted] one",
		`plain quo"ted, in JSON {"k":"quo\"ted"}`: `plain [redacted], in JSON {"k":"[redacted]"}`,
		"prefix second line here suffix":          "prefix [redacted] suffix",
		"first line here\nsecond line here\n":     "[redacted]",
	} {
		if got := r.Replace(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
