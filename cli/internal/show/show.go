// Package show prints objects: as tables for people, as JSON and YAML for
// programs. Text that a server sent never reaches the terminal as a command to
// it. The package knows the wire types and no noun.
package show

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"go.yaml.in/yaml/v3"

	"kloigos/backend/api"
)

// Column is one column of a table.
type Column[T any] struct {
	Header string
	Value  func(T) string
}

// Table prints rows. There is no header line without headers.
func Table[T any](w io.Writer, columns []Column[T], rows []T, headers bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := make([]string, len(columns))
	if headers {
		for i, c := range columns {
			line[i] = c.Header
		}
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	for _, row := range rows {
		for i, c := range columns {
			if line[i] = Line(c.Value(row)); line[i] == "" {
				line[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	return t.Flush()
}

// CSV prints rows for a table program, with a header line.
func CSV[T any](w io.Writer, columns []Column[T], rows []T) error {
	c := csv.NewWriter(w)
	line := make([]string, len(columns))
	for i, column := range columns {
		line[i] = column.Header
	}
	if err := c.Write(line); err != nil {
		return err
	}
	for _, row := range rows {
		for i, column := range columns {
			line[i] = cell(Line(column.Value(row)))
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// cell keeps a text from being a formula of a table program.
func cell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// JSON prints the object as the API does.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeHostile(b.Bytes()))
	return err
}

// JSONLine prints the object on one line, for streams.
func JSONLine(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeHostile(b.Bytes()))
	return err
}

// YAML prints the same as JSON, fields in the same order.
func YAML(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := yamlNode(d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return err
	}
	_, err = w.Write(escapeHostileYAML(b.Bytes()))
	return err
}

// yamlNode reads the next value. A YAML parser can't do this: it refuses control
// characters that JSON may hold.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return yamlScalar(token), nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	for d.More() { // keys are values here
		child, err := yamlNode(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
	_, err = d.Token()
	return n, err
}

func yamlScalar(token json.Token) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch x := token.(type) {
	case string:
		n.Tag, n.Value = "!!str", x
		if clean(x, "\n") != x {
			n.Style = yaml.DoubleQuotedStyle
		}
	case json.Number:
		n.Value = x.String()
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(x)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	return n
}

// Detail prints the fields of one object, a line each, by their names in JSON.
// What is itself an object is left to -o yaml.
func Detail(w io.Writer, v any) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	value := reflect.Indirect(reflect.ValueOf(v))
	if value.Kind() != reflect.Struct {
		return JSON(w, v)
	}
	for i := range value.NumField() {
		name, options, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || strings.HasPrefix(options, "omit") && value.Field(i).IsZero() {
			continue
		}
		text, ok := fieldText(value.Field(i))
		if !ok || text == "" {
			continue
		}
		fmt.Fprintf(t, "%s:\t%s\n", strings.ReplaceAll(name, "_", " "), Line(text))
	}
	return t.Flush()
}

// Flat tells whether Detail shows all of an object: it has no objects in it.
func Flat(v any) bool {
	value := reflect.Indirect(reflect.ValueOf(v))
	if value.Kind() != reflect.Struct {
		return true
	}
	for i := range value.NumField() {
		if _, ok := fieldText(value.Field(i)); !ok && !value.Field(i).IsZero() {
			return false
		}
	}
	return true
}

func fieldText(v reflect.Value) (string, bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", true
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return "", true
		}
		return x.UTC().Format(time.RFC3339) + " (" + Ago(x) + ")", true
	case []string:
		return strings.Join(x, ", "), true
	case map[string]string:
		return Map(x), true
	case map[string]int:
		return Counts(x), true
	case []api.Operation:
		var allowed []string
		for _, o := range x {
			if o.Allowed {
				allowed = append(allowed, o.Name)
			}
		}
		return strings.Join(allowed, ", "), true
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), true
	case reflect.Bool:
		return YesNo(v.Bool()), true
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), true
	}
	return "", false
}

// Map writes labels as key=value,key=value.
func Map(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	return strings.Join(parts, ",")
}

// Counts writes numbers by state: 3 free, 1 allocated.
func Counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(parts, ", ")
}

// YesNo is a boolean in words.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Bytes writes a size in binary units.
func Bytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 && unit < len(units)-1 {
		f, unit = f/1024, unit+1
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") + " " + units[unit:unit+1] + "iB"
}

// Ago writes a time relative to now: 5m ago, in 3d. The zero time is empty.
func Ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := time.Since(t)
	if d < -time.Second {
		return "in " + Span(-d)
	}
	return Span(d) + " ago"
}

// AgoOf is Ago of a time that may be missing.
func AgoOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Ago(*t)
}

// Span writes a duration in its largest unit, seconds at least.
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(max(0, int(d.Seconds()))) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + "d"
	}
}
