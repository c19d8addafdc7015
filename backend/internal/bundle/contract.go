package bundle

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Contract is what a job gives to a playbook and wants of it: names of playbooks are fixed, and a version from outside
// must take the variables of its job.
type Contract struct {
	Entries map[string]Entry // by the file that the job runs: "playbook.yml"
}

// Entry is one file that a job runs, with the role that takes the job's variables.
type Entry struct {
	Role      string
	Variables map[string]Variable
	Optional  bool // the job does without the file where it is missing
}

// Variable is the shape of a variable, in the words of Ansible's argument specs.
type Variable struct {
	Type     string // str, int, bool, dict, list
	Elements string // of a list
	Values   []string
	Fields   map[string]Variable // of a dict, or of a list's dicts
}

// VariablesOf reads the shape of the variables off the Go struct that fills them; values names, for a variable, all
// the values that it may have.
func VariablesOf(vars any, values map[string][]string) map[string]Variable {
	shape := fieldsOf(reflect.TypeOf(vars))
	for name, all := range values {
		v := shape[name]
		v.Values = all
		shape[name] = v
	}
	return shape
}

func fieldsOf(t reflect.Type) map[string]Variable {
	fields := map[string]Variable{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			maps.Copy(fields, fieldsOf(f.Type))
			continue
		}
		fields[name] = shapeOf(f.Type)
	}
	return fields
}

// textual is what JSON has as a string: the id of an object, say.
var textual = reflect.TypeFor[encoding.TextMarshaler]()

func shapeOf(t reflect.Type) Variable {
	if t.Implements(textual) {
		return Variable{Type: "str"}
	}
	switch t.Kind() {
	case reflect.String:
		return Variable{Type: "str"}
	case reflect.Bool:
		return Variable{Type: "bool"}
	case reflect.Int, reflect.Int64:
		return Variable{Type: "int"}
	case reflect.Struct:
		return Variable{Type: "dict", Fields: fieldsOf(t)}
	case reflect.Slice:
		e := shapeOf(t.Elem())
		return Variable{Type: "list", Elements: e.Type, Fields: e.Fields}
	default:
		panic("playbook: no argument spec has the type " + t.String()) // a mistake in the program
	}
}

// Option is one entry of an argument_specs.yml.
type Option struct {
	Type     string            `yaml:"type"`
	Elements string            `yaml:"elements"`
	Required bool              `yaml:"required"`
	Default  any               `yaml:"default"`
	Choices  []any             `yaml:"choices"`
	Options  map[string]Option `yaml:"options"`
}

// Accepts tells why an argument spec would refuse the variables that a job gives: nothing if it takes them.
func Accepts(spec map[string]Option, given map[string]Variable) (problems []string) {
	return accepts("", spec, given)
}

func accepts(at string, spec map[string]Option, given map[string]Variable) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		if _, ok := given[name]; !ok && spec[name].Required {
			problems = append(problems, fmt.Sprintf("requires %s%s, which the job does not give", at, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		o, ok := spec[name]
		if !ok {
			problems = append(problems, fmt.Sprintf("does not take %s%s, which the job gives", at, name))
			continue
		}
		problems = append(problems, o.takes(at+name, given[name])...)
	}
	return problems
}

func (o Option) takes(at string, v Variable) (problems []string) {
	if o.Type == "" {
		o.Type = "str" // Ansible's default
	}
	if o.Type != v.Type && o.Type != "raw" {
		return []string{fmt.Sprintf("takes %s as %s; the job gives %s", at, o.Type, v.Type)}
	}
	if o.Elements != "" && o.Elements != v.Elements {
		problems = append(problems, fmt.Sprintf("takes the elements of %s as %s; the job gives %s", at, o.Elements, v.Elements))
	}
	if len(o.Choices) > 0 {
		for _, value := range v.Values {
			if !slices.Contains(o.Choices, any(value)) {
				problems = append(problems, fmt.Sprintf("does not take the value %s of %s", value, at))
			}
		}
		if len(v.Values) == 0 {
			problems = append(problems, fmt.Sprintf("takes only certain values of %s; the job may give any", at))
		}
	}
	if o.Options != nil && v.Fields != nil {
		problems = append(problems, accepts(at+".", o.Options, v.Fields)...)
	}
	return problems
}
