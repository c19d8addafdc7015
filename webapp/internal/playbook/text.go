package playbook

import (
	"context"
	"html"
	"io"
	"strings"

	"github.com/a-h/templ"

	"kloigos/webapp/internal/ui"
)

// fileText draws the text of a file as it is; by hand, because not a blank may
// be added.
func fileText(content string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var plain strings.Builder
		for _, r := range ui.Terminal(content) {
			plain.WriteString(r.Text)
		}
		_, err := io.WriteString(w, `<pre class="text file" tabindex="0">`+html.EscapeString(plain.String())+"</pre>")
		return err
	})
}
