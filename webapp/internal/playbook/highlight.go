package playbook

import (
	"context"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"kloigos/backend/api"
	"kloigos/webapp/internal/ui"
)

// piece is a part of a line with the class that colours it, "" for none.
type piece struct{ class, text string }

var (
	yamlKey     = regexp.MustCompile(`^(\s*(?:- +)*)("[^"]*"|'[^']*'|[^\s#:'"{\[&*!|>%@-][^:#]*?)(:)(?:\s|$)`)
	yamlScalars = regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:^|\s)#.*$|(?:^|\s)(?:true|false|null|yes|no|-?\d[\d_.]*)(?:\s*$)`)
)

// yamlPieces cuts a line of YAML into what is coloured alike. It looks at one
// line only, so the text of a block is coloured like any other.
func yamlPieces(line string) []piece {
	var all []piece
	if m := yamlKey.FindStringSubmatchIndex(line); m != nil {
		all = append(all, piece{"", line[:m[4]]}, piece{"y-key", line[m[4]:m[5]]}, piece{"", line[m[6]:m[7]]})
		line = line[m[7]:]
	}
	at := 0
	for _, m := range yamlScalars.FindAllStringIndex(line, -1) {
		found := line[m[0]:m[1]]
		blank := len(found) - len(strings.TrimLeft(found, " \t"))
		all = append(all, piece{"", line[at : m[0]+blank]}, piece{scalarClass(found[blank:]), found[blank:]})
		at = m[1]
	}
	return append(all, piece{"", line[at:]})
}

func scalarClass(s string) string {
	switch s[0] {
	case '#':
		return "y-comment"
	case '{':
		return "y-template"
	case '"', '\'':
		if strings.Contains(s, "{{") {
			return "y-template"
		}
		return "y-string"
	default:
		return "y-value"
	}
}

func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")
}

// fileText draws a file with its lines numbered, YAML in colours, and what
// ansible-lint says below the line that it is about; by hand, because not a
// blank may be added.
func fileText(f api.PlaybookFile, findings []api.LintFinding) templ.Component {
	said := map[int][]api.LintFinding{}
	for _, l := range findings {
		if l.Path == f.Path {
			said[l.Line] = append(said[l.Line], l)
		}
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(`<pre class="text file lines" tabindex="0">`)
		for i, line := range strings.Split(strings.TrimSuffix(plain(f.Content), "\n"), "\n") {
			b.WriteString(`<span class="line" id="L` + strconv.Itoa(i+1) + `">`)
			pieces := []piece{{"", line}}
			if isYAML(f.Path) {
				pieces = yamlPieces(line)
			}
			for _, p := range pieces {
				p.write(&b)
			}
			b.WriteString("\n</span>")
			for _, l := range said[i+1] {
				b.WriteString(`<span class="finding">` + html.EscapeString(l.Rule+": "+l.Message) + "\n</span>")
			}
		}
		b.WriteString("</pre>")
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func (p piece) write(b *strings.Builder) {
	switch {
	case p.text == "":
	case p.class == "":
		b.WriteString(html.EscapeString(p.text))
	default:
		b.WriteString(`<span class="` + p.class + `">` + html.EscapeString(p.text) + "</span>")
	}
}

// plain is a text without what a terminal would act on.
func plain(s string) string {
	var b strings.Builder
	for _, r := range ui.Terminal(s) {
		b.WriteString(r.Text)
	}
	return b.String()
}
