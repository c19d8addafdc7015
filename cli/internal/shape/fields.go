package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// fields are flags that come from the fields of a wire type: their names, types
// and descriptions. What is neither text, number, switch, list of texts nor
// labels has no flag; it goes into a file.
type fields struct {
	app   *App
	tag   string
	cmd   *cobra.Command
	flags *pflag.FlagSet
	set   map[string]func(body reflect.Value) // by flag, what puts it into the body
	left  []string                            // fields without a flag
	needs []string                            // fields that the API requires
}

// addFields adds a flag for each simple field of a struct. tag is the struct tag
// with the name: json or query.
func (a *App) addFields(cmd *cobra.Command, t reflect.Type, tag string, skip ...string) *fields {
	f := &fields{app: a, tag: tag, cmd: cmd, flags: cmd.Flags(), set: map[string]func(reflect.Value){}}
	f.add(t, tag, nil, skip)
	return f
}

func (f *fields) add(t reflect.Type, tag string, index []int, skip []string) {
	for i := range t.NumField() {
		field, at := t.Field(i), append(slices.Clone(index), i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			f.add(field.Type, tag, at, skip)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get(tag), ",")
		if name == "" || name == "-" || slices.Contains(skip, name) {
			continue
		}
		required := false
		if tag == "json" && options == "" && field.Type.Kind() != reflect.Bool && field.Tag.Get("default") == "" {
			f.needs = append(f.needs, name)
			required = true
		}
		f.addFlag(strings.ReplaceAll(name, "_", "-"), field, at, required)
	}
}

// entryNamed finds the noun that a flag names an object of.
func (a *App) entryNamed(name string) Entry {
	for _, e := range a.Nouns {
		if e.CommandName() == name {
			return e
		}
	}
	return nil
}

func (f *fields) addFlag(flag string, field reflect.StructField, at []int, required bool) {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	value := reflect.New(t)
	usage := describe(field)
	if required {
		usage += " (required)"
	}
	switch p := value.Interface().(type) {
	case *string:
		f.flags.StringVar(p, flag, "", usage)
	case *int:
		f.flags.IntVar(p, flag, 0, usage)
	case *int64:
		f.flags.Int64Var(p, flag, 0, usage)
	case *bool:
		f.flags.BoolVar(p, flag, false, usage)
	case *time.Time:
		f.flags.TimeVar(p, flag, time.Time{}, []string{time.RFC3339, time.DateOnly}, usage+", such as 2026-12-01T00:00:00Z, or 2026-12-01 for its beginning in UTC")
	case *[]string:
		f.flags.StringArrayVar(p, flag, nil, usage+"; repeat it for several")
	case *map[string]string:
		f.flags.StringToStringVar(p, flag, map[string]string{}, usage+"; separate several by commas")
	default:
		f.left = append(f.left, flag)
		return
	}
	f.nameValue(flag)
	if enum := field.Tag.Get("enum"); enum != "" {
		_ = f.cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(strings.Split(enum, ","), cobra.ShellCompDirectiveNoFileComp))
	} else if e := f.app.entryNamed(flag); e != nil {
		_ = f.cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
			return e.Names(cmd.Context(), f.app, begin), cobra.ShellCompDirectiveNoFileComp
		})
	}
	f.set[flag] = func(body reflect.Value) {
		target := body.FieldByIndex(at)
		if field.Type.Kind() == reflect.Pointer {
			target.Set(value)
		} else {
			target.Set(value.Elem())
		}
	}
}

// nameValue gives the value of a list or map a name in the help that a person
// knows, and no default.
func (f *fields) nameValue(flag string) {
	known := map[string]string{"stringArray": "string", "stringToString": "key=value"}
	if p := f.flags.Lookup(flag); known[p.Value.Type()] != "" {
		p.Value, p.DefValue = namedValue{p.Value, known[p.Value.Type()]}, ""
	}
}

type namedValue struct {
	pflag.Value
	name string
}

// Set implements pflag.Value. Nothing is an empty map: labels can be cleared.
func (v namedValue) Set(text string) error {
	if text == "" && v.Value.Type() == "stringToString" {
		return nil
	}
	return v.Value.Set(text)
}

// Type implements pflag.Value.
func (v namedValue) Type() string { return v.name }

// describe is the help of a flag: what the API's own document says.
func describe(field reflect.StructField) string {
	text := strings.ReplaceAll(field.Tag.Get("doc"), "`", "'")
	if text == "" {
		name, _, _ := strings.Cut(field.Tag.Get("json")+field.Tag.Get("query"), ",")
		text = strings.ReplaceAll(name, "_", " ")
	}
	if enum := field.Tag.Get("enum"); enum != "" {
		text += " (one of " + strings.ReplaceAll(enum, ",", ", ") + ")"
	}
	if d := field.Tag.Get("default"); d != "" {
		text += " (default " + d + ")"
	}
	return text
}

// apply puts the flags that were given into a body.
func (f *fields) apply(body any) {
	v := reflect.ValueOf(body).Elem()
	for flag, set := range f.set {
		if f.flags.Changed(flag) {
			set(v)
		}
	}
}

// missing are the required fields that are empty, as flags. A number that was given as 0 is not.
func (f *fields) missing(body any, except string) (flags []string) {
	for _, name := range f.needs {
		flag := strings.ReplaceAll(name, "_", "-")
		if v, err := fieldOf(body, f.tag, name); err == nil && v.IsZero() && name != except && (!v.CanInt() || !f.flags.Changed(flag)) {
			flags = append(flags, "--"+flag)
		}
	}
	return flags
}

// fieldOf finds the field of a struct whose tag (json or query) has this name.
func fieldOf(body any, tag, name string) (reflect.Value, error) {
	v := reflect.ValueOf(body).Elem()
	for i := range v.NumField() {
		if n, _, _ := strings.Cut(v.Type().Field(i).Tag.Get(tag), ","); n == name {
			return v.Field(i), nil
		}
	}
	return reflect.Value{}, fmt.Errorf("%T has no field %q", body, name)
}

// setText sets a field that is a text, or adds to one that is a list of texts.
func setText(body any, tag, name string, texts ...string) error {
	v, err := fieldOf(body, tag, name)
	if err != nil || len(texts) == 0 {
		return err
	}
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = texts[0]
	case **string:
		*p = &texts[0]
	case *[]string:
		*p = append(*p, texts...)
	default:
		return fmt.Errorf("%T: %q is not a text", body, name)
	}
	return nil
}

// readFile reads a file, or the input for -.
func (a *App) readFile(path string) ([]byte, error) {
	var raw []byte
	var err error
	if path == "-" {
		raw, err = io.ReadAll(a.In)
	} else {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, &Failure{CodeUsage, err}
	}
	return raw, nil
}

// readBody reads a body out of a file in JSON or YAML. A field that the API
// does not know is refused.
func (a *App) readBody(path string, body any) error {
	raw, err := a.readFile(path)
	if err != nil {
		return err
	}
	var parsed any
	if err := yaml.Unmarshal(raw, &parsed); err != nil { // JSON is YAML
		return Usage("%s: %w", path, err)
	}
	if raw, err = json.Marshal(parsed); err != nil {
		return Usage("%s: %w", path, err)
	}
	return strict(path, raw, body)
}

func strict(from string, raw []byte, body any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(body); err != nil {
		return Usage("%s: %s", from, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// lines are the values of a list in a file: a line each, without comments.
func lines(raw []byte) []string {
	var list []string
	for l := range strings.Lines(string(raw)) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			list = append(list, l)
		}
	}
	return list
}
