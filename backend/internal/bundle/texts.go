package bundle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"kloigos/backend/internal/bundle/judge"
)

// Ansible templates on the controller, in an environment that is no sandbox: {{ ''.__class__... }} is as good as a
// shell there, and so is a lookup. The gate collects all texts that Ansible would evaluate, and has them judged together.

const (
	maxTemplate  = 64 << 10  // bytes of one text that is a template
	maxTemplates = 256 << 10 // of all of them
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

// list names what is allowed, for a person.
func list(allowed map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(allowed)), ", ")
}

// isTemplate tells whether Ansible would look at a text at all.
func isTemplate(s string) bool {
	return strings.Contains(s, "{{") || strings.Contains(s, "{%") || strings.Contains(s, "{#")
}

// asked is a text to be judged, with what is needed to tell of it.
type asked struct {
	text   judge.Text
	where  func(line int) string // of a line of the text
	before string                // what a fault begins with
}

// text takes a text that Ansible will template.
func (g *gate) text(r *role, text string, where func(line int) string) {
	if i := strings.Index(text, "#jinja2:"); i >= 0 {
		g.bad.add(where(lineAt([]byte(text), i)), "changes the delimiters of templates (#jinja2:)")
		return
	}
	if isTemplate(text) {
		g.ask(judge.Template, r, text, where, "")
	}
}

func (g *gate) ask(kind judge.Kind, r *role, text string, where func(line int) string, before string) {
	if len(text) > maxTemplate {
		g.bad.add(where(1), "%sis a template of %d bytes; at most %d are taken", before, len(text), maxTemplate)
		return
	}
	if g.asking += len(text); g.asking > maxTemplates {
		g.bad.add(where(1), "makes the templates hold more than %d bytes together", maxTemplates)
		return
	}
	t := judge.Text{Kind: kind, Text: text}
	if r != nil {
		t.Role = r.name
	}
	g.asked = append(g.asked, asked{text: t, where: where, before: before})
}

// judged has all texts judged.
func (g *gate) judged(ctx context.Context, j *judge.Judge) error {
	r := judge.Request{Job: slices.Sorted(maps.Keys(g.jobVars)), Roles: map[string][]string{}}
	for name, role := range g.roles {
		r.Roles[name] = slices.Sorted(maps.Keys(role.files))
	}
	for _, a := range g.asked {
		r.Texts = append(r.Texts, a.text)
	}
	answer, err := j.Judge(ctx, r)
	if err != nil {
		return err
	}
	for _, f := range slices.Concat(answer.Faults, answer.Declared) {
		if f.Text < 0 || f.Text >= len(g.asked) {
			return errors.New("judge templates: the answer is about a text that was not asked for")
		}
	}
	for _, f := range answer.Faults {
		a := g.asked[f.Text]
		g.bad.add(a.where(f.Line), "%s%s", a.before, strings.ToValidUTF8(f.What, "?"))
	}
	for _, d := range answer.Declared {
		where := g.asked[d.Text].where(d.Line)
		g.declared(where, d.What)
		// What is handed on as a variable of the job must be one.
		if g.jobVars[d.What] {
			g.bad.add(where, "sets %s, a variable of the job", d.What)
		}
	}
	return nil
}
