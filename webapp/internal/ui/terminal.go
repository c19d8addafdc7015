package ui

import (
	"context"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Run is a piece of a host's text with one style.
type Run struct{ Text, Class string }

// Terminal reads text with terminal escapes. Colours, bold and underline
// become classes; every other escape and control character is dropped, links
// and images included, so that a host can't make anything but text.
func Terminal(s string) []Run {
	var runs []Run
	var style termStyle
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			runs = append(runs, Run{text.String(), style.class()})
			text.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch b := s[i]; {
		case b == 0x1b:
			params, final, n := escape(s[i:])
			if final == 'm' {
				flush()
				style.apply(params)
			}
			i += n
		case b == '\n' || b == '\t':
			text.WriteByte(b)
			i++
		case b < 0x20 || b == 0x7f:
			i++
		case b == 0xc2 && i+1 < len(s) && s[i+1] >= 0x80 && s[i+1] < 0xa0: // C1 controls
			i += 2
		default:
			text.WriteByte(b)
			i++
		}
	}
	flush()
	return runs
}

// escape measures the escape sequence at the beginning of s. final is 'm' with
// its parameters for a colour, 0 for everything else.
func escape(s string) (params string, final byte, n int) {
	if len(s) < 2 {
		return "", 0, len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				if s[i] == 'm' {
					return s[2:i], 'm', i + 1
				}
				return "", 0, i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e { // broken off
				return "", 0, i
			}
		}
		return "", 0, len(s)
	case ']', 'P', '_', '^', 'X': // strings that end with BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return "", 0, i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return "", 0, i + 2
			}
			if s[i] == '\n' { // never ended: do not swallow the rest
				return "", 0, i
			}
		}
		return "", 0, len(s)
	default:
		if s[1] < 0x20 || s[1] > 0x7e {
			return "", 0, 1
		}
		return "", 0, 2
	}
}

type termStyle struct {
	colour                 int // 0 none, else 30-37 or 90-97
	bold, faint, underline bool
}

func (t *termStyle) apply(params string) {
	codes := strings.Split(params, ";")
	for i := 0; i < len(codes); i++ {
		code, _ := strconv.Atoi(codes[i]) // "" is 0
		switch {
		case code == 0:
			*t = termStyle{}
		case code == 1:
			t.bold = true
		case code == 2:
			t.faint = true
		case code == 4:
			t.underline = true
		case code == 22:
			t.bold, t.faint = false, false
		case code == 24:
			t.underline = false
		case code >= 30 && code <= 37, code >= 90 && code <= 97:
			t.colour = code
		case code == 39:
			t.colour = 0
		case code == 38 || code == 48: // 256 colours and RGB are not drawn
			if i+1 < len(codes) && codes[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
}

func (t *termStyle) class() string {
	var c []string
	if t.colour != 0 {
		c = append(c, "t"+strconv.Itoa(t.colour%10))
	}
	if t.bold {
		c = append(c, "tb")
	}
	if t.faint {
		c = append(c, "tf")
	}
	if t.underline {
		c = append(c, "tu")
	}
	return strings.Join(c, " ")
}

// DiffLine is one line of a diff with what it means.
type DiffLine struct{ Text, Class string }

// Diff splits a unified diff into its lines. Escapes in it are dropped.
func Diff(s string) []DiffLine {
	var plain strings.Builder
	for _, r := range Terminal(s) {
		plain.WriteString(r.Text)
	}
	var lines []DiffLine
	for line := range strings.SplitSeq(strings.TrimRight(plain.String(), "\n"), "\n") {
		class := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			class = "d-file"
		case strings.HasPrefix(line, "@@"):
			class = "d-at"
		case strings.HasPrefix(line, "+"):
			class = "d-add"
		case strings.HasPrefix(line, "-"):
			class = "d-del"
		}
		lines = append(lines, DiffLine{line, class})
	}
	return lines
}

// TerminalText draws text with terminal escapes. It is written by hand because
// not a blank may be added between two pieces.
func TerminalText(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, r := range Terminal(s) {
			if r.Class == "" {
				b.WriteString(html.EscapeString(r.Text))
				continue
			}
			b.WriteString(`<span class="` + r.Class + `">` + html.EscapeString(r.Text) + `</span>`)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// DiffText draws a unified diff, a block for each line.
func DiffText(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, l := range Diff(s) {
			b.WriteString(`<span class="d ` + l.Class + `">` + html.EscapeString(l.Text) + "\n</span>")
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// Pre holds preformatted text as it is: no blank around it.
func Pre() templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if _, err := io.WriteString(w, `<pre class="text" tabindex="0">`); err != nil {
			return err
		}
		if err := templ.GetChildren(ctx).Render(templ.ClearChildren(ctx), w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</pre>")
		return err
	})
}
