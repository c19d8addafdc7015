package ui

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

func itoa(n int) string { return strconv.Itoa(n) }

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func (f Field) kind() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

func (f Field) attributes() templ.OrderedAttributes {
	var a templ.OrderedAttributes
	add := func(name string, value any) { a = append(a, templ.KeyValue[string, any]{Key: name, Value: value}) }
	if f.Required {
		add("required", true)
	}
	if f.Focus {
		add("autofocus", true)
	}
	if f.Mono {
		add("class", "mono")
		add("spellcheck", "false")
		add("autocapitalize", "off")
	}
	if f.Placeholder != "" {
		add("placeholder", f.Placeholder)
	}
	if f.Autocomplete != "" {
		add("autocomplete", f.Autocomplete)
	}
	if f.Inputmode != "" {
		add("inputmode", f.Inputmode)
	}
	if f.List != "" {
		add("list", f.List)
	}
	if f.Max > 0 {
		add("maxlength", strconv.Itoa(f.Max))
	}
	var described []string
	if len(f.Problems) > 0 {
		add("aria-invalid", "true")
		described = append(described, f.Name+"-problem")
	}
	if f.Hint != "" {
		described = append(described, f.Name+"-hint")
	}
	if len(described) > 0 {
		add("aria-describedby", strings.Join(described, " "))
	}
	return a
}

// id is an id for the field of a confirmation, unique on its page.
func (o Operation) id() string {
	return "confirm" + strings.ReplaceAll(o.Action, "/", "-")
}

// Possible leaves out one of two opposites: back where there is nothing to go back from, and forth where that was done.
func Possible(all []Operation, done bool, back, forth string) []Operation {
	out := back
	if done {
		out = forth
	}
	return slices.DeleteFunc(all, func(o Operation) bool { return o.Name == out })
}

// LabelFilter is a filter by labels as the API takes it: people write spaces
// between labels, as in the forms.
func LabelFilter(typed string) string {
	var pairs []string
	for pair := range strings.SplitSeq(typed, ",") {
		if pair = strings.TrimSpace(pair); pair != "" {
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(pairs, ",")
}
