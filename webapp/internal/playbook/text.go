package playbook

import (
	"context"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"kloigos/backend/api"
	"kloigos/webapp/internal/ui"
)

// diffText draws the lines of a unified diff as they are; by hand, because not
// a blank may be added.
func diffText(all []diffLine) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(`<pre class="text file diff" tabindex="0">`)
		for _, line := range all {
			b.WriteString(`<span class="` + line.Kind + `">`)
			for _, r := range ui.Terminal(line.Text) {
				b.WriteString(html.EscapeString(r.Text))
			}
			b.WriteString("\n</span>")
		}
		b.WriteString("</pre>")
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// choices are the versions that one can be compared with.
func choices(all []api.PlaybookVersion, but int) []ui.Choice {
	var out []ui.Choice
	for _, v := range all {
		if v.Version == but {
			continue
		}
		label := "v" + strconv.Itoa(v.Version)
		if v.Default {
			label += ", the default"
		}
		out = append(out, ui.Choice{Value: strconv.Itoa(v.Version), Label: label})
	}
	return out
}

// madeBy says whose a version is, and why it was made.
func madeBy(v api.PlaybookVersion) string {
	by := v.CreatedBy
	if v.Seeded {
		by = "part of Kloigos"
	}
	if v.Note != "" {
		by += ": " + v.Note
	}
	return by
}

// whereOf is the place of a finding.
func whereOf(f api.LintFinding) string {
	if f.Line < 1 {
		return f.Path
	}
	return f.Path + ":" + strconv.Itoa(f.Line)
}

func differ(files int) string {
	if files == 1 {
		return "1 file differs."
	}
	return ui.Count(files, "file") + " differ."
}
